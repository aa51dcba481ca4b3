# SPDX-License-Identifier: Apache-2.0
"""Troupe's loader, stores and sampler for PyTorch Geometric, beside its own NeighborLoader.

All neighbours are drawn, so that batches of both are the same. PyG's loader takes its draws from
pyg-lib or torch-sparse; where neither is installed, from the same written down here."""

from __future__ import annotations

import copy
import os
import pickle
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
import torch_geometric.nn
import torch_geometric.typing
import troupe
from torch_geometric.data import Data, HeteroData
from torch_geometric.loader import ImbalancedSampler, NodeLoader, PrefetchLoader, ZipLoader
from torch_geometric.loader import LinkLoader as PygLinkLoader
from torch_geometric.loader import LinkNeighborLoader as PygLinks
from torch_geometric.loader import NeighborLoader as PygLoader
from torch_geometric.sampler import NegativeSampling
from torch_geometric.transforms import RandomLinkSplit, ToUndirected
from troupe import pyg

NODES, ISOLATED = 60, 59
EXAMPLES = Path(__file__).resolve().parents[3] / "examples/python"
AUTHORS, WRITES, CITES = 9, ("author", "writes", "paper"), ("paper", "cites", "paper")
# What ours have beside PyG's.
OURS = {"weight", "padded"}
# What PyG has of pyg-lib alone.
COUNTS = {"num_sampled_nodes", "num_sampled_edges"}


def sample_types(ntypes, etypes, colptrs, rows, seeds, numbers, hops, replace, directed):
    """All in-edges, hop by hop: each node is expanded once, by the hop behind the one that reached
    it; of a seed that is given twice, each; an edge's source is the first of its node."""
    assert not replace and directed and all(n == -1 for of in numbers.values() for n in of)
    nodes = {t: seeds[t].tolist() if t in seeds else [] for t in ntypes}
    places = {t: {} for t in ntypes}
    for ntype, ids in nodes.items():
        for place, node in enumerate(ids):
            places[ntype].setdefault(node, place)
    drawn = {"__".join(e): ([], [], []) for e in etypes}
    begin = dict.fromkeys(ntypes, 0)
    for _ in range(hops):
        end = {t: len(ids) for t, ids in nodes.items()}
        for source, relation, target in etypes:
            name = f"{source}__{relation}__{target}"
            for place in range(begin[target], end[target]):
                node = nodes[target][place]
                for edge in range(int(colptrs[name][node]), int(colptrs[name][node + 1])):
                    other = int(rows[name][edge])
                    if other not in places[source]:
                        places[source][other] = len(nodes[source])
                        nodes[source].append(other)
                    for into, value in zip(
                        drawn[name], (places[source][other], place, edge), strict=True
                    ):
                        into.append(value)
        begin = end
    found = [{n: torch.tensor(d[i]).long() for n, d in drawn.items()} for i in range(3)]
    return {t: torch.tensor(ids).long() for t, ids in nodes.items()}, *found


def sample(colptr, row, seeds, numbers, replace, directed):
    etype, name = ("_N", "_E", "_N"), "_N___E___N"
    given = ({name: colptr}, {name: row}, {"_N": seeds}, {name: numbers}, len(numbers))
    node, rows, cols, edges = sample_types(["_N"], [etype], *given, replace, directed)
    return node["_N"], rows[name], cols[name], edges[name]


@pytest.fixture(autouse=True)
def draws(monkeypatch: pytest.MonkeyPatch) -> None:
    if torch_geometric.typing.WITH_PYG_LIB or torch_geometric.typing.WITH_TORCH_SPARSE:
        return
    ops = SimpleNamespace(neighbor_sample=sample, hetero_neighbor_sample=sample_types)
    monkeypatch.setattr(torch.ops, "torch_sparse", ops, raising=False)
    monkeypatch.setattr(torch_geometric.typing, "WITH_TORCH_SPARSE", True)


def ends(chance, sources: int, targets: int, count: int) -> torch.Tensor:
    return torch.from_numpy(
        np.stack([chance.integers(0, sources, count), chance.integers(0, targets, count)])
    )


@pytest.fixture(scope="module")
def whole() -> Data:
    """A graph of PyG's, with loops, edges that are there twice, and a node without edges."""
    chance = np.random.default_rng(1)
    edges = ends(chance, ISOLATED, ISOLATED, 150)
    edges[:, 0], edges[:, 1] = edges[:, 2], torch.tensor([4, 4])
    return Data(
        x=torch.from_numpy(chance.normal(size=(NODES, 5)).astype(np.float32)),
        y=torch.arange(NODES) % 7,
        train_mask=torch.arange(NODES) % 3 == 0,
        edge_index=edges,
        edge_attr=torch.arange(150.0),
    )


@pytest.fixture(scope="module")
def typed() -> HeteroData:
    chance = np.random.default_rng(2)
    data = HeteroData()
    data["paper"].x = torch.from_numpy(chance.normal(size=(NODES, 3)).astype(np.float32))
    data["paper"].y = torch.arange(NODES) % 7
    data["author"].x = torch.from_numpy(chance.normal(size=(AUTHORS, 2)).astype(np.float32))
    data[WRITES].edge_index = ends(chance, AUTHORS, NODES, 80)
    data[CITES].edge_index = ends(chance, NODES, ISOLATED, 90)
    return data


def partitioned(data, folder: Path, parts: int) -> tuple[Path, object, object]:
    nodes, edges = troupe.partition_graph(data, "g", parts, folder, return_mapping=True)
    return folder / "g.json", nodes, edges


@pytest.fixture(scope="module")
def ours(whole, tmp_path_factory) -> tuple:
    return partitioned(whole, tmp_path_factory.mktemp("one") / "parts", 3)


@pytest.fixture
def g(ours) -> Iterator[troupe.DistGraph]:
    with troupe.open(ours[0], seed=5, tensors="torch") as opened:
        yield opened


SEEDS = torch.tensor([7, ISOLATED, 4, 7, 30, 12, 4])


def check_edges(mine, theirs, seeds: int, edges) -> None:
    """Both stores have the same edges between the same nodes."""
    assert mine.edge_index.dtype == theirs.edge_index.dtype == torch.int64
    assert mine.edge_index.shape == theirs.edge_index.shape
    assert mine.e_id.dtype == theirs.e_id.dtype == torch.int64
    lists = []
    for store, ids in ((mine, edges[mine.e_id.numpy()]), (theirs, theirs.e_id.numpy())):
        targets = store.edge_index[1].tolist()
        lists.append(sorted(zip(ids.tolist(), targets, strict=True)))
    # Seeds stand at the same places, and what they reached in another order.
    assert [e for e, _ in lists[0]] == [e for e, _ in lists[1]]
    assert [p for p in lists[0] if p[1] < seeds] == [p for p in lists[1] if p[1] < seeds]


@pytest.mark.parametrize("how", ["our loader", "PyG's NeighborLoader", "PyG's NodeLoader"])
def test_batches_are_those_of_pyg(whole, ours, g, how: str) -> None:
    _, nodes, edges = ours
    nodes, edges = np.asarray(nodes), np.asarray(edges)
    mine_seeds = torch.as_tensor(g.from_orig(SEEDS))
    attrs = ["x", "y", "train_mask"]
    hops, options = [-1, -1], {"batch_size": 4}
    data, sampler = pyg.stores(g, attrs), pyg.NeighborSampler(g, hops)
    if how == "our loader":
        more = {"attrs": attrs, "edge_attrs": ["edge_attr"]}
        loader = pyg.NeighborLoader(g, hops, mine_seeds, **more, **options)
    elif how == "PyG's NodeLoader":
        loader = NodeLoader(data, sampler, input_nodes=mine_seeds, **options)
    else:
        loader = PygLoader(data, hops, input_nodes=mine_seeds, neighbor_sampler=sampler, **options)
    reference = list(PygLoader(whole, hops, input_nodes=SEEDS, **options))
    batches = list(loader)
    assert len(batches) == len(reference) == len(loader) == 2
    for mine, theirs in zip(batches, reference, strict=True):
        assert type(mine) is type(theirs) is Data
        # PyG's loaders bring no features of edges of stores, and count nodes in them.
        added = OURS if how == "our loader" else {"edge_attr"}
        assert set(mine.keys()) ^ set(theirs.keys()) <= added | COUNTS | {"num_nodes"}
        assert mine.num_nodes == theirs.num_nodes and mine.batch_size == theirs.batch_size
        assert torch.equal(mine.input_id, theirs.input_id)
        original = nodes[mine.n_id.numpy()]
        seeds = theirs.batch_size
        assert original[:seeds].tolist() == theirs.n_id[:seeds].tolist()
        assert sorted(original) == sorted(theirs.n_id.tolist())
        for name in ["n_id", *attrs]:
            one, two = mine[name], theirs[name]
            assert one.shape == two.shape, name
            if name != "n_id":
                assert torch.equal(one.to(two.dtype), whole[name][original])
            assert one.dtype == two.dtype or (name, one.dtype) == ("train_mask", torch.uint8)
        check_edges(mine, theirs, seeds, edges)
        # Sources above destinations, as positions in n_id.
        pairs = original[mine.edge_index.numpy()]
        assert np.array_equal(pairs, whole.edge_index[:, edges[mine.e_id.numpy()]].numpy())
        if how == "our loader":
            assert torch.equal(mine.edge_attr, whole.edge_attr[edges[mine.e_id.numpy()]])
        assert mine.num_sampled_nodes[0] == seeds
        assert sum(mine.num_sampled_nodes) == mine.num_nodes
        assert sum(mine.num_sampled_edges) == mine.num_edges
        assert [type(n) for n in mine.num_sampled_nodes] == [int] * 3


def test_a_mask_gives_ids_as_pyg_gives_them(whole, ours, g) -> None:
    theirs = list(PygLoader(whole, [-1], input_nodes=whole.train_mask, batch_size=8))
    mine = list(pyg.NeighborLoader(g, [-1], g.ndata["train_mask"], batch_size=8))
    # A mask of the graph comes in the order of original IDs, as PyG's masks do.
    nodes = np.asarray(ours[1])
    for one, two in zip(mine, theirs, strict=True):
        assert nodes[one.input_id.numpy()].tolist() == two.input_id.tolist()
        assert torch.equal(one.input_id, one.n_id[: one.batch_size])
        assert one.num_nodes == two.num_nodes and one.num_edges == two.num_edges


def test_types_are_those_of_pyg(typed, tmp_path) -> None:
    path, nodes, edges = partitioned(typed, tmp_path / "parts", 2)
    hops = {WRITES: [-1, -1], CITES: [-1, -1]}
    with troupe.open(path, seed=5, tensors="torch") as g:
        seeds = torch.as_tensor(g.from_orig(SEEDS, "paper"))
        options = {"batch_size": len(SEEDS)}
        (theirs,) = PygLoader(typed, hops, input_nodes=("paper", SEEDS), **options)
        (mine,) = pyg.NeighborLoader(g, hops, ("paper", seeds), **options)
        data, sampler = pyg.stores(g), pyg.NeighborSampler(g, hops)
        (stored,) = NodeLoader(data, sampler, input_nodes=("paper", seeds), **options)
        for found in (mine, stored):
            assert type(found) is HeteroData
            assert sorted(found.node_types) == sorted(theirs.node_types)
            assert sorted(found.edge_types) == sorted(theirs.edge_types)
            for ntype in theirs.node_types:
                one, two = found[ntype], theirs[ntype]
                assert set(one.keys()) ^ set(two.keys()) <= COUNTS | {"num_nodes"}
                original = np.asarray(nodes[ntype])[one.n_id.numpy()]
                assert sorted(original) == sorted(two.n_id.tolist())
                assert torch.equal(one.x, typed[ntype].x[original])
                assert sum(one.num_sampled_nodes) == one.num_nodes == two.num_nodes
            assert found["paper"].batch_size == len(SEEDS) and "batch_size" not in found["author"]
            assert torch.equal(found["paper"].input_id, theirs["paper"].input_id)
            for etype in theirs.edge_types:
                check_edges(found[etype], theirs[etype], len(SEEDS), np.asarray(edges[etype]))
            assert set(found.num_sampled_edges_dict) == {WRITES, CITES}


PAIRS = torch.stack([SEEDS, SEEDS.flip(0)])


def check_links(mine, theirs, edges) -> None:
    """Both batches have the same pairs, nodes and edges; `edges`: PyG's numbers of ours."""
    assert set(mine.keys()) ^ set(theirs.keys()) <= OURS | COUNTS | {"num_nodes"}
    assert mine.num_nodes == theirs.num_nodes
    for name in ("input_id", "edge_label_index", "edge_label"):
        assert mine[name].dtype == theirs[name].dtype, name
        assert mine[name].shape == theirs[name].shape, name
    assert torch.equal(mine.input_id, theirs.input_id)
    assert torch.equal(mine.edge_label, theirs.edge_label)
    assert mine.edge_index.shape == theirs.edge_index.shape
    assert sorted(edges[mine.e_id.numpy()]) == sorted(theirs.e_id.tolist())


@pytest.mark.parametrize("how", ["our loader", "data in memory", "PyG's LinkLoader"])
def test_batches_of_links_are_those_of_pyg(whole, ours, g, how: str) -> None:
    hops, options = [-1, -1], {"edge_label": torch.arange(7), "batch_size": 4}
    nodes, edges = (np.asarray(ids) for ids in ours[1:])
    given = torch.stack([torch.as_tensor(g.from_orig(row)) for row in PAIRS])
    if how == "data in memory":
        nodes, edges, given = np.arange(NODES), np.arange(150), PAIRS
        loader = pyg.LinkNeighborLoader(copy.copy(whole), hops, given, **options)
    elif how == "our loader":
        data = pyg.graph_data(g)
        loader = pyg.LinkNeighborLoader(data, hops, given, **options)
    else:
        data, sampler = pyg.graph_data(g), pyg.NeighborSampler(g, hops)
        loader = PygLinkLoader(data, sampler, given, **options)
    reference = list(PygLinks(whole, hops, PAIRS, **options))
    batches = list(loader)
    assert len(batches) == len(reference) == len(loader) == 2
    for number, (mine, theirs) in enumerate(zip(batches, reference, strict=True)):
        assert type(mine) is type(theirs) is Data
        check_links(mine, theirs, edges)
        original = nodes[mine.n_id.numpy()]
        assert sorted(original) == sorted(theirs.n_id.tolist())
        pairs = PAIRS[:, 4 * number : 4 * number + 4].numpy()
        assert np.array_equal(original[mine.edge_label_index.numpy()], pairs)
        assert np.array_equal(theirs.n_id[theirs.edge_label_index], pairs)
        found = original[mine.edge_index.numpy()]
        assert np.array_equal(found, whole.edge_index[:, edges[mine.e_id.numpy()]].numpy())
        assert torch.equal(mine.x, whole.x[original])
        assert torch.equal(mine.edge_attr, whole.edge_attr[edges[mine.e_id.numpy()]])
        if how != "PyG's LinkLoader":
            assert mine.num_sampled_nodes[0] == len(np.unique(pairs))


def test_a_split_of_pyg_gives_the_pairs(typed) -> None:
    reverse = ("paper", "rev_writes", "author")
    split = RandomLinkSplit(
        num_val=0.2,
        num_test=0.2,
        disjoint_train_ratio=0.3,
        add_negative_train_samples=False,
        edge_types=WRITES,
        rev_edge_types=reverse,
    )
    for part in split(ToUndirected()(copy.copy(typed))):
        pairs, label = part[WRITES].edge_label_index, part[WRITES].edge_label
        options = {"edge_label": label, "neg_sampling_ratio": 2.0, "batch_size": 8}
        loader = pyg.LinkNeighborLoader(part, [4, 4], (WRITES, pairs), shuffle=True, **options)
        assert len(loader) == -(-pairs.shape[1] // 8)
        for batch in loader:
            edges = batch[WRITES]
            count = len(edges.input_id)
            found = [
                batch[name].n_id[places]
                for name, places in zip(WRITES[::2], edges.edge_label_index, strict=True)
            ]
            assert torch.equal(torch.stack(found)[:, :count], pairs[:, edges.input_id])
            # PyG counts classes from 1 where there is one of 0.
            wanted = label[edges.input_id] + (label.min() == 0)
            assert torch.equal(edges.edge_label[:count], wanted)
            assert edges.edge_label[count:].tolist() == [0] * 2 * count
            for name in (WRITES, CITES, reverse):
                ends = zip(name[::2], batch[name].edge_index, strict=True)
                drawn = torch.stack([batch[n].n_id[places] for n, places in ends])
                assert torch.equal(drawn, part[name].edge_index[:, batch[name].e_id])


@pytest.mark.parametrize("negatives", [("binary", 1.5), ("triplet", 1), ("triplet", 3)])
@pytest.mark.parametrize("label", [None, torch.arange(80) % 3])
@pytest.mark.parametrize("own", [False, True])
def test_negatives_have_the_form_of_pyg(typed, negatives, label, own: bool) -> None:
    negatives = NegativeSampling(*negatives)
    options = {"edge_label": label, "neg_sampling": negatives, "batch_size": 30}
    sampler = pyg.NeighborSampler(copy.copy(typed), [2])
    loaders = [PygLinks, pyg.LinkNeighborLoader]
    if own:
        loaders[1] = lambda data, _, *given, **named: PygLinkLoader(data, sampler, *given, **named)
    if label is not None and negatives.is_triplet():
        for loader in loaders:
            with pytest.raises(ValueError, match="edge_label"):
                loader(typed, [-1], WRITES, **options)
        return
    theirs, mine = (next(iter(loader(typed, [-1], WRITES, **options))) for loader in loaders)
    ends = typed[WRITES].edge_index[:, :30]
    stores = [(mine[name], theirs[name]) for name in ("author", "paper", WRITES)]
    names = ("input_id", "edge_label_index", "edge_label", "src_index", "dst_pos_index")
    for name in (*names, "dst_neg_index"):
        for one, two in stores:
            assert (name in one) == (name in two), name
            if name in two:
                assert one[name].shape == two[name].shape and one[name].dtype == two[name].dtype
                if name in ("input_id", "edge_label"):
                    assert torch.equal(one[name], two[name])
    for batch in (mine, theirs):
        if negatives.is_triplet():
            places = batch["author"].src_index, batch["paper"].dst_pos_index
        else:
            places = batch[WRITES].edge_label_index[:, :30]
        found = [batch[n].n_id[p] for n, p in zip(WRITES[::2], places, strict=True)]
        assert torch.equal(torch.stack(found), ends)


def test_draws_are_of_the_numbers_that_were_asked_for(whole, g) -> None:
    (batch,) = pyg.NeighborLoader(g, [3, 2], batch_size=NODES)
    degrees = torch.bincount(whole.edge_index[1], minlength=NODES).clamp(max=3)
    drawn = torch.bincount(batch.edge_index[1], minlength=NODES)
    original = torch.as_tensor(g.orig_ids(ids=batch.n_id))
    assert torch.equal(drawn, degrees[original])
    (more,) = pyg.NeighborLoader(g, [7], batch_size=NODES, replace=True)
    drawn = torch.bincount(more.edge_index[1], minlength=NODES)
    assert set(drawn.tolist()) == {0, 7}


def test_worker_processes_draw_each_for_itself(g) -> None:
    data, sampler = pyg.stores(g), pyg.NeighborSampler(g, [2])
    options = {"input_nodes": torch.arange(NODES), "batch_size": 20, "num_workers": 2}
    loader = NodeLoader(data, sampler, multiprocessing_context="spawn", **options)
    epochs = [[batch.e_id for batch in loader] for _ in range(2)]
    assert [len(epoch) for epoch in epochs] == [3, 3]
    assert not all(torch.equal(a, b) for a, b in zip(*epochs, strict=True))
    forked = NodeLoader(data, sampler, multiprocessing_context="fork", **options)
    with pytest.raises(troupe.errors.Forked, match="multiprocessing_context='spawn'"):
        next(iter(forked))


def test_stores_are_read_as_pyg_reads_them(whole, ours, g) -> None:
    features, edges = pickle.loads(pickle.dumps(pyg.stores(g, edge_attrs=["edge_attr"])))
    ids = torch.tensor([3, 3, 50])
    nodes = np.asarray(ours[1])
    assert torch.equal(features[None, "x", ids], whole.x[nodes[ids.numpy()]])
    assert features.get_tensor_size(None, "x") == (NODES, 5)
    wanted = whole.edge_attr[np.asarray(ours[2])[ids.numpy()]]
    etype = ("_N", "_E", "_N")
    assert torch.equal(features[etype, "edge_attr", ids].to(wanted.dtype), wanted)
    assert torch.equal(features[None, "edge_attr", ids].to(wanted.dtype), wanted)
    with pytest.raises(NotImplementedError, match="neighbor_sampler="):
        edges.csc()
    with pytest.raises(NotImplementedError, match="neighbor_sampler="):
        PygLoader((features, edges), [2], input_nodes=ids)


def test_data_in_memory_give_the_batches_of_pyg(whole, typed) -> None:
    options = {"input_nodes": SEEDS, "batch_size": 4}
    theirs = list(PygLoader(whole, [-1, -1], **options))
    loader = pyg.NeighborLoader(whole, [-1, -1], **options)
    assert isinstance(loader, PygLoader) and len(loader.dataset) == len(SEEDS)
    assert loader.data is whole
    for one, two in zip(loader, theirs, strict=True):
        assert set(one.keys()) ^ set(two.keys()) <= OURS | COUNTS | {"num_nodes"}
        seeds = two.batch_size
        assert torch.equal(one.n_id[:seeds], two.n_id[:seeds])
        assert torch.equal(one.input_id, two.input_id)
        assert torch.equal(one.n_id[one.edge_index], whole.edge_index[:, one.e_id])
        assert sorted(one.e_id.tolist()) == sorted(two.e_id.tolist())
        for name in ("x", "y", "train_mask"):
            assert torch.equal(one[name], whole[name][one.n_id]), name
        assert torch.equal(one.edge_attr, whole.edge_attr[one.e_id])
    hops, seeds = {WRITES: [-1, -1], CITES: [-1, -1]}, ("paper", SEEDS)
    (two,) = PygLoader(typed, hops, input_nodes=seeds, batch_size=len(SEEDS))
    (one,) = pyg.NeighborLoader(typed, hops, input_nodes=seeds, batch_size=len(SEEDS))
    for name in (WRITES, CITES):
        ends = torch.stack(
            [one[n].n_id[i] for n, i in zip(name[::2], one[name].edge_index, strict=True)]
        )
        assert torch.equal(ends, typed[name].edge_index[:, one[name].e_id])
        assert sorted(one[name].e_id.tolist()) == sorted(two[name].e_id.tolist())
    assert torch.equal(one["author"].x, typed["author"].x[one["author"].n_id])


def test_data_of_a_graph_are_those_of_pyg(whole, ours, g) -> None:
    nodes, edges = (torch.as_tensor(np.asarray(ids)) for ids in ours[1:])
    data = pyg.graph_data(g)
    assert type(data) is Data and data.num_nodes == NODES and data.num_edges == whole.num_edges
    assert data.num_node_features == 5 and data.x is data.x
    for name in ("x", "y", "train_mask"):
        assert torch.equal(data[name], whole[name][nodes]), name
    assert torch.equal(nodes[data.edge_index], whole.edge_index[:, edges])
    assert torch.equal(data.edge_attr, whole.edge_attr[edges])
    kept = copy.copy(data).to("cpu", "x", "y")
    del kept.x
    kept.place = torch.arange(NODES)
    assert "x" in data and "place" not in data
    batch = next(iter(pyg.NeighborLoader(kept, [2], input_nodes=kept.train_mask, batch_size=8)))
    assert "x" not in batch and torch.equal(batch.place, batch.n_id)
    assert torch.equal(batch.y, data.y[batch.n_id])
    (mine,) = NodeLoader(data, pyg.NeighborSampler(data, [-1]), input_nodes=[7], batch_size=1)
    assert torch.equal(mine.edge_attr, data.edge_attr[mine.e_id])


def test_inference_of_pyg_takes_the_loader(whole) -> None:
    model = torch_geometric.nn.GraphSAGE(5, 8, num_layers=2, out_channels=3).eval()
    loader = pyg.NeighborLoader(copy.copy(whole), [-1], batch_size=16)
    with torch.no_grad():
        wanted = model(whole.x, whole.edge_index)
        assert torch.allclose(model.inference(loader), wanted, atol=1e-5)


# Examples of PyG's, and what says how good the model is; the last line counts.
SCRIPTS = {
    "reddit.py": r"Test: ([0-9.]+)",
    "hetero/hierarchical_sage.py": r"Val: ([0-9.]+)",
}


@pytest.mark.skipif("TROUPE_PYG_SOURCE" not in os.environ, reason="takes PyG's examples")
@pytest.mark.parametrize("script", SCRIPTS)
def test_examples_of_pyg_run_as_they_are(script: str, tmp_path: Path) -> None:
    runner = Path(__file__).with_name("run_example.py")
    example = Path(os.environ["TROUPE_PYG_SOURCE"]) / "examples" / script
    found = {}
    for how in ("pyg", "data", "parts"):
        if how == "pyg" and "hierarchical" in script and not torch_geometric.typing.WITH_PYG_LIB:
            continue  # Counts by hop come of pyg-lib alone.
        (tmp_path / how).mkdir()
        said = run(sys.executable, runner, example, how, tmp_path / how)
        found[how] = float(re.findall(SCRIPTS[script], said)[-1])
    assert min(found.values()) > 0.5 and max(found.values()) - min(found.values()) < 0.08, found


def run(*words: object) -> str:
    done = subprocess.run([*map(str, words)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_example_runs_as_the_trainers_of_a_job(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.syspath_prepend(EXAMPLES.parents[1] / "python/tests")
    from launching import Launch, write_cluster

    command, raw, book = os.environ["TROUPE"], tmp_path / "raw", tmp_path / "parts/g.json"
    sizes = ["--nodes", 2000, "--edges", 20000, "--features", 16, "--classes", 4, "--seed", 1]
    run(command, "generate", "sbm", *sizes, "--signal", 0.5, "--out", raw, "--quiet")
    run(command, "partition", raw, "--parts", 2, "--out", book.parent, "--name", "g", "--quiet")
    words = [EXAMPLES / "graphsage_pyg.py", "--classes", 4, "--epochs", 9, "--batch-size", 40]
    said = Launch(write_cluster(tmp_path, book, 2), *words).finish()
    (accuracy,) = re.findall(r"test accuracy ([0-9.]+)", said)
    assert float(accuracy) > 0.5, said


def test_the_example_reaches_the_accuracy_of_the_others(tmp_path: Path) -> None:
    command, raw, book = os.environ["TROUPE"], tmp_path / "raw", tmp_path / "parts/g.json"
    run(command, "import", "debian", "--out", raw, "--quiet")
    run(command, "partition", raw, "--parts", 2, "--out", book.parent, "--name", "g", "--quiet")
    with troupe.open(book) as g:
        classes = int(np.max(g.ndata["label"][:])) + 1
    found = []
    for script in ("graphsage.py", "graphsage_pyg.py"):
        said = run(sys.executable, EXAMPLES / script, "--graph", book, "--classes", classes)
        found.append(float(re.findall(r"test accuracy ([0-9.]+)", said)[0]))
    assert abs(found[0] - found[1]) <= 0.01, found
    assert min(found) > 0.7, found


def test_what_pyg_and_pytorch_put_around_a_loader_takes_ours(whole) -> None:
    data = copy.copy(whole)
    seeds = data.train_mask.nonzero().view(-1)
    rare = ImbalancedSampler(data.y[seeds], num_samples=400)
    loader = pyg.NeighborLoader(
        data, [2], input_nodes=seeds, sampler=rare, batch_size=50, num_workers=2
    )
    batches = list(loader)
    assert len(batches) == len(loader) == 8
    for batch in batches:
        assert torch.equal(seeds[batch.input_id], batch.n_id[: batch.batch_size])
    drawn = torch.cat([batch.y[: batch.batch_size] for batch in batches])
    assert torch.bincount(drawn).min() > 400 / len(data.y[seeds].unique()) / 2
    every = ZipLoader([pyg.NeighborLoader(data, [2], input_nodes=seeds[:20])] * 2, batch_size=8)
    assert [one.batch_size for one, _ in every] == [8, 8, 4]
    for one, two in every:
        assert torch.equal(one.n_id[: one.batch_size], two.n_id[: two.batch_size])
    for batch in PrefetchLoader(loader, device=torch.device("cpu")):
        assert batch.batch_size == 50


@pytest.mark.parametrize("typed", [False, True])
def test_weights_of_data_in_memory_say_what_is_drawn(typed: bool) -> None:
    chance = torch.Generator().manual_seed(2)
    ends = torch.randint(0, 50, (2, 2000), generator=chance)
    weight = torch.where(torch.arange(2000) % 4 == 0, 1.0, 0.0)
    if typed:
        data = HeteroData(paper={"num_nodes": 50})
        store = data["paper", "cites", "paper"]
        store.edge_index = ends
    else:
        data = store = Data(edge_index=ends, num_nodes=50)
    evenly = next(iter(pyg.NeighborLoader(data, [5], "paper" if typed else None, batch_size=50)))
    store.weight = weight
    seeds = "paper" if typed else None
    (batch,) = pyg.NeighborLoader(data, [5], seeds, batch_size=50, weight_attr="weight")
    found, before = ((b["paper", "cites", "paper"] if typed else b).e_id for b in (batch, evenly))
    into = torch.bincount(ends[1][weight > 0], minlength=50).clamp(max=5).sum()
    assert (weight[before] == 0).any() and (weight[found] > 0).all() and len(found) == into
    store.weight = 1 - weight
    (batch,) = pyg.NeighborLoader(data, [5], seeds, batch_size=50, weight_attr="weight")
    other = (batch["paper", "cites", "paper"] if typed else batch).e_id
    assert (weight[other] == 0).all()
    with pytest.raises(LookupError, match="have none"):
        pyg.NeighborLoader(data, [5], seeds, weight_attr="w")
