# SPDX-License-Identifier: Apache-2.0
"""Loaders of edges: every edge once, nothing told by itself, the same pairs on any placement."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest

import troupe
from troupe import errors
from troupe.negative_sampler import GlobalUniform, NegativeSampler, PerSourceUniform

NODES, EDGES = 300, 2000


@pytest.fixture(scope="module")
def books(tmp_path_factory: pytest.TempPathFactory) -> dict[int, str]:
    """A graph in which edge i + EDGES reverses edge i, parallel edges among them."""
    random = np.random.default_rng(3)
    ends = random.integers(0, NODES, (2, EDGES)) ** 2 // NODES
    both = np.concatenate([ends, ends[::-1]], axis=1)
    folder: Path = tmp_path_factory.mktemp("edges")
    for parts in (1, 4):
        troupe.partition_graph(
            (both[0], both[1]),
            "g",
            parts,
            folder / str(parts),
            part_method="random",
            num_nodes=NODES,
            edata={"number": np.arange(2 * EDGES)},
        )
    return {parts: str(folder / str(parts) / "g.json") for parts in (1, 4)}


def drawn_all(graph: troupe.DistGraph, blocks: list, fanouts: list, excluded: np.ndarray) -> None:
    """Nothing that is excluded is drawn, and draws are as full as the other edges allow."""
    _, targets = graph.find_edges(np.unique(excluded))
    missing = np.bincount(np.asarray(targets), minlength=NODES)
    for block, fanout in zip(blocks, fanouts, strict=True):
        csr = block.as_csr()
        assert not np.isin(np.asarray(csr.edge_ids), excluded).any()
        nodes = np.asarray(block.dstdata[troupe.NID])
        left = np.asarray(graph.in_degrees(nodes)) - missing[nodes]
        assert np.array_equal(np.diff(np.asarray(csr.indptr)), np.minimum(left, fanout))


@pytest.mark.parametrize("mode", ["self", "reverse_id"])
def test_every_edge_comes_once_and_is_left_out_of_its_batch(
    books: dict[int, str], mode: str
) -> None:
    with troupe.open(books[4], seed=7) as graph:
        number = np.asarray(graph.edata["number"][:])
        by_number = np.argsort(number)
        reverse = by_number[(number + EDGES) % (2 * EDGES)]
        loader = troupe.DistEdgeDataLoader(
            graph,
            None,
            troupe.NeighborSampler([3, 5]),
            batch_size=300,
            shuffle=True,
            exclude=mode,
            reverse_eids=reverse,
            negative_sampler=PerSourceUniform(2),
        )
        assert len(loader) == -(-2 * EDGES // 300)
        for _ in range(2):
            seen = []
            for inputs, pairs, negative, blocks in loader:
                ids = pairs.edata[troupe.EID]
                seen.append(ids)
                nodes = np.asarray(blocks[-1].dstdata[troupe.NID])
                assert np.array_equal(pairs.ndata[troupe.NID], nodes)
                assert np.array_equal(negative.ndata[troupe.NID], nodes)
                assert np.array_equal(inputs, blocks[0].srcdata[troupe.NID])
                assert len(np.unique(nodes)) == len(nodes)
                ends = graph.find_edges(ids)
                for found, wanted in zip(pairs.edges(), ends, strict=True):
                    assert np.array_equal(nodes[found], wanted)
                sources = np.repeat(np.asarray(ends[0]), 2)
                assert np.array_equal(nodes[negative.edges()[0]], sources)
                gone = ids if mode == "self" else np.concatenate([ids, reverse[ids]])
                drawn_all(graph, blocks, [3, 5], gone)
            assert np.array_equal(np.sort(np.concatenate(seen)), np.arange(2 * EDGES))
        again = pickle.loads(pickle.dumps(loader))
        assert len(again) == len(loader) and again.sampler.exclusion.exclude == mode


def test_placements_give_the_same_batches(books: dict[int, str]) -> None:
    found = {}
    for parts, path in books.items():
        with troupe.open(path, seed=7) as graph:
            number = np.asarray(graph.edata["number"][:])
            loader = troupe.DistEdgeDataLoader(
                graph,
                None,
                troupe.NeighborSampler([3, 5]),
                batch_size=500,
                shuffle=True,
                exclude="self",
                negative_sampler=GlobalUniform(3),
            )
            found[parts] = [
                [
                    graph.orig_ids(None, inputs),
                    number[pairs.edata[troupe.EID]],
                    graph.orig_ids(None, pairs.ndata[troupe.NID]),
                    *negative.edges(),
                    *(number[np.asarray(block.as_csr().edge_ids)] for block in blocks),
                ]
                for inputs, pairs, negative, blocks in loader
            ]
    assert len(found[1]) == len(found[4]) == 8
    for one, four in zip(found[1], found[4], strict=True):
        assert all(map(np.array_equal, one, four))


def test_global_pairs_are_no_edges(books: dict[int, str]) -> None:
    with troupe.open(books[4], seed=7) as graph:
        sources, targets = GlobalUniform(4)(graph, np.arange(200))
        assert len(sources) == len(targets) == 800 and (sources != targets).all()
        every = graph.find_edges(np.arange(2 * EDGES))
        keys = np.unique(sources * NODES + targets)
        assert len(keys) == 800
        assert not np.isin(keys, np.asarray(every[0]) * NODES + np.asarray(every[1])).any()


class Fixed(NegativeSampler):
    """A program's own."""

    def _generate(self, g, eids, canonical_etype):
        return np.zeros(len(eids), np.int64), np.full(len(eids), 7)


def test_a_list_of_edges_and_a_sampler_of_a_program(books: dict[int, str]) -> None:
    with troupe.open(books[4], seed=7) as graph:
        edges = np.array([5, 9, 5, 77])
        loader = troupe.DistEdgeDataLoader(
            graph,
            edges,
            troupe.NeighborSampler([2]),
            batch_size=3,
            exclude=lambda batch: {name: ids + 1 for name, ids in batch.items()},
            negative_sampler=Fixed(),
        )
        batches = list(loader)
        ids = [pairs.edata[troupe.EID] for _, pairs, _, _ in batches]
        assert np.array_equal(np.concatenate(ids), edges)
        for _, pairs, negative, blocks in batches:
            nodes = pairs.ndata[troupe.NID]
            assert (nodes[negative.edges()[1]] == 7).all()
            gone = pairs.edata[troupe.EID] + 1
            assert not np.isin(np.asarray(blocks[0].as_csr().edge_ids), gone).any()
        with pytest.raises(errors.OutOfRange):
            troupe.DistEdgeDataLoader(graph, [2 * EDGES], troupe.NeighborSampler([2]))
        with pytest.raises(ValueError, match="unsupported mode"):
            troupe.DistEdgeDataLoader(graph, None, troupe.NeighborSampler([2]), exclude="all")


def test_trainers_share_the_edges_out_and_pad_the_last_step(books: dict[int, str]) -> None:
    with troupe.open(books[4], seed=7) as graph:
        seen, counts = [], []
        for rank in range(3):
            loader = troupe.DistEdgeDataLoader(
                graph,
                np.arange(13),
                troupe.NeighborSampler([2]),
                batch_size=4,
                rank=rank,
                world=3,
            )
            batches = [pairs.edata[troupe.EID] for _, pairs, _ in loader]
            counts.append(len(batches))
            seen += batches
        assert counts == [2, 2, 2]
        every = np.concatenate(seen)
        assert np.array_equal(np.unique(every), np.arange(13))
