# SPDX-License-Identifier: Apache-2.0
"""DGL's module over Troupe with DGL installed: blocks, graphs and partitions are DGL's own."""

from __future__ import annotations

import os
import pickle
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import dgl as real
import numpy as np
import pytest
import torch
from troupe import dgl
from troupe.dgl import dgl_folder
from troupe.sampler import NeighborSampler as TroupeSampler

# What starts jobs is that of the package's tests.
sys.path.append(str(Path(__file__).resolve().parents[3] / "python/tests"))
from launching import LIMIT, Launch, free_port, write_cluster

NODES, EDGES, CLASSES = 2000, 20000, 4
# dgl.heterograph is a function, too.
DGLBlock = import_module("dgl.heterograph").DGLBlock
HERE = Path(__file__).resolve().parent


@pytest.fixture(scope="session")
def whole() -> real.DGLGraph:
    """A graph of DGL whose classes its features and edges tell of."""
    chance = np.random.default_rng(1)
    label = chance.integers(0, CLASSES, NODES)
    ends = chance.integers(0, NODES, (6 * EDGES, 2))
    near = (label[ends[:, 0]] == label[ends[:, 1]]) | (chance.random(len(ends)) < 0.1)
    ends = torch.from_numpy(ends[near][:EDGES])
    g = real.graph((ends[:, 0], ends[:, 1]), num_nodes=NODES)
    feat = chance.normal(size=(NODES, 8)).astype(np.float32)
    feat[np.arange(NODES), label] += 1
    g.ndata["feat"] = torch.from_numpy(feat)
    g.ndata["label"] = torch.from_numpy(label)
    train = torch.from_numpy(chance.random(NODES) < 0.5)
    g.ndata["train_mask"], g.ndata["test_mask"] = train, ~train
    g.edata["w"] = torch.arange(g.num_edges(), dtype=torch.float64)
    return g


@pytest.fixture(scope="session")
def ours(whole, tmp_path_factory) -> tuple[str, torch.Tensor]:
    """The same in partitions of Troupe's, and the original IDs of its nodes."""
    path = tmp_path_factory.mktemp("ours") / "parts"
    mapping = dgl.distributed.partition_graph(whole, "g", 3, path, return_mapping=True)
    assert whole.ndata.keys() >= {"feat", "label"}, "the graph that was given has lost features"
    return f"{path}/g.json", mapping[0]


@pytest.fixture(scope="session")
def theirs(whole, tmp_path_factory) -> str:
    """The same in partitions that DGL wrote."""
    path = tmp_path_factory.mktemp("theirs")
    real.distributed.partition_graph(whole.local_var(), "g", 3, str(path))
    return f"{path}/g.json"


SAGE = "examples/distributed/graphsage/node_classification.py"
LINKS = "examples/distributed/graphsage/node_classification_unsupervised.py"


@pytest.fixture(scope="session")
def example(whole, tmp_path_factory) -> dict[str, str]:
    """The graph with the names of DGL's example, in partitions of ours and of DGL's."""
    g = real.graph(whole.edges(), num_nodes=NODES)
    g.ndata["features"], g.ndata["labels"] = whole.ndata["feat"], whole.ndata["label"]
    third = torch.from_numpy(np.random.default_rng(2).integers(0, 3, NODES))
    for number, name in enumerate(("train_mask", "val_mask", "test_mask")):
        g.ndata[name] = third == number
    found = {}
    for name, module in (("ours", dgl), ("theirs", real)):
        path = tmp_path_factory.mktemp("example") / name
        module.distributed.partition_graph(g.local_var(), "g", 3, str(path))
        found[name] = f"{path}/g.json"
    return found


@pytest.fixture
def g(ours) -> Iterator[dgl.distributed.DistGraph]:
    dgl.distributed.initialize(None, seed=5)
    yield dgl.distributed.DistGraph("g", part_config=ours[0])
    dgl.distributed.exit_client()


def ends_of(g, block) -> tuple[torch.Tensor, torch.Tensor]:
    sources, destinations = block.edges()
    return (
        block.srcdata[dgl.NID][sources.long()],
        block.dstdata[dgl.NID][destinations.long()],
    )


def test_blocks_are_of_edges_of_the_graph_and_seeds_come_first(g) -> None:
    nodes = dgl.distributed.node_split(g.ndata["train_mask"])
    sampler = dgl.dataloading.NeighborSampler([4, 6])
    loader = dgl.dataloading.DistNodeDataLoader(g, nodes, sampler, batch_size=128, shuffle=True)
    assert len(loader) == loader.expected_idxs == -(-len(nodes) // 128)
    seen = []
    for inputs, outputs, blocks in loader:
        assert all(isinstance(block, DGLBlock) for block in blocks)
        assert torch.equal(inputs, blocks[0].srcdata[dgl.NID])
        assert torch.equal(outputs, blocks[-1].dstdata[dgl.NID])
        assert torch.equal(blocks[0].dstdata[dgl.NID], blocks[1].srcdata[dgl.NID])
        for block, fanout in zip(blocks, (4, 6), strict=True):
            count = block.num_dst_nodes()
            assert torch.equal(block.srcdata[dgl.NID][:count], block.dstdata[dgl.NID])
            found = g.find_edges(block.edata[dgl.EID])
            assert all(map(torch.equal, found, ends_of(g, block)))
            degrees = g.in_degrees(block.dstdata[dgl.NID])
            assert torch.equal(block.in_degrees().long(), degrees.clamp(max=fanout))
        seen.append(outputs)
    assert torch.equal(torch.cat(seen).sort().values, nodes)


def test_a_layer_of_dgl_computes_over_the_batch_in_place(g) -> None:
    batch = TroupeSampler([5]).draw(g, torch.arange(200))
    block = batch.blocks[0].to_dgl()
    assert block.srcdata[dgl.NID].data_ptr() == batch.input_nodes.data_ptr()
    rows = g.ndata["feat"][block.srcdata[dgl.NID]]
    layer = real.nn.SAGEConv(8, 3, "mean")
    made = layer(block, (rows, rows[:200]))
    sources, destinations = block.edges()
    sums = torch.zeros(200, 8).index_add(0, destinations.long(), rows[sources.long()])
    means = sums / block.in_degrees().clamp(min=1).unsqueeze(1)
    expected = layer.fc_self(rows[:200]) + layer.fc_neigh(means)
    assert torch.allclose(made, expected, atol=1e-5)


def test_layers_that_weigh_edges_compute_over_the_batch(g) -> None:
    sampler = dgl.dataloading.NeighborSampler([5])
    inputs, seeds, (block,) = sampler.sample(g, torch.arange(40))
    rows, weights = g.ndata["feat"][inputs], torch.rand(block.num_edges(), 1)
    block.srcdata["x"], block.edata["e"] = rows, weights
    block.update_all(real.function.u_mul_e("x", "e", "m"), real.function.sum("m", "s"))
    sources, destinations = block.edges()
    total = torch.zeros(len(seeds), 8).index_add_(
        0, destinations.long(), rows[sources.long()] * weights
    )
    assert torch.allclose(block.dstdata["s"], total, atol=1e-5)
    layer = real.nn.GATConv(8, 4, 2, allow_zero_in_degree=True)
    assert layer(block, rows).shape == (40, 2, 4)


def test_a_block_costs_less_than_half_of_create_block(g) -> None:
    batch = TroupeSampler([10]).draw(g, torch.arange(1000))
    csr = batch.blocks[0].as_csr()
    counts = batch.blocks[0].num_src_nodes(), batch.blocks[0].num_dst_nodes()
    places = torch.empty(0, dtype=torch.int32)

    def took(make) -> float:
        begin = time.thread_time()
        make()
        return time.thread_time() - begin

    def ours_once() -> None:
        batch._blocks = None
        batch.blocks[0].to_dgl()

    def theirs_once() -> None:
        real.create_block(("csc", (csr.indptr, csr.indices, places)), *counts)

    ours_best = min(took(ours_once) for _ in range(300))
    theirs_best = min(took(theirs_once) for _ in range(300))
    print(f"a block: {ours_best * 1e6:.0f} us, create_block {theirs_best * 1e6:.0f} us")
    assert ours_best < 0.5 * theirs_best


def test_blocks_share_nothing_but_their_types(g) -> None:
    draw = TroupeSampler([5, 7]).draw
    batches = [draw(g, torch.arange(count)) for count in (30, 90)]
    blocks = [block.to_dgl() for batch in batches for block in batch.blocks]
    for number, block in enumerate(blocks):
        block.srcdata["h"] = torch.full((block.num_src_nodes(), 1), float(number))
        block.edata["w"] = torch.full((block.num_edges(), 1), 2.0)
    for number, block in enumerate(blocks):
        as_dgl_makes_it = real.create_block(
            block.edges(), block.num_src_nodes(), block.num_dst_nodes()
        )
        assert vars(block).keys() == vars(as_dgl_makes_it).keys()
        assert (block.ntypes, block.canonical_etypes) == (
            as_dgl_makes_it.ntypes,
            as_dgl_makes_it.canonical_etypes,
        )
        assert (block.srcdata["h"] == number).all() and "h" not in block.dstdata
        block.update_all(real.function.u_mul_e("h", "w", "m"), real.function.sum("m", "s"))
        total = 2.0 * number * block.in_degrees().unsqueeze(1)
        assert torch.equal(block.dstdata["s"], total)
        assert torch.equal(block.edges(form="eid").long(), torch.arange(block.num_edges()))


def test_ids_of_a_block_that_nobody_looked_at_are_columns_as_others(g) -> None:
    batch = TroupeSampler([5]).draw(g, torch.arange(100))
    ids, edges = batch.input_nodes, batch.blocks[0].edata[dgl.EID]

    def fresh() -> DGLBlock:
        batch._blocks = None
        return batch.blocks[0].to_dgl()

    assert torch.equal(fresh().local_var().srcdata[dgl.NID], ids)
    assert torch.equal(pickle.loads(pickle.dumps(fresh())).edata[dgl.EID], edges)
    some = torch.tensor([7, 3, 7])
    part = fresh().edge_subgraph([0, 4], relabel_nodes=False, store_ids=False)
    assert torch.equal(part.edata[dgl.EID], edges[[0, 4]])
    block = fresh()
    assert block.srcnodes["_N"].data[dgl.NID].dtype == torch.int64
    block.srcdata[dgl.NID] = ids + 1
    assert torch.equal(block.srcdata[dgl.NID][some], ids[some] + 1)
    assert torch.equal(batch.input_nodes, ids)
    assert torch.equal(fresh().to("cpu").dstdata[dgl.NID], ids[:100])
    assert fresh().int().long().edata[dgl.EID].dtype == torch.int64
    empty = TroupeSampler([0]).draw(g, torch.arange(3)).blocks[0].to_dgl()
    assert empty.num_edges() == 0 and empty.num_dst_nodes() == 3
    assert len(empty.edges()[0]) == 0 and torch.equal(empty.in_degrees(), torch.zeros(3).int())


def test_what_is_drawn_passes_through_dgl(g) -> None:
    seeds = torch.tensor([9, 4, 700])
    drawn = g.sample_neighbors(seeds, 3)
    assert isinstance(drawn, real.DGLGraph) and drawn.num_nodes() == g.num_nodes()
    assert all(map(torch.equal, g.find_edges(drawn.edata[dgl.EID]), drawn.edges()))
    block = real.to_block(drawn, seeds)
    assert torch.equal(block.dstdata[dgl.NID], seeds)
    every = g.sample_neighbors(seeds, -1)
    assert torch.equal(every.in_degrees(seeds), g.in_degrees(seeds))
    gone = every.edata[dgl.EID][:4]
    kept = g.sample_neighbors(seeds, -1, exclude_edges=gone)
    assert not np.isin(kept.edata[dgl.EID], gone).any()
    assert kept.num_edges() == every.num_edges() - 4
    assert g.sample_neighbors(torch.empty(0, dtype=torch.int64), 3).num_edges() == 0
    picked = g.edge_subgraph(gone)
    found = [picked.ndata[dgl.NID][ends] for ends in picked.edges()]
    assert all(map(torch.equal, found, g.find_edges(gone)))


def test_draws_along_out_edges_are_those_of_dgl(whole, tmp_path) -> None:
    made_of = real.graph(whole.edges(), num_nodes=NODES)
    ids, edges = dgl.distributed.partition_graph(
        made_of, "o", 2, tmp_path / "o", graph_formats=["csc", "csr"], return_mapping=True
    )
    dgl.distributed.initialize(None, seed=5)
    g = dgl.distributed.DistGraph("o", part_config=f"{tmp_path}/o/o.json")
    seeds = torch.tensor([9, 4, 700])
    every = g.sample_neighbors(seeds, -1, edge_dir="out")
    theirs = made_of.sample_neighbors(ids[seeds], -1, edge_dir="out")
    all_of_them = edges[every.edata[dgl.EID]].sort().values
    assert torch.equal(all_of_them, theirs.edata[dgl.EID].sort().values)
    drawn = g.sample_neighbors(seeds, 3, edge_dir="out")
    assert torch.equal(drawn.out_degrees(seeds), every.out_degrees(seeds).clamp(max=3))
    assert all(map(torch.equal, g.find_edges(drawn.edata[dgl.EID]), drawn.edges()))
    # All neighbours of two layers: the blocks are those of DGL, whose edges lead to who drew them.
    ours = dgl.dataloading.NeighborSampler([-1, -1], edge_dir="out")
    shape = real.dataloading.NeighborSampler([-1, -1], edge_dir="out", fused=True)
    inputs, _, blocks = ours.sample_blocks(g, seeds)
    wanted, _, others = shape.sample_blocks(made_of, ids[seeds])
    assert torch.equal(ids[inputs].sort().values, wanted.sort().values)
    for block, other in zip(blocks, others, strict=True):
        neighbours, drew = ends_of(g, block)
        found = g.find_edges(block.edata[dgl.EID])
        assert torch.equal(found[0], drew) and torch.equal(found[1], neighbours)
        assert block.num_dst_nodes() == other.num_dst_nodes()
        assert block.num_edges() == other.num_edges()
    dgl.distributed.exit_client()


def test_blocks_of_typed_out_edges_have_types_with_their_ends_swapped(tmp_path) -> None:
    chance = np.random.default_rng(4)
    ends = torch.from_numpy(chance.integers(0, 100, (2, 900)))
    made_of = {("a", "goes", "b"): (ends[0], ends[1]), ("b", "back", "a"): (ends[0], ends[1])}
    whole = real.heterograph(made_of, num_nodes_dict={"a": 100, "b": 100})
    dgl.distributed.partition_graph(whole, "t", 2, tmp_path / "t", graph_formats="csr")
    dgl.distributed.initialize(None, seed=5)
    g = dgl.distributed.DistGraph("t", part_config=f"{tmp_path}/t/t.json")
    sampler = dgl.dataloading.NeighborSampler([3, 2], edge_dir="out")
    for seeds in ({"a": torch.arange(9)}, {"a": torch.arange(9), "b": torch.arange(7)}):
        _, _, blocks = sampler.sample_blocks(g, seeds)
        for block in blocks:
            assert block.canonical_etypes == [("b", "goes", "a"), ("a", "back", "b")]
            for source, relation, target in block.canonical_etypes:
                places = block.edges(etype=relation)
                neighbours = block.srcnodes[source].data[dgl.NID][places[0].long()]
                drew = block.dstnodes[target].data[dgl.NID][places[1].long()]
                found = g.find_edges(block.edges[relation].data[dgl.EID], relation)
                assert torch.equal(found[0], drew) and torch.equal(found[1], neighbours)
        assert blocks[-1].num_edges("goes") > 0
    drawn = g.sample_neighbors({"a": torch.arange(9)}, 2, edge_dir="out")
    assert drawn.num_edges("goes") > 0 and drawn.num_edges("back") == 0
    total = dgl.distributed.sample_neighbors(g, {"a": torch.arange(9)}, 2, edge_dir="out")
    assert torch.equal(
        total.out_degrees(torch.arange(9), etype="goes"),
        drawn.out_degrees(torch.arange(9), etype="goes"),
    )
    ends = g.find_edges(total.edges["goes"].data[dgl.EID], "goes")
    assert all(map(torch.equal, total.edges(etype="goes"), ends))
    dgl.distributed.exit_client()


def test_subgraphs_of_typed_edges_and_nodes_are_those_of_dgl(tmp_path) -> None:
    chance = np.random.default_rng(6)
    kinds = [("a", "goes", "b"), ("a", "own", "a"), ("b", "back", "a")]
    made_of = {kind: tuple(torch.from_numpy(chance.integers(0, 90, (2, 700)))) for kind in kinds}
    whole = real.heterograph(made_of, num_nodes_dict={"a": 90, "b": 90})
    ids, edges = dgl.distributed.partition_graph(whole, "s", 3, tmp_path / "s", return_mapping=True)
    dgl.distributed.initialize(None, seed=5)
    g = dgl.distributed.DistGraph("s", part_config=f"{tmp_path}/s/s.json")
    for picked in ({kinds[0]: torch.tensor([5, 3, 5, 99])}, dict.fromkeys(kinds, torch.arange(60))):
        theirs = whole.edge_subgraph({kind: edges[kind][at] for kind, at in picked.items()})
        ours = g.edge_subgraph(picked)
        assert ours.canonical_etypes == [kind for kind in kinds if kind in picked]
        for ntype in g.ntypes:
            # In the order of DGL, too.
            assert torch.equal(
                ids[ntype][ours.nodes[ntype].data[dgl.NID]], theirs.nodes[ntype].data[dgl.NID]
            )
        for kind in picked:
            assert all(map(torch.equal, ours.edges(etype=kind), theirs.edges(etype=kind)))
            assert torch.equal(
                edges[kind][ours.edges[kind].data[dgl.EID]], theirs.edges[kind].data[dgl.EID]
            )
        same = g.edge_subgraph(picked, relabel_nodes=False)
        assert same.num_nodes("a") == 90
        for kind, at in picked.items():
            assert all(map(torch.equal, same.edges(etype=kind), g.find_edges(at, kind)))
    for seeds in ({"a": torch.tensor([7, 1])}, {"b": torch.arange(9), "a": torch.tensor([88])}):
        ours = g.in_subgraph(seeds)
        theirs = real.in_subgraph(whole, {name: ids[name][at] for name, at in seeds.items()})
        for kind in kinds:
            found = edges[kind][ours.edges[kind].data[dgl.EID]].sort().values
            assert torch.equal(found, theirs.edges[kind].data[dgl.EID].sort().values)
            assert all(
                map(
                    torch.equal,
                    ours.edges(etype=kind),
                    g.find_edges(ours.edges[kind].data[dgl.EID], kind),
                )
            )
    dgl.distributed.exit_client()


class OneHop(dgl.dataloading.BlockSampler):
    def sample_blocks(self, g, seeds, exclude_eids=None):
        block = real.to_block(g.sample_neighbors(seeds, 2), seeds)
        return block.srcdata[dgl.NID], seeds, [block]


def test_a_sampler_of_a_program_draws_the_same_each_time(g) -> None:
    def epoch() -> list[torch.Tensor]:
        loader = dgl.dataloading.DistNodeDataLoader(g, torch.arange(300), OneHop(), batch_size=64)
        loader.number = 0
        return [inputs for inputs, _, _ in loader]

    first = epoch()
    assert len(first) == 5 and all(map(torch.equal, first, epoch()))


def test_no_layer_draws_edges_that_are_left_out(g) -> None:
    sampler = dgl.dataloading.NeighborSampler([-1, -1])
    seeds = torch.arange(5)
    gone = sampler.sample_blocks(g, seeds)[2][-1].edata[dgl.EID][:3]
    _, _, blocks = sampler.sample_blocks(g, seeds, exclude_eids=gone)
    for block in blocks:
        assert not np.isin(block.edata[dgl.EID], gone).any()
        assert all(map(torch.equal, g.find_edges(block.edata[dgl.EID]), ends_of(g, block)))


def edges_of_part(part) -> list[tuple[float, ...]]:
    """Own edges of a partition as tuples of global IDs and their feature."""
    graph, _, feats = part[:3]
    own = graph.edata["inner_edge"].bool()
    ends = [graph.ndata[dgl.NID][ids[own]].tolist() for ids in graph.edges()]
    return sorted(zip(*ends, feats["_N:_E:_N/w"].tolist(), strict=True))


def test_a_partition_has_what_dgls_has(ours, whole) -> None:
    path, original = ours
    edges = 0
    for part in range(3):
        graph, ndata, edata, book, name, ntypes, etypes = dgl.distributed.load_partition(path, part)
        own = graph.ndata["inner_node"].bool()
        ids = graph.ndata[dgl.NID]
        assert torch.equal(ids[own], book.partid2nids(part))
        assert torch.equal(graph.ndata["part_id"], book.nid2partid(ids))
        assert (graph.ndata["part_id"][own] == part).all()
        assert torch.equal(ndata["_N/feat"], whole.ndata["feat"][original[ids[own]]])
        assert ndata["_N/train_mask"].dtype == torch.uint8
        assert (name, ntypes, etypes) == ("g", ["_N"], [("_N", "_E", "_N")])
        weights = edata["_N:_E:_N/w"].long()
        for ends, expected in zip(graph.edges(), whole.find_edges(weights), strict=True):
            assert torch.equal(original[ids[ends]], expected)
        edges += graph.num_edges()
    assert edges == whole.num_edges()


def test_partitions_of_dgl_open_as_they_are(theirs) -> None:
    for part in range(3):
        expected = real.distributed.load_partition(theirs, part)
        found = dgl.distributed.load_partition(theirs, part)
        assert found[1].keys() == expected[1].keys() and found[2].keys() == expected[2].keys()
        for name, rows in expected[1].items():
            assert torch.equal(found[1][name], rows), name
        assert torch.equal(found[3].partid2nids(part), expected[3].partid2nids(part))
        assert edges_of_part(found) == edges_of_part(expected)
        assert found[4:] == expected[4:]


@pytest.mark.parametrize("formats", ["csc", "csr", ["coo", "csc"]])
def test_partitions_of_every_format_open(whole, tmp_path, formats) -> None:
    real.distributed.partition_graph(
        whole.local_var(), "g", 2, str(tmp_path), graph_formats=formats
    )
    path = f"{tmp_path}/g.json"
    for part in range(2):
        expected = real.distributed.load_partition(path, part)
        assert edges_of_part(dgl.distributed.load_partition(path, part)) == edges_of_part(expected)


def test_graphs_of_several_types(tmp_path) -> None:
    def ends(count: int, sources: int, destinations: int) -> tuple[torch.Tensor, torch.Tensor]:
        return torch.randint(sources, (count,)), torch.randint(destinations, (count,))

    goes, back, own = ("a", "goes", "b"), ("b", "back", "a"), ("a", "own", "a")
    made_of = {goes: ends(2000, 300, 200), back: ends(1500, 200, 300), own: ends(900, 300, 300)}
    whole = real.heterograph(made_of, num_nodes_dict={"a": 300, "b": 200})
    whole.nodes["a"].data["x"] = torch.randn(300, 5)
    whole.edges["goes"].data["w"] = torch.arange(2000)
    classes = {"a": torch.arange(300).remainder(2).to(torch.int8)}
    nodes, edges = dgl.distributed.partition_graph(
        whole, "h", 2, tmp_path / "h", balance_ntypes=classes, return_mapping=True
    )
    path = tmp_path / "h/h.json"
    dgl.distributed.initialize(None, seed=2)
    g = dgl.distributed.DistGraph("h", part_config=path)
    assert g.ntypes == whole.ntypes and g.canonical_etypes == whole.canonical_etypes
    assert list(g.nodes["a"].data) == ["x"], "what balanced the parts is no feature"
    assert torch.equal(g.nodes["a"].data["x"][:], whole.nodes["a"].data["x"][nodes["a"]])
    assert torch.equal(g.edges["goes"].data["w"][:], edges[goes])
    sampler = dgl.dataloading.MultiLayerNeighborSampler([3, {"goes": 2, "back": -1, "own": 0}])
    for seeds in ({"a": torch.arange(20)}, {"a": torch.arange(10), "b": torch.arange(10)}):
        loader = dgl.dataloading.DistNodeDataLoader(g, seeds, sampler, batch_size=8, shuffle=True)
        seen = {name: [] for name in seeds}
        for inputs, outputs, blocks in loader:
            for block in blocks:
                for etype in block.canonical_etypes:
                    found = g.find_edges(block.edges[etype].data[dgl.EID], etype)
                    places = block.edges(etype=etype)
                    sources = block.srcnodes[etype[0]].data[dgl.NID][places[0].long()]
                    into = block.dstnodes[etype[2]].data[dgl.NID][places[1].long()]
                    assert torch.equal(found[0], sources) and torch.equal(found[1], into)
            assert blocks[-1].num_edges("own") == 0
            assert torch.equal(inputs["b"], blocks[0].srcnodes["b"].data[dgl.NID])
            for name, ids in outputs.items():
                seen[name].append(ids)
        for name, ids in seeds.items():
            assert torch.equal(torch.cat(seen[name]).sort().values, ids)
    assert g.edge_subgraph({goes: torch.arange(4)}).canonical_etypes == [goes]
    part = dgl.distributed.load_partition(path, 1)
    kinds, ids = part[3].map_to_per_ntype(part[0].ndata[dgl.NID])
    assert torch.equal(kinds.to(torch.int32), part[0].ndata[dgl.NTYPE])
    assert part[1].keys() == {"a/x"} and part[2].keys() == {"a:goes:b/w"}
    assert ids.max() < 300 and part[5:] == (["a", "b"], whole.canonical_etypes)
    dgl.distributed.exit_client()


def words_of_script(path: str, out: Path) -> list[str]:
    """The script with its arguments, as `python` takes them."""
    script = [str(HERE / "train_sage.py"), "--graph_name", "g", "--part_config", path]
    return ["-m", "troupe.dgl", *script, "--out", str(out)]


def check_trained(path: str, out: Path, world: int) -> None:
    """All ranks have the weights of one, and every node's inference is right."""
    saved = [torch.load(f"{out}.{rank}") for rank in range(world)]
    # The same layers over the whole graph, which DGL's own code computes.
    dgl.distributed.initialize(None)
    with dgl.distributed.DistGraph("g", part_config=path) as opened:
        sources, destinations = opened.find_edges(opened.edges())
        rows = opened.ndata["feat"][:]
        count = opened.num_nodes()
    dgl.distributed.exit_client()
    renumbered = real.graph((sources, destinations), num_nodes=count)
    layers = [real.nn.SAGEConv(8, 16, "mean"), real.nn.SAGEConv(16, CLASSES, "mean")]
    for number, layer in enumerate(layers):
        prefix, state = f"layers.{number}.", saved[0][0]
        own = {k[len(prefix) :]: v for k, v in state.items() if k.startswith(prefix)}
        layer.load_state_dict(own)
        rows = layer(renumbered, rows)
        rows = torch.relu(rows) if number == 0 else rows
    for state, result, accuracy in saved:
        assert accuracy > 0.6
        assert all(torch.equal(state[name], saved[0][0][name]) for name in state)
        assert torch.allclose(rows, result, atol=1e-4)


@pytest.mark.parametrize("folder", ["ours", "theirs"])
def test_a_script_runs_unchanged_and_infers_every_node(
    request, whole, tmp_path, folder: str
) -> None:
    value = request.getfixturevalue(folder)
    path = value if isinstance(value, str) else value[0]
    out = tmp_path / "result"
    place = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port())}
    environment = {**os.environ, **place, "RANK": "0", "WORLD_SIZE": "1"}
    words = [sys.executable, *words_of_script(path, out)]
    ended = subprocess.run(words, env=environment, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    check_trained(path, out, 1)


def test_the_script_runs_unchanged_on_four_processes(ours, tmp_path) -> None:
    out = tmp_path / "result"
    job = Launch(write_cluster(tmp_path, ours[0], 4), *words_of_script(ours[0], out))
    said = job.finish()
    # An interpreter that takes longer to end than the launcher waits is stopped.
    assert set(re.findall(r"ended with (.*)", said)) <= {"exit code 0", "exit code 143"}, said
    check_trained(ours[0], out, 4)


def test_the_script_runs_unchanged_under_torchrun(ours, tmp_path) -> None:
    """Servers and the sampler are started by themselves, trainers by PyTorch's own launcher."""
    out, cluster = tmp_path / "result", write_cluster(tmp_path, ours[0], 4)
    command = os.environ.get("TROUPE", "troupe")
    roles = ["serve", "serve", "sample"]
    words = [
        [command, role, "--cluster", str(cluster), "--process", str(number)]
        for number, role in enumerate(roles)
    ]
    torchrun = ["--nnodes=1", "--nproc_per_node=4", f"--master_port={free_port()}"]
    words.append([sys.executable, "-m", "torch.distributed.run", *torchrun])
    words[-1] += words_of_script(ours[0], out)
    environment = {**os.environ, "TROUPE_CLUSTER": str(cluster)}
    processes = [
        subprocess.Popen(
            line,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for line in words
    ]
    try:
        said = [process.communicate(timeout=LIMIT)[0] for process in processes[::-1]]
        # The job ends for all.
        assert [process.returncode for process in processes] == [0] * 4, said
    finally:
        for process in processes:
            if process.poll() is None:
                process.kill()
                process.wait()
    check_trained(ours[0], out, 4)


def test_files_beside_partitions_stay(whole, tmp_path) -> None:
    """Scripts keep their ip_config.txt and maps of IDs where partitions go."""
    (tmp_path / "ip_config.txt").write_text("127.0.0.1\n")
    for parts, trainers in ((2, 2), (3, 1), (3, 1)):
        nodes, _ = dgl.distributed.partition_graph(
            whole, "g", parts, tmp_path, return_mapping=True, num_trainers_per_machine=trainers
        )
        with dgl.distributed.DistGraph(part_config=tmp_path / "g.json", standalone=True) as opened:
            assert opened.num_parts == parts
            assert torch.equal(opened.ndata["feat"][:], whole.ndata["feat"][nodes])
    assert (tmp_path / "ip_config.txt").read_text() == "127.0.0.1\n"
    with pytest.raises(FileExistsError, match=r"part\d is there already, and is not of h\.json"):
        dgl.distributed.partition_graph(whole, "h", 2, tmp_path)
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {"ip_config.txt", "g.json", "part0", "part1", "part2"}


@pytest.mark.parametrize("layers", [2, 3])
@pytest.mark.parametrize(
    ("folder", "world"), [("ours", 1), ("theirs", 1), ("ours", 4), ("theirs", 4)]
)
def test_dgls_own_example_infers_every_node(
    example, tmp_path, folder: str, world: int, layers: int
) -> None:
    """As its sources have it: all hidden layers are written to one name."""
    path, out = example[folder], tmp_path / "result"
    (tmp_path / "ip_config.txt").write_text("127.0.0.1 30050\n")
    fanouts = ",".join(["5"] * (layers - 1) + ["10"])
    words = ["-m", "troupe.dgl", HERE / "run_sage.py"]
    words += [f"{os.environ['TROUPE_DGL_SOURCE']}/{SAGE}", out, "--graph_name", "g"]
    words += ["--ip_config", tmp_path / "ip_config.txt", "--part_config", path, "--pad-data"]
    words += ["--num_layers", layers, "--fan_out", fanouts, "--num_epochs", 4, "--lr", 0.01]
    words += ["--batch_size", 100, "--batch_size_eval", 200, "--eval_every", 2, "--log_every", 5]
    if world == 1:
        place = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port())}
        environment = {**os.environ, **place, "RANK": "0", "WORLD_SIZE": "1"}
        subprocess.run([sys.executable, *map(str, words)], check=True, env=environment)
    else:
        # The job's servers take the partitions that stand for DGL's, the program DGL's own path.
        served = Path(dgl_folder.opened_as(path))
        assert (served == Path(path)) == (folder == "ours")
        said = Launch(write_cluster(tmp_path, served, world), *words).finish()
        assert said.count("Summary of node classification") == world, said
    saved = [torch.load(f"{out}.{rank}") for rank in range(world)]
    dgl.distributed.initialize(None)
    with dgl.distributed.DistGraph("g", part_config=path) as opened:
        renumbered = real.graph(opened.find_edges(opened.edges()), num_nodes=NODES)
        rows = opened.ndata["features"][:]
    dgl.distributed.exit_client()
    sizes = [8, *[16] * (layers - 1), CLASSES]
    for number in range(layers):
        layer = real.nn.SAGEConv(sizes[number], sizes[number + 1], "mean")
        prefix, state = f"layers.{number}.", saved[0][0]
        own = {k[len(prefix) :]: v for k, v in state.items() if k.startswith(prefix)}
        layer.load_state_dict(own)
        rows = layer(renumbered, rows)
        rows = torch.relu(rows) if number + 1 < layers else rows
    for state, result in saved:
        assert all(torch.equal(state[name], saved[0][0][name]) for name in state)
        assert torch.allclose(rows, result, atol=1e-4)


def test_dgls_own_example_of_links_learns(example, tmp_path) -> None:
    """Its embeddings, which it learns from edges alone, tell classes; edges of a batch are left
    out of its draws."""
    (tmp_path / "ip_config.txt").write_text("127.0.0.1 30050\n")
    words = ["-m", "troupe.dgl", HERE / "run_links.py"]
    words += [f"{os.environ['TROUPE_DGL_SOURCE']}/{LINKS}", "--graph_name", "g", "--remove_edge"]
    words += ["--ip_config", tmp_path / "ip_config.txt", "--part_config", example["ours"]]
    words += ["--num_epochs", 2, "--batch_size", 1000, "--batch_size_eval", 500, "--eval_every", 2]
    path = f"{os.environ['PYTHONPATH']}:{os.environ['TROUPE_GRAPHSTORM']}"  # has scikit-learn
    place = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port()), "PYTHONPATH": path}
    said = subprocess.run(
        [sys.executable, *map(str, words)],
        check=True,
        cwd=tmp_path,  # where it writes its embeddings
        env={**os.environ, **place, "RANK": "0", "WORLD_SIZE": "1"},
        stdout=subprocess.PIPE,
        text=True,
    ).stdout
    found = re.findall(r"eval acc ([0-9.]+); test acc ([0-9.]+)", said)
    # By chance it would be a quarter.
    assert found and min(map(float, found[-1])) > 0.4, said


@pytest.mark.parametrize("kind", ["homo", "hetero"])
@pytest.mark.parametrize(("parts", "trainers"), [(2, 1), (2, 4)])
def test_what_dgl_tests_its_objects_with(tmp_path, kind: str, parts: int, trainers: int) -> None:
    """Functions of DGL's sources: which ones, and why not the others, says run_objects.py."""
    source = os.environ["TROUPE_DGL_SOURCE"]
    script, folder = ["-m", "troupe.dgl", str(HERE / "run_objects.py")], str(tmp_path / "parts")
    words = [sys.executable, *script, "create", source, folder, str(parts), kind]
    subprocess.run(words, check=True)
    arguments = [*script, source, folder, str(parts)]
    if trainers == 1:
        said = subprocess.run(
            [sys.executable, *arguments], check=True, stdout=subprocess.PIPE, text=True
        ).stdout
    else:
        path = Path(folder) / "random_test_graph.json"
        said = Launch(write_cluster(tmp_path, path, trainers), *arguments).finish()
    assert said.count("all passed") == trainers, said


@pytest.mark.parametrize("name", ["test_partition", "test_dist_graph_store"])
def test_what_dgl_tests_its_partitions_with(tmp_path, name: str) -> None:
    """Functions of DGL's sources: which ones, and why not the others, says run_partitions.py."""
    source = os.environ["TROUPE_DGL_SOURCE"]
    words = ["-m", "troupe.dgl", str(HERE / "run_partitions.py"), source, str(tmp_path), name]
    said = subprocess.run(
        [sys.executable, *words], check=True, stdout=subprocess.PIPE, text=True
    ).stdout
    assert "all passed" in said


@pytest.mark.parametrize("words", [["rgcn"], ["rgcn", "edges"], ["rgat"], ["hgt"]])
def test_graphstorm_trains_over_it(words: list[str]) -> None:
    """What of GraphStorm's own tests this stands for, says run_graphstorm.py."""
    path = f"{os.environ['PYTHONPATH']}:{os.environ['TROUPE_GRAPHSTORM']}"
    said = subprocess.run(
        [sys.executable, "-m", "troupe.dgl", str(HERE / "run_graphstorm.py"), *words],
        check=True,
        env={**os.environ, "PYTHONPATH": path},
        stdout=subprocess.PIPE,
        text=True,
    ).stdout
    assert f"trained {words[0]} {len(words) > 1}" in said


def test_libraries_that_import_dgl_find_ours() -> None:
    code = """
from troupe import dgl as ours
ours.install()
ours.install()
import dgl, dgl.distributed.constants
from dgl.distributed import rpc, DistGraph
from dgl.distributed.dist_tensor import DistTensor
from dgl.distributed.kvstore import close_kvstore
from dgl.dataloading import DistNodeDataLoader, NeighborSampler, ShaDowKHopSampler
assert dgl.distributed.DistGraph is DistGraph is ours.distributed.DistGraph
assert dgl.dataloading.NeighborSampler is NeighborSampler is ours.dataloading.NeighborSampler
assert ours.dataloading.ShaDowKHopSampler is ShaDowKHopSampler
assert dgl.distributed.constants.DEFAULT_NTYPE == "_N" and rpc.get_num_server() == 0
close_kvstore()
import torch
g = dgl.rand_graph(50, 400)
_, _, blocks = NeighborSampler([2, 2]).sample_blocks(g, torch.arange(5))
assert blocks[-1].num_dst_nodes() == 5 and dgl.EID in blocks[0].edata
"""
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr


def test_an_interpreter_ends_in_silence_with_a_loader_alive(ours) -> None:
    code = f"""
import torch
from troupe import dgl
dgl.distributed.initialize(None)
g = dgl.distributed.DistGraph("g", part_config={ours[0]!r})
sampler = dgl.dataloading.NeighborSampler([5, 5])
loader = dgl.dataloading.DistNodeDataLoader(g, torch.arange(1000), sampler, batch_size=50)
next(iter(loader))
"""
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert ended.returncode == 0 and "Exception ignored" not in ended.stderr, ended.stderr


def test_features_of_blocks_of_dgl_are_there_before_the_loop_asks(g, whole, ours) -> None:
    """Also in loaders of edges, whose loop reads of pairs; those of batches are fresh tensors."""
    original = ours[1]
    sampler = dgl.dataloading.NeighborSampler([4, 6])
    loaders = [
        dgl.dataloading.DistNodeDataLoader(g, torch.arange(1000), sampler, batch_size=100),
        dgl.dataloading.DistEdgeDataLoader(
            g,
            torch.arange(2000),
            sampler,
            batch_size=200,
            negative_sampler=dgl.dataloading.negative_sampler.Uniform(2),
        ),
    ]
    for loader in loaders:
        for inputs, second, *_, blocks in loader:
            rows = g.ndata["feat"][inputs]
            assert torch.equal(rows, whole.ndata["feat"][original[inputs]])
            nodes = blocks[0].srcdata[dgl.NID]
            assert torch.equal(g.ndata["feat"][nodes], rows) and len(nodes) == len(inputs)
            edges = blocks[1].edata[dgl.EID] if loader is loaders[0] else second.edata[dgl.EID]
            ends = whole.find_edges(g.edata["w"][edges].long())
            for found, expected in zip(g.find_edges(edges), ends, strict=True):
                assert torch.equal(original[found], expected)
        kinds = {(feature.name, place.kind) for feature, place in loader._ahead.wanted()}
        assert kinds == {("feat", "input"), ("w", "edges" if loader is loaders[0] else "pairs")}


def test_blocks_have_what_a_sampler_prefetches(g, whole) -> None:
    sampler = dgl.dataloading.NeighborSampler(
        [3, 2],
        prefetch_node_feats=["feat"],
        prefetch_labels=["label"],
        prefetch_edge_feats=["w"],
    )
    loader = dgl.dataloading.DistNodeDataLoader(g, torch.arange(200), sampler, batch_size=64)
    for inputs, seeds, blocks in loader:
        assert torch.equal(blocks[0].srcdata["feat"], g.ndata["feat"][inputs])
        assert torch.equal(blocks[-1].dstdata["label"], g.ndata["label"][seeds])
        assert "feat" not in blocks[-1].srcdata
        for block in blocks:
            assert torch.equal(block.edata["w"], g.edata["w"][block.edata[dgl.EID]])
    # A graph of DGL's own has them from DGL's loader.
    loader = real.dataloading.DataLoader(whole, torch.arange(200), sampler, batch_size=64)
    for inputs, seeds, blocks in loader:
        assert torch.equal(blocks[0].srcdata["feat"], whole.ndata["feat"][inputs])
        assert torch.equal(blocks[-1].dstdata["label"], whole.ndata["label"][seeds])


def test_what_graphs_in_memory_alone_have_is_refused_with_what_to_do(g) -> None:
    seeds, sampler = torch.arange(9), dgl.dataloading.NeighborSampler([2])
    shadow = real.dataloading.ShaDowKHopSampler([2])
    nodes = dgl.dataloading.DistNodeDataLoader
    refused = [
        (
            AttributeError,
            "DistNodeDataLoader",
            lambda: real.dataloading.DataLoader(g, seeds, sampler),
        ),
        (AttributeError, "in_subgraph", lambda: next(iter(nodes(g, seeds, shadow)))),
        (AttributeError, "a fanout of -1", lambda: g.update_all(None, None)),
        (
            NotImplementedError,
            "partition again with --out-edges",
            lambda: g.sample_neighbors(seeds, 2, edge_dir="out"),
        ),
    ]
    for kind, text, call in refused:
        with pytest.raises(kind, match=text):
            for _ in call() or ():
                pass
    assert not hasattr(g, "no_such_thing")
