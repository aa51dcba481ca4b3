# SPDX-License-Identifier: Apache-2.0
"""Batches of edges over Troupe with DGL: what is left out, and pairs that are no edges."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import dgl as real
import numpy as np
import pytest
import torch
from troupe import dgl
from troupe import errors as troupe_errors

NODES, EDGES = 600, 6000
GOES, BACK, OWN = ("a", "goes", "b"), ("b", "back", "a"), ("a", "own", "a")
negatives = dgl.dataloading.negative_sampler


@pytest.fixture(scope="session")
def paths(tmp_path_factory) -> dict[int, str]:
    """A graph of one type, each edge with its reverse, in one partition and in three."""
    chance = np.random.default_rng(5)
    ends = torch.from_numpy(chance.integers(0, NODES, (2, EDGES)))
    g = real.graph((torch.cat([ends[0], ends[1]]), torch.cat([ends[1], ends[0]])))
    g.edata["number"] = torch.arange(2 * EDGES)
    found = {}
    for parts in (1, 3):
        path = tmp_path_factory.mktemp("edges") / f"p{parts}"
        dgl.distributed.partition_graph(g, "g", parts, str(path), part_method="random")
        found[parts] = f"{path}/g.json"
    return found


@pytest.fixture
def g(paths) -> Iterator[Any]:
    dgl.distributed.initialize(None, seed=5)
    yield dgl.distributed.DistGraph("g", part_config=paths[3])
    dgl.distributed.exit_client()


def reverse_of(g) -> torch.Tensor:
    """The reverse of each edge by its ID."""
    number = g.edata["number"][:]
    by_number = torch.empty_like(number)
    by_number[number] = torch.arange(len(number))
    return by_number[(number + EDGES) % (2 * EDGES)]


def blocks_draw(g, blocks, fanouts, excluded) -> None:
    """No edge that is excluded is drawn, and draws are as full as the others allow."""
    _, targets = g.find_edges(excluded)
    missing = torch.bincount(targets, minlength=NODES)
    for block, fanout in zip(blocks, fanouts, strict=True):
        assert not np.isin(block.edata[dgl.EID], excluded).any()
        nodes = block.dstdata[dgl.NID]
        left = g.in_degrees(nodes) - missing[nodes]
        assert torch.equal(block.in_degrees().long(), left.clamp(max=fanout))


@pytest.mark.parametrize("mode", ["self", "reverse_id"])
def test_edges_of_the_batch_are_left_out_before_the_draw(g, mode: str) -> None:
    reverse = reverse_of(g)
    edges = dgl.distributed.edge_split(torch.ones(2 * EDGES, dtype=torch.bool))
    loader = dgl.dataloading.DistEdgeDataLoader(
        g,
        edges,
        dgl.dataloading.NeighborSampler([5, 8]),
        batch_size=700,
        shuffle=True,
        exclude=mode,
        reverse_eids=reverse,
        negative_sampler=negatives.Uniform(2),
    )
    seen = []
    assert len(loader) == loader.expected_idxs == -(-len(edges) // 700)
    for inputs, pairs, negative, blocks in loader:
        ids = pairs.edata[dgl.EID]
        seen.append(ids)
        assert torch.equal(inputs, blocks[0].srcdata[dgl.NID])
        nodes = blocks[-1].dstdata[dgl.NID]
        assert torch.equal(pairs.ndata[dgl.NID], nodes)
        assert torch.equal(negative.ndata[dgl.NID], nodes)
        ends = [nodes[places] for places in pairs.edges()]
        assert all(map(torch.equal, ends, g.find_edges(ids)))
        # Two pairs an edge, of its source.
        assert torch.equal(nodes[negative.edges()[0]], ends[0].repeat_interleave(2))
        excluded = ids if mode == "self" else torch.cat([ids, reverse[ids]])
        blocks_draw(g, blocks, (5, 8), excluded.unique())
    assert torch.equal(torch.cat(seen).sort().values, edges)


def original(g, ids: torch.Tensor) -> torch.Tensor:
    return g.orig_ids(None, ids)


def test_placements_draw_the_same_pairs_and_blocks(paths) -> None:
    found = {}
    for parts, path in paths.items():
        dgl.distributed.initialize(None, seed=5)
        g = dgl.distributed.DistGraph("g", part_config=path)
        # The same edges on both, by the numbers that they had.
        number = g.edata["number"][:]
        edges = torch.argsort(number)[:1000]
        loader = dgl.dataloading.DistEdgeDataLoader(
            g,
            edges,
            dgl.dataloading.NeighborSampler([4, 4]),
            batch_size=256,
            shuffle=True,
            exclude="self",
            negative_sampler=negatives.GlobalUniform(3),
        )
        loader.number = 0
        found[parts] = [
            [
                original(g, inputs),
                number[pairs.edata[dgl.EID]],
                *(original(g, negative.ndata[dgl.NID][places]) for places in negative.edges()),
                *(number[block.edata[dgl.EID]] for block in blocks),
            ]
            for inputs, pairs, negative, blocks in loader
        ]
        dgl.distributed.exit_client()
    assert len(found[1]) == len(found[3]) == 4
    for one, three in zip(found[1], found[3], strict=True):
        assert all(map(torch.equal, one, three))


def test_global_pairs_are_no_edges(g) -> None:
    edges = torch.arange(500)
    sources, targets = negatives.GlobalUniform(4)(g, edges)
    assert len(sources) == len(targets) == 2000
    assert (sources != targets).all()
    every = np.stack([ids.numpy() for ids in g.find_edges(torch.arange(2 * EDGES))])
    drawn = np.stack([sources.numpy(), targets.numpy()])
    keys = np.unique(drawn[0] * NODES + drawn[1])
    assert len(keys) == 2000
    assert not np.isin(keys, every[0] * NODES + every[1]).any()


@pytest.fixture(scope="session")
def typed_path(tmp_path_factory) -> str:
    """Edges of "goes", many of them parallel, and their reverses of the same numbers."""
    chance = np.random.default_rng(6)
    ends = torch.from_numpy(chance.integers(0, [[60], [40]], (2, 3000)))
    own = torch.from_numpy(chance.integers(0, 60, (2, 500)))
    made_of = {
        GOES: (ends[0], ends[1]),
        BACK: (ends[1], ends[0]),
        OWN: (own[0], own[1]),
    }
    whole = real.heterograph(made_of, num_nodes_dict={"a": 60, "b": 40})
    for name in (GOES, BACK, OWN):
        whole.edges[name].data["number"] = torch.arange(whole.num_edges(name))
    path = tmp_path_factory.mktemp("typed") / "h"
    dgl.distributed.partition_graph(whole, "h", 4, str(path), part_method="random")
    return f"{path}/h.json"


def test_reverse_types_leave_out_the_edge_that_came_from_the_same(typed_path) -> None:
    """Of parallel edges, that one alone; equal IDs say nothing in partitions."""
    dgl.distributed.initialize(None, seed=5)
    g = dgl.distributed.DistGraph("h", part_config=typed_path)
    number = {name: g.edges[name].data["number"][:] for name in (GOES, BACK, OWN)}
    loader = dgl.dataloading.DistEdgeDataLoader(
        g,
        {GOES: torch.arange(3000), OWN: torch.arange(500)},
        dgl.dataloading.NeighborSampler([-1, -1]),
        batch_size=250,
        shuffle=True,
        exclude="reverse_types",
        reverse_etypes={"goes": "back", "back": "goes"},
        negative_sampler=negatives.Uniform(1),
    )
    unequal = 0
    for inputs, pairs, negative, blocks in loader:
        assert set(inputs) == {"a", "b"}
        seeds = {name: pairs.edges[name].data[dgl.EID] for name in pairs.canonical_etypes}
        assert set(seeds) == {GOES, OWN}
        for name, ids in seeds.items():
            nodes = {side: pairs.nodes[side].data[dgl.NID] for side in ("a", "b")}
            both = zip((name[0], name[2]), pairs.edges(etype=name), strict=True)
            ends = [nodes[side][of_side] for side, of_side in both]
            assert all(map(torch.equal, ends, g.find_edges(ids, name)))
            assert negative.num_edges(name) == len(ids)
        gone = {
            GOES: set(number[GOES][seeds[GOES]].tolist()),
            BACK: set(number[GOES][seeds[GOES]].tolist()),
            OWN: set(number[OWN][seeds[OWN]].tolist()),
        }
        unequal += int((number[GOES][seeds[GOES]] != number[BACK][seeds[GOES]]).sum())
        for block in blocks:
            for name, out in gone.items():
                drawn = number[name][block.edges[name].data[dgl.EID]].tolist()
                _, into = g.find_edges(torch.arange(g.num_edges(name)), name)
                among = torch.isin(into, block.dstnodes[name[2]].data[dgl.NID])
                assert sorted(drawn) == sorted(set(number[name][among].tolist()) - out)
    assert unequal > 100
    dgl.distributed.exit_client()


def test_what_cannot_be_left_out_is_refused(g) -> None:
    sampler = dgl.dataloading.NeighborSampler([2])
    make = dgl.dataloading.as_edge_prediction_sampler
    with pytest.raises(ValueError, match="unsupported mode 'reverse'"):
        make(sampler, exclude="reverse")
    with pytest.raises(ValueError, match="give reverse_eids"):
        make(sampler, exclude="reverse_id")
    inputs, pairs, blocks = make(sampler, exclude=lambda edges: edges + 1).sample(
        g, torch.tensor([5, 9])
    )
    assert len(pairs.edata[dgl.EID]) == 2 and len(inputs) == blocks[0].num_src_nodes()
    assert not np.isin(blocks[0].edata[dgl.EID], [6, 10]).any()
    with pytest.raises(troupe_errors.OutOfRange, match="12000"):
        sampler.sample(g, torch.arange(3), exclude_eids=torch.tensor([2 * EDGES]))


def test_a_sampler_of_edges_is_taken_as_it_is(g) -> None:
    of_edges = dgl.dataloading.as_edge_prediction_sampler(
        dgl.dataloading.NeighborSampler([2]),
        exclude="self",
        negative_sampler=dgl.dataloading.negative_sampler.Uniform(3),
    )
    loader = dgl.dataloading.DistEdgeDataLoader(g, torch.arange(100), of_edges, batch_size=40)
    sizes = []
    for _, pairs, negatives, blocks in loader:
        sizes.append(pairs.num_edges())
        assert negatives.num_edges() == 3 * pairs.num_edges()
        assert not torch.isin(blocks[-1].edata[dgl.EID], pairs.edata[dgl.EID]).any()
    assert sizes == [40, 40, 20]
    with pytest.raises(TypeError, match="give exclude"):
        dgl.dataloading.DistEdgeDataLoader(g, torch.arange(9), of_edges, exclude="self")


def test_the_graph_of_the_edges_has_what_is_prefetched(g) -> None:
    sampler = dgl.dataloading.as_edge_prediction_sampler(
        dgl.dataloading.NeighborSampler([3]), prefetch_labels=["number"]
    )
    for edges in ([5, 9, 2], {("_N", "_E", "_N"): torch.tensor([4, 8])}):
        _, pairs, _ = sampler.sample(g, edges)
        assert torch.equal(pairs.edata["number"], g.edata["number"][pairs.edata[dgl.EID]])


def test_seeds_of_several_types_are_one_draw(typed_path) -> None:
    """With the seeds of each type in their order, by LABOR too, which keeps as many as there are."""
    dgl.distributed.initialize(None, seed=5)
    g = dgl.distributed.DistGraph("h", part_config=typed_path)
    seeds = {"b": torch.tensor([9, 3, 30]), "a": torch.tensor([50, 1])}
    degrees = {}
    for name in (GOES, BACK, OWN):
        _, into = g.find_edges(torch.arange(g.num_edges(name)), name)
        degrees[name] = torch.bincount(into, minlength=g.num_nodes(name[2]))
    for sampler in (
        dgl.dataloading.NeighborSampler([2, 3]),
        dgl.dataloading.LaborSampler([2, 3]),
    ):
        inputs, outputs, blocks = sampler.sample(g, seeds)
        assert outputs is seeds
        for name, ids in seeds.items():
            assert torch.equal(blocks[-1].dstnodes[name].data[dgl.NID], ids)
            assert torch.equal(blocks[0].srcnodes[name].data[dgl.NID], inputs[name])
        for name, wanted in degrees.items():
            drawn = blocks[-1].in_degrees(etype=name).long()
            assert torch.equal(drawn, wanted[seeds[name[2]]].clamp(max=3))
    dgl.distributed.exit_client()
