# SPDX-License-Identifier: Apache-2.0
"""A graph's types, counts, rows and IDs, against the arrays that it was made of."""

from __future__ import annotations

import os
import pickle
import threading
from typing import Any

import numpy as np
import pytest
from conftest import EDGES, NODES, PARTS, World

import troupe
from troupe.partitioning import partition


def test_counts_and_types(graph: troupe.DistGraph) -> None:
    assert graph.num_nodes() == graph.number_of_nodes("_N") == NODES
    assert graph.num_edges() == graph.num_edges(("_N", "_E", "_N")) == EDGES
    assert graph.ntypes == ["_N"] and graph.etypes == ["_E"]
    assert graph.canonical_etypes == [("_N", "_E", "_N")]
    assert graph.to_canonical_etype("_E") == graph.to_canonical_etype("_N:_E:_N")
    assert graph.num_parts == PARTS and graph.rank() == 0 and graph.world == 1
    assert graph.graph_name == "g"
    with pytest.raises(troupe.errors.NotFound, match=r"no node type 'paper'.*'_N'"):
        graph.num_nodes("paper")
    with pytest.raises(troupe.errors.NotFound, match="no edge type"):
        graph.num_edges("cites")


@pytest.mark.parametrize(
    "index",
    [
        [5, 3, 3, 1999],
        np.array([7, 7, 0]),
        np.array([9, 2], dtype=np.int32),
        np.array([1, 4], dtype=np.uint64),
        range(3, 11, 2),
        slice(10, 2, -3),
        slice(None),
        (1, 2),
        [],
        np.empty(0, dtype=np.int64),
    ],
    ids=str,
)
def test_every_kind_of_index_reads_the_rows_of_its_ids(
    graph: troupe.DistGraph, world: World, index: Any
) -> None:
    ids = np.arange(NODES)[list(index) if isinstance(index, (tuple, range)) else index].astype(int)
    original = graph.orig_ids(ids=ids)
    rows = graph.ndata["feat"][index]
    assert rows.dtype == np.float32 and rows.shape == (len(ids), 16)
    assert np.array_equal(rows, world.feat[original])
    assert np.array_equal(graph.nodes["_N"].data["label"][index], world.label[original])


def test_one_id_reads_one_row(graph: troupe.DistGraph, world: World) -> None:
    original = graph.orig_ids(ids=[17])[0]
    assert np.array_equal(graph.ndata["feat"][17], world.feat[original])
    assert graph.ndata["label"][np.int64(17)] == world.label[original]


@pytest.mark.parametrize(
    ("index", "kind", "text"),
    [
        ([True, False], TypeError, "booleans"),
        ([0, -4], troupe.errors.OutOfRange, "-4 is negative"),
        ([0, 2000], troupe.errors.OutOfRange, "no 2000; there are 2000"),
        (range(1990, 2010), troupe.errors.OutOfRange, "no 2009"),
        ([0.5], TypeError, "whole numbers, not float64"),
        ([[1, 2]], TypeError, "2 dimensions"),
        (-1, troupe.errors.OutOfRange, "-1 is negative"),
    ],
)
def test_what_is_no_id_is_refused_by_name(
    graph: troupe.DistGraph, index: Any, kind: type[Exception], text: str
) -> None:
    with pytest.raises(kind, match=text):
        graph.ndata["feat"][index]
    with pytest.raises(kind, match="node of type '_N'"):
        graph.in_degrees(index)


def test_a_feature_that_is_none_names_those_that_are(graph: troupe.DistGraph) -> None:
    assert set(graph.ndata) == {"feat", "label", "train_mask", "val_mask", "test_mask"}
    assert "feat" in graph.ndata and "x" not in graph.ndata
    with pytest.raises(KeyError, match="'feat'"):
        graph.ndata["x"]
    assert len(graph.edata) == 0
    table = graph.ndata["feat"]
    assert table.shape == (NODES, 16) and len(table) == NODES and table.dtype == np.float32


def test_original_ids_and_their_inverse(graph: troupe.DistGraph) -> None:
    original = graph.orig_ids()
    assert np.array_equal(np.sort(original), np.arange(NODES))
    assert np.array_equal(graph.from_orig(original), np.arange(NODES))
    some = np.array([1999, 0, 5, 5, 1000])
    assert np.array_equal(graph.orig_ids(ids=graph.from_orig(some)), some)
    assert graph.from_orig([]).shape == (0,)


def test_degrees_are_those_of_the_raw_graph(graph: troupe.DistGraph, world: World) -> None:
    sources, destinations = world.edges.T if world.edges.shape[1] == 2 else world.edges
    original = graph.orig_ids()
    assert np.array_equal(graph.in_degrees(), np.bincount(destinations, minlength=NODES)[original])
    assert np.array_equal(graph.out_degrees(), np.bincount(sources, minlength=NODES)[original])
    assert graph.in_degrees(3) == graph.in_degrees([3])[0]


def test_ends_of_edges_are_those_of_the_raw_graph(graph: troupe.DistGraph, world: World) -> None:
    asked = np.random.default_rng(3).permutation(EDGES)
    sources, destinations = graph.find_edges(asked)
    assert sources.dtype == destinations.dtype == np.int64
    original = graph.orig_ids()
    found = np.stack([original[sources], original[destinations]], axis=1)
    # The in-edges of a node follow one another by their original IDs.
    by_id = found[np.argsort(asked)]
    order = np.argsort(by_id[:, 1], kind="stable")
    raw = world.edges[np.argsort(world.edges[:, 1], kind="stable")]
    assert np.array_equal(by_id[order], raw)
    again = graph.find_edges([5, 5, 2], "_E")
    assert again[0].tolist() == [sources[np.flatnonzero(asked == i)[0]] for i in (5, 5, 2)]
    assert [len(ends) for ends in graph.find_edges([])] == [0, 0]
    with pytest.raises(troupe.errors.OutOfRange, match=str(EDGES)):
        graph.find_edges([0, EDGES])


def test_edges_of_nodes_are_those_of_the_raw_graph(graph: troupe.DistGraph, world: World) -> None:
    every = graph.find_edges(slice(None))
    nodes = np.array([7, 1999, 7, 0])
    sources, destinations, ids = graph.in_edges(nodes, form="all")
    expected = np.concatenate([np.flatnonzero(every[1] == node) for node in nodes])
    assert np.array_equal(ids, expected) and np.array_equal(ids, graph.in_edges(nodes, "eid"))
    assert np.array_equal(sources, every[0][ids]) and np.array_equal(destinations, every[1][ids])
    assert np.array_equal(graph.in_edges(nodes)[0], sources)
    assert [len(part) for part in graph.in_edges([], "all")] == [0, 0, 0]
    degrees = graph.in_degrees(nodes, etype="_E")
    assert degrees.tolist() == [np.count_nonzero(every[1] == node) for node in nodes]
    assert np.array_equal(graph.in_degrees(etype="_E"), graph.in_degrees())
    assert graph.in_degrees(7, etype="_E") == degrees[0]
    with pytest.raises(troupe.errors.InvalidArgument, match="form='vu'"):
        graph.in_edges(nodes, "vu")
    with pytest.raises(troupe.errors.OutOfRange, match="2000"):
        graph.in_edges([0, NODES])


def test_out_edges_are_answered_where_they_were_written(
    graph: troupe.DistGraph, world: World, tmp_path: Any
) -> None:
    with pytest.raises(troupe.errors.Unsupported, match="partition again with --out-edges"):
        graph.out_edges([0])
    # The only edge type out of its source type: degrees over all are those along it.
    assert np.array_equal(graph.out_degrees(etype="_E"), graph.out_degrees())
    made = partition(world.raw, tmp_path / "out", 3, method="random", out_edges=True)
    with troupe.open(made.book) as opened:
        every = opened.find_edges(slice(None))
        nodes = [5, 1999, 5, 0]
        sources, destinations, ids = opened.out_edges(nodes, form="all")
        assert sources.tolist() == [n for n in nodes for _ in range(opened.out_degrees(n))]
        assert np.array_equal(every[0][ids], sources)
        assert np.array_equal(every[1][ids], destinations)
        # In the order of the raw graph's edges.
        original = opened.orig_ids()
        for node in nodes:
            _, to, _ = opened.out_edges([node], "all")
            raw = world.edges[world.edges[:, 0] == original[node]]
            assert original[to].tolist() == raw[:, 1].tolist()
        assert [len(part) for part in opened.out_edges([], "all")] == [0, 0, 0]


def test_edges_between_nodes_are_found_or_named(graph: troupe.DistGraph) -> None:
    every = graph.find_edges(slice(None))
    some = np.random.default_rng(5).integers(0, EDGES, 200)
    u, v = every[0][some], every[1][some]
    assert graph.has_edges_between(u, v).all()
    found = graph.edge_ids(u, v)
    first = [
        np.flatnonzero((every[0] == a) & (every[1] == b))[0] for a, b in zip(u, v, strict=True)
    ]
    assert np.array_equal(found, first)
    assert graph.edge_ids(int(u[0]), int(v[0])) == first[0]
    joined = set(zip(*(ends.tolist() for ends in every), strict=True))
    pairs = np.random.default_rng(6).integers(0, NODES, (100, 2))
    has = graph.has_edges_between(pairs[:, 0], pairs[:, 1])
    assert has.dtype == bool and has.tolist() == [tuple(pair) in joined for pair in pairs.tolist()]
    a, b = pairs[np.flatnonzero(~has)[0]].tolist()
    assert graph.has_edges_between(a, b) is False
    with pytest.raises(troupe.errors.NotFound, match=rf"from {a} to {b} \(pair 1\)"):
        graph.edge_ids([u[0], a], [v[0], b])
    # One node beside many.
    into = every[0][every[1] == v[0]]
    assert graph.has_edges_between(into, v[0]).all()
    # And beside none.
    assert graph.has_edges_between([], v[0]).tolist() == graph.edge_ids(u[0], []).tolist() == []
    for none in (([], [1]), ([1], []), ([], [])):
        assert graph.has_edges_between(*none).shape == (0,)
    with pytest.raises(troupe.errors.InvalidArgument, match="2 sources and 3 destinations"):
        graph.edge_ids([0, 1], [0, 1, 2])


def test_schemes_say_what_rows_are(graph: troupe.DistGraph) -> None:
    schemes = graph.node_attr_schemes()
    assert schemes["feat"].shape == (16,) and schemes["feat"].dtype == np.float32
    assert set(schemes) == set(graph.ndata) and set(graph.edge_attr_schemes()) == set(graph.edata)


def test_the_book_says_who_owns_what(graph: troupe.DistGraph) -> None:
    book = graph.get_partition_book()
    owned = [book.partid2nids(p) for p in range(book.num_partitions())]
    assert np.array_equal(np.concatenate(owned), np.arange(NODES))
    for part, nodes in enumerate(owned):
        assert (book.nid2partid(nodes) == part).all()
        assert np.array_equal(book.nid2localnid(nodes, part), np.arange(len(nodes)))
    edges = np.arange(EDGES)
    assert (book.eid2partid(book.partid2eids(1)) == 1).all()
    assert np.array_equal(book.map_to_homo_eid(edges), edges)
    numbers, ids = book.map_to_per_ntype([0, 1999])
    assert list(numbers) == [0, 0] and list(ids) == [0, 1999]
    assert sum(part["num_edges"] for part in book.metadata()) == EDGES
    with pytest.raises(ValueError, match="is not in partition 0"):
        book.nid2localnid([1999], 0)
    assert pickle.loads(pickle.dumps(book)).num_nodes() == NODES


def test_a_missing_file_is_named() -> None:
    with pytest.raises(troupe.errors.NotFound, match=r"nowhere/g\.json") as caught:
        troupe.open("nowhere/g.json")
    assert caught.value.code == -4 and caught.value.name == "TR_ENOENT"
    assert isinstance(caught.value, LookupError)
    assert caught.value.process is None
    again = pickle.loads(pickle.dumps(caught.value))
    assert str(again) == str(caught.value) and again.name == "TR_ENOENT"


def test_garbage_in_the_book_is_refused(tmp_path: Any) -> None:
    (tmp_path / "g.json").write_text("{ no json")
    with pytest.raises(troupe.errors.BadFormat, match=r"g\.json"):
        troupe.open(tmp_path / "g.json")


def test_a_closed_graph_says_so(world: World) -> None:
    graph = troupe.open(world.path)
    table = graph.ndata["feat"]
    graph.close()
    graph.close()
    with pytest.raises(troupe.errors.Closed):
        table[[1]]
    with pytest.raises(ValueError):
        graph.in_degrees([1])
    assert "closed" in repr(graph)


def test_several_graphs_at_once_and_many_in_turn(world: World) -> None:
    with troupe.Session(seed=3) as session:
        one = troupe.DistGraph("g", part_config=world.path, session=session)
        two = troupe.DistGraph(part_config=world.path, session=session)
        assert np.array_equal(one.ndata["label"][:9], two.ndata["label"][:9])
        one.close()
        assert two.in_degrees(1) >= 0
    for _ in range(20):
        with troupe.open(world.path) as graph:
            assert graph.num_nodes() == NODES
    with pytest.raises(troupe.errors.Mismatch, match="of the graph 'g', not 'h'"):
        troupe.DistGraph("h", part_config=world.path)


def test_a_graph_pickles_as_what_opens_it(graph: troupe.DistGraph) -> None:
    with pickle.loads(pickle.dumps(graph)) as again:
        assert again is not graph
        assert np.array_equal(again.ndata["feat"][[1, 2]], graph.ndata["feat"][[1, 2]])


def test_a_forked_child_is_told_what_to_do(graph: troupe.DistGraph) -> None:
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            graph.ndata["feat"][[1]]
        except troupe.errors.Forked as error:
            os.write(writer, str(error).encode())
        finally:
            os._exit(0)
    os.close(writer)
    said = os.read(reader, 4096).decode()
    os.close(reader)
    os.waitpid(child, 0)
    assert "spawn" in said
    assert graph.ndata["feat"][[1]].shape == (1, 16)


def test_writing_says_what_is_not_there_yet(graph: troupe.DistGraph) -> None:
    with pytest.raises(NotImplementedError):
        graph.ndata["feat"][[1]] = 0
    with pytest.raises(NotImplementedError):
        graph.edata["h"] = np.zeros(EDGES)


def test_trainers_wait_for_one_another_at_barriers(world: World) -> None:
    with troupe.open(world.path, trainers=2) as graph:
        assert graph.world == 2
        # Once while the other one has not come at all.
        with pytest.raises(troupe.errors.TimedOut):
            graph.barrier(timeout=0.1)
        seen: list[tuple[int, int]] = []

        def train(rank: int) -> None:
            for step in range(5):
                seen.append((step, rank))
                graph.barrier(timeout=60, rank=rank)

        threads = [threading.Thread(target=train, args=(rank,)) for rank in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        # Nobody is a step ahead.
        assert [step for step, _ in seen] == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]
    with troupe.open(world.path) as graph:
        graph.barrier()
