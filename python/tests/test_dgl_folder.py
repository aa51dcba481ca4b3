# SPDX-License-Identifier: Apache-2.0
"""Partition folders of DGL's, written here byte by byte: opened as they are, or refused by name."""

from __future__ import annotations

import itertools
import json
import random
import struct
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import troupe

torch = pytest.importorskip("torch")


from troupe.dgl import dgl_file, dgl_folder, distributed  # noqa: E402

PARTS = 3


# A writer of the formats that dgl_file.py reads.


def put(*numbers: int) -> bytes:
    return struct.pack(f"<{len(numbers)}Q", *numbers)


def put_name(name: str) -> bytes:
    return put(len(name)) + name.encode()


def put_array(values: np.ndarray) -> bytes:
    code = {"i": 0, "u": 1, "f": 2}[values.dtype.kind]
    head = struct.pack("<QQiii", dgl_file.ARRAY, 0, 1, 0, values.ndim)
    head += struct.pack("<BBH", code, values.dtype.itemsize * 8, 1)
    shape = struct.pack(f"<{values.ndim}q", *values.shape)
    return head + shape + struct.pack("<q", values.nbytes) + values.tobytes()


NOTHING = np.empty(0, np.int64)


def put_list(tensors: dict[str, np.ndarray]) -> bytes:
    items = (put_name(name) + put_array(values) for name, values in tensors.items())
    return put(len(tensors)) + b"".join(items)


def put_tensors(tensors: dict[str, np.ndarray]) -> bytes:
    return put(dgl_file.TENSORS, len(tensors)) + put_list(tensors)


def put_csr(rows: int, index: np.ndarray, columns: np.ndarray, places: np.ndarray) -> bytes:
    head = put(dgl_file.CSR, rows, rows)
    return head + b"".join(map(put_array, (index, columns, places))) + b"\0"


def put_meta() -> bytes:
    return put(dgl_file.IMMUTABLE) + put_csr(
        1, np.array([0, 1]), np.array([0]), np.array([0], np.int64)
    )


def put_edges(count: int, sources: np.ndarray, destinations: np.ndarray, csc: bool) -> bytes:
    if not csc:
        lists = b"".join(map(put_array, (sources, destinations, NOTHING)))
        return put_meta() + put(dgl_file.COO, count, count) + lists + b"\0\0"
    order = np.argsort(destinations, kind="stable")
    index = np.zeros(count + 1, np.int64)
    np.cumsum(np.bincount(destinations, minlength=count), out=index[1:])
    return put_meta() + put_csr(count, index, sources[order], order.astype(np.int64))


def put_graph(
    count: int,
    sources: np.ndarray,
    destinations: np.ndarray,
    ndata: dict[str, np.ndarray],
    edata: dict[str, np.ndarray],
    csc: bool = False,
    old: bool = False,
) -> bytes:
    saved = (3 if csc else 1) if old else (4 if csc else 1) | 1 << 32
    head = put(dgl_file.GRAPHS, 2, 2, 1).ljust(dgl_file.GRAPHS_BODY, b"\0") + put(4112, 0)
    body = put(dgl_file.HETEROGRAPH) + put_meta() + put(1, dgl_file.UNIT, saved, saved)
    body += put_edges(count, sources, destinations, csc) + put(1, count)
    body += put(1) + put_list(ndata) + put(1) + put_list(edata)
    body += put(1) + put_name("_N") + put(1) + put_name("_E")
    return head + body + put(16, 1, 4112, 16)


Change = Callable[[dict], None]


def write_folder(
    folder: Path, world, *, csc: bool = False, old: bool = False, change: Change | None = None
) -> Path:
    """The graph of the tests in partitions that own runs of nodes; with halo nodes and edges."""
    count, edges = len(world.feat), world.edges
    ends = [0, 700, 1300, count]
    owner = np.searchsorted(ends[1:], np.arange(count), side="right")
    by_owner = np.argsort(owner[edges[:, 1]], kind="stable")
    edges = edges[by_owner]
    edge_ends = [0, *np.cumsum(np.bincount(owner[edges[:, 1]], minlength=PARTS)).tolist()]
    config: dict = {
        "graph_name": "g",
        "num_nodes": count,
        "num_edges": len(edges),
        "part_method": "metis",
        "num_parts": PARTS,
        "halo_hops": 1,
        "node_map": ends[1:] if old else {"_N": list(map(list, itertools.pairwise(ends)))},
        "edge_map": {"_N:_E:_N": list(map(list, itertools.pairwise(edge_ends)))},
        "ntypes": {"_N": 0},
        "etypes": {"_E" if old else "_N:_E:_N": 0},
    }
    prefix, edge_prefix = ("", "") if old else ("_N/", "_N:_E:_N/")
    for part in range(PARTS):
        own = np.arange(ends[part], ends[part + 1])
        ids = np.arange(edge_ends[part], edge_ends[part + 1])
        # Edges that leave the partition are listed, too, behind its own.
        leaving = np.flatnonzero((owner[edges[:, 0]] == part) & (owner[edges[:, 1]] != part))[:50]
        every = np.concatenate([ids, leaving])
        halo = np.setdiff1d(edges[every], own)
        nodes = np.concatenate([own, halo])
        local = np.zeros(count, np.int64)
        local[nodes] = np.arange(len(nodes))
        ndata = {
            "_ID": nodes,
            "inner_node": (nodes < ends[part + 1]).astype(np.uint8) * (nodes >= ends[part]),
            "part_id": owner[nodes],
        }
        ndata["inner_node"] = ndata["inner_node"].astype(np.uint8)
        edata = {"_ID": every, "inner_edge": (np.arange(len(every)) < len(ids)).astype(np.uint8)}
        target = folder / f"part{part}"
        target.mkdir(parents=True)
        sources, destinations = local[edges[every]].T
        graph = put_graph(
            len(nodes), sources.copy(), destinations.copy(), ndata, edata, csc=csc, old=old
        )
        (target / "graph.dgl").write_bytes(graph)
        feats = {
            f"{prefix}feat": world.feat[own],
            f"{prefix}train_mask": world.train_mask[own].view(np.uint8),
        }
        (target / "node_feat.dgl").write_bytes(put_tensors(feats))
        weights = {f"{edge_prefix}w": (edges[ids].sum(axis=1)).astype(np.float64)}
        (target / "edge_feat.dgl").write_bytes(put_tensors(weights))
        names = zip(
            ("node_feats", "edge_feats", "part_graph"),
            ("node_feat.dgl", "edge_feat.dgl", "graph.dgl"),
            strict=True,
        )
        config[f"part-{part}"] = {key: f"part{part}/{name}" for key, name in names}
    if change is not None:
        change(config)
    (folder / "g.json").write_text(json.dumps(config))
    return folder / "g.json"


@pytest.fixture(autouse=True)
def initialized():
    distributed.initialize(None, seed=1)
    yield
    distributed.exit_client()


@pytest.mark.parametrize(("csc", "old"), [(False, False), (True, False), (True, True)])
def test_a_folder_of_dgl_opens_as_it_is(tmp_path: Path, world, csc: bool, old: bool) -> None:
    path = write_folder(tmp_path / "theirs", world, csc=csc, old=old)
    g = distributed.DistGraph("g", part_config=path)
    assert g.num_nodes() == len(world.feat) and g.num_edges() == len(world.edges)
    # IDs of nodes are DGL's, and so are partitions.
    assert np.array_equal(g.ndata["feat"][:].numpy(), world.feat)
    assert np.array_equal(g.ndata["train_mask"][:].numpy(), world.train_mask)
    book = g.get_partition_book()
    assert [len(book.partid2nids(part)) for part in range(PARTS)] == [700, 600, 700]
    sources, destinations = g.find_edges(g.edges())
    found = sorted(zip(sources.tolist(), destinations.tolist(), strict=True))
    assert found == sorted(map(tuple, world.edges.tolist()))
    assert np.array_equal(g.edata["w"][:].numpy(), (sources + destinations).numpy())


TYPES = {"ntypes": ["b", "a"], "etypes": ["a:goes:b", "b:back:a", "a:own:a"]}


def write_typed(folder: Path, change: Change | None = None) -> tuple[Path, dict, dict]:
    """A graph of two node types, in the order of IDs that DGL gives: by partition, then by type."""
    chance = np.random.default_rng(4)
    counts = {"a": [30, 0, 25], "b": [10, 12, 20]}
    parts, types = range(PARTS), TYPES["ntypes"]
    config: dict = {"graph_name": "h", "num_parts": PARTS, "halo_hops": 1, "node_map": {}}
    config["ntypes"] = {name: number for number, name in enumerate(types)}
    config["etypes"] = {name: number for number, name in enumerate(TYPES["etypes"])}
    config["num_nodes"] = sum(map(sum, counts.values()))
    begin, kind, typed = 0, [], []
    for part in parts:
        for name in types:
            end = begin + counts[name][part]
            config["node_map"].setdefault(name, []).append([begin, end])
            kind += [name] * (end - begin)
            typed += range(sum(counts[name][:part]), sum(counts[name][: part + 1]))
            begin = end
    kind, typed = np.array(kind), np.array(typed)
    owner = np.searchsorted(
        np.cumsum([sum(c[p] for c in counts.values()) for p in parts]), range(begin), side="right"
    )
    rows = {name: chance.normal(size=(sum(counts[name]), 3)) for name in types}
    edges: dict[str, list] = {name: [] for name in TYPES["etypes"]}
    config["edge_map"], first = {}, 0
    for part in parts:
        own = np.flatnonzero(owner == part)
        ends, ids, weights = [], [], {}
        for name in TYPES["etypes"]:
            source, _, target = name.split(":")
            into = own[kind[own] == target]
            count = 3 * len(into)
            pairs = [
                (chance.choice(np.flatnonzero(kind == source)), into[i % len(into)])
                for i in range(count)
            ]
            config["edge_map"].setdefault(name, []).append([first, first + count])
            ids += range(first, first + count)
            first += count
            ends += pairs
            edges[name] += [(typed[u], typed[v]) for u, v in pairs]
            weights[f"{name}/w"] = np.array([typed[u] - typed[v] for u, v in pairs], np.int64)
        ends = np.array(ends)
        nodes = np.concatenate([own, np.setdiff1d(ends, own)])
        local = {node: place for place, node in enumerate(nodes)}
        places = np.array([[local[u], local[v]] for u, v in ends], np.int64)
        inner = (np.arange(len(nodes)) < len(own)).astype(np.uint8)
        graph = put_graph(
            len(nodes),
            places[:, 0].copy(),
            places[:, 1].copy(),
            {"_ID": nodes.astype(np.int64), "inner_node": inner},
            {"_ID": np.array(ids, np.int64), "inner_edge": np.ones(len(ids), np.uint8)},
        )
        target_folder = folder / f"part{part}"
        target_folder.mkdir(parents=True)
        (target_folder / "graph.dgl").write_bytes(graph)
        feats = {f"{n}/x": rows[n][typed[own[kind[own] == n]]] for n in types}
        (target_folder / "node_feat.dgl").write_bytes(put_tensors(feats))
        (target_folder / "edge_feat.dgl").write_bytes(put_tensors(weights))
        config[f"part-{part}"] = {
            "node_feats": f"part{part}/node_feat.dgl",
            "edge_feats": f"part{part}/edge_feat.dgl",
            "part_graph": f"part{part}/graph.dgl",
        }
    config["num_edges"] = first
    if change is not None:
        change(config)
    (folder / "h.json").write_text(json.dumps(config))
    return folder / "h.json", rows, edges


def test_a_folder_of_several_types_opens_as_it_is(tmp_path: Path) -> None:
    """A partition has no node of one type; the types' numbers are in no order of names."""
    path, rows, edges = write_typed(tmp_path / "theirs")
    g = distributed.DistGraph("h", part_config=path)
    assert g.ntypes == TYPES["ntypes"]
    assert [":".join(name) for name in g.canonical_etypes] == TYPES["etypes"]
    for name in g.ntypes:
        assert np.array_equal(g.nodes[name].data["x"][:].numpy(), rows[name])
    book = g.get_partition_book()
    assert [len(book.node_range(part, "a")) for part in range(PARTS)] == [30, 0, 25]
    for name in TYPES["etypes"]:
        sources, destinations = g.find_edges(g.edges(name), name)
        assert sorted(zip(sources.tolist(), destinations.tolist(), strict=True)) == sorted(
            edges[name]
        )
        assert torch.equal(g.edges[name].data["w"][:], sources - destinations)


@pytest.mark.parametrize(
    ("change", "error", "says"),
    [
        (lambda c: c["node_map"].pop("a"), ValueError, "node_map/a: None is not a list of ranges"),
        (
            lambda c: c["node_map"].update(a=[[0, 30], [30, 30], [30, 2]]),
            ValueError,
            "node_map/a: .* is not a list of ranges",
        ),
        (
            lambda c: c["node_map"].update(a=[[0, 30], [30, 30], [30, 55]]),
            ValueError,
            r"node_map: the ranges are not each of 0 \.\. 96 once",
        ),
        (lambda c: c.update(ntypes={"a": 0, "b": 3}), ValueError, "does not number each name"),
        (lambda c: c["etypes"].update({"x": 3}), NotImplementedError, "'x' is not source:relation"),
        (
            lambda c: (
                c.update(etypes={"b:goes:a": 0, "b:back:a": 1, "a:own:a": 2})
                or c["edge_map"].update({"b:goes:a": c["edge_map"]["a:goes:b"]})
            ),
            troupe.errors.Mismatch,
            "an edge of 'b:goes:a' has ends of other types",
        ),
    ],
)
def test_a_folder_of_several_types_that_is_wrong_is_refused(
    tmp_path: Path, change: Change, error: type[Exception], says: str
) -> None:
    path, *_ = write_typed(tmp_path / "theirs", change)
    with pytest.raises(error, match=says):
        distributed.DistGraph("h", part_config=path)


def test_a_folder_is_converted_once_until_it_changes(tmp_path: Path, world, monkeypatch) -> None:
    path = write_folder(tmp_path / "theirs", world)
    first = dgl_folder.opened_as(path)

    def fails(*_: object) -> None:
        raise AssertionError("converted again")

    with monkeypatch.context() as patch:
        patch.setattr(dgl_folder.Folder, "_convert", fails)
        assert dgl_folder.opened_as(path) == first
        assert dgl_folder.opened_as(first) == first
        file = path.parent / "part1/node_feat.dgl"
        file.write_bytes(file.read_bytes() + b"\0")
        with pytest.raises(AssertionError, match="converted again"):
            dgl_folder.opened_as(path)
    left = [name.name for name in path.parent.iterdir() if name.name.startswith(".")]
    assert left == [Path(first).parent.name]


def test_what_cannot_be_written_beside_goes_to_the_cache(
    tmp_path: Path, world, monkeypatch
) -> None:
    path = write_folder(tmp_path / "theirs", world)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(dgl_folder.os, "access", lambda *_: False)
    assert dgl_folder.opened_as(path).startswith(str(tmp_path / "cache/troupe/.troupe-g-"))


def _twice(config: dict) -> None:
    config["part-1"] = config["part-0"]


def _typed(config: dict) -> None:
    config["ntypes"] = {"a": 0, "b": 1}


def _moved(config: dict) -> None:
    config["node_map"] = {"_N": [[0, 701], [701, 1300], [1300, 2000]]}


@pytest.mark.parametrize(
    ("change", "error", "says"),
    [
        (_twice, troupe.errors.Mismatch, "a node is owned by another partition, too"),
        (_typed, NotImplementedError, "'_N:_E:_N' is not source:relation:destination with node"),
        (_moved, troupe.errors.Mismatch, r"node_map gives part-0 the nodes 0 \.\. 701"),
        (lambda c: c.pop("part-2"), NotImplementedError, "part-2 has no part_graph"),
        (lambda c: c.update(num_parts="3"), ValueError, "num_parts: '3' is not a count"),
        (lambda c: c.update(num_nodes=100), ValueError, r"an ID is not in 0 \.\. 99"),
        (lambda c: c.update(num_nodes=2001), ValueError, "node 2000 is in no partition"),
        (lambda c: c["part-0"].update(part_graph=3), ValueError, "part_graph: 3 is not a path"),
        (
            lambda c: c["part-0"].update(node_feats="part0/graph.dgl"),
            ValueError,
            "graph.dgl: byte 0: a dictionary of tensors begins with",
        ),
        (
            lambda c: c["part-0"].update(edge_feats="x.dgl"),
            troupe.errors.NotFound,
            "x.dgl is not there",
        ),
    ],
)
def test_a_folder_that_is_wrong_is_refused_by_name(
    tmp_path: Path, world, change: Change, error: type[Exception], says: str
) -> None:
    path = write_folder(tmp_path / "theirs", world, change=change)
    with pytest.raises(error, match=says):
        distributed.DistGraph("g", part_config=path)
    assert not [name for name in path.parent.iterdir() if name.name.startswith(".troupe")]


def small_graph() -> bytes:
    ids = np.arange(3)
    flags = np.ones(3, np.uint8)
    return put_graph(
        3,
        np.array([0, 1, 2]),
        np.array([1, 2, 0]),
        {"_ID": ids, "inner_node": flags},
        {"_ID": ids, "inner_edge": flags},
        csc=True,
    )


def test_no_file_is_read_beyond_its_end(tmp_path: Path) -> None:
    whole, file = small_graph(), tmp_path / "graph.dgl"
    file.write_bytes(whole)
    assert dgl_file.PartFile(file).sources.tolist() == [0, 1, 2]
    names = len(put(1) + put_name("_N") + put(1) + put_name("_E") + put(16, 1, 4112, 16))
    for size in (0, 7, 31, 4095, *range(4096, len(whole) - names, 7)):
        file.write_bytes(whole[:size])
        with pytest.raises(troupe.errors.BadFormat, match=r"graph\.dgl"):
            dgl_file.PartFile(file)


def test_bytes_that_are_wrong_are_refused_or_read_within_bounds(tmp_path: Path) -> None:
    file, chance = tmp_path / "file.dgl", random.Random(5)
    tensors = put_tensors({"a/x": np.arange(6.0).reshape(3, 2), "a/y": np.arange(3)})
    readers = ((small_graph(), dgl_file.PartFile), (tensors, dgl_file.read_tensors))
    refused = 0
    for whole, read in readers:
        first = 4096 if len(whole) > 4096 else 0
        for _ in range(1500):
            changed = bytearray(whole)
            for _ in range(chance.choice((1, 1, 2))):
                at = chance.randrange(first, len(changed))
                changed[at] = chance.choice(
                    (0, 1, 127, 255, changed[at] ^ 1 << chance.randrange(8))
                )
            file.write_bytes(bytes(changed))
            try:
                read(file)
            except troupe.Error as error:
                assert "file.dgl" in str(error)
                refused += 1
    assert refused > 500
