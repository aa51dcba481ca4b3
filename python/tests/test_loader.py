# SPDX-License-Identifier: Apache-2.0
"""Loaders and batches: equal to those in C, over the batch's own memory, kept as long as used."""

from __future__ import annotations

import gc
import os
import pickle
import subprocess
import sys
import threading
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import NODES, World

import troupe

HERE = Path(__file__).resolve().parent


def loader_of(graph: troupe.DistGraph, **options: Any) -> troupe.DistNodeDataLoader:
    given = {"batch_size": 100, "shuffle": True, "features": "feat", "labels": "label", **options}
    sampler = troupe.NeighborSampler([5, 3, 4])
    return troupe.DistNodeDataLoader(graph, graph.ndata["train_mask"], sampler, **given)


def dumped_by_c(world: World, folder: Path, seed: int) -> list[bytes]:
    build = Path(os.environ["TROUPE_BUILD"])
    program = folder / "dump_batches"
    libs = build / ".libs"
    words = [*os.environ.get("CC", "cc").split(), HERE / "dump_batches.c"]
    words += ["-I", HERE.parents[1] / "include"]
    words += ["-L", libs, f"-Wl,-rpath,{libs}", "-ltroupe", "-o", program]
    subprocess.run(list(map(str, words)), check=True)
    out = subprocess.run([program, world.path, str(seed)], check=True, capture_output=True).stdout
    arrays = []
    while out:
        length = int.from_bytes(out[:8], "little")
        arrays.append(out[8 : 8 + length])
        out = out[8 + length :]
    return arrays


def arrays_of(batch: troupe.Batch) -> list[bytes]:
    arrays = [batch.digest().to_bytes(8, "little"), batch.input_nodes, batch.orig_nodes]
    for block in batch.blocks:
        arrays += block.as_csr()
    return [bytes(memoryview(a)) for a in [*arrays, batch.features, batch.labels]]


@pytest.mark.parametrize("codec", [False, True])
def test_batches_equal_those_in_c_array_by_array(world: World, tmp_path: Path, codec: bool) -> None:
    expected = dumped_by_c(world, tmp_path, 11)
    with troupe.open(world.path, seed=11, codec=codec, direct=not codec) as graph:
        found = [array for batch in loader_of(graph) for array in arrays_of(batch)]
    assert len(found) == len(expected) > 100
    assert found == expected


def test_a_batch_is_what_the_raw_graph_has(graph: troupe.DistGraph, world: World) -> None:
    pairs = world.edges if world.edges.shape[1] == 2 else world.edges.T
    known = {tuple(pair) for pair in pairs.tolist()}
    seen = []
    for batch in loader_of(graph):
        input_nodes, output_nodes, blocks = batch
        assert np.array_equal(graph.orig_ids(ids=input_nodes), batch.orig_nodes)
        assert np.array_equal(input_nodes[: len(output_nodes)], output_nodes)
        assert np.array_equal(batch.features, world.feat[batch.orig_nodes])
        seeds = batch.orig_nodes[: len(output_nodes)]
        assert np.array_equal(batch.labels, world.label[seeds])
        assert np.array_equal(blocks[0].srcdata[troupe.NID], input_nodes)
        assert np.array_equal(blocks[-1].dstdata[troupe.NID], output_nodes)
        for above, below in pairwise(blocks):
            assert np.array_equal(above.dstdata["_ID"], below.srcdata["_ID"])
            assert above.num_dst_nodes() == below.num_src_nodes()
        for block in blocks:
            sources, destinations = block.edges()
            froms = batch.orig_nodes[sources].tolist()
            intos = batch.orig_nodes[destinations].tolist()
            assert set(zip(froms, intos, strict=True)) <= known
            assert len(block.edata[troupe.EID]) == block.num_edges() == len(sources)
            assert np.array_equal(
                block.in_degrees(), np.bincount(destinations, minlength=block.num_dst_nodes())
            )
        seen.append(seeds)
    assert np.array_equal(np.sort(np.concatenate(seen)), np.flatnonzero(world.train_mask))


def test_rows_of_a_block_by_name(graph: troupe.DistGraph) -> None:
    batch = next(iter(loader_of(graph)))
    first, last = batch.blocks[0], batch.blocks[-1]
    assert set(first.srcdata) == {"_ID", "feat"}
    assert set(last.dstdata) == {"_ID", "feat", "label"}
    assert np.array_equal(last.dstdata["feat"], batch.features[: last.num_dst_nodes()])
    first.srcdata["h"] = np.ones(3)
    assert "h" in batch.blocks[0].srcdata and "h" not in last.srcdata
    del first.srcdata["h"]
    with pytest.raises(KeyError, match="no 'h' came with the batch"):
        first.srcdata["h"]
    assert first.edges(form="eid").tolist() == list(range(first.num_edges()))
    assert first.srcnodes["_N"].data["_ID"].dtype == np.int64


def test_epochs_follow_one_another_and_the_same_seed_repeats_them(world: World) -> None:
    def digests(seed: int) -> list[list[int]]:
        with troupe.open(world.path, seed=seed) as graph:
            loader = loader_of(graph)
            return [[batch.digest() for batch in loader] for _ in range(3)]

    one, two, other = digests(5), digests(5), digests(6)
    assert one == two != other
    assert len({digest for epoch in one for digest in epoch}) == sum(map(len, one))


def test_an_epoch_that_is_left_early_is_followed_by_the_next_one(graph: troupe.DistGraph) -> None:
    whole = loader_of(graph)
    expected = [[batch.digest() for batch in whole] for _ in range(3)]
    loader = loader_of(graph)
    assert len(loader) == loader.expected_idxs == len(expected[0])
    for batch in loader:
        assert batch.digest() == expected[0][0]
        break
    assert [batch.digest() for batch in loader] == expected[1]
    assert [batch.epoch for batch in loader] == [2] * len(loader)
    loader.set_epoch(1)
    assert [batch.digest() for batch in loader] == expected[1]


def test_a_loader_goes_on_from_its_state(graph: troupe.DistGraph) -> None:
    loader = loader_of(graph)
    digests = [[batch.digest() for batch in loader] for _ in range(2)]
    loader.set_epoch(0)
    for _ in zip(range(4), loader, strict=False):
        pass
    state = pickle.loads(pickle.dumps(loader.state_dict()))
    other = loader_of(graph)
    other.load_state_dict(state)
    assert [batch.digest() for batch in other] == digests[0][4:]
    assert [batch.digest() for batch in other] == digests[1]


def test_what_is_no_place_of_a_loader_is_refused(graph: troupe.DistGraph) -> None:
    loader = loader_of(graph)
    for state in ({}, {"epoch": 0}, {"epoch": "1", "batch": 0}, None, [0, 0]):
        with pytest.raises(
            troupe.errors.InvalidArgument, match=r"give what state_dict\(\) returned"
        ):
            loader.load_state_dict(state)
    with pytest.raises(troupe.errors.OutOfRange, match=f"has {len(loader)} batches"):
        loader.begin(0, len(loader) + 1)
    for place in ((-1, 0), (0, -1), (2**32, 0)):
        with pytest.raises(troupe.errors.OutOfRange, match="count from 0"):
            loader.begin(*place)
    with pytest.raises(troupe.errors.OutOfRange, match="count from 0"):
        loader.set_epoch(-1)
    # None of these moved it.
    assert loader.state_dict() == {"epoch": 0, "batch": 0, "batches": len(loader)}


def test_what_seeds_may_be(graph: troupe.DistGraph, world: World) -> None:
    sampler = troupe.NeighborSampler([2])

    def seeds(nodes: Any) -> np.ndarray:
        loader = troupe.DistNodeDataLoader(graph, nodes, sampler, batch_size=64)
        found = [batch.output_nodes for batch in loader]
        return np.concatenate(found) if found else np.empty(0, np.int64)

    masked = graph.from_orig(np.flatnonzero(world.train_mask))
    assert np.array_equal(seeds(graph.ndata["train_mask"]), masked)
    assert np.array_equal(seeds(graph.nodes_of("train_mask")), masked)
    assert np.array_equal(seeds({"_N": graph.ndata["train_mask"]}), masked)
    assert np.array_equal(np.sort(seeds(None)), np.arange(NODES))
    assert sorted(seeds([9, 4, 4, 1])) == [1, 4, 4, 9]
    assert sorted(seeds(range(100))) == list(range(100))
    assert len(seeds([])) == 0
    book = graph.get_partition_book()
    values = world.train_mask[graph.orig_ids()]
    assert np.array_equal(np.sort(seeds(troupe.node_split(values, book))), np.sort(masked))
    with pytest.warns(UserWarning, match="taken as all nodes"):
        every = troupe.node_split(np.arange(NODES), book)
    assert len(every) == NODES and np.array_equal(np.sort(np.asarray(every)), np.arange(NODES))
    with pytest.raises(troupe.errors.InvalidArgument, match=r"shape \(3,\)"):
        troupe.node_split(np.ones(3, dtype=bool), book)
    chosen = troupe.node_split(graph.ndata["train_mask"], book)
    assert np.array_equal(np.asarray(chosen), masked) and chosen[0] == masked[0]
    assert np.array_equal(chosen.orig_ids(), np.flatnonzero(world.train_mask))
    assert np.array_equal(chosen[5:9], masked[5:9]) and list(chosen)[:3] == masked[:3].tolist()


def test_options_that_cannot_be_are_refused(graph: troupe.DistGraph) -> None:
    sampler = troupe.NeighborSampler([2])
    with pytest.raises(troupe.errors.NotFound, match="nothing"):
        troupe.DistNodeDataLoader(graph, None, sampler, features="nothing")
    with pytest.raises(troupe.errors.InvalidArgument, match="batch_size=0"):
        troupe.DistNodeDataLoader(graph, None, sampler, batch_size=0)
    with pytest.raises(NotImplementedError, match="device"):
        troupe.DistNodeDataLoader(graph, None, sampler, device="cuda:0")
    with pytest.raises(troupe.errors.InvalidArgument, match="0 layers"):
        troupe.NeighborSampler([])
    with pytest.raises(troupe.errors.InvalidArgument, match="exclude each other"):
        troupe.NeighborSampler([1], prob="w", mask="m")
    batch = next(iter(loader_of(graph, features=None, orig_ids=False, edge_ids=False)))
    with pytest.raises(troupe.errors.NotFound, match="features='NAME'"):
        _ = batch.features
    with pytest.raises(troupe.errors.NotFound, match="orig_ids=True"):
        _ = batch.orig_nodes
    with pytest.raises(troupe.errors.NotFound, match="degrees=True"):
        _ = batch.in_degrees
    assert batch.blocks[0].as_csr().edge_ids is None and "_ID" not in batch.blocks[0].edata


def test_arrays_are_the_batches_memory_and_never_the_graphs(graph: troupe.DistGraph) -> None:
    batch = next(iter(loader_of(graph)))
    first, again = batch.features, batch.features
    assert first.ctypes.data == again.ctypes.data and first.ctypes.data % 64 == 0
    assert not first.flags.writeable
    nodes = batch.input_nodes
    assert np.shares_memory(batch.blocks[-1].dstdata["_ID"], nodes)
    other = next(iter(loader_of(graph)))
    assert np.array_equal(other.features, first) and not np.shares_memory(other.features, first)
    assert np.array_equal(np.from_dlpack(_Exporter(first)), first)


class _Exporter:
    """What an array is a view of: DLPack by way of the view itself."""

    def __init__(self, array: np.ndarray) -> None:
        view = array
        while isinstance(view, np.ndarray):
            view = view.base  # type: ignore[assignment]
        self.view = view.obj if isinstance(view, memoryview) else view

    def __dlpack__(self, **options: Any) -> Any:
        return self.view.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.view.__dlpack_device__()


def test_an_array_keeps_the_memory_of_its_batch(world: World) -> None:
    graph = troupe.open(world.path, seed=2)
    batch = next(iter(loader_of(graph)))
    expected = batch.features.copy()
    kept = [np.from_dlpack(_Exporter(batch.features)), batch.features[5:], memoryview(batch.labels)]
    labels = batch.labels.copy()
    del batch
    graph.close()
    del graph
    gc.collect()
    assert np.array_equal(kept[0], expected) and np.array_equal(kept[1], expected[5:])
    assert np.array_equal(np.asarray(kept[2]), labels)


def test_memory_comes_back_without_the_collector(world: World) -> None:
    # A bound that a few batches fill: the epochs end only if each gives its memory back at once.
    gc.disable()
    try:
        with troupe.open(world.path, seed=2, memory_bytes_max=4 << 20, loops=1) as graph:
            loader = loader_of(graph, batch_size=200)
            for _ in range(20):
                for batch in loader:
                    blocks = batch.blocks
                    blocks[0].srcdata["h"] = blocks[0].srcdata["feat"]
                    _ = blocks[0].edges(), blocks[-1].dstdata["label"], batch.features
    finally:
        gc.enable()


def test_batches_that_fill_the_bound_are_refused_and_released(world: World) -> None:
    with troupe.open(world.path, seed=2, memory_bytes_max=1 << 20, loops=1) as graph:
        loader = loader_of(graph, batch_size=200, timeout=20)
        held = []
        with pytest.raises(troupe.errors.Full):
            for _ in range(100):
                held.extend(loader)
        assert held
        held.clear()
        assert next(iter(loader)).features.shape[1] == 16


def test_arrays_are_released_on_any_thread(graph: troupe.DistGraph) -> None:
    for _ in range(3):
        for batch in loader_of(graph):
            box = [batch.features, batch.blocks[0].as_csr()]
            del batch
            thread = threading.Thread(target=box.clear)
            thread.start()
            thread.join()


def test_abandoned_loaders_leave_nothing(world: World) -> None:
    with troupe.open(world.path, seed=2, memory_bytes_max=64 << 20) as graph:
        before = len(os.listdir("/proc/self/fd"))
        for number in range(200):
            for _, batch in zip(range(number % 3), loader_of(graph), strict=False):
                del batch
        assert len(os.listdir("/proc/self/fd")) <= before + 2
        assert len(list(loader_of(graph))) == len(loader_of(graph))


def test_exceptions_in_the_loop_leave_the_loader_usable(graph: troupe.DistGraph) -> None:
    loader = loader_of(graph)
    for _ in range(10):
        with pytest.raises(RuntimeError), loader:
            for _ in loader:
                raise RuntimeError("in the loop")
        loader = loader_of(graph)
    assert len(list(loader)) == len(loader)


def test_several_threads_with_loaders_of_their_own(graph: troupe.DistGraph) -> None:
    expected = [batch.digest() for batch in loader_of(graph)]
    found: list[list[int]] = []

    def run() -> None:
        found.append([batch.digest() for batch in loader_of(graph)])

    threads = [threading.Thread(target=run) for _ in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 10


def test_the_interpreter_ends_with_batches_alive(world: World) -> None:
    code = (
        "import sys, troupe\n"
        "g = troupe.open(sys.argv[1])\n"
        "loader = troupe.DistNodeDataLoader(g, None, troupe.NeighborSampler([3, 3]),\n"
        "                                   batch_size=50, features='feat')\n"
        "kept = [next(iter(loader)) for _ in range(3)]\n"
        "rows = [batch.features for batch in kept]\n"
        "sys.kept = kept, rows, loader, g\n"
    )
    words = [sys.executable, "-X", "dev", "-c", code, str(world.path)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and done.stderr == ""


def test_a_loader_pickles_as_what_opens_it(graph: troupe.DistGraph) -> None:
    loader = loader_of(graph)
    again = pickle.loads(pickle.dumps(loader))
    assert [b.digest() for b in again] == [b.digest() for b in loader]


def test_sampling_once(graph: troupe.DistGraph, world: World) -> None:
    seeds = [9, 4, 4, 1]
    sampler = troupe.NeighborSampler([2, 3])
    batch = sampler.draw(graph, seeds, seed=5, features="feat")
    assert batch.output_nodes.tolist() == seeds
    assert batch.digest() == sampler.draw(graph, seeds, seed=5).digest()
    assert batch.digest() != sampler.draw(graph, seeds, seed=6).digest()
    # Without a seed each call draws anew, and the same calls draw the same in another process.
    with troupe.open(world.path, seed=7) as other:
        ours = [sampler.draw(graph, seeds).digest() for _ in range(3)]
        assert ours == [sampler.draw(other, seeds).digest() for _ in range(3)]
        assert len(set(ours)) == 3
    input_nodes, output_nodes, blocks = sampler.sample_blocks(graph, seeds)
    assert len(blocks) == 2 and output_nodes.tolist() == seeds
    assert blocks[0].num_src_nodes() == len(input_nodes)


def test_sampled_neighbours_are_in_edges(graph: troupe.DistGraph) -> None:
    drawn = troupe.sample_neighbors(graph, [1, 2, 3], 4)
    sources, destinations = drawn.edges()
    assert len(sources) == len(destinations) == drawn.num_edges() == len(drawn.edge_ids())
    assert set(destinations.tolist()) <= {1, 2, 3}
    every = graph.sample_neighbors([5], -1)
    assert every.num_edges() == graph.in_degrees(5)
