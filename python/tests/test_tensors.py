# SPDX-License-Identifier: Apache-2.0
"""Tensors that a program makes: what was written is what is read, by anybody."""

from __future__ import annotations

import gc
import json
import pickle
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import NODES, World

import troupe


def made(graph: troupe.DistGraph, *row: int, name: str = "h", **options: Any) -> troupe.DistTensor:
    return troupe.DistTensor((NODES, *row), np.float32, name, graph=graph, **options)


@pytest.mark.parametrize(
    "index",
    [
        [5, 3, 3, 1999],
        np.array([9, 2, 9], dtype=np.int32),
        np.array([1, 4], dtype=np.uint64),
        range(3, 11, 2),
        slice(10, 2, -3),
        slice(None),
        [],
        np.empty(0, dtype=np.int64),
        7,
    ],
    ids=str,
)
def test_every_kind_of_index_is_written_and_read(graph: troupe.DistGraph, index: Any) -> None:
    tensor = made(graph, 2)
    truth = np.zeros((NODES, 2), dtype=np.float32)
    ids = np.arange(NODES)[list(index) if isinstance(index, range) else index]
    ids = ids.astype(int) if isinstance(index, list) else ids
    rows = np.random.default_rng(1).random((*np.shape(ids), 2)).astype(np.float32)
    for at, row in zip(np.atleast_1d(ids), rows.reshape(-1, 2), strict=True):
        truth[int(at)] = row
    tensor[index] = rows
    assert np.array_equal(tensor[index], truth[ids])
    assert np.array_equal(tensor[:], truth)
    assert np.array_equal(np.asarray(tensor), truth)


def test_what_it_is(graph: troupe.DistGraph) -> None:
    tensor = made(graph, 3, 4, name="x", part_policy="node~_N")
    assert tensor.shape == (NODES, 3, 4) and len(tensor) == NODES and tensor.ndim == 3
    assert tensor.dtype == np.float32 and tensor.name == "x" and tensor.made
    assert tensor.part_policy == "node~_N" and tensor.ntype == "_N" and tensor.graph is graph
    assert repr(tensor) == f"DistTensor(_N/x, shape=({NODES}, 3, 4), dtype=float32)"
    assert tensor[[1, 2]].shape == (2, 3, 4) and tensor[4].shape == (3, 4)
    assert tensor[[]].shape == (0, 3, 4)


@pytest.mark.parametrize(
    "dtype",
    ["float32", "float16", "float64", "int8", "uint8", "int16", "int32", "int64", np.bool_],
    ids=str,
)
def test_every_element_type_is_kept(graph: troupe.DistGraph, dtype: Any) -> None:
    tensor = troupe.DistTensor((NODES,), dtype, "t", graph=graph)
    kept = np.dtype("uint8") if dtype is np.bool_ else np.dtype(dtype)
    assert tensor.dtype == kept
    tensor[[3, 4, 3]] = np.array([1, 0, 1], dtype=dtype)
    assert tensor[[3, 4]].dtype == kept and tensor[[3, 4]].tolist() == [1, 0]
    assert tensor.count_nonzero() == 1


def test_wrong_indices_and_rows_are_refused_by_name(graph: troupe.DistGraph) -> None:
    tensor = made(graph, 2)
    with pytest.raises(TypeError, match=r"'h'.*booleans, which are a mask"):
        tensor[np.zeros(NODES, dtype=bool)]
    with pytest.raises(TypeError, match="booleans"):
        tensor[np.zeros(NODES, dtype=bool)] = 1
    with pytest.raises(troupe.errors.OutOfRange, match="-1 is negative"):
        tensor[[3, -1]]
    with pytest.raises(troupe.errors.OutOfRange, match="there is no 2000"):
        tensor[[3, NODES]] = 1
    with pytest.raises(troupe.errors.Mismatch, match=r"rows of shape \(3, 2\) for \(2, 2\)"):
        tensor[[1, 2]] = np.ones((3, 2), dtype=np.float32)
    with pytest.raises(TypeError, match="complex"):
        tensor[[1]] = np.ones((1, 2), dtype=complex)
    whole = troupe.DistTensor((NODES,), "uint8", "whole", graph=graph)
    with pytest.raises(TypeError, match="does not fit uint8"):
        whole[[1]] = [256]
    with pytest.raises(TypeError, match="rows of float64 do not fit uint8"):
        whole[[1]] = [0.5]
    assert tensor.count_nonzero() == 0 and whole.count_nonzero() == 0


def test_wrong_options_are_refused_by_name(graph: troupe.DistGraph) -> None:
    kept = made(graph, 2)
    with pytest.raises(
        troupe.errors.Mismatch, match=r"\(2000, 2\) float32 already, \(2000, 3\) float32"
    ):
        made(graph, 3)
    with pytest.raises(troupe.errors.InvalidArgument, match="7 rows: no type"):
        troupe.DistTensor((7,), "int64", "x", graph=graph)
    with pytest.raises(troupe.errors.Mismatch, match="7 rows, but there are 2000 nodes"):
        troupe.DistTensor((7,), "int64", "x", "_N", graph=graph)
    with pytest.raises(NotImplementedError, match="rows of edges are not there yet"):
        troupe.DistTensor((20000,), "int64", "x", graph=graph)
    with pytest.raises(TypeError, match="dtype complex128"):
        troupe.DistTensor((NODES,), complex, "x", graph=graph)
    with pytest.raises(ValueError, match="give it a name"):
        troupe.DistTensor((NODES,), "int64", persistent=True, graph=graph)
    with pytest.raises(troupe.errors.NotFound, match='no tensor "none"'):
        made(graph, name="none", attach=True)
    with pytest.raises(troupe.errors.InvalidArgument, match="name"):
        made(graph, name="a" * 256)
    assert kept.made


def test_a_name_is_one_tensor_until_its_maker_goes(graph: troupe.DistGraph) -> None:
    first = made(graph, 2)
    second = made(graph, 2)
    assert first.made and not second.made
    first[[3]] = [[1, 2]]
    assert second[[3]].tolist() == [[1, 2]]
    del first
    gc.collect()
    with pytest.raises(troupe.errors.NotFound, match=r'tensor "h" of node type _N: .*deleted'):
        second[[3]]
    lasting = made(graph, 2, persistent=True)
    assert lasting.made
    lasting[[3]] = 5
    del lasting
    gc.collect()
    again = made(graph, 2)
    assert not again.made and again[3].tolist() == [5, 5]
    again.delete()
    assert made(graph, 2).count_nonzero() == 0


def test_unnamed_tensors_are_apart(graph: troupe.DistGraph) -> None:
    one, two = (troupe.DistTensor((NODES,), "int64", graph=graph) for _ in range(2))
    one[:] = 1
    assert two.count_nonzero() == 0 and one.name != two.name
    both = one | two
    assert both.count_nonzero() == NODES and both.dtype == np.int64


def test_first_rows_come_from_a_function_or_a_number(graph: troupe.DistGraph) -> None:
    sizes = []

    def init(shape: tuple[int, ...], dtype: Any) -> Any:
        sizes.append(shape[0])
        return np.full(shape, len(sizes), dtype=dtype)

    tensor = made(graph, 2, init_func=init)
    assert sum(sizes) == NODES and len(sizes) == graph.num_parts
    assert tensor.count_nonzero() == 2 * NODES and tensor[0].tolist() == [1, 1]
    assert not made(graph, 2, init_func=lambda *_: pytest.fail("it is there")).made
    assert made(graph, name="seven", init_func=7)[5] == 7
    with pytest.raises(ZeroDivisionError):
        made(graph, name="fails", init_func=lambda *_: 1 / 0)
    with pytest.raises(troupe.errors.Mismatch, match="init_func gave rows of shape"):
        made(graph, name="fails", init_func=lambda *_: np.zeros(3))
    assert made(graph, name="fails").made


def test_a_tensor_may_be_put_beside_the_features(graph: troupe.DistGraph) -> None:
    graph.ndata["h"] = made(graph, 2, name="other")
    assert "h" in graph.ndata and "h" in list(graph.ndata) and len(graph.ndata) == 6
    graph.ndata["h"][[1]] = 3
    assert graph.nodes["_N"].data["h"][1].tolist() == [3, 3]
    del graph.ndata["h"]
    assert "h" not in graph.ndata
    with pytest.raises(KeyError, match="no feature 'h'"):
        graph.ndata["h"]
    with pytest.raises(TypeError, match="'h': give a DistTensor, not ndarray"):
        graph.ndata["h"] = np.zeros(NODES)
    with pytest.raises(KeyError, match="'feat' belongs to the partitions"):
        del graph.ndata["feat"]
    with pytest.raises(NotImplementedError, match="rows of edges"):
        graph.edata["h"] = made(graph)


def test_threads_read_and_write_at_once(graph: troupe.DistGraph) -> None:
    tensor = made(graph, 4)
    failed = []

    def work(number: int) -> None:
        ids = np.arange(number, NODES, 4)
        for round_ in range(10):
            tensor[ids] = np.float32(10 * number + round_)
            if not (tensor[ids] == 10 * number + round_).all():
                failed.append(number)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed and sorted(set(tensor[:].ravel())) == [9, 19, 29, 39]


def test_torch_tensors_are_written_and_read(world: World) -> None:
    torch = pytest.importorskip("torch")
    with troupe.open(world.path, tensors="torch") as graph:
        for dtype in (torch.float16, torch.bfloat16, torch.int64, torch.bool):
            tensor = troupe.DistTensor((NODES, 2), dtype, str(dtype), graph=graph)
            assert tensor.dtype == (torch.uint8 if dtype is torch.bool else dtype)
            rows = torch.tensor([[1, 0], [1, 1]]).to(dtype)
            tensor[torch.tensor([7, 3])] = rows
            assert isinstance(tensor[[3]], torch.Tensor)
            assert torch.equal(tensor[torch.tensor([3, 7])].to(dtype), rows[[1, 0]])
            assert tensor.count_nonzero() == 3
        mask = troupe.DistTensor((NODES,), torch.float32, "grad", graph=graph)
        mask[[1]] = torch.ones(1, requires_grad=True)
        assert float(mask[1]) == 1


def test_bounds_and_a_closed_graph_are_said(world: World) -> None:
    with troupe.open(world.path, tensor_bytes_max=NODES * 8) as graph:
        tensor = made(graph, 2)
        with pytest.raises(troupe.errors.TooBig, match="tensor_bytes_max"):
            made(graph, 2, name="more")
        again = pickle.loads(pickle.dumps(tensor.shape))
        assert again == (NODES, 2)
    with pytest.raises(troupe.errors.Closed):
        tensor[[1]]


RANK = """
import sys
import numpy as np
import troupe

process = int(sys.argv[2])
graph = troupe.DistGraph(cluster=sys.argv[1], process=process, incarnation=1)
count = graph.num_nodes()
tensor = troupe.DistTensor((count, 2), "float32", "h", init_func=1.5, persistent=True, graph=graph)
assert (tensor[:] == 1.5).all()
graph.barrier(60)
mine = np.arange(process, count, 4)
tensor[mine] = np.stack([mine, -mine], axis=1)
graph.barrier(60)
every = np.arange(count)
assert np.array_equal(tensor[every], np.stack([every, -every], axis=1))
makers = troupe.DistTensor((count,), "int64", graph=graph)
makers[process] = int(tensor.made)
graph.barrier(60)
assert makers.count_nonzero() == 1
graph.barrier(60)
print("done", flush=True)
"""


def test_four_processes_share_a_tensor(world: World, tmp_path: Path) -> None:
    hosts = [
        {
            "name": f"h{p}",
            "unix": str(tmp_path / f"s{p}"),
            "servers": 1,
            "samplers": 1,
            "trainers": 1,
            "loops": 1,
        }
        for p in range(4)
    ]
    file = tmp_path / "c.json"
    file.write_text(json.dumps({"name": "job", "graph": str(world.path), "hosts": hosts}))
    command = [sys.executable, "-c", RANK, str(file)]
    ranks = [
        subprocess.Popen(
            [*command, str(p)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        for p in range(4)
    ]
    try:
        said = [rank.communicate(timeout=120)[0] for rank in ranks]
    finally:
        for rank in ranks:
            rank.kill()
            rank.wait()
    assert all("done" in words for words in said), "\n".join(said)
