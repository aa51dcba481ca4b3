# SPDX-License-Identifier: Apache-2.0
"""Features that a loop reads of each batch: read ahead, and always what a read gives then."""

from __future__ import annotations

import gc
import threading
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import troupe

torch = pytest.importorskip("torch")

from troupe.batch import Block  # noqa: E402
from troupe.dgl import dgl_samplers, distributed  # noqa: E402
from troupe.dgl.dgl_loaders import QUEUE, DistDataLoader  # noqa: E402
from troupe.dgl.rows_ahead import Feature, Place, ReadAhead  # noqa: E402
from troupe.sampler import NeighborSampler as TroupeSampler  # noqa: E402
from troupe.tables import Table  # noqa: E402

NODES, EDGES, SIZE = 800, 4000, 40
TO = ("b", "to", "a")
# Until a loader knows what its loop reads, it has so many batches.
UNKNOWN = QUEUE + 1


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two node types, and features of nodes and edges that tell their original IDs."""
    chance = np.random.default_rng(3)
    edges = {
        ("a", "own", "a"): chance.integers(0, NODES, (2, EDGES)),
        TO: chance.integers(0, NODES, (2, EDGES)),
    }
    rows = np.arange(2 * NODES, dtype=np.float32).reshape(NODES, 2)
    labels = np.arange(NODES) % 5
    folder = tmp_path_factory.mktemp("ahead") / "parts"
    troupe.partition_graph(
        edges,
        "g",
        3,
        folder,
        part_method="random",
        num_nodes={"a": NODES, "b": NODES},
        ndata={"a": {"feat": rows, "label": labels, "mask": labels == 1}, "b": {"feat": -rows}},
        edata={name: {"w": np.arange(EDGES)} for name in edges},
    )
    return folder / "g.json"


@pytest.fixture
def g(path: Path) -> Iterator[distributed.DistGraph]:
    distributed.initialize(None, seed=3)
    yield distributed.DistGraph("g", part_config=path)
    distributed.exit_client()


@pytest.fixture(params=["drawn with blocks", "asked for beside them"])
def loader(request, g, monkeypatch: pytest.MonkeyPatch) -> Callable[..., DistDataLoader]:
    """A loader by DGL's sampler, whose blocks stay Troupe's, or by a sampler of a program's own."""
    monkeypatch.setattr(dgl_samplers, "need", lambda what: None)
    monkeypatch.setattr(Block, "to_dgl", lambda block: block)
    own = TroupeSampler([3, 4])

    def collate(items: Any) -> Any:
        batch = own.draw(g, {"a": torch.tensor(items)})
        return batch.input_nodes, batch.output_nodes, batch.blocks

    if request.param == "drawn with blocks":
        sampler = dgl_samplers.NeighborSampler([3, 4])

        def collate(items: Any) -> Any:
            return sampler.sample(g, {"a": torch.tensor(items)})

    def make(count: int = 600, queue_size: int | None = None) -> DistDataLoader:
        seeds = torch.arange(count)
        return DistDataLoader(seeds, SIZE, True, collate, False, queue_size)

    return make


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The features whose rows this thread has waited for."""
    found: list[str] = []
    fetch, here = Table.fetch, threading.get_ident()

    def fetched(table: Table, ids: Any, timeout: float | None = None) -> Any:
        if threading.get_ident() == here:
            found.append(table.name)
        return fetch(table, ids, timeout)

    monkeypatch.setattr(Table, "fetch", fetched)
    return found


def expected(g, name: str, ids: Any, sign: int = 1) -> Any:
    numbers = torch.as_tensor(g.orig_ids(name, ids)).reshape(-1, 1)
    return sign * torch.cat([2 * numbers, 2 * numbers + 1], 1).float()


def test_rows_are_there_before_the_loop_asks(g, loader, waits: list[str]) -> None:
    batches, number = loader(), 0
    for _ in range(2):
        for inputs, outputs, blocks in batches:
            feat = g.nodes["a"].data["feat"][inputs["a"]]
            others = g.nodes["b"].data["feat"][blocks[0].srcnodes["b"].data["_ID"]]
            label = g.nodes["a"].data["label"][outputs["a"]]
            mask = g.nodes["a"].data["mask"][outputs["a"]]
            edges = blocks[1].edges[TO].data["_ID"]
            weight = g.edges[TO].data["w"][edges]
            # After the first batches nothing was waited for.
            assert number < UNKNOWN or waits == []
            assert torch.equal(feat, expected(g, "a", inputs["a"]))
            assert torch.equal(others, expected(g, "b", inputs["b"], -1))
            numbers = torch.as_tensor(g.orig_ids("a", outputs["a"]))
            assert torch.equal(label, numbers % 5)
            assert mask.dtype == torch.uint8 and torch.equal(mask, (numbers % 5 == 1).byte())
            assert torch.equal(weight, g.edges[TO].data["w"][edges.tolist()])
            waits.clear()
            number += 1


def test_a_program_may_change_ids_and_rows(g, loader) -> None:
    for number, (inputs, _, _) in enumerate(loader()):
        ids = inputs["a"]
        first = g.nodes["a"].data["feat"][ids]
        assert torch.equal(first, expected(g, "a", ids))
        # Rows are the program's own: a second read gives them as they are in the graph.
        first.fill_(-1)
        assert torch.equal(g.nodes["a"].data["feat"][ids], expected(g, "a", ids))
        if number % 2:
            # IDs that were changed in place are asked for in the next read.
            ids[:] = ids.flip(0)
        assert torch.equal(g.nodes["a"].data["feat"][ids], expected(g, "a", ids))


def test_ids_that_change_before_the_first_read_count(g, loader) -> None:
    for number, (inputs, _, _) in enumerate(loader()):
        if number > UNKNOWN:
            inputs["a"][:] = (inputs["a"] + 1) % NODES
        ids = inputs["a"]
        assert torch.equal(g.nodes["a"].data["feat"][ids], expected(g, "a", ids))


def test_what_is_written_between_two_batches_is_read(g, loader) -> None:
    """A tensor of the program's, and one that it puts in the place of a feature."""
    state = distributed.DistTensor((NODES, 2), torch.float32, "state", part_policy=policy(g))
    for number, (inputs, outputs, _) in enumerate(loader()):
        if number == UNKNOWN + 2:
            g.nodes["a"].data["feat"] = state
        rows = g.nodes["a"].data["feat"][inputs["a"]]
        if number < UNKNOWN + 2:
            assert torch.equal(rows, expected(g, "a", inputs["a"]))
        else:
            assert torch.equal(rows, state[inputs["a"].tolist()])
        state[outputs["a"]] = torch.full((len(outputs["a"]), 2), number + 1.0)
        assert (state[outputs["a"]] == number + 1).all()


def policy(g) -> Any:
    return g.get_node_partition_policy("a")


def test_what_a_loop_reads_no_more_is_not_rows_ahead(g, loader, waits: list[str]) -> None:
    batches = loader()
    reader = batches._ahead
    for number, (inputs, _, _) in enumerate(batches):
        assert bool(reader.wanted()) == (0 < number <= 3)
        if number < 3:
            g.nodes["a"].data["feat"][inputs["a"]]
    for number, (inputs, _, _) in enumerate(batches):
        # One that was given up takes two batches in a row to come back.
        assert bool(reader.wanted()) == (number > 2)
        if number > 0:
            g.nodes["a"].data["feat"][inputs["a"]]


@pytest.mark.parametrize("queue", [0, 1, None])
def test_batches_are_the_same_whatever_is_read(g, loader, queue: int | None) -> None:
    def epoch(reads: bool) -> list[Any]:
        batches = loader(queue_size=queue)
        batches.number = 0
        found = []
        for inputs, _, blocks in batches:
            if reads:
                g.nodes["a"].data["feat"][inputs["a"]]
                g.edges[TO].data["w"][blocks[0].edges[TO].data["_ID"]]
            found.append([inputs["a"], inputs["b"], blocks[0].edges[TO].data["_ID"]])
        return found

    for one, other in zip(epoch(False), epoch(True), strict=True):
        assert all(map(torch.equal, one, other))


def test_nothing_is_kept_of_a_loader_that_was_left(g, loader) -> None:
    def leave() -> weakref.ref[ReadAhead]:
        batches = loader()
        for number, (inputs, _, _) in enumerate(batches):
            g.nodes["a"].data["feat"][inputs["a"]]
            if number > UNKNOWN:
                break
        threads: Any = batches._threads
        batches.close()
        # A batch that a thread is at holds the loader until it is made.
        threads.shutdown(wait=True)
        assert batches._ahead._batch is None and not batches._ahead._waiting
        return weakref.ref(batches._ahead)

    gone = [leave() for _ in range(5)]
    gc.collect()
    assert [ref() for ref in gone] == [None] * 5


def test_readers_beside_the_loop_get_rows_of_their_ids(g, loader) -> None:
    """Threads that read at once, as those that fetch ahead for themselves do."""
    wrong: list[str] = []

    def read(inputs: Any, times: int) -> None:
        for _ in range(times):
            rows = g.nodes["a"].data["feat"][inputs["a"]]
            if not torch.equal(rows, expected(g, "a", inputs["a"])):
                wrong.append("rows")

    for inputs, _, _ in loader():
        threads = [threading.Thread(target=read, args=(inputs, 3)) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert wrong == []


def test_a_second_sampler_of_fewer_layers_draws_what_it_has(g, monkeypatch) -> None:
    """Rows of the edges of a third block are read ahead; a draw of one block has no such edges."""
    monkeypatch.setattr(dgl_samplers, "need", lambda what: None)
    monkeypatch.setattr(Block, "to_dgl", lambda block: block)
    deep, flat = dgl_samplers.NeighborSampler([2, 2, 2]), dgl_samplers.NeighborSampler([3])

    def collate(items: Any) -> Any:
        seeds = {"a": torch.tensor(items)}
        found = deep.sample(g, seeds)
        return *found[:2], flat.sample(g, seeds), found[2]

    number = 0
    for _, _, (_, _, near), blocks in DistDataLoader(torch.arange(600), SIZE, True, collate, False):
        for block in (near[0], *blocks):
            edges = block.edges[TO].data["_ID"]
            weight = g.edges[TO].data["w"][edges]
            assert torch.equal(weight, g.edges[TO].data["w"][edges.tolist()])
        number += 1
    assert number > UNKNOWN


def test_another_thread_may_read_while_the_loop_gets_a_batch(g) -> None:
    """What it reads for the first time is noted at every moment of `deliver`."""
    reader = ReadAhead()
    reads = [(Feature(g, False, 0, f"feat{n}"), Place("input", 0, "a")) for n in range(3)]

    class Seen(set):
        def __contains__(self, read: object) -> bool:
            if not super().__contains__(reads[2]):
                self.add(reads[2])
                reader._scores[reads[2]] = 1
            return super().__contains__(read)

    reader.deliver("a batch", {})
    for read in reads[:2]:
        reader._note(read)
    reader._seen = Seen(reads[:1])
    reader.deliver("the next one", {})
    assert reader.wanted() == [reads[0], reads[2]]
