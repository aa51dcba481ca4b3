# SPDX-License-Identifier: Apache-2.0
"""Samplers and collate functions of a program's own, on threads and in processes."""

from __future__ import annotations

import signal
import threading
import time
from typing import Any

import numpy as np
import pytest
from conftest import World

import troupe

FANOUTS = [3, 4]


class Slow(troupe.BlockSampler):
    """Draws by the library, later batches sooner."""

    def __init__(self) -> None:
        self.sampler = troupe.NeighborSampler(FANOUTS)
        self.threads: set[int] = set()

    def sample_blocks(self, g: troupe.DistGraph, seeds: Any, exclude_eids: Any = None) -> Any:
        self.threads.add(threading.get_ident())
        time.sleep(0.02 * (int(seeds[0]) % 3))
        return self.sampler.sample_blocks(g, seeds, exclude_eids)

    def __getstate__(self) -> dict:
        return {"sampler": self.sampler, "threads": set()}


def ids_of(drawn: Any) -> list[list[int]]:
    """What a process can send back."""
    input_nodes, output_nodes, blocks = drawn
    edges = [block.as_csr().edge_ids.tolist() for block in blocks]
    return [input_nodes.tolist(), output_nodes.tolist(), *edges]


def loader_of(g: troupe.DistGraph, sampler: Any, **options: Any) -> troupe.DistNodeDataLoader:
    given = {"batch_size": 300, "shuffle": True, "seed": 5, **options}
    return troupe.DistNodeDataLoader(g, None, sampler, **given)


def test_an_own_sampler_gets_the_seeds_in_their_order(graph: troupe.DistGraph) -> None:
    plain = [batch.output_nodes for batch in loader_of(graph, troupe.NeighborSampler([2]))]
    sampler = Slow()
    loader = loader_of(graph, sampler, num_workers=3)
    assert len(loader) == len(plain) == 7
    for _, output_nodes, blocks in loader:
        assert np.array_equal(output_nodes, plain.pop(0))
        assert len(blocks) == 2 and blocks[-1].num_dst_nodes() == len(output_nodes)
    assert not plain and loader.epoch == 1
    assert 1 < len(sampler.threads) <= 3 and threading.get_ident() not in sampler.threads


def test_workers_change_no_batch(graph: troupe.DistGraph) -> None:
    found = [
        list(loader_of(graph, Slow(), collate_fn=ids_of, num_workers=workers, **options))
        for workers, options in ((1, {}), (4, {}), (2, {"worker_processes": True}))
    ]
    assert len(found[0]) == 7 and found[0] == found[1] == found[2]
    other = list(loader_of(graph, Slow(), collate_fn=ids_of, seed=6))
    assert other != found[0]


def test_a_collate_function_takes_the_librarys_batches(graph: troupe.DistGraph) -> None:
    sampler = troupe.NeighborSampler(FANOUTS)
    digests = [batch.digest() for batch in loader_of(graph, sampler, features="feat")]
    loader = loader_of(
        graph,
        sampler,
        features="feat",
        collate_fn=lambda batch: (batch.digest(), batch.features.shape[1]),
    )
    assert list(loader) == [(digest, 16) for digest in digests]


def test_an_epoch_goes_on_where_it_was(graph: troupe.DistGraph) -> None:
    whole = list(loader_of(graph, Slow(), collate_fn=ids_of))
    loader = loader_of(graph, Slow(), collate_fn=ids_of)
    begun = [next(iter(loader)), next(loader), next(loader)]
    state = loader.state_dict()
    assert begun == whole[:3] and state == {"epoch": 0, "batch": 3, "batches": len(whole)}
    again = loader_of(graph, Slow(), collate_fn=ids_of)
    again.load_state_dict(state)
    assert list(again) == whole[3:]
    # Leaving an epoch leaves nothing behind in the next one.
    first = next(iter(loader))
    assert loader.epoch == 1 and first not in whole
    loader.set_epoch(0)
    assert list(loader) == whole
    loader.close()


class Failing(Slow):
    """The last batch has fewer seeds."""

    def sample_blocks(self, g: troupe.DistGraph, seeds: Any, exclude_eids: Any = None) -> Any:
        if len(seeds) < 300:
            raise KeyError("the last batch")
        return super().sample_blocks(g, seeds)


def test_an_exception_stands_for_its_batch(graph: troupe.DistGraph) -> None:
    loader = loader_of(graph, Failing())
    taken = 0
    with pytest.raises(KeyError, match="the last batch"):
        for _ in loader:
            taken += 1
    assert taken == 6
    with pytest.raises(StopIteration):
        next(loader)
    assert loader.epoch == 1


def test_what_draws_nothing_is_refused(graph: troupe.DistGraph) -> None:
    with pytest.raises(TypeError, match="no sample_blocks"):
        loader_of(graph, object())
    with pytest.raises(troupe.Error, match="brings its rows itself"):
        loader_of(graph, Slow(), features="feat")
    with pytest.raises(troupe.Error, match="worker_processes"):
        loader_of(graph, troupe.NeighborSampler([2]), worker_processes=True)
    with pytest.raises(NotImplementedError, match="defines no sample_blocks"):
        next(iter(loader_of(graph, troupe.BlockSampler())))


def test_output_rows_follow_the_seeds_as_given(graph: troupe.DistGraph, world: World) -> None:
    seeds = [9, 3, 3, 1500, 9]
    batch = troupe.NeighborSampler(FANOUTS).draw(graph, seeds, seed=1, features="feat")
    assert batch.output_nodes.tolist() == seeds
    assert batch.blocks[-1].num_dst_nodes() == 5
    assert np.array_equal(batch.features[:5], graph.ndata["feat"][seeds])
    every = troupe.sample_neighbors(graph, seeds, -1, seed=1)
    sources, destinations = every.edges()
    degrees = graph.in_degrees()[seeds]
    assert destinations.tolist() == np.repeat(seeds, degrees).tolist()
    original = graph.orig_ids(ids=sources), graph.orig_ids(ids=destinations)
    known = {(int(s), int(d)) for s, d in world.edges}
    assert set(zip(*(ids.tolist() for ids in original), strict=True)) <= known


class Held(troupe.BlockSampler):
    """Draws when it is let."""

    def __init__(self) -> None:
        self.let = threading.Event()

    def sample_blocks(self, g: Any, seeds: Any, exclude_eids: Any = None) -> Any:
        self.let.wait(60)
        return np.asarray(seeds).tolist()


def test_a_signal_loses_no_batch(graph: troupe.DistGraph) -> None:
    sampler = Held()
    loader = troupe.DistNodeDataLoader(graph, list(range(90)), sampler, batch_size=9)

    def handler(*_: object) -> None:
        raise LookupError("from the handler")

    before = signal.signal(signal.SIGALRM, handler)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        with pytest.raises(LookupError, match="from the handler"):
            next(loader)
    finally:
        signal.signal(signal.SIGALRM, before)
    assert loader.state_dict()["batch"] == 0
    sampler.let.set()
    assert sorted(seed for seeds in loader for seed in seeds) == list(range(90))
