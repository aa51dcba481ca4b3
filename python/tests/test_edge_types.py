# SPDX-License-Identifier: Apache-2.0
"""Loaders of edges of several types: each edge once, with the ends and negatives of its type."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import troupe
from troupe import errors
from troupe.edge_exclusion import Exclusion
from troupe.negative_sampler import Corruption, InBatch, NegativeSampler, PerSourceUniform

PAPERS, AUTHORS, EDGES = 200, 90, 800
CITES = ("paper", "cites", "paper")
WRITES = ("author", "writes", "paper")
BY = ("paper", "by", "author")
TYPES = (CITES, WRITES, BY)
COUNTS = {"paper": PAPERS, "author": AUTHORS}


@pytest.fixture(scope="module")
def books(tmp_path_factory: pytest.TempPathFactory) -> dict[int, str]:
    """Edge i of `by` reverses edge i of `writes`."""
    random = np.random.default_rng(5)
    ends = {name: random.integers(0, COUNTS[name[0]], EDGES) for name in (CITES, WRITES)}
    into = {name: random.integers(0, PAPERS, EDGES) for name in (CITES, WRITES)}
    edges = {name: (ends[name], into[name]) for name in (CITES, WRITES)}
    edges[BY] = edges[WRITES][::-1]
    folder: Path = tmp_path_factory.mktemp("types")
    for parts in (1, 3):
        troupe.partition_graph(
            edges,
            "g",
            parts,
            folder / str(parts),
            part_method="random",
            num_nodes=COUNTS,
            edata={name: {"number": np.arange(EDGES)} for name in TYPES},
        )
    return {parts: str(folder / str(parts) / "g.json") for parts in (1, 3)}


class Own(troupe.BlockSampler):
    """A program's own, which is given the nodes of both types."""

    def __init__(self) -> None:
        self.drawer = troupe.NeighborSampler([2])

    def sample_blocks(self, g: Any, seeds: Any, exclude_eids: Any = None) -> Any:
        assert set(seeds) == set(COUNTS)
        return seeds, seeds, []


class Fixed(NegativeSampler):
    """Node 0 in the place of each end."""

    def _generate(self, g: Any, eids: Any, canonical_etype: Any) -> tuple[Any, Any]:
        none = np.zeros(len(eids), np.int64)
        return none, none


def check_batch(graph: troupe.DistGraph, batch: Any, seen: dict[Any, list[Any]]) -> None:
    _, pairs, negative, blocks = batch
    nodes = {name: np.asarray(ids) for name, ids in pairs.ndata[troupe.NID].items()}
    for name, ids in nodes.items():
        assert len(np.unique(ids)) == len(ids)
        assert np.array_equal(ids, negative.ndata[troupe.NID][name])
        if blocks:
            assert np.array_equal(ids, blocks[-1].dstnodes[name].data[troupe.NID])
    for name in pairs.canonical_etypes:
        ids = np.asarray(pairs.edges[name].data[troupe.EID])
        seen[name].append(ids)
        ends = pairs.edges(etype=name)
        for end, at, wanted in zip((0, 2), ends, graph.find_edges(ids, name), strict=True):
            assert np.array_equal(nodes[name[end]][np.asarray(at)], np.asarray(wanted))
        for end, at in zip((0, 2), negative.edges(name), strict=True):
            assert len(at) == negative.num_edges(name)
            assert (np.asarray(at) < len(nodes[name[end]])).all()
    assert not negative.edata and pairs.num_edges() == sum(map(pairs.num_edges, TYPES))


@pytest.mark.parametrize(
    "given",
    [
        {"negative_sampler": PerSourceUniform(2)},
        {"negative_sampler": InBatch(1, "both"), "exclude": "self"},
        {
            "negative_sampler": Corruption(3, by_degree=True),
            "exclude": "reverse_types",
            "reverse_etypes": {"writes": "by", "by": "writes"},
        },
        {"negative_sampler": Fixed(), "exclude": "self"},
    ],
    ids=lambda given: repr(given["negative_sampler"]).split()[0],
)
def test_every_edge_comes_once_in_a_batch_of_all_types(
    books: dict[int, str], given: dict[str, Any]
) -> None:
    """Where the library draws, and where a program chooses the negatives."""
    with troupe.open(books[3], seed=7) as graph:
        eids = {"by": None, CITES: np.arange(0, EDGES, 2), WRITES: None}
        sampler = troupe.NeighborSampler([3])
        loader = troupe.DistEdgeDataLoader(
            graph, eids, sampler, batch_size=300, shuffle=True, **given
        )
        assert loader.in_library == (not isinstance(given["negative_sampler"], Fixed))
        assert len(loader) == -(-(2 * EDGES + EDGES // 2) // 300)
        seen: dict[Any, list[Any]] = {name: [] for name in TYPES}
        mixed = 0
        for batch in loader:
            check_batch(graph, batch, seen)
            check_left_out(graph, batch, given)
            mixed += all(batch[1].num_edges(name) > 0 for name in TYPES)
        assert mixed > 2
        for name, ids in seen.items():
            wanted = np.arange(0, EDGES, 2) if name == CITES else np.arange(EDGES)
            assert np.array_equal(np.sort(np.concatenate(ids)), wanted)
        again = pickle.loads(pickle.dumps(loader))
        assert len(again) == len(loader) and again.in_library == loader.in_library


def test_a_type_without_edges_has_no_negatives(tmp_path: Path) -> None:
    """Of whose ends those by degree would be."""
    none = np.empty(0, np.int64)
    edges = {WRITES: (np.arange(AUTHORS), np.arange(AUTHORS)), BY: (none, none)}
    troupe.partition_graph(edges, "g", 2, tmp_path / "none", part_method="random", num_nodes=COUNTS)
    with troupe.open(str(tmp_path / "none" / "g.json"), seed=7) as graph:
        for shared in (False, True):
            sampler = Corruption(2, shared=shared, by_degree=True)
            for ends in sampler(graph, {"by": none})[BY]:
                assert len(ends) == 0


def check_left_out(graph: troupe.DistGraph, batch: Any, given: dict[str, Any]) -> None:
    if "exclude" not in given:
        return
    _, pairs, _, blocks = batch
    number = {name: np.asarray(graph.edges[name].data["number"][:]) for name in TYPES}
    gone = {name: number[name][np.asarray(pairs.edata[troupe.EID][name])] for name in TYPES}
    if "reverse_etypes" in given:
        both = np.concatenate([gone[WRITES], gone[BY]])
        gone[WRITES] = gone[BY] = both
    for name in TYPES:
        drawn = np.asarray(blocks[0].as_csr(name).edge_ids)
        assert not np.isin(number[name][drawn], gone[name]).any()


@pytest.mark.parametrize("in_library", [True, False])
def test_listed_reverses_are_left_out_of_their_types(
    books: dict[int, str], in_library: bool
) -> None:
    """Of edges by ID, where the library draws and where Python does; some have no reverse."""
    with troupe.open(books[3], seed=7) as graph:
        reverse = {name: np.random.default_rng(2).permutation(EDGES) for name in (CITES, BY)}
        reverse[CITES][::9] = -1
        options: dict[str, Any] = {} if in_library else {"negative_sampler": Fixed()}
        loader = troupe.DistEdgeDataLoader(
            graph,
            {CITES: None, WRITES: np.arange(EDGES // 2), BY: None},
            troupe.NeighborSampler([-1]),
            batch_size=200,
            shuffle=True,
            exclude="reverse_id",
            reverse_eids={"cites": reverse[CITES], BY: reverse[BY]},
            **options,
        )
        assert loader.in_library == in_library
        _, cited = graph.find_edges(np.arange(EDGES), CITES)
        degrees = np.bincount(np.asarray(cited), minlength=PAPERS)
        for batch in loader:
            ids = {name: np.asarray(of) for name, of in batch[1].edata[troupe.EID].items()}
            for name in TYPES:
                gone = ids[name]
                if name in reverse:
                    gone = np.concatenate([gone, reverse[name][gone]])
                drawn = np.asarray(batch[-1][0].as_csr(name).edge_ids)
                assert not np.isin(drawn, gone).any()
            block, csr = batch[-1][0], batch[-1][0].as_csr(CITES)
            nodes = np.asarray(block.dstnodes["paper"].data[troupe.NID])
            gone = np.unique(np.concatenate([ids[CITES], reverse[CITES][ids[CITES]]]))
            _, targets = graph.find_edges(gone[gone >= 0], CITES)
            missing = np.bincount(np.asarray(targets), minlength=PAPERS)[nodes]
            assert np.array_equal(np.diff(np.asarray(csr.indptr)), degrees[nodes] - missing)
        assert len(pickle.loads(pickle.dumps(loader))) == len(loader)


def test_reverses_of_ranks_without_edges_are_padded(books: dict[int, str]) -> None:
    with troupe.open(books[1], seed=7) as graph:
        for eids in ([1, 2], {CITES: [1], BY: [2]}):
            etype = CITES if isinstance(eids, list) else None
            loader = troupe.DistEdgeDataLoader(
                graph,
                eids,
                troupe.NeighborSampler([2]),
                etype=etype,
                rank=2,
                world=3,
                exclude="reverse_id",
                reverse_eids={CITES: np.arange(EDGES)},
            )
            assert [pairs.num_edges() for _, pairs, _ in loader] == [1]
        with pytest.raises(errors.OutOfRange, match="reverse_ids"):
            troupe.DistEdgeDataLoader(
                graph,
                {CITES: None},
                troupe.NeighborSampler([2]),
                exclude="reverse_id",
                reverse_eids=np.full(EDGES, EDGES),
            )


def test_placements_give_the_same_batches(books: dict[int, str]) -> None:
    found = []
    for parts in (1, 3):
        with troupe.open(books[parts], seed=3) as graph:
            loader = troupe.DistEdgeDataLoader(
                graph,
                {CITES: None, BY: None},
                troupe.NeighborSampler([2]),
                batch_size=100,
                shuffle=True,
                negative_sampler=Corruption(2),
            )
            number = {name: np.asarray(graph.edges[name].data["number"][:]) for name in TYPES}
            found.append(
                [
                    [
                        number[name][np.asarray(pairs.edges[name].data[troupe.EID])]
                        for name in (CITES, BY)
                    ]
                    + [
                        np.asarray(graph.orig_ids(name[2], negative.ndata[troupe.NID][name[2]]))[
                            np.asarray(negative.edges(name)[1])
                        ]
                        for name in (CITES, BY)
                    ]
                    for _, pairs, negative, _ in loader
                ]
            )
    for one, three in zip(*found, strict=True):
        assert all(map(np.array_equal, one, three))


def test_a_program_draws_around_the_ends_of_all_types(books: dict[int, str]) -> None:
    with troupe.open(books[3], seed=7) as graph:
        loader = troupe.DistEdgeDataLoader(
            graph,
            dict.fromkeys(TYPES),
            Own(),
            batch_size=500,
            negative_sampler=PerSourceUniform(1),
        )
        assert not loader.in_library
        seen: dict[Any, list[Any]] = {name: [] for name in TYPES}
        for batch in loader:
            check_batch(graph, batch, seen)
        assert all(len(np.concatenate(ids)) == EDGES for ids in seen.values())


def test_ranks_without_edges_are_padded_with_all_types(books: dict[int, str]) -> None:
    with troupe.open(books[1], seed=7) as graph:
        for rank in range(3):
            loader = troupe.DistEdgeDataLoader(
                graph,
                {CITES: [1, 2], BY: [3, 4]},
                troupe.NeighborSampler([2]),
                rank=rank,
                world=3,
                negative_sampler=PerSourceUniform(1),
                collate_fn=lambda batch: batch,
            )
            batches = list(loader)
            assert len(batches) == len(loader) == 2
            assert all(set(pairs.canonical_etypes) == {CITES, BY} for _, pairs, _, _ in batches)
            assert all(pairs.num_edges() == 1 for _, pairs, _, _ in batches)


def test_seeds_of_several_node_types_are_one_draw(books: dict[int, str]) -> None:
    """In the order given, repeats included, each type as if it were drawn alone."""
    with troupe.open(books[3], seed=7) as graph:
        sampler = troupe.NeighborSampler([3])
        seeds = {"author": [5, 2, 5], "paper": [9, 100, 3, 0]}
        both = sampler.draw(graph, seeds, seed=4)
        for name, ids in seeds.items():
            assert np.asarray(both.output_nodes[name]).tolist() == ids
            alone = sampler.draw(graph, {name: ids}, seed=4)
            for etype in TYPES:
                if etype[2] == name:
                    drawn = [np.asarray(b.blocks[0].as_csr(etype).edge_ids) for b in (both, alone)]
                    assert np.array_equal(*drawn) and len(drawn[0]) > 0
        with pytest.raises(errors.OutOfRange):
            sampler.draw(graph, {"author": [AUTHORS], "paper": [1]})
        with pytest.raises(errors.InvalidArgument, match="seeds: there are none"):
            sampler.draw(graph, {"author": [], "paper": []})


def test_what_names_no_types_is_refused(books: dict[int, str]) -> None:
    with troupe.open(books[1], seed=7) as graph:
        sampler = troupe.NeighborSampler([2])
        with pytest.raises(errors.InvalidArgument, match="no edge type"):
            troupe.DistEdgeDataLoader(graph, {}, sampler)
        with pytest.raises(errors.InvalidArgument, match="a mapping of edge types"):
            troupe.DistEdgeDataLoader(graph, {CITES: None, BY: None}, sampler, etype=CITES)
        with pytest.raises(errors.InvalidArgument, match="both of edge type"):
            troupe.DistEdgeDataLoader(graph, {CITES: None, "cites": None}, sampler)
        one = next(iter(troupe.DistEdgeDataLoader(graph, {"by": [5]}, sampler)))
        assert one[1].etype == BY and one[1].num_edges() == 1
        typed = next(iter(troupe.DistEdgeDataLoader(graph, {CITES: [1], BY: [5]}, sampler)))[1]
        with pytest.raises(errors.NotFound, match="give one of"):
            typed.edges(WRITES)
        assert Exclusion("self").in_library(graph, CITES, BY) is not None
        assert "2 edge types" in repr(typed) and typed.num_nodes("paper") > 0
