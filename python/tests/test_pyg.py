# SPDX-License-Identifier: Apache-2.0
"""PyG's loader, stores and sampler over a graph, with stand-ins for the classes of PyG itself.

tests/outside/pyg has the same with PyG."""

from __future__ import annotations

import pickle
import sys
import types
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import NODES, World
from pyg_stand_ins import Attr, Data, Input, forget, same

import troupe

torch = pytest.importorskip("torch")
HOPS = [4, 3]


def test_batches_of_a_mask_are_those_of_the_loader(g: troupe.DistGraph, pyg: Any) -> None:
    options = {"batch_size": 64, "shuffle": True, "seed": 5}
    mask = g.ndata["train_mask"]
    with pyg.NeighborLoader(g, HOPS, mask, **options) as ours:
        sampler = troupe.NeighborSampler(HOPS[::-1])
        theirs = troupe.DistNodeDataLoader(g, mask, sampler, features="feat", **options)
        assert len(ours) == len(theirs) > 3
        for _ in range(2):
            for data, batch in zip(ours, theirs, strict=True):
                wanted = batch.to_pyg()
                labels = g.ndata["label"][data.n_id]
                wanted.update(y=labels, input_id=batch.output_nodes, padded=False, weight=1.0)
                assert same(data, wanted)


def test_lists_keep_their_order_and_repeats(g: troupe.DistGraph, pyg: Any) -> None:
    ids = torch.tensor([9, 3, 3, 1999, 0, 3, 42])
    with pyg.NeighborLoader(g, HOPS, ids, batch_size=3) as loader:
        batches = list(loader)
    assert [b.batch_size for b in batches] == [3, 3, 1] and len(loader) == 3
    assert torch.equal(torch.cat([b.n_id[: b.batch_size] for b in batches]), ids)
    assert torch.cat([b.input_id for b in batches]).tolist() == list(range(7))
    for batch in batches:
        assert torch.equal(batch.x, g.ndata["feat"][batch.n_id])
        assert torch.equal(batch.y, g.ndata["label"][batch.n_id])
    named = torch.arange(7) * 10
    cut = list(pyg.NeighborLoader(g, HOPS, ids, batch_size=3, drop_last=True, input_id=named))
    assert torch.cat([b.input_id for b in cut]).tolist() == [0, 10, 20, 30, 40, 50]
    assert list(pyg.NeighborLoader(g, HOPS, [], batch_size=3)) == []


def test_all_nodes_come_in_order_and_masks_by_their_ids(g: troupe.DistGraph, pyg: Any) -> None:
    every = list(pyg.NeighborLoader(g, [-1], batch_size=300))
    assert torch.equal(torch.cat([b.input_id for b in every]), torch.arange(NODES))
    assert all(torch.equal(b.input_id, b.n_id[: b.batch_size]) for b in every)
    mask = torch.zeros(NODES, dtype=torch.bool)
    mask[[7, 5]] = True
    (batch,) = pyg.NeighborLoader(g, HOPS, mask, batch_size=4)
    assert batch.input_id.tolist() == batch.n_id[:2].tolist() == [5, 7]


def test_epochs_are_shuffled_and_repeatable(g: troupe.DistGraph, pyg: Any) -> None:
    ids = range(100, 200)
    options = {"batch_size": 32, "shuffle": True}
    one, two = (pyg.NeighborLoader(g, HOPS, ids, **options) for _ in range(2))
    first, second = list(one), list(one)
    assert [one.epoch, len(first)] == [2, 4]
    orders = [torch.cat([b.n_id[: b.batch_size] for b in epoch]) for epoch in (first, second)]
    assert not torch.equal(*orders)
    assert all(sorted(order.tolist()) == list(ids) for order in orders)
    assert all(same(*pair) for pair in zip(first, two, strict=True))
    # It goes on from where it was, in another loader as well, and through a pickle.
    begun = iter(two)
    next(begun)
    state = two.state_dict()
    assert state == {"epoch": 1, "batch": 1, "batches": 4}
    other = pickle.loads(pickle.dumps(one))
    other.load_state_dict(state)
    assert all(same(*pair) for pair in zip(second[1:], other, strict=True))
    assert len(list(begun)) == 3
    left = iter(two)
    next(iter(two))
    with pytest.raises(RuntimeError, match="another epoch"):
        next(left)
    # An epoch that was left is over.
    next(iter(one))
    assert one.epoch == 2
    assert len(list(one)) == 4 and one.epoch == 4
    with pytest.raises(troupe.errors.Mismatch, match="4 batches"):
        pyg.NeighborLoader(g, HOPS, ids, batch_size=9).load_state_dict(state)
    with pytest.raises(troupe.errors.InvalidArgument, match="'epoch'"):
        one.load_state_dict({})
    with pytest.raises(troupe.errors.OutOfRange, match="4 batches"):
        one.load_state_dict({"epoch": 0, "batch": 5})


def test_features_come_under_the_names_that_were_asked_for(g: troupe.DistGraph, pyg: Any) -> None:
    def first(**options: Any) -> Any:
        return next(iter(pyg.NeighborLoader(g, HOPS, [1, 2, 3], batch_size=3, **options)))

    plain = first()
    fewer = first(attrs=["y", "train_mask"])
    assert "x" not in fewer and torch.equal(fewer.y, plain.y)
    assert torch.equal(fewer.train_mask, g.ndata["train_mask"][fewer.n_id])
    renamed = first(attrs={"rows": "feat"})
    assert torch.equal(renamed.rows, plain.x) and "x" not in renamed and "y" not in renamed
    with pytest.raises(troupe.Error, match="attrs: no type of the graph has a feature 'z'"):
        first(attrs=["z"])
    with pytest.raises(troupe.Error, match=r"edge_attrs: .*'edge_attr'"):
        first(edge_attrs=["edge_attr"])
    assert first(transform=lambda data: data.batch_size) == 3


def test_data_of_a_graph_are_read_when_they_are_asked_for(g: troupe.DistGraph, pyg: Any) -> None:
    from troupe.pyg.unread import Unread

    data = pyg.graph_data(g)
    held = data._store._mapping
    names = {"num_nodes", "edge_index", "x", "y", "train_mask", "val_mask", "test_mask"}
    assert names <= set(held) and held["num_nodes"] == NODES
    assert all(isinstance(held.held(name), Unread) for name in held if name != "num_nodes")
    assert torch.equal(held["x"], g.ndata["feat"][:]) and held["x"] is held["x"]
    assert torch.equal(held["edge_index"], torch.stack(g.find_edges(range(g.num_edges()))))
    assert held["train_mask"].dtype == torch.bool
    with pyg.NeighborLoader(data, HOPS, [9, 3, 7], batch_size=2) as loader:
        assert loader.data is data and loader.dataset == range(3)
        batch = next(iter(loader))
        assert names - {"num_nodes"} <= set(batch) and batch.train_mask.dtype == torch.bool
        assert torch.equal(batch.x, g.ndata["feat"][batch.n_id])
        # `data.to()` puts attributes back as they are.
        held["x"] = held["x"]
        assert isinstance(held.held("x"), Unread)
        # What a program puts in, writes into and deletes is so in batches.
        held["number"], held["name"] = torch.arange(NODES) * 2, "all"
        held["y"][3] = 50
        del held["test_mask"]
        changed = next(iter(loader))
        assert torch.equal(changed.number, changed.n_id * 2) and changed.name == "all"
        assert changed.y[1] == 50 and torch.equal(changed.y, held["y"][changed.n_id])
        assert "test_mask" not in changed and "number" not in batch
        assert torch.equal(loader([1]).n_id[:1], torch.tensor([3]))
    copied = pickle.loads(pickle.dumps(held))
    assert torch.equal(copied["y"], held["y"]) and torch.equal(copied["x"], held["x"])
    # A loader of a graph has data, too, with the features that it was asked for.
    plain = pyg.NeighborLoader(g, HOPS, g.ndata["train_mask"], batch_size=64, attrs=["y"])
    assert {*plain.data._store._mapping} == {"num_nodes", "edge_index", "y"}
    assert len(plain.dataset) == len(g.nodes_of(g.ndata["train_mask"]))
    with pytest.raises(ValueError, match="name them to graph_data"):
        pyg.NeighborLoader(data, HOPS, attrs=["y"])


def test_data_in_memory_are_drawn_from_as_they_are(pyg: Any) -> None:
    chance = torch.Generator().manual_seed(1)
    edges = torch.randint(40, (2, 300), generator=chance)
    data = Data()
    data._store._mapping = held = {
        "num_nodes": 40,
        "edge_index": edges,
        "weight": torch.arange(300.0),
        "x": torch.rand(40, 3, generator=chance),
        "rows": np.arange(80).reshape(40, 2),
    }
    data._store.update(held)
    data.num_nodes = 40
    loader = pyg.NeighborLoader(data, [-1, -1], batch_size=16)
    batches = list(loader)
    assert torch.equal(torch.cat([b.n_id[: b.batch_size] for b in batches]), torch.arange(40))
    for batch in batches:
        # Edges keep the numbers that they have in the data.
        assert torch.equal(batch.n_id[batch.edge_index], edges[:, batch.e_id])
        assert torch.equal(batch.weight, 1.0 * batch.e_id)
        assert torch.equal(batch.x, held["x"][batch.n_id])
        # What the data have as an array, mapped or not, batches have as a tensor.
        assert torch.equal(batch.rows, torch.stack([2 * batch.n_id, 2 * batch.n_id + 1], dim=1))
        degrees = torch.bincount(edges[1], minlength=40)[batch.n_id[: batch.batch_size]]
        assert batch.num_sampled_edges[0] == int(degrees.sum())
    # Loaders of the same edges share the graph; other edges are another one.
    assert pyg.NeighborLoader(data, [2]).graph is loader.graph
    data._store["edge_index"] = edges.flip(0)
    assert pyg.NeighborLoader(data, [2]).graph is not loader.graph


class Places:
    """A sampler that draws other places in each epoch."""

    def __init__(self, *epochs: list[int]) -> None:
        self.epochs, self.count = list(epochs), len(epochs[0])

    def __len__(self) -> int:
        return self.count

    def __iter__(self) -> Any:
        return iter(self.epochs.pop(0))


def test_a_sampler_gives_the_order_of_seeds(g: troupe.DistGraph, pyg: Any) -> None:
    seeds = [40, 50, 60, 70]
    drawn = [3, 0, 0, 3, 3], [1, 2, 1, 2, 0]
    with pyg.NeighborLoader(g, HOPS, seeds, batch_size=2, sampler=Places(*drawn)) as loader:
        assert len(loader) == 3
        for wanted in drawn:  # It is asked once an epoch.
            batches = list(loader)
            assert [b.batch_size for b in batches] == [2, 2, 1]
            assert torch.cat([b.input_id for b in batches]).tolist() == wanted
            found = torch.cat([b.n_id[: b.batch_size] for b in batches])
            assert found.tolist() == [seeds[place] for place in wanted]
    halves = []
    for rank in range(2):
        shares = torch.utils.data.DistributedSampler(range(9), 2, rank, shuffle=False)
        every = pyg.NeighborLoader(g, HOPS, range(9), batch_size=2, sampler=shares)
        halves.append(torch.cat([b.n_id[: b.batch_size] for b in every]).tolist())
    assert halves == [[0, 2, 4, 6, 8], [1, 3, 5, 7, 0]]
    pairs = torch.tensor([[1, 2, 3], [4, 5, 6]])
    (links,) = pyg.LinkNeighborLoader(g, HOPS, pairs, batch_size=5, sampler=Places([2, 2, 0]))
    assert links.input_id.tolist() == [2, 2, 0]
    assert torch.equal(links.n_id[links.edge_label_index], pairs[:, links.input_id])
    with pytest.raises(IndexError, match="place 50, but there are 4 seeds"):
        list(pyg.NeighborLoader(g, HOPS, seeds, sampler=[1, 50]))
    with pytest.raises(ValueError, match="leave one out"):
        pyg.NeighborLoader(g, HOPS, seeds, sampler=[1], shuffle=True)
    for kind, mask in (("Neighbor", g.ndata["train_mask"]), ("LinkNeighbor", troupe.edge_set(g))):
        with pytest.raises(NotImplementedError, match="a mask of booleans"):
            getattr(pyg, f"{kind}Loader")(g, HOPS, mask, sampler=[1])
    loader = pyg.NeighborLoader(g, HOPS, seeds, batch_size=2, sampler=Places([0, 1, 2, 3]))
    between = loader.state_dict()
    next(iter(loader))
    with pytest.raises(troupe.errors.Unsupported, match="save between epochs"):
        loader.load_state_dict(loader.state_dict())
    loader.load_state_dict(between)
    loader.close()


def test_loaders_have_what_pytorchs_have(g: troupe.DistGraph, pyg: Any) -> None:
    own = pyg.NeighborLoader(
        g, HOPS, [9, 3, 7], batch_size=2, shuffle=True, drop_last=True, num_workers=64,
        persistent_workers=True, prefetch_factor=3,
    )  # fmt: skip
    of_job = pyg.NeighborLoader(g, HOPS, g.ndata["train_mask"], batch_size=64)
    links = pyg.LinkNeighborLoader(g, HOPS, shuffle=True, batch_size=64)
    for loader in (own, of_job, links):
        assert isinstance(loader, torch.utils.data.DataLoader)
        assert loader.multiprocessing_context is None and loader.generator is None
        assert len(loader.sampler) == len(loader.dataset) and loader.timeout == 0
        # As those who put several loaders together draw from each.
        batch = loader.filter_fn(loader.collate_fn([1, 0]))
        assert len(batch.input_id) == 2
    assert own.num_workers == 64 and own.drop_last and own.persistent_workers
    assert isinstance(own.sampler, torch.utils.data.RandomSampler) and own.prefetch_factor == 3
    assert isinstance(of_job.sampler, torch.utils.data.SequentialSampler)
    assert pickle.loads(pickle.dumps(own)).num_workers == 64


def test_edges_are_drawn_by_an_attribute(tmp_path: Path, pyg: Any) -> None:
    """Of weight 0 never, and in proportion else: 300 nodes point to node 0, the heavy ones most."""
    count = 300
    weight = np.where(np.arange(count) % 3 == 0, 0.0, np.where(np.arange(count) % 3 == 1, 1.0, 9.0))
    troupe.partition_graph(
        (np.arange(1, count + 1), np.zeros(count, np.int64)),
        "g",
        1,
        tmp_path / "g",
        part_method="random",
        num_nodes=count + 1,
        ndata={"feat": np.ones((count + 1, 2), np.float32)},
        edata={"w": weight.astype(np.float32)},
    )
    with troupe.open(str(tmp_path / "g/g.json"), seed=3, tensors="torch") as g:
        weights = g.edata["w"][:]
        zero = g.from_orig([0])
        seeds = torch.as_tensor(zero).repeat(400)
        loaders = [
            pyg.NeighborLoader(g, [1], seeds, batch_size=1, weight_attr="w"),
            pyg.NeighborLoader(
                g,
                [1],
                seeds,
                batch_size=1,
                neighbor_sampler=pyg.NeighborSampler(g, [1], weight_attr="w"),
            ),
        ]
        for loader in (*loaders, pickle.loads(pickle.dumps(loaders[0]))):
            drawn = torch.cat([weights[b.e_id] for b in loader])
            assert len(drawn) == 400 and (drawn > 0).all()
            assert 330 < int((drawn == 9).sum()) < 385  # 360 are expected, with a deviation of 6
        links = pyg.LinkNeighborLoader(g, [3], torch.tensor([[5], [0]]), weight_attr="w")
        (batch,) = links
        assert (weights[batch.e_id] > 0).all()


REFUSED = {
    "input_time": [1],
    "time_attr": "time",
    "temporal_strategy": "last",
    "disjoint": True,
    "subgraph_type": "induced",
    "directed": False,
    "sample_direction": "backward",
    "transform_sampler_output": print,
    "batch_sampler": [[1]],
    "generator": 1,
    "worker_init_fn": print,
    "in_order": False,
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_honoured_is_refused_by_name(
    g: troupe.DistGraph, pyg: Any, name: str
) -> None:
    with pytest.raises(NotImplementedError, match=rf"NeighborLoader\({name}=.*\): \w+"):
        pyg.NeighborLoader(g, HOPS, **{name: REFUSED[name]})


def test_wrong_arguments_say_what_is_wrong(
    g: troupe.DistGraph, graph: troupe.DistGraph, pyg: Any
) -> None:
    loader = pyg.NeighborLoader
    loader(g, HOPS, is_sorted=True, persistent_workers=True, prefetch_factor=3, dataset=1)
    wrong: list[tuple[type[Exception], str, Any]] = [
        (TypeError, "no argument 'batches'", lambda: loader(g, HOPS, batches=1)),
        (TypeError, "give a troupe.DistGraph .* not dict", lambda: loader({}, HOPS)),
        (ValueError, 'tensors="torch"', lambda: loader(graph, HOPS)),
        (TypeError, "neighbor_sampler: .*not int", lambda: loader(g, HOPS, neighbor_sampler=1)),
        (ValueError, "batch_size=0", lambda: loader(g, HOPS, batch_size=0)),
        (IndexError, "there is no 2000", lambda: loader(g, HOPS, [2000])),
        (ValueError, "a mask of 3", lambda: loader(g, HOPS, torch.ones(3) > 0)),
        (TypeError, "mask.bool", lambda: loader(g, HOPS, g.ndata["train_mask"][:])),
        (ValueError, "input_id: .*1 seeds", lambda: loader(g, HOPS, [1], input_id=[1, 2])),
        (
            ValueError,
            "the job's seeds",
            lambda: loader(g, HOPS, g.ndata["train_mask"], input_id=[1]),
        ),
        (ValueError, "fanouts: 0 layers", lambda: loader(g, {"_E": []})),
        (TypeError, "fanout=1.5: .*whole number", lambda: loader(g, [2, 1.5])),
        (TypeError, "fanout=1.5: .*whole number", lambda: loader(g, {"_E": [1.5]})),
        (LookupError, "no node type", lambda: loader(g, HOPS, "paper")),
        (NotImplementedError, "HGTLoader", lambda: pyg.HGTLoader(g, HOPS)),
        (NotImplementedError, "share the seeds", lambda: pyg.DistNeighborLoader(g, HOPS)),
        (NotImplementedError, "share the edges", lambda: pyg.DistLinkNeighborLoader(g, HOPS)),
        (LookupError, "have none", lambda: loader(g, HOPS, weight_attr="w")),
        # A message has no rows.
        (NotImplementedError, "=a Tensor.:", lambda: loader(g, HOPS, input_time=torch.ones(9))),
    ]
    for kind, message, call in wrong:
        with pytest.raises(kind, match=message):
            call()


def test_an_exception_of_a_draw_stands_for_its_batch(g: troupe.DistGraph, pyg: Any) -> None:
    class Small(Data):
        def __setattr__(self, name: str, value: Any) -> None:
            if name == "batch_size" and value == 1:
                raise RuntimeError("too small")
            super().__setattr__(name, value)

    loader = pyg.NeighborLoader(g, HOPS, [1, 2, 3], batch_size=2, custom_cls=Small)
    batches = iter(loader)
    assert type(next(batches)) is Small
    with pytest.raises(RuntimeError, match="too small"):
        next(batches)
    with pytest.raises(StopIteration):
        next(batches)


def test_a_trainer_without_seeds_gets_padded_batches(g: troupe.DistGraph, pyg: Any) -> None:
    g.take_place(1, 4)
    (batch,) = pyg.NeighborLoader(g, HOPS, g.nodes_of([5]), batch_size=2)
    assert batch.padded and batch.weight == 0 and batch.n_id[0] == batch.input_id[0] == 5
    (own,) = pyg.NeighborLoader(g, HOPS, [5], batch_size=2)
    assert not own.padded and own.weight == 1 and own.n_id[0] == 5
    every = pyg.NeighborLoader(g, HOPS, batch_size=100)
    assert len(every) == NODES // 4 // 100, "all nodes are the job's"


def test_the_sampler_gives_seeds_first_and_edges_of_the_graph(
    g: troupe.DistGraph, world: World, pyg: Any
) -> None:
    sampler = pyg.NeighborSampler(g, HOPS)
    seeds, input_id = torch.tensor([5, 5, 9]), torch.tensor([2, 0, 1])
    out = sampler.sample_from_nodes(Input(input_id, seeds))
    assert torch.equal(out.node[:3], seeds) and out.metadata == (input_id, None)
    assert out.num_sampled_nodes[0] == 3 and sum(out.num_sampled_nodes) == len(out.node)
    assert sum(out.num_sampled_edges) == len(out.row) == len(out.col) == len(out.edge)
    assert int(torch.bincount(out.col)[:3].max()) <= HOPS[0]
    original = g.orig_ids(ids=out.node).numpy()
    known = {(int(s), int(d)) for s, d in world.edges}
    pairs = zip(original[out.row], original[out.col], strict=True)
    assert {(int(s), int(d)) for s, d in pairs} <= known
    again = sampler.sample_from_nodes(Input(input_id, seeds))
    assert not torch.equal(out.edge, again.edge), "each draw is one of its own"
    copy = pickle.loads(pickle.dumps(sampler))
    assert torch.equal(copy.sample_from_nodes(Input(None, seeds)).edge, out.edge)
    with pytest.raises(NotImplementedError, match="times"):
        sampler.sample_from_nodes(Input(None, seeds, time=seeds))
    given = pyg.NeighborLoader(g, None, seeds, batch_size=3, neighbor_sampler=sampler)
    assert len(next(iter(given)).num_sampled_edges) == 2


def test_stores_give_rows_by_id_and_no_whole_graph(g: troupe.DistGraph, pyg: Any) -> None:
    features, edges = pyg.stores(g, attrs=["x", "y"])
    ids = torch.tensor([7, 7, 1])
    assert torch.equal(features._get_tensor(Attr(None, "x", ids)), g.ndata["feat"][ids])
    assert features._get_tensor_size(Attr(None, "x")) == (NODES, 16)
    assert features._get_tensor_size(Attr(None, "z")) is None
    assert [a.attr_name for a in features.get_all_tensor_attrs()] == ["x", "y"]
    (edge,) = edges.get_all_edge_attrs()
    assert edge.edge_type is None and edge.size == (NODES, NODES)
    with pytest.raises(KeyError, match="name it in attrs="):
        features._get_tensor(Attr(None, "train_mask", ids))
    refused = [
        ("a whole feature", lambda: features._get_tensor(Attr(None, "x"))),
        ("DistTensor", lambda: features._put_tensor(1, Attr(None, "x", ids))),
        ("do not change", lambda: features._remove_tensor(Attr(None, "x"))),
        ("neighbor_sampler=", lambda: edges._get_edge_index(edge)),
        ("do not change", lambda: edges._put_edge_index(1, edge)),
        ("do not change", lambda: edges._remove_edge_index(edge)),
    ]
    for message, call in refused:
        with pytest.raises(NotImplementedError, match=message):
            call()
    # A tensor of the program's own is written through the store.
    g.ndata["h"] = troupe.DistTensor((NODES, 2), torch.float32, graph=g)
    store = pyg.FeatureStore(g, attrs=["h"])
    store._put_tensor(torch.ones(3, 2), Attr(None, "h", ids))
    assert torch.equal(store._get_tensor(Attr(None, "h", ids)), torch.ones(3, 2))
    read = next(iter(pyg.NeighborLoader((store, edges), HOPS, [7], batch_size=1)))
    assert read.h[0].tolist() == [1, 1] and "x" not in read
    opened = pickle.loads(pickle.dumps(features))
    assert torch.equal(opened._get_tensor(Attr(None, "x", ids)), g.ndata["feat"][ids])


def test_fanouts_are_by_hop_from_the_seeds(g: troupe.DistGraph, pyg: Any) -> None:
    (one,) = pyg.NeighborLoader(g, [2, 0], [1, 2], batch_size=2)
    assert one.num_sampled_edges == [4, 0] and one.num_sampled_nodes[2] == 0
    (two,) = pyg.NeighborLoader(g, {("_N", "_E", "_N"): [2, 0]}, [1, 2], batch_size=2)
    assert two.num_sampled_edges == [4, 0]
    values = types.SimpleNamespace(values={}, default=[2, 0])
    (three,) = pyg.NeighborLoader(g, values, [1, 2], batch_size=2)
    assert same(two, three)


def test_torch_geometric_is_named_where_it_is_absent(monkeypatch: pytest.MonkeyPatch) -> None:
    forget()
    monkeypatch.setitem(sys.modules, "torch_geometric", None)
    module = import_module("troupe.pyg")
    with pytest.raises(ImportError, match="NeighborLoader takes torch_geometric"):
        module.NeighborLoader  # noqa: B018
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        module.nothing  # noqa: B018
    forget()
