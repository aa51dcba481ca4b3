# SPDX-License-Identifier: Apache-2.0
"""Loaders of edges: every edge once, nothing told by itself, the same pairs on any placement."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest

import troupe
from troupe import errors
from troupe.edge_exclusion import Exclusion
from troupe.negative_sampler import (
    Corruption,
    GlobalUniform,
    InBatch,
    NegativeSampler,
    PerSourceUniform,
    SharedUniform,
)

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


@pytest.mark.parametrize("mode", ["self", "reverse_id", "halves"])
def test_every_edge_comes_once_and_is_left_out_of_its_batch(
    books: dict[int, str], mode: str
) -> None:
    exclude = "reverse_id" if mode == "halves" else mode
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
            exclude=exclude,
            reverse_eids={"halves": mode, "reverse_id": reverse}.get(mode),
            negative_sampler=PerSourceUniform(2),
        )
        assert loader.in_library
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
        assert len(again) == len(loader) and again.sampler.exclusion.exclude == exclude
        assert again.in_library == loader.in_library


LIKES, LIKED = ("user", "likes", "user"), ("user", "liked", "user")


def test_reverses_of_another_type_are_left_out_by_the_library(tmp_path: Path) -> None:
    ends = np.random.default_rng(4).integers(0, 40, (2, 500))
    troupe.partition_graph(
        {LIKES: (ends[0], ends[1]), LIKED: (ends[1], ends[0])},
        "g",
        3,
        tmp_path / "g",
        part_method="random",
        edata={name: {"number": np.arange(500)} for name in (LIKES, LIKED)},
        num_nodes={"user": 40},
    )
    with troupe.open(str(tmp_path / "g" / "g.json"), seed=7) as graph:
        number = {name: np.asarray(graph.edges[name].data["number"][:]) for name in (LIKES, LIKED)}
        options = {"batch_size": 60, "exclude": "reverse_types", "etype": LIKES}
        for reverse in ({LIKES: LIKED}, {"likes": "liked", "liked": "likes"}, {LIKED: LIKES}):
            loader = troupe.DistEdgeDataLoader(
                graph, None, troupe.NeighborSampler([-1]), reverse_etypes=reverse, **options
            )
            assert loader.in_library
            for _, pairs, blocks in loader:
                own = number[LIKES][pairs.edata[troupe.EID]]
                nodes = np.asarray(blocks[0].dstdata[troupe.NID])
                # The last says what reverses another type than the seeds'.
                for name, gone in ((LIKES, own), (LIKED, [] if LIKED in reverse else own)):
                    _, into = graph.find_edges(np.arange(500), name)
                    among = number[name][np.isin(np.asarray(into), nodes)]
                    drawn = number[name][np.asarray(blocks[0].as_csr(name).edge_ids)]
                    assert sorted(drawn) == sorted(set(among) - set(gone))


BUYS, BOUGHT = ("user", "buys", "item"), ("item", "bought", "user")


@pytest.fixture(scope="module")
def two_sided(tmp_path_factory: pytest.TempPathFactory) -> dict[int, str]:
    """Users and items, in which edge i of a type reverses edge i of the other."""
    random = np.random.default_rng(6)
    users, items = random.integers(0, 60, 400), random.integers(0, 25, 400)
    folder: Path = tmp_path_factory.mktemp("two-sided")
    for parts in (1, 3):
        troupe.partition_graph(
            {BUYS: (users, items), BOUGHT: (items, users)},
            "g",
            parts,
            folder / str(parts),
            part_method="random",
            num_nodes={"user": 60, "item": 25},
        )
    return {parts: str(folder / str(parts) / "g.json") for parts in (1, 3)}


class Own(troupe.BlockSampler):
    """A sampler of a program's own."""

    def sample_blocks(self, g, seeds, exclude_eids=None):
        assert set(seeds) == {"user", "item"}
        return {"user": seeds["user"], "item": seeds["item"]}, seeds, []


@pytest.mark.parametrize(
    "negative", [PerSourceUniform(2), Corruption(3, "sources"), GlobalUniform(1)]
)
@pytest.mark.parametrize("own", [False, True])
def test_edges_between_two_node_types(
    two_sided: dict[int, str], negative: NegativeSampler, own: bool
) -> None:
    """Their ends are found among the nodes of each type, and neither an edge of the batch nor its
    reverse is drawn for it; the same on any placement where the library draws neighbours."""
    found = {}
    for parts, path in two_sided.items():
        with troupe.open(path, seed=7) as graph:
            loader = troupe.DistEdgeDataLoader(
                graph,
                None,
                Own() if own else troupe.NeighborSampler([-1]),
                etype="buys",
                batch_size=64,
                shuffle=True,
                exclude="reverse_types",
                reverse_etypes={"buys": "bought"},
                negative_sampler=negative,
            )
            assert loader.in_library == (not own and not isinstance(negative, GlobalUniform))
            seen, drawn = [], []
            for inputs, pairs, others, blocks in loader:
                ids = pairs.edata[troupe.EID]
                ends = [np.asarray(at) for at in graph.find_edges(ids, "buys")]
                nodes = [np.asarray(data[troupe.NID]) for data in (pairs.srcdata, pairs.dstdata)]
                for side, name in enumerate(("user", "item")):
                    assert len(np.unique(nodes[side])) == len(nodes[side])
                    assert np.array_equal(nodes[side][pairs.edges()[side]], ends[side])
                    assert np.array_equal(pairs.ndata[troupe.NID][name], nodes[side])
                    drawn.append(graph.orig_ids(name, nodes[side][others.edges()[side]]))
                assert (
                    pairs.num_nodes()
                    == len(nodes[0]) + len(nodes[1])
                    <= sum(map(len, inputs.values()))
                )
                assert others.num_edges() == len(ids) * negative.k or isinstance(
                    negative, GlobalUniform
                )
                seen.append(ids)
                if own:
                    continue
                for side, name in enumerate(("user", "item")):
                    assert np.array_equal(blocks[-1].dstnodes[name].data[troupe.NID], nodes[side])
                check_drawn(graph, blocks[0], ids)
            assert np.array_equal(np.sort(np.concatenate(seen)), np.arange(400))
            found[parts] = drawn
    assert all(map(np.array_equal, found[1], found[3]))


def check_drawn(graph, block, ids) -> None:
    """All in-edges of the seeds but the batch's and their reverses."""
    orig = {name: np.asarray(graph.orig_edge_ids(name, np.arange(400))) for name in (BUYS, BOUGHT)}
    gone = set(orig[BUYS][ids].tolist())
    for name in (BUYS, BOUGHT):
        _, into = graph.find_edges(np.arange(400), name)
        seeds = np.asarray(block.dstnodes[name[2]].data[troupe.NID])
        among = orig[name][np.isin(np.asarray(into), seeds)]
        drawn = orig[name][np.asarray(block.as_csr(name).edge_ids)]
        assert sorted(drawn) == sorted(set(among.tolist()) - gone)


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


def test_the_library_draws_what_it_has_and_the_same_on_any_placement(books: dict[int, str]) -> None:
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
                negative_sampler=PerSourceUniform(3),
            )
            assert loader.in_library
            found[parts] = []
            for inputs, pairs, negative, blocks in loader:
                ids = pairs.edata[troupe.EID]
                drawn_all(graph, blocks, [3, 5], ids)
                assert negative.num_edges() == 3 * pairs.num_edges()
                found[parts].append(
                    [
                        graph.orig_ids(None, inputs),
                        number[ids],
                        graph.orig_ids(None, pairs.ndata[troupe.NID]),
                        *pairs.edges(),
                        *negative.edges(),
                        *(number[np.asarray(block.as_csr().edge_ids)] for block in blocks),
                    ]
                )
    assert len(found[1]) == len(found[4]) == 8
    for one, four in zip(found[1], found[4], strict=True):
        assert all(map(np.array_equal, one, four))


def counts(drawn: tuple) -> tuple[int, ...]:
    """Pairs of each graph of a batch."""
    return tuple(graph.num_edges() for graph in drawn[1:-1])


def test_a_program_makes_more_of_a_batch_or_draws_it_itself(books: dict[int, str]) -> None:
    with troupe.open(books[4], seed=7) as graph:
        sampler = troupe.NeighborSampler([2])
        options = {"batch_size": 300, "negative_sampler": PerSourceUniform(2)}
        loader = troupe.DistEdgeDataLoader(graph, None, sampler, collate_fn=counts, **options)
        assert loader.in_library
        assert next(iter(loader)) == (300, 600)
        again = pickle.loads(pickle.dumps(loader))
        assert again.in_library and next(iter(again)) == (300, 600)
        reverse = np.arange(2 * EDGES)
        for other in (
            {"exclude": reverse[:5]},
            {"negative_sampler": Fixed()},
            {"negative_sampler": GlobalUniform(2)},
        ):
            loader = troupe.DistEdgeDataLoader(graph, None, sampler, **(options | other))
            assert not loader.in_library
        with pytest.raises(errors.InvalidArgument, match="one of halves, adjacent"):
            Exclusion("reverse_id", "thirds")
        batch = sampler.draw(graph, [1, 2])
        with pytest.raises(errors.NotFound):
            print(batch.pairs)
        with pytest.raises(errors.NotFound):
            print(batch.negative_pairs)


@pytest.mark.parametrize("exclude", ["self", None])
def test_a_batch_shares_its_negatives(books: dict[int, str], exclude: str | None) -> None:
    """Where the library draws them, and where threads of Python do."""
    with troupe.open(books[4], seed=7) as graph:
        for in_library in (True, False):
            sampler = troupe.NeighborSampler([2])
            loader = troupe.DistEdgeDataLoader(
                graph,
                np.arange(100),
                sampler,
                batch_size=30,
                exclude=exclude if in_library else lambda _: {},
                negative_sampler=SharedUniform(4),
            )
            assert loader.in_library == in_library
            met = set()
            for _, pairs, negative, _ in loader:
                sources, found = (np.asarray(at) for at in negative.edges())
                assert np.array_equal(sources, np.repeat(np.asarray(pairs.edges()[0]), 4))
                nodes = np.asarray(negative.ndata[troupe.NID])[found].reshape(-1, 4)
                assert (nodes == nodes[0]).all()
                met.add(tuple(nodes[0]))
            assert len(met) == len(loader) == 4


@pytest.mark.parametrize(
    "sampler",
    [
        Corruption(3, "sources"),
        Corruption(5),
        Corruption(2, "both"),
        Corruption(4, "either", shared=True),
        Corruption(4, "both", no_edges=True),
        Corruption(3, "either", no_edges=True),
        InBatch(3, "sources", no_edges=True),
        InBatch(3),
        InBatch(3, "either"),
        InBatch(1, "both"),
    ],
    ids=repr,
)
def test_negatives_have_the_ends_that_are_drawn(
    books: dict[int, str], sampler: Corruption | InBatch
) -> None:
    """Where the library draws them, the same on any placement, and where threads of Python do."""
    found = {}
    for parts, in_library in ((1, True), (4, True), (4, False)):
        with troupe.open(books[parts], seed=7) as graph:
            number = np.asarray(graph.edata["number"][:])
            loader = troupe.DistEdgeDataLoader(
                graph,
                np.argsort(number)[:101],
                troupe.NeighborSampler([2]),
                batch_size=50,
                exclude="self" if in_library else lambda _: {},
                negative_sampler=pickle.loads(pickle.dumps(sampler)),
            )
            assert loader.in_library == in_library
            batches = list(loader)
            for _, pairs, negative, _ in batches:
                check_ends(sampler, pairs, negative)
                if sampler.no_edges:
                    nodes = np.asarray(negative.ndata[troupe.NID])
                    ends = [nodes[np.asarray(at)] for at in negative.edges()]
                    assert not graph.has_edges_between(*ends).any()
            found[parts, in_library] = [
                [graph.orig_ids(None, negative.ndata[troupe.NID]), *negative.edges()]
                for _, _, negative, _ in batches
            ]
    for one, four in zip(found[1, True], found[4, True], strict=True):
        assert all(map(np.array_equal, one, four))


def test_nodes_are_as_likely_as_they_have_edges(books: dict[int, str]) -> None:
    """Those of most in-edges come most often, and those of none never."""
    with troupe.open(books[4], seed=7) as graph:
        options = {"batch_size": 2000, "negative_sampler": Corruption(9, "both", by_degree=True)}
        loader = troupe.DistEdgeDataLoader(graph, None, troupe.NeighborSampler([1]), **options)
        assert loader.in_library and "by_degree=True" in repr(loader.sampler.negative_sampler)
        met = np.zeros(NODES)
        for _, _, negative, _ in loader:
            nodes = np.asarray(negative.ndata[troupe.NID])[np.asarray(negative.edges()[1])]
            met += np.bincount(nodes, minlength=NODES)
        degrees = np.asarray(graph.in_degrees(np.arange(NODES)))
        assert met.sum() == 9 * 2 * EDGES and not met[degrees == 0].any()
        assert np.corrcoef(met, degrees)[0, 1] > 0.99
        again = pickle.loads(pickle.dumps(options["negative_sampler"]))
        sources, targets = again(graph, np.arange(EDGES))
        found = np.bincount(targets, minlength=NODES)
        assert found.sum() == 9 * EDGES and not found[degrees == 0].any()
        assert np.corrcoef(found, degrees)[0, 1] > 0.99
        out = np.asarray(graph.out_degrees(np.arange(NODES)))
        assert np.corrcoef(np.bincount(sources, minlength=NODES), out)[0, 1] > 0.99


def test_nodes_by_degree_are_the_same_on_any_placement(books: dict[int, str]) -> None:
    """Also where a program draws, whose batches are not the library's."""
    sampler, found = Corruption(3, "either", by_degree=True), []
    for path in books.values():
        with troupe.open(path, seed=7) as graph:
            # The same edges, by what they were in the raw graph.
            edges = np.argsort(np.asarray(graph.edata["number"][:]))[:50]
            pairs = sampler(graph, edges)
            found.append([np.asarray(graph.orig_ids(ids=ends)) for ends in pairs])
    for other in found[1:]:
        assert all(map(np.array_equal, found[0], other))


def test_reverses_without_a_rule_are_warned_of(books: dict[int, str]) -> None:
    for exclude in (None, "self"):
        with pytest.warns(UserWarning, match=f"reverse_eids is not used with exclude={exclude!r}"):
            Exclusion(exclude, np.arange(3))
    with pytest.warns(UserWarning, match='give exclude="reverse_types"'):
        Exclusion(None, None, {"a": "b"})


@pytest.mark.parametrize("dtype", [bool, np.float64])
def test_reverses_are_ids(graph: troupe.DistGraph, dtype: type) -> None:
    """A mask, or numbers that may be none, are not taken for them."""
    reverse = np.ones(graph.num_edges(), dtype)
    with pytest.raises(TypeError, match=r"reverse_eids of .*: IDs of edges are whole numbers"):
        troupe.DistEdgeDataLoader(
            graph,
            [1, 2],
            troupe.NeighborSampler([2]),
            batch_size=2,
            exclude="reverse_id",
            reverse_eids=reverse,
        )


def check_ends(sampler, pairs, negative) -> None:
    """Of each pair: so many with its source, then so many with its destination."""
    count, k = pairs.num_edges(), sampler.k
    in_batch = isinstance(sampler, InBatch)
    if in_batch and count == 1:
        assert negative.num_edges() == 0
        return
    with_own_source = {"destinations": k, "sources": 0, "either": k - k // 2, "both": 0}
    at = with_own_source[sampler.ends]
    own = [np.asarray(ends)[:, None] for ends in pairs.edges()]
    sources, targets = (np.asarray(ends).reshape(count, k) for ends in negative.edges())
    assert (sources[:, :at] == own[0]).all()
    if sampler.ends != "both":
        assert (targets[:, at:] == own[1]).all()
    drawn = [
        (targets, 1, slice(0, k if sampler.ends == "both" else at)),
        (sources, 0, slice(at, k)),
    ]
    for ends, end, where in drawn:
        if in_batch:
            assert np.isin(ends[:, where], own[end]).all()
        elif getattr(sampler, "shared", False):
            assert (ends[:, where] == ends[0, where]).all()
        elif ends[:, where].size > 50:
            assert len(np.unique(ends[:, where])) > 20


def test_negatives_that_are_no_pairs_are_refused(books: dict[int, str]) -> None:
    with troupe.open(books[1], seed=7) as graph:
        options = {"batch_size": 2, "exclude": lambda _: {}}

        def batch_of(given):
            loader = troupe.DistEdgeDataLoader(
                graph,
                [1, 2],
                troupe.NeighborSampler([2]),
                negative_sampler=lambda _, edges: given,
                **options,
            )
            return next(iter(loader))

        nodes = batch_of(([5, 6], [7, 8]))[2]
        assert [ids.tolist() for ids in map(np.asarray, nodes.edges())] != [[], []]
        with pytest.raises(errors.InvalidArgument, match="gave 2 sources and 1 destinations"):
            batch_of(([5, 6], [7]))
        for wrong in (None, 5, [[1, 2]], [[1], [2], [3]], {}):
            with pytest.raises(errors.InvalidArgument, match="gave no pairs for edges of"):
                batch_of(wrong)
        by_name = batch_of({graph.etypes[0]: ([5, 6], [7, 8])})[2]
        assert repr(by_name) == repr(nodes)
        with pytest.raises(errors.OutOfRange, match=str(NODES)):
            batch_of(([5], [NODES]))
        with pytest.raises(TypeError, match="are given to"):
            troupe.DistEdgeDataLoader(
                graph, [1, 2], troupe.NeighborSampler([2]), negative_sampler=5, **options
            )
    for wrong in (1.5, "3"):
        with pytest.raises(TypeError, match="whole number"):
            PerSourceUniform(wrong)
    with pytest.raises(errors.InvalidArgument, match="below 2"):
        GlobalUniform(2**40)


def test_reverses_are_said_of_each_edge(books: dict[int, str]) -> None:
    with troupe.open(books[1], seed=7) as graph:
        number = np.asarray(graph.edata["number"][:])
        reverse = np.argsort(number)[(number + EDGES) % (2 * EDGES)]
        found = Exclusion("reverse_id", reverse.tolist()).of(graph, [3, 5])
        assert found[graph.canonical_etypes[0]].tolist() == [3, 5, reverse[3], reverse[5]]
        with pytest.raises(errors.Mismatch, match=f"100 IDs for {2 * EDGES} edges"):
            Exclusion("reverse_id", reverse[:100]).of(graph, [3])
        # Nothing is rounded, and -1 alone says that there is none.
        sampler = troupe.NeighborSampler([2])
        for wrong, why in ((reverse + 0.5, "whole numbers"), (reverse - 2 * EDGES - 1, "negative")):
            kind = TypeError if why == "whole numbers" else errors.OutOfRange
            rule = {"exclude": "reverse_id", "reverse_eids": wrong}
            with pytest.raises(kind, match=why):
                Exclusion(*rule.values()).of(graph, [3])
            with pytest.raises(kind, match=why):
                troupe.DistEdgeDataLoader(graph, None, sampler, **rule)


@pytest.mark.parametrize("pairing", ["halves", "adjacent"])
def test_original_ids_pair_edges_for_a_program_as_for_the_library(
    tmp_path: Path, pairing: str
) -> None:
    """Parallel edges and loops among them, and a last edge without a reverse."""
    ends = np.random.default_rng(8).integers(0, 9, (2, 40))
    ends[:, :3], ends[:, 20:23] = 4, np.array([[2], [7]])
    both = [ends, ends[::-1]]
    both = np.concatenate(both, 1) if pairing == "halves" else np.stack(both, 2).reshape(2, -1)
    raw = np.concatenate([both, [[5], [6]]], 1)
    troupe.partition_graph(tuple(raw), "g", 3, tmp_path / "parts", part_method="random")
    with troupe.open(tmp_path / "parts/g.json", seed=7) as graph:
        number = np.asarray(graph.orig_edge_ids())
        by_number = np.argsort(number)
        rule = Exclusion("reverse_id", pairing)
        loader = troupe.DistEdgeDataLoader(
            graph, None, troupe.NeighborSampler([-1]), exclude="reverse_id", reverse_eids=pairing
        )
        for _, pairs, (block,) in loader:
            edge = np.asarray(pairs.edata[troupe.EID])
            own = int(number[edge[0]])
            near = [own - 1, own + 1]
            if pairing == "halves":
                near = [(own + 40) % 80] if own < 80 else []
            swapped = raw[::-1, own]
            reverses = [n for n in near if 0 <= n <= 80 and np.array_equal(raw[:, n], swapped)]
            wanted = {int(edge[0]), *by_number[reverses].tolist()}
            assert set(rule.of(graph, edge)[graph.canonical_etypes[0]].tolist()) == wanted
            every = graph.in_edges(block.dstdata[troupe.NID], form="eid")
            assert set(every.tolist()) - set(block.as_csr().edge_ids.tolist()) == wanted
        every = rule.of(graph, np.arange(81))[graph.canonical_etypes[0]]
        assert set(every.tolist()) == set(range(81))


def test_edges_between_two_node_types_are_not_their_own_reverses(two_sided: dict[int, str]) -> None:
    with troupe.open(two_sided[1], seed=7) as graph:
        for negative in (None, GlobalUniform(1)):
            with pytest.raises(errors.InvalidArgument, match="do not reverse"):
                troupe.DistEdgeDataLoader(
                    graph,
                    None,
                    troupe.NeighborSampler([2]),
                    etype=BUYS,
                    exclude="reverse_id",
                    reverse_eids="halves",
                    negative_sampler=negative,
                )


def test_an_iterator_goes_on_with_its_epoch(books: dict[int, str]) -> None:
    with troupe.open(books[1], seed=7) as graph:
        loader = troupe.DistEdgeDataLoader(
            graph, range(100), troupe.NeighborSampler([2]), batch_size=10
        )
        left = iter(loader)
        next(left)
        assert sum(1 for _ in left) == 9 and loader.epoch == 1
        assert list(left) == [] and loader.epoch == 1
        before = iter(loader)
        next(before)
        next(iter(loader))
        with pytest.raises(RuntimeError, match="another epoch of this loader was begun"):
            next(before)


class Mine(PerSourceUniform):
    """May draw otherwise than what it derives from."""


def test_ends_that_are_none_are_refused(books: dict[int, str]) -> None:
    with pytest.raises(errors.InvalidArgument, match="give one of destinations, sources"):
        Corruption(2, "heads")
    with pytest.raises(errors.InvalidArgument, match="give one of"):
        InBatch(2, "none")
    with pytest.raises(errors.InvalidArgument, match="give shared=False"):
        Corruption(2, shared=True, no_edges=True)
    assert repr(InBatch(2, no_edges=True)) == "InBatch(2, 'destinations', no_edges=True)"
    assert repr(InBatch(2)) == "InBatch(2, 'destinations')"
    assert repr(Corruption(2, shared=True)) == "Corruption(2, 'either', shared=True)"
    with troupe.open(books[1]) as graph:
        options = {"batch_size": 9, "negative_sampler": Mine(2)}
        loader = troupe.DistEdgeDataLoader(graph, None, troupe.NeighborSampler([2]), **options)
        assert not loader.in_library


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


def test_original_ids_of_edges_are_those_of_the_raw_graph(books: dict[int, str]) -> None:
    for path in books.values():
        with troupe.open(path) as graph:
            number = graph.edata["number"][:]
            assert np.array_equal(graph.orig_edge_ids(), number)
            some = [2 * EDGES - 1, 0, 5, 5]
            assert np.array_equal(graph.orig_edge_ids(edges=some), number[some])
            assert graph.orig_edge_ids("_E", []).shape == (0,)
            with pytest.raises(errors.OutOfRange, match="no 4000; there are 4000"):
                graph.orig_edge_ids(edges=[2 * EDGES])
