# SPDX-License-Identifier: Apache-2.0
"""Draws by weights, by masks and of LABOR: by the package's samplers and functions."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import troupe
from troupe import errors
from troupe.partitioning import partition, write_raw

NODES, EDGES = 300, 6000


@pytest.fixture(scope="module")
def book(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A graph whose edges have weights "w", a fifth of them 0, and a mask "keep"."""
    random = np.random.default_rng(3)
    ends = random.integers(0, NODES, (2, EDGES))
    weights = random.random(EDGES).astype(np.float32) * (random.random(EDGES) > 0.2)
    keep = random.random(EDGES) > 0.5
    folder: Path = tmp_path_factory.mktemp("drawn") / "parts"
    troupe.partition_graph(
        (ends[0], ends[1]),
        "g",
        3,
        folder,
        part_method="random",
        num_nodes=NODES,
        edata={"w": weights, "keep": keep},
    )
    return str(folder / "g.json")


@pytest.fixture
def drawn(book: str) -> Iterator[troupe.DistGraph]:
    with troupe.open(book, seed=7) as opened:
        yield opened


def in_degrees(graph: troupe.DistGraph, wanted: np.ndarray) -> np.ndarray:
    """The in-edges of each node that are wanted, by the IDs of edges."""
    every = troupe.sample_neighbors(graph, np.arange(graph.num_nodes()), -1)
    destinations, ids = np.asarray(every.edges()[1]), np.asarray(every.edge_ids())
    return np.bincount(destinations[wanted[ids]], minlength=graph.num_nodes())


@pytest.mark.parametrize("name", ["prob", "mask"])
def test_masks_count_before_the_draw(drawn: troupe.DistGraph, name: str) -> None:
    keep = np.asarray(drawn.edata["keep"][:]) != 0
    possible = in_degrees(drawn, keep)
    sampler = troupe.NeighborSampler([3, 4], **{name: "keep"})
    for batch in troupe.DistNodeDataLoader(drawn, None, sampler, batch_size=64, edge_ids=True):
        for block, fanout in zip(batch.blocks, [3, 4], strict=True):
            csr = block.as_csr()
            assert keep[np.asarray(csr.edge_ids)].all()
            nodes = np.asarray(block.dstdata[troupe.NID])
            counts = np.diff(np.asarray(csr.indptr))
            assert np.array_equal(counts, np.minimum(possible[nodes], fanout))
            assert "edge_weights" not in block.edata


@pytest.mark.parametrize("replace", [False, True])
def test_weights_are_those_of_the_draws(drawn: troupe.DistGraph, replace: bool) -> None:
    weights = np.asarray(drawn.edata["w"][:])
    possible = in_degrees(drawn, weights > 0)
    sampler = troupe.NeighborSampler([5], prob="w", replace=replace)
    batch = sampler.draw(drawn, np.arange(NODES), seed=3)
    block = batch.blocks[0]
    given, csr = np.asarray(block.edata["edge_weights"]), block.as_csr()
    ids, counts = np.asarray(csr.edge_ids), np.diff(np.asarray(csr.indptr))
    assert given.dtype == np.float32 and (given > 0).all() and (weights[ids] > 0).all()
    full = np.where(possible > 0, 5, 0) if replace else np.minimum(possible, 5)
    assert np.array_equal(counts, full)
    # The weights of a node add up to its in-edges of positive weight, in the mean.
    assert abs(given.sum() / possible.sum() - 1) < 0.1
    again = sampler.draw(drawn, np.arange(NODES), seed=3).blocks[0]
    assert np.array_equal(given, np.asarray(again.edata["edge_weights"]))


def test_neighbours_of_heavy_edges_come_more_often(drawn: troupe.DistGraph) -> None:
    weights = np.asarray(drawn.edata["w"][:])
    ids = [
        np.asarray(troupe.sample_neighbors(drawn, np.arange(NODES), 2, prob=p, seed=s).edge_ids())
        for p in ("w", None)
        for s in range(5)
    ]
    heavy, even = np.concatenate(ids[:5]), np.concatenate(ids[5:])
    assert weights[heavy].mean() > 1.3 * weights[even].mean()


@pytest.fixture(scope="module")
def typed(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A graph of two node types, and edge types between them and inside one, with out-edges."""
    random = np.random.default_rng(5)
    edges = {
        ("author", "writes", "paper"): random.integers(0, 90, (2, 900)),
        ("paper", "cites", "paper"): random.integers(0, 120, (2, 800)),
        ("paper", "by", "author"): random.integers(0, 90, (2, 500)),
    }
    folder = tmp_path_factory.mktemp("typed")
    write_raw(
        {name: (ends[0], ends[1]) for name, ends in edges.items()},
        folder / "raw",
        num_nodes={"author": 90, "paper": 120},
    )
    partition(folder / "raw", folder / "parts", 3, name="g", out_edges=True)
    return str(folder / "parts/g.json")


def test_neighbours_are_drawn_along_out_edges(typed: str) -> None:
    with troupe.open(typed, seed=7) as graph:
        seeds = {"paper": np.arange(0, 120, 3)}
        drawn = troupe.sample_neighbors(graph, seeds, 4, "out")
        for name in graph.canonical_etypes:
            ends = [np.asarray(nodes) for nodes in drawn.edges(name)]
            found = graph.find_edges(np.asarray(drawn.edge_ids(name)), etype=name)
            assert np.array_equal(ends[0], found[0]) and np.array_equal(ends[1], found[1])
            if name[0] == "paper":
                degrees = graph.out_degrees(seeds["paper"], etype=name)
                counts = np.bincount(ends[0], minlength=120)[seeds["paper"]]
                assert np.array_equal(counts, np.minimum(degrees, 4))
            else:
                assert not len(ends[0])
        # In blocks they lead to the nodes that drew them.
        sampler = troupe.NeighborSampler([2, 3], "out")
        nodes = {"paper": np.arange(120)}
        for batch in troupe.DistNodeDataLoader(graph, nodes, sampler, batch_size=50, edge_ids=True):
            for layer, block in enumerate(batch.blocks):
                assert block.canonical_etypes[0] == ("paper", "writes", "author")
                for name in block.canonical_etypes:
                    places = [np.asarray(p) for p in block.edges(etype=name)]
                    neighbours = np.asarray(block.srcnodes[name[0]].data[troupe.NID])[places[0]]
                    drew = np.asarray(block.dstnodes[name[2]].data[troupe.NID])[places[1]]
                    ids = np.asarray(block.edges[name].data[troupe.EID])
                    found = graph.find_edges(ids, etype=name[::-1])
                    assert np.array_equal(found[0], drew) and np.array_equal(found[1], neighbours)
                above = batch.blocks[layer + 1] if layer == 0 else None
                for ntype in graph.ntypes:
                    if above is not None:
                        assert block.num_dst_nodes(ntype) == above.num_src_nodes(ntype)
        with pytest.raises(errors.Unsupported, match="no draws along out-edges"):
            troupe.LaborSampler([2], "out").draw(graph, {"paper": [1]})
        with pytest.raises(errors.InvalidArgument, match="edge_dir='up'"):
            troupe.NeighborSampler([2], "up")


def test_blocks_without_nodes_have_edge_ids_too(typed: str) -> None:
    with troupe.open(typed, seed=7) as graph:
        block = troupe.NeighborSampler([2]).draw(graph, {"paper": [1, 2]}).blocks[0]
        for name in graph.canonical_etypes:
            csr = block.as_csr(name)
            assert csr.edge_ids is not None and len(csr.edge_ids) == len(csr.indices)
        assert block.num_dst_nodes("author") == 0


@pytest.mark.parametrize("edge_dir", ["in", "out"])
def test_fanouts_are_over_all_edge_types_together(typed: str, edge_dir: str) -> None:
    end = 1 if edge_dir == "in" else 0
    sampler = troupe.NeighborSampler([3, 4], edge_dir, total=True)
    with troupe.open(typed, seed=7) as graph:
        degrees = {ntype: np.zeros(graph.num_nodes(ntype), np.int64) for ntype in graph.ntypes}
        for name in graph.canonical_etypes:
            ids = np.arange(graph.num_edges(name))
            np.add.at(degrees[name[2 * end]], graph.find_edges(ids, etype=name)[end], 1)
        batch = sampler.draw(graph, {"paper": np.arange(0, 120, 2)}, seed=3)
        for block, fanout in zip(batch.blocks, [3, 4], strict=True):
            for ntype in graph.ntypes:
                nodes = np.asarray(block.dstnodes[ntype].data[troupe.NID])
                names = [name for name in block.canonical_etypes if name[2] == ntype]
                drawn = sum(np.diff(np.asarray(block.as_csr(name).indptr)) for name in names)
                assert np.array_equal(drawn, np.minimum(degrees[ntype][nodes], fanout))
        with pytest.raises(errors.Unsupported, match="over all edge types"):
            labor = troupe.LaborSampler([2])
            labor.total = True
            labor.draw(graph, {"paper": [1]})
        with pytest.raises(errors.InvalidArgument, match="give a number a layer"):
            troupe.NeighborSampler([{"cites": 2}], total=True)


@pytest.mark.parametrize("poisson", [False, True])
def test_labor_takes_fewer_nodes_for_as_many_edges(drawn: troupe.DistGraph, poisson: bool) -> None:
    seeds, edges, nodes = np.arange(0, NODES, 2), {}, {}
    for sampler in (troupe.LaborSampler([3], poisson=poisson), troupe.NeighborSampler([3])):
        name = type(sampler).__name__
        edges[name] = nodes[name] = 0
        for seed in range(1, 9):
            block = sampler.draw(drawn, seeds, seed=seed).blocks[0]
            edges[name] += block.num_edges()
            nodes[name] += block.num_src_nodes()
    assert abs(edges["LaborSampler"] / edges["NeighborSampler"] - 1) < 0.1
    assert nodes["LaborSampler"] < 0.9 * nodes["NeighborSampler"]


@pytest.mark.parametrize("fanout", [1.5, "2", None, float("nan")])
def test_fanouts_are_whole_numbers(drawn: troupe.DistGraph, fanout: object) -> None:
    for given in (fanout, {"_E": fanout}):
        with pytest.raises(TypeError, match="whole number of edges"):
            troupe.sample_neighbors(drawn, [0], given)  # type: ignore[arg-type]
    assert troupe.sample_neighbors(drawn, [0], np.int64(1)).num_edges() == 1


def test_fanouts_without_a_sense_are_refused_by_name(drawn: troupe.DistGraph) -> None:
    for fanout in (-2, 10**12, -(10**12)):
        with pytest.raises(errors.Error, match="fanout"):
            troupe.sample_neighbors(drawn, [0], fanout)


def test_blocks_without_edges_have_ids_of_none(drawn: troupe.DistGraph) -> None:
    block = troupe.NeighborSampler([0]).draw(drawn, [0, 1]).blocks[0]
    assert block.as_csr().edge_ids.tolist() == block.edata[troupe.EID].tolist() == []


def test_what_cannot_be_drawn_by_is_refused(drawn: troupe.DistGraph) -> None:
    with pytest.raises(errors.InvalidArgument, match="exclude each other"):
        troupe.NeighborSampler([2], prob="w", mask="keep")
    with pytest.raises(errors.InvalidArgument, match='mask "w" has 1 of float32'):
        troupe.NeighborSampler([2], mask="w").draw(drawn, [1])
    with pytest.raises(errors.NotFound, match='no edge type has a feature "v"'):
        troupe.NeighborSampler([2], prob="v").draw(drawn, [1])
    sampler = troupe.NeighborSampler([2])
    for none in ([], {}, {drawn.ntypes[0]: []}, {drawn.ntypes[0]: None}):
        with pytest.raises(errors.InvalidArgument, match="seeds: there are none"):
            sampler.draw(drawn, none)
    with pytest.raises(errors.NotFound, match="no node type 'nope'"):
        sampler.draw(drawn, {"nope": []})
    for wrong in (2**64, -1):
        with pytest.raises(errors.OutOfRange, match=f"seed={wrong}"):
            sampler.draw(drawn, [1], seed=wrong)
    with pytest.raises(errors.OutOfRange, match=f"batch_size={2**32}"):
        troupe.DistNodeDataLoader(drawn, [1], sampler, batch_size=2**32)
    with pytest.raises(TypeError, match=r"batch_size=1\.5"):
        troupe.DistNodeDataLoader(drawn, [1], sampler, batch_size=1.5)  # type: ignore[arg-type]
    with pytest.raises(errors.InvalidArgument, match="null character"):
        troupe.NeighborSampler([2], prob="w\0v").draw(drawn, [1])
    for wrong in (1.5, "3", None, float("nan")):
        for fanout in (wrong, {drawn.etypes[0]: wrong}):
            with pytest.raises(TypeError, match="give a whole number of edges"):
                troupe.NeighborSampler([fanout]).draw(drawn, [1])
            with pytest.raises(TypeError, match="give a whole number of edges"):
                troupe.DistNodeDataLoader(drawn, None, troupe.NeighborSampler([fanout]))
    for wrong in (2**31, -(2**40), -2):
        with pytest.raises(errors.OutOfRange, match="fanout"):
            troupe.NeighborSampler([wrong]).draw(drawn, [1])


@pytest.mark.parametrize(
    "sampler",
    [
        troupe.NeighborSampler([3, 4]),
        troupe.NeighborSampler([3, 4], prob="w"),
        troupe.NeighborSampler([3, 4], mask="keep"),
        troupe.LaborSampler([3, 4]),
    ],
)
def test_excluded_edges_are_left_out_before_the_draw(
    drawn: troupe.DistGraph, sampler: troupe.NeighborSampler
) -> None:
    excluded = np.random.default_rng(4).permutation(EDGES)[: EDGES // 2]
    possible = np.ones(EDGES, bool)
    if sampler.prob is not None:
        possible = np.asarray(drawn.edata["w"][:]) > 0
    if sampler.mask is not None:
        possible = np.asarray(drawn.edata["keep"][:]) != 0
    possible[excluded] = False
    degrees = in_degrees(drawn, possible)
    etype = drawn.canonical_etypes[0]
    for edges in (excluded, {etype: np.concatenate([excluded, excluded[:9]])}):
        batch = sampler.draw(drawn, np.arange(0, NODES, 3), seed=3, exclude_eids=edges)
        for block, fanout in zip(batch.blocks, [3, 4], strict=True):
            csr = block.as_csr()
            assert possible[np.asarray(csr.edge_ids)].all()
            nodes = np.asarray(block.dstdata[troupe.NID])
            counts = np.diff(np.asarray(csr.indptr))
            assert np.array_equal(counts, np.minimum(degrees[nodes], fanout))
    for wrong in ([EDGES], {"none": [1]}):
        with pytest.raises((errors.OutOfRange, errors.NotFound)):
            sampler.draw(drawn, [1], exclude_eids=wrong)


def test_light_nodes_draw_by_their_own_weights_beside_heavy_ones() -> None:
    """In total over edge types, with replacement, where sums of all nodes would lose the light."""
    from troupe.dgl.total_fanout import _choose

    places = np.repeat([0, 1], 3)
    weights = np.array([1e20, 2e20, 3e20, 1, 2, 5])
    chosen = _choose(np.random.default_rng(2), places, weights, 3, 8000, True)
    counts = np.bincount(chosen, minlength=6)
    assert counts[:3].sum() == counts[3:].sum() == 8000
    shares = np.array([1 / 6, 2 / 6, 3 / 6, 1 / 8, 2 / 8, 5 / 8])
    assert (((counts - 8000 * shares) ** 2) / (8000 * shares)).sum() < 18.5  # p > 1e-3


def test_masks_of_any_numbers_are_no_weights_in_total(tmp_path: Path) -> None:
    """Of the four in-edges of node 0 two types have two each, and the mask of one allows all, by
    numbers of which one is 100 times the other."""
    from troupe.dgl.total_fanout import edges_in_total

    ends = np.array([1, 2]), np.zeros(2, np.int64)
    names = [("a", "r", "a"), ("a", "s", "a")]
    write_raw(
        dict.fromkeys(names, ends),
        tmp_path / "raw",
        num_nodes={"a": 3},
        edata={names[0]: {"m": np.array([1, 100], np.uint8)}},
    )
    partition(tmp_path / "raw", tmp_path / "parts", 2, name="g")
    draws = 8000
    with troupe.open(tmp_path / "parts/g.json", seed=5) as graph:
        seeds = {"a": np.repeat(np.asarray(graph.from_orig([0], "a")), draws)}
        found = edges_in_total(graph, seeds, 1, False, None, "m", "in")
        counts = np.concatenate([np.bincount(found[n][2], minlength=2) for n in (0, 1)])
    assert (((counts - draws / 4) ** 2) / (draws / 4)).sum() < 16.3  # p > 1e-3
