# SPDX-License-Identifier: Apache-2.0
"""PyG's loaders of links over a graph, with stand-ins for the classes of PyG itself.

tests/outside/pyg has the same with PyG."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pytest
from conftest import EDGES
from pyg_stand_ins import Data, same

import troupe

torch = pytest.importorskip("torch")
HOPS = [4, 3]
USERS, ITEMS = 30, 12
BUYS, BOUGHT_BY = ("user", "buys", "item"), ("item", "bought", "user")


class Links(NamedTuple):
    """Pairs as PyG's loaders give them to samplers."""

    input_id: Any
    row: Any
    col: Any
    label: Any = None
    time: Any = None
    input_type: Any = None


@pytest.fixture(scope="module")
def typed_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    chance = np.random.default_rng(3)
    buys = chance.integers(0, USERS, 150), chance.integers(0, ITEMS, 150)
    # Its edges are numbered as the raw graph's.
    edges = {BUYS: buys, BOUGHT_BY: buys[::-1]}
    folder = tmp_path_factory.mktemp("typed") / "parts"
    counts = {"user": USERS, "item": ITEMS}
    troupe.partition_graph(edges, "t", 2, folder, part_method="random", num_nodes=counts)
    return folder / "t.json"


@pytest.fixture
def typed(typed_path: Path) -> Iterator[troupe.DistGraph]:
    with troupe.open(typed_path, seed=7, tensors="torch") as opened:
        yield opened


def check_draw(g: troupe.DistGraph, batch: Any) -> None:
    """Nodes come once, edges are the graph's and as many as were asked for."""
    assert len(torch.unique(batch.n_id)) == len(batch.n_id)
    ends = torch.stack(g.find_edges(batch.e_id))
    assert torch.equal(batch.n_id[batch.edge_index], ends)
    expanded = sum(batch.num_sampled_nodes[:2])
    degrees = torch.bincount(batch.edge_index[1], minlength=len(batch.n_id))
    first, second = batch.num_sampled_nodes[:2]
    known = torch.as_tensor(g.in_degrees(batch.n_id[:expanded]))
    assert torch.equal(degrees[:first], known[:first].clamp(max=HOPS[0]))
    assert torch.equal(degrees[first : first + second], known[first:].clamp(max=HOPS[1]))
    assert not degrees[expanded:].any() and sum(batch.num_sampled_edges) == len(batch.e_id)
    assert torch.equal(batch.x, g.ndata["feat"][batch.n_id])


def test_pairs_come_in_their_order_with_their_labels(g: troupe.DistGraph, pyg: Any) -> None:
    pairs = torch.tensor([[9, 3, 3, 1999, 9], [3, 3, 7, 0, 3]])
    label = torch.tensor([0.5, 1, 2, 3, 4])
    options = {"edge_label_index": pairs, "edge_label": label, "batch_size": 2}
    with pyg.LinkNeighborLoader(g, HOPS, **options) as loader:
        assert len(loader) == 3 and loader.dataset == range(5)
        batches = list(loader)
    for number, batch in enumerate(batches):
        of = slice(2 * number, 2 * number + 2)
        check_draw(g, batch)
        assert torch.equal(batch.n_id[batch.edge_label_index], pairs[:, of])
        assert torch.equal(batch.edge_label, label[of])
        assert batch.input_id.tolist() == list(range(5))[of]
        assert batch.num_sampled_nodes[0] == len(torch.unique(pairs[:, of]))
        assert "batch_size" not in batch and not batch.padded and batch.weight == 1
    plain = next(iter(pyg.LinkNeighborLoader(g, HOPS, pairs, batch_size=2)))
    assert "edge_label" not in plain and plain.edge_label_index.shape == (2, 2)
    named = torch.arange(5) * 10
    (last,) = list(pyg.LinkNeighborLoader(g, HOPS, pairs, input_id=named, batch_size=5))
    assert torch.equal(last.input_id, named)
    assert torch.equal(loader([3, 0]).input_id, torch.tensor([3, 0]))
    drawn = pyg.LinkNeighborLoader(
        g, HOPS, pairs, label, neg_sampling=("binary", 0.2), batch_size=5
    )
    assert next(iter(drawn)).edge_label.tolist() == [0.5, 1, 2, 3, 4, 0]
    assert not list(pyg.LinkNeighborLoader(g, HOPS, [[], []]))
    wide = pyg.LinkNeighborLoader(
        g, HOPS, pairs, torch.ones(5, 2), neg_sampling=("binary", 0.5), batch_size=5
    )
    assert next(iter(wide)).edge_label.tolist() == [[1, 1]] * 5 + [[0, 0]] * 3


def test_edges_are_seeds_by_their_ids(g: troupe.DistGraph, pyg: Any) -> None:
    ends = torch.stack(g.find_edges(range(EDGES)))
    every = pyg.LinkNeighborLoader(g, [2], batch_size=6000)
    batches = list(every)
    assert torch.equal(torch.cat([b.input_id for b in batches]), torch.arange(EDGES))
    for batch in batches:
        assert torch.equal(batch.n_id[batch.edge_label_index], ends[:, batch.input_id])
    ids, mask = torch.tensor([7, 7, 2]), torch.zeros(EDGES, dtype=torch.bool)
    (own,) = pyg.LinkNeighborLoader(g, HOPS, ids, batch_size=3)
    assert torch.equal(own.n_id[own.edge_label_index], ends[:, ids])
    assert own.input_id.tolist() == [0, 1, 2]
    mask[[3, 700]] = True
    (masked,) = pyg.LinkNeighborLoader(g, HOPS, mask, batch_size=3)
    assert torch.equal(masked.n_id[masked.edge_label_index], ends[:, mask])
    # Shuffled, all edges are the job's, and labels are by ID.
    label = torch.arange(EDGES) % 3
    options = {"edge_label": label, "batch_size": 6000, "shuffle": True, "neg_sampling": "binary"}
    dealt = list(pyg.LinkNeighborLoader(g, [2], **options))
    found = torch.cat([b.input_id for b in dealt])
    assert torch.equal(found.sort().values, torch.arange(EDGES)) and not (found[1:] > 0).all()
    for batch in dealt:
        count = len(batch.input_id)
        assert torch.equal(batch.edge_label[:count], label[batch.input_id] + 1)
        assert not batch.edge_label[count:].any() and len(batch.edge_label) == 2 * count
        of_pairs = batch.n_id[batch.edge_label_index[:, :count]]
        assert torch.equal(of_pairs, ends[:, batch.input_id])
    data = pyg.graph_data(g)
    whole = data._store._mapping["edge_index"]
    (same_edges,) = pyg.LinkNeighborLoader(data, [2], whole, batch_size=EDGES, shuffle=True)
    assert len(same_edges.input_id) == EDGES and same_edges.weight == 1
    set_of = troupe.edge_set(g, [5, 11, 11])
    (of_set,) = pyg.LinkNeighborLoader(g, HOPS, set_of, batch_size=4)
    assert of_set.input_id.tolist() == [5, 11, 11]


def test_binary_negatives_are_even_pairs_of_any_nodes(typed: troupe.DistGraph, pyg: Any) -> None:
    chance = np.random.default_rng(1)
    pairs = chance.integers(0, USERS, 300), chance.integers(0, ITEMS, 300)
    pairs = torch.from_numpy(np.stack(pairs))
    negatives = SimpleNamespace(mode=SimpleNamespace(value="binary"), amount=2.5)
    counts = torch.zeros(USERS, ITEMS)
    loader = pyg.LinkNeighborLoader(
        typed, [0], (BUYS, pairs), batch_size=30, neg_sampling=negatives
    )
    for _ in range(4):
        for number, batch in enumerate(loader):
            edges = batch[BUYS]
            sources, targets = edges.edge_label_index
            found = torch.stack([batch["user"].n_id[sources], batch["item"].n_id[targets]])
            assert torch.equal(found[:, :30], pairs[:, 30 * number : 30 * number + 30])
            assert torch.equal(edges.edge_label, torch.tensor([1.0] * 30 + [0.0] * 75))
            assert edges.input_id.tolist() == list(range(30 * number, 30 * number + 30))
            counts.index_put_(tuple(found[:, 30:]), torch.ones(75), accumulate=True)
    # 3000 draws into 360 cells: chi-square of 359 degrees has mean 359 and deviation 27.
    assert counts.sum() == 3000
    expected = 3000 / (USERS * ITEMS)
    assert ((counts - expected) ** 2 / expected).sum() < 359 + 5 * 27


def test_triplets_have_even_destinations(typed: troupe.DistGraph, pyg: Any) -> None:
    counts = torch.zeros(ITEMS)
    ends = torch.stack(typed.find_edges(range(150), BUYS))
    options = {"batch_size": 50, "neg_sampling": {"mode": "triplet", "amount": 3}}
    loader = pyg.LinkNeighborLoader(typed, {BUYS: [0], BOUGHT_BY: [0]}, BUYS, **options)
    for _ in range(3):
        for batch in loader:
            users, items = batch["user"], batch["item"]
            ids = batch[BUYS].input_id
            assert torch.equal(users.n_id[users.src_index], ends[0, ids])
            assert torch.equal(items.n_id[items.dst_pos_index], ends[1, ids])
            assert items.dst_neg_index.shape == (50, 3)
            assert "edge_label" not in batch[BUYS] and "edge_label_index" not in batch[BUYS]
            counts += torch.bincount(items.n_id[items.dst_neg_index].flatten(), minlength=ITEMS)
    # 1350 draws of 12 nodes: mean 11 and deviation 4.7.
    assert ((counts - 112.5) ** 2 / 112.5).sum() < 11 + 5 * 4.7
    one = next(iter(pyg.LinkNeighborLoader(typed, [0], BUYS, neg_sampling="triplet", batch_size=9)))
    assert one["item"].dst_neg_index.shape == (9,)


def test_types_have_the_edges_of_the_graph(typed: troupe.DistGraph, pyg: Any) -> None:
    with_all = pyg.LinkNeighborLoader(typed, [-1, -1], (BUYS, None), batch_size=40)
    for batch in with_all:
        for name in (BUYS, BOUGHT_BY):
            edges = batch[name]
            ends = typed.find_edges(edges.e_id, name)
            nodes = [batch[name[0]].n_id, batch[name[2]].n_id]
            for row, ids, wanted in zip(edges.edge_index, nodes, ends, strict=True):
                assert torch.equal(ids[row], wanted)
        # What the first hop draws is all that leads to the ends.
        seeds = batch["item"].n_id[batch[BUYS].edge_label_index[1]].unique()
        drawn = int(batch[BUYS].num_sampled_edges[0])
        assert drawn == int(torch.as_tensor(typed.in_degrees(seeds, "item")).sum())
    relation = next(iter(pyg.LinkNeighborLoader(typed, [1], "buys", batch_size=7)))
    by_ends = next(iter(pyg.LinkNeighborLoader(typed, [1], ("user", "item"), batch_size=7)))
    assert torch.equal(relation[BUYS].edge_label_index, by_ends[BUYS].edge_label_index)


@pytest.fixture(scope="module")
def placed(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """A graph with a mask of edges in 1 and in 3 partitions."""
    chance = np.random.default_rng(4)
    ends, mask = chance.integers(0, 90, (2, 700)), np.arange(700) % 3 == 0
    books = []
    for parts in (1, 3):
        folder = tmp_path_factory.mktemp("placed") / "parts"
        options = {"part_method": "random", "num_nodes": 90, "edata": {"train_mask": mask}}
        troupe.partition_graph(tuple(ends), "p", parts, folder, **options)
        books.append(folder / "p.json")
    return books


@pytest.mark.parametrize("negatives", [None, "binary", ("triplet", 2)])
@pytest.mark.parametrize("seeds", ["edges", "pairs", "mask"])
def test_batches_are_the_same_on_any_placement(
    placed: list[Path], pyg: Any, negatives: Any, seeds: str
) -> None:
    found = []
    for path in placed:
        with troupe.open(path, seed=7, tensors="torch") as g:
            given = g.edata["train_mask"] if seeds == "mask" else None
            if seeds == "pairs":
                drawn = np.random.default_rng(2).integers(0, 90, (2, 100))
                given = torch.stack([torch.as_tensor(g.from_orig(row)) for row in drawn])
            options = {"shuffle": True, "seed": 9, "batch_size": 50, "neg_sampling": negatives}
            names = ["edge_label_index"]
            if isinstance(negatives, tuple):
                names = ["src_index", "dst_pos_index", "dst_neg_index"]
            arrays = []
            for batch in pyg.LinkNeighborLoader(g, [3, 2], given, **options):
                nodes = torch.as_tensor(g.orig_ids(ids=batch.n_id))
                arrays += [nodes, batch.edge_index, *(batch[name] for name in names)]
                if seeds == "mask":
                    assert torch.equal(
                        g.edata["train_mask"][batch.input_id] != 0, batch.input_id >= 0
                    )
            found.append(arrays)
    assert len(found[0]) == len(found[1]) > 4
    assert all(torch.equal(one, two) for one, two in zip(*found, strict=True))


@pytest.mark.parametrize("of_job", [False, True])
def test_epochs_are_repeatable(g: troupe.DistGraph, pyg: Any, of_job: bool) -> None:
    given = troupe.edge_set(g, range(200)) if of_job else torch.arange(200)
    options = {"batch_size": 64, "shuffle": True, "neg_sampling": "triplet"}
    one, two = (pyg.LinkNeighborLoader(g, HOPS, given, **options) for _ in range(2))
    first, second = list(one), list(one)
    assert one.epoch == 2 and len(first) == 4
    assert not torch.equal(first[0].input_id, second[0].input_id)
    assert torch.cat([b.input_id for b in first]).sort().values.tolist() == list(range(200))
    assert all(same(*pair) for pair in zip(first, two, strict=True))
    next(iter(two))
    other = pickle.loads(pickle.dumps(one))
    other.load_state_dict(two.state_dict())
    assert all(same(*pair) for pair in zip(second[1:], other, strict=True))
    next(iter(two))
    one.set_epoch(0)
    assert same(next(iter(one)), first[0])
    calls = []
    with pyg.LinkNeighborLoader(g, HOPS, given, transform=calls.append) as changed:
        assert next(iter(changed)) is None and len(calls) == 1


def test_trainers_share_the_edges_of_the_job(g: troupe.DistGraph, pyg: Any) -> None:
    g.take_place(1, 4)
    edges = troupe.edge_set(g, [5])
    (batch,) = pyg.LinkNeighborLoader(g, HOPS, edges, batch_size=2, neg_sampling="binary")
    assert batch.padded and batch.weight == 0 and batch.input_id.tolist() == [5]
    every = pyg.LinkNeighborLoader(g, [1], batch_size=1000)
    assert len(every) == len(every.dataset) // 1000 == EDGES // 4 // 1000
    assert next(iter(every)).weight == 1
    # Of 10 edges the trainers have 3, 3, 2 and 2 in a step.
    (uneven,) = pyg.LinkNeighborLoader(g, HOPS, troupe.edge_set(g, range(10)), batch_size=3)
    assert uneven.weight == len(uneven.input_id) * 4 / 10


@pytest.mark.parametrize("negatives", [None, "binary", "triplet"])
def test_edges_of_a_batch_can_be_left_out(g: troupe.DistGraph, pyg: Any, negatives: Any) -> None:
    options = {"neg_sampling": negatives, "batch_size": 500}
    drawn = 0
    for exclude in (None, "self"):
        loader = pyg.LinkNeighborLoader(g, [-1], torch.arange(2000), exclude=exclude, **options)
        for batch in loader:
            common = torch.isin(batch.e_id, batch.input_id).any()
            assert bool(common) == (exclude is None)
            drawn += len(batch.e_id) * (1 if exclude is None else -1)
    # Each of the 2000 edges leads to an end of its batch.
    assert drawn >= 2000 and (negatives or drawn == 2000)
    # A list is left out of every batch, of pairs as well.
    into = g.find_edges([0])[1]
    pairs = torch.stack([into, into])
    count = int(g.in_degrees(into)[0])
    (batch,) = pyg.LinkNeighborLoader(g, [-1], pairs, exclude=[0], neg_sampling=negatives)
    assert not (batch.e_id == 0).any()
    assert int((batch.edge_index[1] == 0).sum()) == count - 1


def test_the_reverses_of_edges_can_be_left_out(typed: troupe.DistGraph, pyg: Any) -> None:
    reverse = {BUYS: BOUGHT_BY}
    for negatives in (None, "binary"):
        loader = pyg.LinkNeighborLoader(
            typed,
            [-1],
            BUYS,
            batch_size=30,
            exclude="reverse_types",
            reverse_etypes=reverse,
            neg_sampling=negatives,
        )
        for batch in loader:
            users = batch["user"].n_id[: batch["user"].num_sampled_nodes[0]]
            count = int(torch.as_tensor(typed.in_degrees(users, "user")).sum())
            assert batch[BOUGHT_BY].num_sampled_edges == [count - len(batch[BUYS].input_id)]
            pairs = torch.stack(typed.find_edges(batch[BUYS].input_id, BUYS)).flip(0)
            ends = torch.stack(typed.find_edges(batch[BOUGHT_BY].e_id, BOUGHT_BY))
            every = torch.stack(typed.find_edges(range(150), BOUGHT_BY))
            of_pair = ((every[:, None] == pairs[:, :, None]).all(0)).sum(1)
            left = ((ends[:, None] == pairs[:, :, None]).all(0)).sum(1)
            of_batch = ((pairs[:, None] == pairs[:, :, None]).all(0)).sum(1)
            assert torch.equal(left, of_pair - of_batch)


def test_the_sampler_draws_around_pairs(
    g: troupe.DistGraph, typed: troupe.DistGraph, pyg: Any
) -> None:
    sampler = pyg.NeighborSampler(g, HOPS)
    row, col = torch.tensor([5, 5, 9]), torch.tensor([9, 1, 5])
    out = sampler.sample_from_edges(Links(torch.arange(3), row, col, torch.tensor([2, 1, 1])))
    input_id, places, label, time = out.metadata
    assert input_id.tolist() == [0, 1, 2] and label.tolist() == [2, 1, 1] and time is None
    assert torch.equal(out.node[places], torch.stack([row, col]))
    assert out.node[:3].tolist() == [5, 9, 1] and out.num_sampled_nodes[0] == 3
    ends = torch.stack(g.find_edges(out.edge))
    assert torch.equal(out.node[torch.stack([out.row, out.col])], ends)
    *_, label, _ = sampler.sample_from_edges(Links(None, row, col), "binary").metadata
    assert label.tolist() == [1, 1, 1, 0, 0, 0]
    of_types = pyg.NeighborSampler(typed, [2])
    given = Links(None, row, col, input_type=BUYS)
    _, source, positive, negative, _ = of_types.sample_from_edges(given, ("triplet", 2)).metadata
    assert negative.shape == (3, 2) and source.tolist() == [0, 0, 1]
    assert positive.tolist() == [0, 1, 2]
    with pytest.raises(IndexError, match="-1 is negative"):
        sampler.sample_from_edges(Links(None, row, col - 2))
    with pytest.raises(NotImplementedError, match="times"):
        sampler.sample_from_edges(Links(None, row, col, time=row))
    loader = pyg.LinkLoader(g, sampler, torch.stack([row, col]), batch_size=3)
    (batch,) = loader
    check_draw(g, batch)
    assert repr(loader).startswith("LinkLoader(1 batches of 3")


def test_data_in_memory_keep_the_numbers_of_their_edges(pyg: Any) -> None:
    chance = torch.Generator().manual_seed(1)
    edges = torch.randint(40, (2, 300), generator=chance)
    data = Data()
    data._store._mapping = held = {"num_nodes": 40, "edge_index": edges}
    data._store.update(held)
    data.num_nodes = 40
    # What a split leaves in the data is not of a batch.
    held["edge_label_index"], held["edge_label"] = edges[:, :7], torch.ones(7)
    for given in (None, edges, torch.arange(300)):
        options = {"batch_size": 70, "shuffle": True, "exclude": "self"}
        batches = list(pyg.LinkNeighborLoader(data, [-1], given, **options))
        assert torch.cat([b.input_id for b in batches]).sort().values.tolist() == [*range(300)]
        for batch in batches:
            pairs = edges[:, batch.input_id]
            assert torch.equal(batch.n_id[batch.edge_label_index], pairs)
            assert torch.equal(batch.n_id[batch.edge_index], edges[:, batch.e_id])
            assert not torch.isin(batch.e_id, batch.input_id).any()
            assert "edge_label" not in batch
    (triplet,) = pyg.LinkNeighborLoader(data, [1], neg_sampling="triplet", batch_size=300)
    assert "edge_label_index" not in triplet and triplet.dst_neg_index.shape == (300,)


REFUSED = {
    "edge_label_time": [1],
    "time_attr": "time",
    "temporal_strategy": "last",
    "disjoint": True,
    "subgraph_type": "induced",
    "directed": False,
    "sample_direction": "backward",
    "transform_sampler_output": print,
    "generator": 1,
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_honoured_is_refused_by_name(
    g: troupe.DistGraph, pyg: Any, name: str
) -> None:
    with pytest.raises(NotImplementedError, match=rf"LinkNeighborLoader\({name}=.*\): \w+"):
        pyg.LinkNeighborLoader(g, HOPS, **{name: REFUSED[name]})


def test_wrong_arguments_say_what_is_wrong(
    g: troupe.DistGraph, typed: troupe.DistGraph, pyg: Any
) -> None:
    def opened(given: Any = None, label: Any = None, graph: Any = g, **options: Any) -> Any:
        return lambda: pyg.LinkNeighborLoader(graph, HOPS, given, label, **options)

    pairs, edges = torch.tensor([[1, 2], [3, 4]]), troupe.edge_set(g, [5])
    opened(is_sorted=True, persistent_workers=True, filter_per_worker=True, neg_sampling_ratio=0)()
    wrong: list[tuple[type[Exception], str, Any]] = [
        (TypeError, "no argument 'batches'", opened(batches=1)),
        (TypeError, "give a troupe.DistGraph .* not dict", opened(graph={})),
        (TypeError, "link_sampler: .*not int", opened(neighbor_sampler=1)),
        (ValueError, "batch_size=0", opened(pairs, batch_size=0)),
        (LookupError, "name one", opened(graph=typed)),
        (LookupError, "no edge type", opened(("user", "sells", "item"), graph=typed)),
        (IndexError, "node of type '_N': there is no 2000", opened([[2000], [0]])),
        (IndexError, "there is no 30", opened((BUYS, [[30], [0]]), graph=typed)),
        (IndexError, "there is no 20000", opened([20000])),
        (ValueError, "two rows", opened(torch.ones(3, 2).long())),
        (ValueError, "a mask of 3", opened(torch.ones(3) > 0)),
        (TypeError, "mask.bool", opened(torch.ones(3, dtype=torch.uint8))),
        (ValueError, "edge_label: of shape .* for 2 pairs", opened(pairs, [1])),
        (ValueError, "edge_label: the job's edges", opened(edges, [1])),
        (ValueError, "edge_label: triplets", opened(pairs, [1, 2], neg_sampling="triplet")),
        (ValueError, "input_id: .*for 2 pairs", opened(pairs, input_id=[1])),
        (ValueError, "input_id: the job's", opened(edges, input_id=[1])),
        (ValueError, "mode 'some'", opened(neg_sampling="some")),
        (ValueError, "amount=0", opened(neg_sampling=("binary", 0))),
        (TypeError, "amount='2'", opened(neg_sampling=("binary", "2"))),
        (ValueError, "amout: no such field", opened(neg_sampling={"mode": "binary", "amout": 5})),
        (
            ValueError,
            "edges of .*'bought'.* are given as those of .*'buys'",
            opened((BUYS, troupe.edge_set(typed, [5], etype=BOUGHT_BY)), graph=typed),
        ),
        (ValueError, "whole number", opened(neg_sampling=("triplet", 1.5))),
        (NotImplementedError, "weights", opened(neg_sampling=("triplet", 1, None, pairs))),
        (ValueError, "exclude: pairs", opened(pairs, exclude="self")),
        (ValueError, "name them to graph_data", opened(graph=pyg.graph_data(g), attrs=["y"])),
    ]
    for kind, message, call in wrong:
        with pytest.raises(kind, match=message):
            call()
