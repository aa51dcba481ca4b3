# SPDX-License-Identifier: Apache-2.0
"""Blocks as other libraries take them: moved, as sparse matrices, and as PyG's data."""

from __future__ import annotations

import sys
import types
from collections.abc import Iterator

import numpy as np
import pytest
from conftest import World

import troupe
from troupe import dgl_block

torch = pytest.importorskip("torch")
FANOUTS = [3, 4]


@pytest.fixture
def tensors(world: World) -> Iterator[troupe.DistGraph]:
    with troupe.open(world.path, seed=7, tensors="torch") as opened:
        yield opened


def batch_of(graph: troupe.DistGraph, **options: object) -> troupe.Batch:
    given = {"batch_size": 64, "features": "feat", "labels": "label", **options}
    return next(
        iter(troupe.DistNodeDataLoader(graph, None, troupe.NeighborSampler(FANOUTS), **given))
    )


class Matrix:
    """A sparse matrix as SciPy makes it of a shape."""

    def __init__(self, shape: tuple[int, int], dtype: object) -> None:
        self.shape, self.dtype = shape, dtype


def test_a_block_as_a_sparse_matrix_is_over_its_memory(
    graph: troupe.DistGraph, monkeypatch: pytest.MonkeyPatch
) -> None:
    sparse = types.ModuleType("scipy.sparse")
    sparse.csr_matrix = Matrix
    monkeypatch.setitem(sys.modules, "scipy", types.ModuleType("scipy"))
    monkeypatch.setitem(sys.modules, "scipy.sparse", sparse)
    block = batch_of(graph).blocks[0]
    matrix, csr = block.as_scipy(), block.as_csr()
    assert matrix.shape == (block.num_dst_nodes(), block.num_src_nodes())
    ours = (csr.indptr, csr.indices, csr.edge_ids)
    for one, two in zip((matrix.indptr, matrix.indices, matrix.data), ours, strict=True):
        assert np.shares_memory(one, two)
    plain = batch_of(graph, edge_ids=False).blocks[0]
    assert plain.as_scipy().data.tolist() == [1] * plain.num_edges()


def test_a_block_moves_to_a_device(tensors: troupe.DistGraph) -> None:
    block = batch_of(tensors).blocks[-1]
    assert block.to("cpu") is block and block.device == torch.device("cpu")
    block.srcdata["h"] = torch.ones(block.num_src_nodes(), 2)
    moved = block.to("meta")
    assert moved.device == torch.device("meta") and moved.to("meta") is moved
    arrays = [*moved.as_csr(), *moved.edges(), *moved.edges(form="all"), moved.in_degrees()]
    arrays += [moved.edges(form="eid"), moved.srcdata["h"], moved.srcdata["feat"]]
    arrays += [moved.srcdata[troupe.NID], moved.dstdata["label"], moved.edata[troupe.EID]]
    assert {str(rows.device) for rows in arrays} == {"meta"}
    theirs = [*block.as_csr(), *block.edges(), *block.edges(form="all"), block.in_degrees()]
    for one, two in zip(arrays, theirs, strict=False):
        assert one.shape == two.shape and one.dtype == two.dtype
    assert moved.num_edges() == block.num_edges()


def test_arrays_of_numpy_stay_where_they_are(graph: troupe.DistGraph) -> None:
    block = batch_of(graph).blocks[0]
    assert block.to("cpu") is block and block.device == "cpu"
    with pytest.raises(troupe.Error, match='tensors="torch"'):
        block.to("cuda")


class Store(dict):
    """What the data of PyG are to those who fill them."""

    def __missing__(self, name: object) -> Store:
        return self.setdefault(name, Store())

    __getattr__ = dict.__getitem__
    __setattr__ = dict.__setitem__


@pytest.fixture
def pyg(monkeypatch: pytest.MonkeyPatch) -> None:
    package, data = types.ModuleType("torch_geometric"), types.ModuleType("torch_geometric.data")
    data.Data = data.HeteroData = Store
    monkeypatch.setitem(sys.modules, "torch_geometric", package)
    monkeypatch.setitem(sys.modules, "torch_geometric.data", data)


@pytest.mark.usefixtures("pyg")
def test_pyg_expands_each_node_once(tensors: troupe.DistGraph, world: World) -> None:
    batch = batch_of(tensors)
    data = batch.to_pyg()
    assert data.batch_size == 64 and torch.equal(data.n_id, batch.input_nodes)
    assert torch.equal(data.x, batch.features) and torch.equal(data.y, batch.labels)
    assert sum(data.num_sampled_nodes) == data.num_nodes == len(data.n_id)
    assert data.num_sampled_nodes[0] == 64 and len(data.num_sampled_nodes) == len(FANOUTS) + 1
    sources, destinations = data.edge_index
    assert data.edge_index.dtype == torch.int64
    assert sum(data.num_sampled_edges) == len(sources) == len(data.e_id)
    # Hop by hop: the seeds draw the last fanout, and those that they reached the one before.
    last = batch.blocks[-1]
    ours = torch.stack(last.edges()).long()
    assert torch.equal(data.edge_index[:, : last.num_edges()], ours)
    first, second = destinations.split(data.num_sampled_edges)
    assert int(first.max()) < 64 <= int(second.min())
    assert int(second.max()) < sum(data.num_sampled_nodes[:2])
    degrees = torch.bincount(destinations)
    assert int(degrees[:64].max()) <= FANOUTS[1] and int(degrees[64:].max()) <= FANOUTS[0]
    # They are edges of the graph.
    known = {(int(s), int(d)) for s, d in world.edges}
    original = batch.orig_nodes
    pairs = zip(original[sources].tolist(), original[destinations].tolist(), strict=True)
    assert set(pairs) <= known


@pytest.fixture
def dgl(monkeypatch: pytest.MonkeyPatch) -> list[tuple]:
    """DGL's parts, which note what they are called with."""
    calls: list[tuple] = []

    def noted(name: str):
        return lambda *args, **named: calls.append((name, *args)) or (name, named)

    class Frame:
        def __init__(self, columns: dict | None, num_rows: int) -> None:
            self._columns = dict(columns or {})
            self.num_rows = num_rows
            calls.append(("frame", self._columns))

    class Column:
        index = device = None

        def _init(self, scheme: object) -> None:
            self.scheme = scheme

    package = types.ModuleType("dgl")
    parts = {
        "_ffi": {},
        "_ffi.object_generic": {"convert_to_object": list},
        "frame": {"Frame": Frame, "Column": Column, "Scheme": lambda *form: form},
        "graph_index": {"from_coo": noted("meta")},
        "heterograph": {"DGLBlock": noted("block")},
        "heterograph_index": {
            "_CAPI_DGLHeteroCreateUnitGraphFromCSR": noted("unit"),
            "create_heterograph_from_relations": noted("relations"),
        },
        "ndarray": {"from_dlpack": torch.utils.dlpack.from_dlpack},
        "utils": {"toindex": noted("toindex")},
    }
    monkeypatch.setitem(sys.modules, "dgl", package)
    for name, functions in parts.items():
        module = types.ModuleType(f"dgl.{name}")
        module.__dict__.update(functions)
        setattr(package, name, module)
        monkeypatch.setitem(sys.modules, f"dgl.{name}", module)
    dgl_block._dgl.cache_clear()
    yield calls
    dgl_block._dgl.cache_clear()


def rows_of(columns: dict) -> dict:
    """The tensors of a frame, as those who look at them get them."""
    made = {name: column for name, column in columns.items() if not torch.is_tensor(column)}
    return columns | {name: column.storage for name, column in made.items()}


def test_dgl_takes_the_arrays_as_they_are(tensors: troupe.DistGraph, dgl: list[tuple]) -> None:
    block = batch_of(tensors).blocks[0]
    block.to_dgl()
    csr = block.as_csr()
    (unit,) = [call for call in dgl if call[0] == "unit"]
    assert unit[1:4] == (2, block.num_src_nodes(), block.num_dst_nodes())
    assert unit[4].data_ptr() == csr.indptr.data_ptr()
    assert unit[5].data_ptr() == csr.indices.data_ptr()
    assert torch.equal(unit[6], torch.arange(block.num_edges(), dtype=torch.int32))
    assert unit[7:] == (["coo", "csr", "csc"], True)
    sources, destinations, edges = (rows_of(call[1]) for call in dgl if call[0] == "frame")
    assert torch.equal(sources["_ID"], block.srcdata["_ID"]) and "feat" in sources
    assert torch.equal(destinations["_ID"], block.dstdata["_ID"])
    assert torch.equal(edges["_ID"], csr.edge_ids)
    dgl.clear()
    block.to_dgl(torch.int64)
    (unit,) = [call for call in dgl if call[0] == "unit"]
    assert unit[4].dtype == unit[5].dtype == torch.int64
    assert torch.equal(unit[5], csr.indices.long())


def test_a_library_that_is_absent_is_named(
    graph: troupe.DistGraph, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "torch_geometric", None)
    monkeypatch.setitem(sys.modules, "torch_geometric.data", None)
    monkeypatch.setitem(sys.modules, "dgl", None)
    batch = batch_of(graph)
    with pytest.raises(troupe.Error, match="torch_geometric cannot be imported"):
        batch.to_pyg()
    with pytest.raises(troupe.Error, match="dgl cannot be imported"):
        batch.blocks[0].to_dgl()
