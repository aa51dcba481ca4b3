# SPDX-License-Identifier: Apache-2.0
"""What programs ask ``dgl.distributed``, and what the answers are by NumPy over the raw graph.

A question asks a graph (`Asked`) and returns arrays of *original* IDs, which any partitioning
leaves alone, so that the same questions go to DGL. Its check looks at the answers of all trainers.
Where choices are random, it says what holds of each draw.

    python dgl_questions.py BOOK KIND FOLDER       asks as a trainer of a job; FOLDER gets answers
"""

from __future__ import annotations

import itertools
import os
import pickle
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np

Canonical = tuple[str, str, str]
Ids = np.ndarray
NID = EID = "_ID"
GOES, BACK, OWN = ("a", "goes", "b"), ("b", "back", "a"), ("a", "own", "a")
ONLY = ("_N", "_E", "_N")
TRAINERS = 4
SAME_NAMES = "B25: DGL's servers of one machine give the memory of their features one name"


class World(NamedTuple):
    """A raw graph: every edge type's sources and destinations, and features by type and name."""

    counts: dict[str, int]
    edges: dict[Canonical, Ids]
    ndata: dict[str, dict[str, Ids]]
    edata: dict[Canonical, dict[str, Ids]]

    @property
    def is_homogeneous(self) -> bool:
        return list(self.edges) == [ONLY]

    def degrees(self, etype: Canonical, end: int, among: Ids | None = None) -> Ids:
        """Of all nodes of the type at that end (0: source), over all edges or those of a mask."""
        ends = self.edges[etype][end]
        ends = ends if among is None else ends[among]
        return np.bincount(ends, minlength=self.counts[etype[2 * end]])


def make_world(kind: str) -> World:
    """A graph of one type or of several: parallel edges, self-loops, and nodes without edges."""
    chance = np.random.default_rng(11)

    def some(count: int, sources: int, destinations: int) -> Ids:
        ends = chance.integers(0, [[sources], [destinations]], (2, count))
        return np.concatenate([ends, ends[:, :20]], axis=1)

    if kind == "homogeneous":
        counts, edges = {"_N": 130}, {ONLY: some(900, 120, 120)}
    else:
        counts, goes = {"a": 90, "b": 60, "c": 20}, some(600, 80, 60)
        edges = {GOES: goes, BACK: goes[::-1].copy(), OWN: some(200, 90, 85)}
        # Two edge types of one relation.
        edges |= {("c", "to", "a"): some(150, 20, 90), ("c", "to", "b"): some(100, 20, 55)}
        edges = dict(sorted(edges.items()))
    ndata, edata = {}, {}
    for name, count in counts.items():
        ndata[name] = {
            "feat": chance.normal(size=(count, 3)).astype(np.float32),
            "label": chance.integers(0, 5, count),
            "mask": chance.random(count) < 0.4,
        }
    for etype, ends in edges.items():
        count = ends.shape[1]
        edata[etype] = {
            "w": chance.random(count).astype(np.float32) * (chance.random(count) < 0.8),
            "keep": chance.random(count) < 0.5,
        }
    return World(counts, edges, ndata, edata)


class Asked:
    """A graph that is asked, and who asks.

    Attributes
    ----------
    g, d : the DistGraph, and the module ``dgl.distributed``, of Troupe or of DGL.
    nodes, edges : original IDs in the order of the graph's own, by type.
    ranks : trainers whose shares are asked for; None in it: this process's own.
    sampler : makes a sampler of fanouts.
    loaders : the module of node loaders.
    edge_loader : makes a loader, ``edge_loader(g, etype, eids, sampler, **options)``.
    negatives : the module of negative samplers.
    """

    def __init__(
        self,
        world: World,
        g: Any,
        d: Any,
        nodes: Mapping[str, Ids],
        edges: Mapping[Canonical, Ids],
        ranks: list[int | None],
        sampler: Callable[..., Any],
        loaders: Any,
        edge_loader: Callable[..., Any],
        negatives: Any,
    ) -> None:
        self.world, self.g, self.d, self.ranks, self.sampler = world, g, d, ranks, sampler
        self.loaders, self.edge_loader, self.negatives = loaders, edge_loader, negatives
        self.nodes, self.edges = nodes, edges
        self._node_at = {name: np.argsort(ids) for name, ids in nodes.items()}
        self._edge_at = {name: np.argsort(ids) for name, ids in edges.items()}

    @property
    def book(self) -> Any:
        return self.g.get_partition_book()

    def book_of(self, rank: int | None) -> Any:
        """The book of a trainer's partition, by which it splits."""
        return self.book

    def node_ids(self, ntype: str, original: Any) -> Any:
        """The graph's own IDs, as a tensor."""
        import torch

        return torch.from_numpy(self._node_at[ntype][np.asarray(original)])

    def edge_ids(self, etype: Canonical, original: Any) -> Any:
        import torch

        return torch.from_numpy(self._edge_at[etype][np.asarray(original)])

    def seeds(self, by_type: Mapping[str, Any]) -> Any:
        """Nodes as what draws takes them: by type, in a graph of one type alone."""
        ids = {name: self.node_ids(name, original) for name, original in by_type.items()}
        return ids["_N"] if self.world.is_homogeneous else ids

    def pairs(self, etype: Canonical, sources: Any, destinations: Any) -> Ids:
        """Two rows of original IDs."""
        of = self.nodes[etype[0]], self.nodes[etype[2]]
        return np.stack([of[0][np.asarray(sources)], of[1][np.asarray(destinations)]])

    def drawn(self, graph: Any) -> dict[Canonical, Ids]:
        """Sources, destinations and edges of a graph with all nodes, as rows of original IDs."""
        found = {}
        for etype in graph.canonical_etypes:
            ids = graph.edges[etype].data.get(EID, np.empty(0, np.int64))
            pairs = self.pairs(etype, *graph.edges(etype=etype))
            found[etype] = np.concatenate([pairs, [self.edges[etype][np.asarray(ids)]]])
        return found


def refused(call: Callable[[], Any]) -> bool:
    """Whether it raises an error."""
    try:
        call()
    except Exception:
        return True
    return False


class Question:
    """Asks, and checks the answers of all trainers.

    Attributes
    ----------
    defect : why DGL is not asked, as it answers otherwise than it says.
    in_one_part : why DGL is asked in one partition alone.
    in_one_type : why DGL is asked of a graph of one type alone.
    """

    defect: ClassVar[str] = ""
    in_one_part: ClassVar[str] = ""
    in_one_type: ClassVar[str] = ""

    def ask(self, a: Asked) -> Any:
        raise NotImplementedError

    def expected(self, world: World) -> Any:
        """What every trainer is answered, where that is one thing."""
        raise NotImplementedError

    def check(self, world: World, answers: list[Any]) -> None:
        for found in answers:
            np.testing.assert_equal(found, self.expected(world))


class Types(Question):
    """Counts, names and constants of the graph and its book."""

    def ask(self, a: Asked) -> Any:
        g, b = a.g, a.book
        relations = [name for name in g.etypes if g.etypes.count(name) == 1]
        return {
            "types": (sorted(g.ntypes), sorted(g.canonical_etypes), sorted(g.etypes)),
            "of the book": (sorted(b.ntypes), sorted(b.canonical_etypes), b.is_homogeneous),
            "nodes": {name: g.num_nodes(name) for name in g.ntypes},
            "edges": {name: g.num_edges(name) for name in g.canonical_etypes},
            "all": (g.num_nodes(), g.number_of_nodes(), g.num_edges(), g.number_of_edges()),
            "numbers": (
                [g.get_ntype_id(name) for name in g.ntypes],
                [g.get_etype_id(name) for name in g.canonical_etypes],
            ),
            "canonical": {name: g.to_canonical_etype(name) for name in relations},
            "canonical of the book": {name: b.to_canonical_etype(name) for name in relations},
            "refused": [
                refused(lambda of=of, name=name: of.to_canonical_etype(name))
                for of in (g, b)
                for name in ("to", "nothing")
            ],
            "constants": (str(g.idtype), str(g.device), g.is_pinned()),
            "of IDs": (str(b.global_nid_dtype), str(b.global_eid_dtype)),
        }

    def expected(self, world: World) -> Any:
        edges = {name: ends.shape[1] for name, ends in world.edges.items()}
        names = sorted(world.edges)
        relations = [name for _, name, _ in names]
        canonical = {name[1]: name for name in names if relations.count(name[1]) == 1}
        types = sorted(world.counts)
        totals = sum(world.counts.values()), sum(edges.values())
        return {
            "types": (types, names, sorted(relations)),
            "of the book": (types, names, world.is_homogeneous),
            "nodes": world.counts,
            "edges": edges,
            "all": (totals[0], totals[0], totals[1], totals[1]),
            "numbers": (list(range(len(types))), list(range(len(names)))),
            "canonical": canonical,
            "canonical of the book": canonical,
            "refused": [True] * 4,
            "constants": ("torch.int64", "cpu", False),
            "of IDs": ("torch.int64", "torch.int64"),
        }


class Book(Question):
    """Who owns what: per-type IDs are those of one partition after the other, homogeneous ones of
    its types, and an edge is where its destination is."""

    def ask(self, a: Asked) -> Any:
        b = a.book
        found: dict[str, Any] = {
            "parts": b.num_partitions(),
            "own": b.partid,
            "metadata": [
                (int(part["machine_id"]), int(part["num_nodes"]), int(part["num_edges"]))
                for part in b.metadata()
            ],
            "offsets": (
                np.asarray(b.local_ntype_offset).tolist(),
                np.asarray(b.local_etype_offset).tolist(),
            ),
            "homogeneous": [
                [np.asarray(own(part)) for part in range(b.num_partitions())]
                for own in (b.partid2nids, b.partid2eids)
            ],
        }
        of_nodes = (b.nid2partid, b.partid2nids, b.nid2localnid, b.map_to_homo_nid)
        of_edges = (b.eid2partid, b.partid2eids, b.eid2localeid, b.map_to_homo_eid)
        for key, types, original, functions, typed in (
            ("nodes", b.ntypes, a.nodes, of_nodes, b.map_to_per_ntype),
            ("edges", b.canonical_etypes, a.edges, of_edges, b.map_to_per_etype),
        ):
            found[key] = {
                name: self._of_type(a, name, original[name], functions, typed) for name in types
            }
        return found

    @staticmethod
    def _of_type(a: Asked, name: Any, original: Ids, functions: Any, typed: Any) -> Any:
        import torch

        owner, owned, local, homogeneous = functions
        every = torch.arange(len(original))
        of_all = homogeneous(every, name)
        kinds, ids = typed(of_all)
        return {
            "owners": np.asarray(owner(every, name))[np.argsort(original)],
            "owned": [np.asarray(owned(part, name)) for part in range(a.book.num_partitions())],
            "local": np.asarray(local(owned(a.book.partid, name), a.book.partid, name)),
            "homogeneous": np.asarray(of_all),
            "back": (np.asarray(kinds), np.asarray(ids)),
            "none": len(owner(every[:0], name)) + len(homogeneous(every[:0], name)),
        }

    def check(self, world: World, answers: list[Any]) -> None:
        for found in answers:
            parts, own = found["parts"], found["own"]
            owners = {name: of["owners"] for name, of in found["nodes"].items()}
            sizes = []
            for number, key in enumerate(("nodes", "edges")):
                names = sorted(found[key])
                of_type = [found[key][name] for name in names]
                for kind, of in enumerate(of_type):
                    count = len(of["owners"])
                    assert np.array_equal(np.concatenate(of["owned"]), np.arange(count))
                    owned = [len(ids) for ids in of["owned"]]
                    assert owned == np.bincount(of["owners"], minlength=parts).tolist()
                    assert np.array_equal(of["local"], np.arange(owned[own]))
                    assert np.array_equal(of["back"][1], np.arange(count))
                    assert (of["back"][0] == kind).all() and of["none"] == 0
                sizes.append(np.array([[len(ids) for ids in of["owned"]] for of in of_type]))
                every = [
                    of["homogeneous"][ids]
                    for p in range(parts)
                    for of in of_type
                    for ids in of["owned"][p : p + 1]
                ]
                assert np.array_equal(np.concatenate(every), np.arange(sizes[-1].sum()))
                assert np.array_equal(
                    np.concatenate(found["homogeneous"][number]), np.arange(sizes[-1].sum())
                )
                assert [len(ids) for ids in found["homogeneous"][number]] == sizes[-1].sum(
                    axis=0
                ).tolist()
                offsets = np.cumsum([0, *sizes[-1][:, own]]).tolist()
                assert found["offsets"][number] == offsets
            expected = zip(range(parts), sizes[0].sum(axis=0), sizes[1].sum(axis=0), strict=True)
            assert found["metadata"] == list(expected)
            for name, of in found["edges"].items():
                assert np.array_equal(of["owners"], owners[name[2]][world.edges[name][1]])
        assert all(found["metadata"] == answers[0]["metadata"] for found in answers)


class Outside(Question):
    """IDs that there are not, and partitions that are another's, are refused."""

    defect = "B18: the owner of an ID out of range is the number of partitions"

    def ask(self, a: Asked) -> Any:
        b, found = a.book, []
        for name in b.ntypes:
            count = a.world.counts[name]
            found += [
                refused(lambda n=name, i=i: b.nid2partid([i], n)) for i in (count, -count - 1)
            ]
            found.append(refused(lambda n=name, i=count: b.map_to_homo_nid([i], n)))
            if b.num_partitions() > 1:
                ids, other = b.partid2nids(b.partid, name), b.partid ^ 1
                found.append(refused(lambda n=name, i=ids, p=other: b.nid2localnid(i, p, n)))
        etype = a.g.canonical_etypes[0]
        count = a.world.edges[etype].shape[1]
        found.append(refused(lambda: b.eid2partid([count], etype)))
        found.append(refused(lambda: a.g.find_edges([count], etype)))
        found.append(refused(lambda: a.g.in_degrees([a.g.num_nodes()])))
        found.append(refused(lambda: b.map_to_per_ntype([a.g.num_nodes()])))
        return all(found)

    def expected(self, world: World) -> Any:
        return True


class Policies(Question):
    """How rows of a type lie, by the policies of the graph and by those that a program makes."""

    def ask(self, a: Asked) -> Any:
        import torch

        b, found = a.book, {}
        policies = [(name, a.g.get_node_partition_policy(name)) for name in b.ntypes]
        policies += [(name, a.g.get_edge_partition_policy(name)) for name in b.canonical_etypes]
        for name, policy in policies:
            made = a.d.graph_partition_book.PartitionPolicy(policy.policy_str, b)
            ids = torch.arange(policy.get_size())
            own = ids[policy.to_partid(ids) == b.partid]
            found[name] = [
                (
                    one.policy_str,
                    one.type_name,
                    bool(one.is_node),
                    one.part_id == b.partid,
                    int(one.get_size()),
                    int(one.get_part_size()) == len(own),
                    np.array_equal(one.to_local(own), np.arange(len(own))),
                    str(one.get_data_name("x")),
                )
                for one in (policy, made)
            ]
        return found

    def expected(self, world: World) -> Any:
        counts = {name: (f"node~{name}", n) for name, n in world.counts.items()}
        counts |= {name: (f"edge~{':'.join(name)}", e.shape[1]) for name, e in world.edges.items()}
        return {
            name: [(policy, name, isinstance(name, str), True, size, True, True, f"{policy}~x")] * 2
            for name, (policy, size) in counts.items()
        }


class Features(Question):
    """Rows by ID, in the order asked, repeats included."""

    in_one_part = SAME_NAMES

    def ask(self, a: Asked) -> Any:
        found: dict[Any, Any] = {}
        for name in a.g.ntypes:
            frame, ids = a.g.nodes[name].data, a.node_ids(name, some_of(a.world.counts[name]))
            found[name] = {key: np.asarray(frame[key][ids]) for key in ("feat", "label", "mask")}
            found[name, "shapes"] = [tuple(frame[key].shape) for key in ("feat", "label")]
            found[name, "is there"] = ["feat" in frame, "nothing" in frame]
        for name in a.g.canonical_etypes:
            frame = a.g.edges[name].data
            ids = a.edge_ids(name, some_of(a.world.edges[name].shape[1]))
            found[name] = {key: np.asarray(frame[key][ids]) for key in ("w", "keep")}
        if a.world.is_homogeneous:
            found["alone"] = sorted(a.g.ndata.keys()), sorted(a.g.edata.keys())
        else:
            found["alone"] = [refused(lambda: a.g.ndata["feat"]), refused(lambda: a.g.edata["w"])]
        return found

    def expected(self, world: World) -> Any:
        found: dict[Any, Any] = {}
        for name, frame in world.ndata.items():
            wanted = some_of(world.counts[name])
            found[name] = {key: rows[wanted] for key, rows in frame.items()}
            found[name, "shapes"] = [frame[key].shape for key in ("feat", "label")]
            found[name, "is there"] = [True, False]
        for etype, frame in world.edata.items():
            wanted = some_of(world.edges[etype].shape[1])
            found[etype] = {key: rows[wanted] for key, rows in frame.items()}
        alone = ["feat", "label", "mask"], ["keep", "w"]
        found["alone"] = alone if world.is_homogeneous else [True, True]
        return found


class Schemes(Question):
    """The shape of a row and the dtype of each feature."""

    in_one_type = "DGL's schemes are of graphs of one type"

    def ask(self, a: Asked) -> Any:
        typed = not a.world.is_homogeneous
        nodes = a.g.node_attr_schemes(*(["b"] if typed else []))
        edges = a.g.edge_attr_schemes(*([BACK] if typed else []))
        return {
            name: (tuple(one.shape), str(one.dtype).removeprefix("torch."))
            for of in (nodes, edges)
            for name, one in of.items()
        }

    def expected(self, world: World) -> Any:
        flags = ((), "uint8")
        found = {"feat": ((3,), "float32"), "label": ((), "int64"), "mask": flags}
        return found | {"w": ((), "float32"), "keep": flags}


class Degrees(Question):
    """Over all edge types, by homogeneous IDs: of some nodes in their order, and of all."""

    def ask(self, a: Asked) -> Any:
        found = {}
        for name in a.g.ntypes:
            wanted = some_of(a.world.counts[name])
            ids = a.book.map_to_homo_nid(a.node_ids(name, wanted), name)
            for key, ask in (("in", a.g.in_degrees), ("out", a.g.out_degrees)):
                every = ask()
                found[name, key] = np.asarray(ask(ids)), np.asarray(every[ids])
            found[name, "by the module"] = (
                np.asarray(a.d.graph_services.in_degrees(a.g, ids)),
                np.asarray(a.d.graph_services.out_degrees(a.g, ids)),
            )
        return found

    def expected(self, world: World) -> Any:
        found = {}
        for name, count in world.counts.items():
            wanted = some_of(count)
            for end, key in enumerate(("out", "in")):
                of = [world.degrees(e, end) for e in world.edges if e[2 * end] == name]
                degrees = np.sum([np.zeros(count, int), *of], axis=0)[wanted]
                found[name, key] = degrees, degrees
            found[name, "by the module"] = found[name, "in"][0], found[name, "out"][0]
        return found


class OneDegree(Question):
    """The degree of one node is a number."""

    defect = "DGL 2.1 takes no number, as its documentation says"

    def ask(self, a: Asked) -> Any:
        name = a.g.ntypes[0]
        number = int(a.book.map_to_homo_nid(a.node_ids(name, [3]), name)[0])
        return [a.g.in_degrees(number), a.g.out_degrees(number)]

    def expected(self, world: World) -> Any:
        of_end = [[e for e in world.edges if e[2 * end] == min(world.counts)] for end in (1, 0)]
        sums = zip((1, 0), of_end, strict=True)
        return [int(sum(world.degrees(e, end)[3] for e in of)) for end, of in sums]


class FindEdges(Question):
    """Ends in the order of the edges, repeats included, by per-type and by homogeneous IDs."""

    def ask(self, a: Asked) -> Any:
        found = {}
        for name in a.g.canonical_etypes:
            ids = a.edge_ids(name, some_of(a.world.edges[name].shape[1]))
            found[name] = a.pairs(name, *a.g.find_edges(ids, name))
            ends = a.d.find_edges(a.g, a.book.map_to_homo_eid(ids, name))
            kinds, typed = zip(*map(a.book.map_to_per_ntype, ends), strict=True)
            names = [sorted({a.g.ntypes[int(kind)] for kind in of}) for of in kinds]
            found[name, "homogeneous"] = a.pairs(name, *typed), names
        found["refused"] = a.world.is_homogeneous or refused(lambda: a.g.find_edges([0]))
        return found

    def expected(self, world: World) -> Any:
        found: dict[Any, Any] = {"refused": True}
        for name, ends in world.edges.items():
            found[name] = ends[:, some_of(ends.shape[1])]
            found[name, "homogeneous"] = found[name], [[name[0]], [name[2]]]
        return found


class EdgeSubgraph(Question):
    """The edges that were asked for."""

    def ask(self, a: Asked) -> Any:
        ids = {name: a.edge_ids(name, one_each(e)) for name, e in a.world.edges.items()}
        given = ids[ONLY] if a.world.is_homogeneous else ids
        return sorted_columns(a.drawn(a.g.edge_subgraph(given, relabel_nodes=False)))

    def expected(self, world: World) -> Any:
        ids = {name: np.sort(one_each(ends)) for name, ends in world.edges.items()}
        return {
            name: np.concatenate([ends[:, ids[name]], [ids[name]]])
            for name, ends in world.edges.items()
        }


class InSubgraph(Question):
    """All in-edges of some nodes."""

    in_one_part = "B1: an answer of another partition has a field more than is taken, and ends it"
    in_one_type = "DGL's takes homogeneous IDs"

    def ask(self, a: Asked) -> Any:
        nodes = {name: np.unique(seeds_of(count)) for name, count in a.world.counts.items()}
        return sorted_columns(a.drawn(a.d.in_subgraph(a.g, a.seeds(nodes))))

    def expected(self, world: World) -> Any:
        found = {}
        for name, ends in world.edges.items():
            ids = np.flatnonzero(np.isin(ends[1], seeds_of(world.counts[name[2]])))
            found[name] = np.concatenate([ends[:, ids], [ids]])
        return found


class DrawsByType(Question):
    """So many in-edges of each edge type, each of the graph; a repeated seed draws twice."""

    FANOUTS: ClassVar[dict[str, Any]] = {"even": 3, "all": -1, "again": 3, "each": None}

    @staticmethod
    def each(world: World) -> dict[Canonical, int]:
        """A fanout for every edge type."""
        return dict(zip(world.edges, (2, 1, -1, 4, 3), strict=False))

    def ask(self, a: Asked) -> Any:
        nodes = a.seeds({name: seeds_of(n) for name, n in a.world.counts.items()})
        found = {}
        for key, number in self.FANOUTS.items():
            fanout = self.each(a.world) if number is None else number
            if a.world.is_homogeneous and number is None:
                fanout = fanout[ONLY]
            drawn = a.g.sample_neighbors(nodes, fanout, replace=key == "again")
            found[key] = a.drawn(drawn)
            assert drawn.num_nodes() == a.g.num_nodes()
        drawn = a.d.sample_etype_neighbors(a.g, nodes, 2) if len(a.g.etypes) > 1 else None
        found["by the module"] = drawn and a.drawn(drawn)
        return found

    def check(self, world: World, answers: list[Any]) -> None:
        for found in answers:
            for key, number in self.FANOUTS.items():
                fanouts = dict.fromkeys(world.edges, number) if number else self.each(world)
                assert found[key].keys() == world.edges.keys()
                for name, drawn in found[key].items():
                    check_draw(world, name, drawn, fanouts[name], key == "again")
            for name, drawn in (found["by the module"] or {}).items():
                check_draw(world, name, drawn, 2, False)


class OutDraws(Question):
    """So many out-edges over all edge types together."""

    def ask(self, a: Asked) -> Any:
        nodes = a.seeds({name: seeds_of(n) for name, n in a.world.counts.items()})
        return {again: a.drawn(self.draw(a, nodes, again)) for again in (False, True)}

    def draw(self, a: Asked, nodes: Any, again: bool) -> Any:
        return a.d.sample_neighbors(a.g, nodes, 3, edge_dir="out", replace=again)

    def wanted(self, degrees: list[Ids], counts: list[Ids]) -> tuple[list[Ids], list[Ids]]:
        """Of a node type, along each edge type out of it: what is compared."""
        return [np.sum(degrees, axis=0)], [np.sum(counts, axis=0)]

    def check(self, world: World, answers: list[Any]) -> None:
        for again, drawn in (item for found in answers for item in found.items()):
            for ntype, count in world.counts.items():
                out = [name for name in world.edges if name[0] == ntype]
                degrees = [world.degrees(name, 0) for name in out]
                counts = [count_draws(world, name, drawn[name], 0) for name in out]
                seeds = np.bincount(seeds_of(count), minlength=count)
                for one, other in zip(*self.wanted(degrees, counts), strict=True):
                    assert np.array_equal(other, seeds * full(one, 3, again))
            for name, columns in drawn.items():
                check_edges(world, name, columns, again, end=0)


class OutDrawsByType(OutDraws):
    """So many out-edges of each edge type."""

    in_one_part = "DGL's server ends where a partition has out-edges that are another's in-edges"

    def draw(self, a: Asked, nodes: Any, again: bool) -> Any:
        if a.world.is_homogeneous:
            return super().draw(a, nodes, again)
        of = a.d.graph_services
        return of.sample_etype_neighbors(a.g, nodes, 3, edge_dir="out", replace=again)

    def wanted(self, degrees: list[Ids], counts: list[Ids]) -> tuple[list[Ids], list[Ids]]:
        return degrees, counts


class DrawsInTotal(Question):
    """So many in-edges over all edge types together."""

    def ask(self, a: Asked) -> Any:
        nodes = a.seeds({name: seeds_of(n) for name, n in a.world.counts.items()})
        return {
            (fanout, again): a.drawn(a.d.sample_neighbors(a.g, nodes, fanout, replace=again))
            for fanout, again in ((4, False), (4, True), (-1, False))
        }

    def check(self, world: World, answers: list[Any]) -> None:
        for found in answers:
            for (fanout, again), drawn in found.items():
                for ntype, count in world.counts.items():
                    into = [name for name in world.edges if name[2] == ntype]
                    seeds = np.bincount(seeds_of(count), minlength=count)
                    zero = np.zeros(count, int)
                    degrees = sum((world.degrees(name, 1) for name in into), zero)
                    counts = sum((count_draws(world, name, drawn[name]) for name in into), zero)
                    assert np.array_equal(counts, seeds * full(degrees, fanout, again))
                for name, columns in drawn.items():
                    check_edges(world, name, columns, again)


class WeighedDraws(Question):
    """Edges of weight 0, and those that a mask leaves out, are never drawn; others fill draws."""

    in_one_part = SAME_NAMES
    NAMES: ClassVar[tuple[str, ...]] = ("w", "keep")

    def ask(self, a: Asked) -> Any:
        nodes = a.seeds({name: seeds_of(n) for name, n in a.world.counts.items()})
        return {
            (name, again): a.drawn(a.g.sample_neighbors(nodes, 3, prob=name, replace=again))
            for name in self.NAMES
            for again in (False, True)
        }

    def check(self, world: World, answers: list[Any]) -> None:
        for found in answers:
            for (key, again), drawn in found.items():
                for name, columns in drawn.items():
                    possible = world.edata[name][key] > 0
                    check_draw(world, name, columns, 3, again, possible)


class WeighedDrawsInTotal(WeighedDraws):
    """The same, over all edge types together."""

    in_one_type = "DGL's looks for one feature of all edges together"

    def ask(self, a: Asked) -> Any:
        nodes = a.seeds({name: seeds_of(n) for name, n in a.world.counts.items()})
        return {
            (name, again): a.drawn(a.d.sample_neighbors(a.g, nodes, 3, prob=name, replace=again))
            for name in self.NAMES
            for again in (False, True)
        }

    def check(self, world: World, answers: list[Any]) -> None:
        for found in answers:
            for (key, again), drawn in found.items():
                for ntype, count in world.counts.items():
                    into = [name for name in world.edges if name[2] == ntype]
                    zero = np.zeros(count, int)
                    degrees = sum(
                        (world.degrees(n, 1, world.edata[n][key] > 0) for n in into), zero
                    )
                    counts = sum((count_draws(world, n, drawn[n]) for n in into), zero)
                    seeds = np.bincount(seeds_of(count), minlength=count)
                    assert np.array_equal(counts, seeds * full(degrees, 3, again))
                for name, columns in drawn.items():
                    check_edges(world, name, columns, again)
                    assert (world.edata[name][key][columns[2]] > 0).all()


class ExcludingDraws(Question):
    """Edges are left out before the draw, which is as full as the others allow."""

    defect = "B19: DGL 2.1 takes no edges to leave out, and later ones do so after the draw"

    def ask(self, a: Asked) -> Any:
        nodes = a.seeds({name: seeds_of(n) for name, n in a.world.counts.items()})
        gone = {name: a.edge_ids(name, one_each(e)) for name, e in a.world.edges.items()}
        gone = gone[ONLY] if a.world.is_homogeneous else gone
        found: dict[str, Any] = {
            str(again): a.drawn(a.g.sample_neighbors(nodes, 3, exclude_edges=gone, replace=again))
            for again in (False, True)
        }
        found["in total"] = a.drawn(a.d.sample_neighbors(a.g, nodes, -1, exclude_edges=gone))
        return found

    def check(self, world: World, answers: list[Any]) -> None:
        for found in answers:
            for key, fanout, again in (("False", 3, False), ("True", 3, True), ("in total", -1, 0)):
                for name, columns in found[key].items():
                    left = np.ones(world.edges[name].shape[1], bool)
                    left[one_each(world.edges[name])] = False
                    check_draw(world, name, columns, fanout, bool(again), left)


class Shares(Question):
    """Shares of a mask are disjoint and whole. Even ones differ by one at most; others are of the
    trainer's own partition alone, where there are as many trainers."""

    def ask(self, a: Asked) -> Any:
        import torch

        found: dict[Any, Any] = {"parts": a.book.num_partitions()}
        for key, names, frames, split, original in (
            ("nodes", a.g.ntypes, a.world.ndata, a.d.node_split, a.nodes),
            ("edges", a.g.canonical_etypes, a.world.edata, a.d.edge_split, a.edges),
        ):
            for name in names:
                chosen = frames[name]["mask" if key == "nodes" else "keep"][original[name]]
                every = torch.arange(len(chosen))
                owner = a.book.nid2partid if key == "nodes" else a.book.eid2partid
                owners = np.asarray(owner(every, name))
                ways = {
                    "even": {"force_even": True},
                    "own": {"force_even": False},
                    # Each partition's are its trainer's.
                    "by trainer": {f"{key[:4]}_trainer_ids": torch.from_numpy(owners)},
                }
                for way, options in ways.items():
                    for empty in (False, True):
                        mask = torch.from_numpy(chosen & (not empty))
                        for rank in a.ranks:
                            ids = split(mask, a.book_of(rank), name, rank=rank, **options)
                            ids = np.asarray(ids).astype(int)
                            share = original[name][ids], np.unique(owners[ids])
                            found.setdefault((way, name, empty), []).append(share)
        return found

    def check(self, world: World, answers: list[Any]) -> None:
        for key in answers[0].keys() - {"parts"}:
            way, name, empty = key
            shares = [share for found in answers for share in found[key]]
            frame = world.ndata[name] if isinstance(name, str) else world.edata[name]
            mask = frame["mask" if isinstance(name, str) else "keep"]
            chosen = np.flatnonzero(mask & (not empty))
            whole = np.concatenate([ids for ids, _ in shares])
            assert np.array_equal(np.sort(whole), chosen), key
            sizes = [len(ids) for ids, _ in shares]
            assert way == "own" or max(sizes) - min(sizes) <= 1, key
            if way == "own" and len(shares) >= answers[0]["parts"]:
                assert all(len(parts) <= 1 for _, parts in shares), key


class ListLoader(Question):
    """Batches of a list: in order, or in another one each epoch, with or without the last one."""

    def ask(self, a: Asked) -> Any:
        import torch

        data, found = torch.arange(100, 123), {}
        for shuffle, drop in ((False, False), (True, False), (False, True)):
            loader = a.d.DistDataLoader(
                data, 5, shuffle=shuffle, drop_last=drop, collate_fn=lambda items: list(items)
            )
            epochs = [[[int(item) for item in batch] for batch in loader] for _ in range(2)]
            found[shuffle, drop] = loader.expected_idxs, epochs
        return found

    def check(self, world: World, answers: list[Any]) -> None:
        data = list(range(100, 123))
        for found in answers:
            for (shuffle, drop), (count, epochs) in found.items():
                assert count == (4 if drop else 5)
                for batches in epochs:
                    seen = [item for batch in batches for item in batch]
                    assert [len(batch) for batch in batches] == [5] * 4 + [3] * (not drop)
                    assert (sorted(seen) if shuffle else seen) == data[: len(seen)]
                assert (epochs[0] != epochs[1]) == shuffle


class NodeLoader(Question):
    """Every seed once; blocks fit into each other, and draw what there is up to the fanout."""

    FANOUTS: ClassVar[list[int]] = [3, 2]

    def ask(self, a: Asked) -> Any:
        name = a.g.ntypes[0]
        ids = a.node_ids(name, np.arange(a.world.counts[name]))
        given = ids if a.world.is_homogeneous else {name: ids}
        sampler = a.sampler(self.FANOUTS)
        loader = a.loaders.DistNodeDataLoader(
            a.g, given, sampler, batch_size=32, shuffle=True, drop_last=False
        )
        batches = [self._batch(a, *batch) for batch in loader]
        collator = a.loaders.NodeCollator(a.g, given, sampler)
        items = [collator.dataset[place] for place in (0, 5, 3)]
        return loader.expected_idxs, batches, self._batch(a, *collator.collate(items))

    @staticmethod
    def _batch(a: Asked, inputs: Any, outputs: Any, blocks: Any) -> Any:
        name = a.g.ntypes[0]
        by_type = [ids if isinstance(ids, Mapping) else {name: ids} for ids in (inputs, outputs)]
        return [original_of(a, ids) for ids in by_type], [of_block(a, block) for block in blocks]

    def check(self, world: World, answers: list[Any]) -> None:
        name = min(world.counts)
        for count, batches, collated in answers:
            assert count == len(batches) == -(-world.counts[name] // 32)
            seen = np.concatenate([ends[1][name] for ends, _ in batches])
            assert np.array_equal(np.sort(seen), np.arange(world.counts[name]))
            assert len(collated[0][1][name]) == 3
            for ends, blocks in [*batches, collated]:
                check_blocks(world, blocks, self.FANOUTS)
                assert np.array_equal(blocks[-1]["destinations"][name], ends[1][name])
                for ntype, ids in ends[0].items():
                    assert np.array_equal(blocks[0]["sources"][ntype], ids)


class OwnNegatives:
    """A negative sampler of a program's own: each edge the other way round its batch."""

    def __call__(self, g: Any, eids: Any) -> Any:
        if isinstance(eids, Mapping):
            return {name: self._of(g, ids, name) for name, ids in eids.items()}
        return self._of(g, eids, None)

    @staticmethod
    def _of(g: Any, ids: Any, etype: Any) -> tuple[Any, Any]:
        sources, destinations = g.find_edges(ids, etype)
        return sources, destinations.flip(0)


class EdgeLoader(Question):
    """Every edge once, its ends among the nodes that the last block ends in, as those of pairs that
    are no edges."""

    FANOUTS: ClassVar[list[int]] = [2, 3]
    exclude: ClassVar[str | None] = None

    def ask(self, a: Asked) -> Any:
        names = [ONLY] if a.world.is_homogeneous else [GOES, OWN]
        of_each = a.negatives.PerSourceUniform(2), OwnNegatives(), None
        return {
            (name, kind): self._epoch(a, name, negative)
            for name in names
            for kind, negative in zip(("uniform", "own", "none"), of_each, strict=True)
        }

    def _epoch(self, a: Asked, name: Canonical, negative: Any) -> list[Any]:
        options = {"exclude": self.exclude} if self.exclude else {}
        return self.batches(a, name, negative, **options)

    def batches(self, a: Asked, name: Canonical, negative: Any, **options: Any) -> list[Any]:
        """An epoch in original IDs."""
        ids = a.edge_ids(name, one_each(a.world.edges[name]))
        loader = a.edge_loader(
            a.g,
            name,
            ids,
            a.sampler(self.FANOUTS),
            **{"batch_size": 64, "shuffle": True, **options},
            negative_sampler=negative,
        )
        found = []
        for _, pairs, *others, blocks in loader:
            ends = [self._ends(a, name, graph) for graph in (pairs, *others)]
            edges = pairs.edata[EID] if hasattr(pairs, "srcdata") else None
            edges = pairs.edges[name].data[EID] if edges is None else edges
            nodes = [graph[1] for graph in ends]
            assert all(np.array_equal(nodes[0][end], of[end]) for of in nodes for end in of)
            found.append(
                {
                    "edges": a.edges[name][np.asarray(edges)],
                    "pairs": [graph[0] for graph in ends],
                    "nodes": nodes[0],
                    "blocks": [of_block(a, block) for block in blocks],
                }
            )
        return found

    @staticmethod
    def _ends(a: Asked, name: Canonical, graph: Any) -> tuple[Ids, dict[str, Ids]]:
        """Pairs and the nodes that they are of, by type."""
        if isinstance(getattr(graph, "etype", None), tuple):  # of Troupe's
            nodes = {name[0]: graph.srcdata[NID], name[2]: graph.dstdata[NID]}
            places = graph.edges()
        else:
            nodes = {end: graph.nodes[end].data[NID] for end in (name[0], name[2])}
            places = graph.edges(etype=name)
        ids = {end: np.asarray(of) for end, of in nodes.items()}
        sides = zip((name[0], name[2]), places, strict=True)
        pairs = a.pairs(name, *(ids[end][np.asarray(at)] for end, at in sides))
        return pairs, {end: a.nodes[end][of] for end, of in ids.items()}

    def check(self, world: World, answers: list[Any]) -> None:
        for name, kind in answers[0]:
            batches = [batch for found in answers for batch in found[name, kind]]
            seen = np.concatenate([batch["edges"] for batch in batches])
            assert np.array_equal(np.unique(seen), np.sort(one_each(world.edges[name])))
            assert len(answers) > 1 or len(seen) == len(np.unique(seen))
            for batch in batches:
                ends = world.edges[name][:, batch["edges"]]
                assert np.array_equal(batch["pairs"][0], ends)
                if kind == "uniform":
                    assert np.array_equal(batch["pairs"][1][0], np.repeat(ends[0], 2))
                elif kind == "own":
                    assert np.array_equal(batch["pairs"][1], [ends[0], ends[1][::-1]])
                for ntype, ids in batch["nodes"].items():
                    assert len(np.unique(ids)) == len(ids)
                    assert np.array_equal(batch["blocks"][-1]["destinations"][ntype], ids)
                gone = {name: batch["edges"]} if self.exclude else {}
                check_blocks(world, batch["blocks"], self.FANOUTS, gone)


class ExcludingEdgeLoader(EdgeLoader):
    """Edges of a batch are left out of its draws, which are as full as the others allow."""

    defect = "B19: DGL 2.1 draws edges that are to be left out, and later ones drop them afterwards"
    exclude = "self"


class GlobalNegatives(Question):
    """Pairs of any nodes, none of them an edge or a node with itself."""

    defect = "B35: a DistGraph of DGL has no global_uniform_negative_sampling"

    def ask(self, a: Asked) -> Any:
        name = ONLY if a.world.is_homogeneous else GOES
        ids = a.edge_ids(name, np.arange(50))
        found = a.negatives.GlobalUniform(2)(a.g, {name: ids})[name]
        return name, a.pairs(name, *found)

    def check(self, world: World, answers: list[Any]) -> None:
        for name, pairs in answers:
            count = world.counts[name[2]]
            keys, edges = (of[0] * count + of[1] for of in (pairs, world.edges[name]))
            assert 0 < len(keys) <= 100 and len(np.unique(keys)) == len(keys)
            assert not np.isin(keys, edges).any()
            assert name[0] != name[2] or (pairs[0] != pairs[1]).all()


def ones(shape: Any, dtype: Any) -> Any:
    """The first rows of a tensor."""
    import torch

    return torch.ones(shape, dtype=dtype)


class Tensors(Question):
    """Rows that a program writes and reads by ID; a name is one tensor, until it is dropped."""

    in_one_part = "a client of DGL's makes those of its own machine"

    def ask(self, a: Asked) -> Any:
        import torch

        name = a.g.ntypes[-1]
        count, policy = a.world.counts[name], a.g.get_node_partition_policy(name)
        made = a.d.DistTensor((count, 2), torch.float32, "made", ones, policy)
        flags = [a.d.DistTensor((count,), torch.int64, part_policy=policy) for _ in range(2)]
        a.g.barrier()
        before = np.asarray(made[torch.arange(count)])
        a.g.barrier()
        # Trainers write rows of their own.
        rank = max(a.g.rank(), 0)
        original = np.arange(rank, count, TRAINERS if a.ranks == [None] else 1)
        ids = a.node_ids(name, original)
        rows = torch.from_numpy(np.stack([original, original + 0.5], 1).astype(np.float32))
        made[ids] = rows - 7
        made[ids] = rows
        for number, flag in enumerate(flags):
            few = ids[original % 4 == number]
            flag[few] = torch.ones(len(few), dtype=torch.int64)
        a.g.barrier()
        every = a.node_ids(name, np.arange(count))
        found = {
            "before": before,
            "rows": np.asarray(made[every]),
            "some": np.asarray(made[a.node_ids(name, some_of(count))]),
            "shape": (tuple(made.shape), made.dtype == torch.float32, len(made)),
            "policy": made.part_policy.policy_str,
            "counts": [int(flag.count_nonzero()) for flag in flags],
            "flags": [np.asarray(flag[every]) for flag in flags],
            "names": "made" in made.name,
        }
        a.g.barrier()
        frame = a.g.nodes[name].data
        frame["made"] = made
        found["beside"] = "made" in frame, np.asarray(frame["made"][every])
        del frame["made"]
        found["gone"] = "made" in a.g.nodes[name].data
        found["another"] = refused(
            lambda: a.d.DistTensor((count + 1, 2), torch.float32, "more", ones, policy)
        )
        a.g.barrier()
        return found

    def expected(self, world: World) -> Any:
        name = max(world.counts)
        count = world.counts[name]
        rows = np.stack([np.arange(count), np.arange(count) + 0.5], 1).astype(np.float32)
        flags = [(np.arange(count) % 4 == number).astype(np.int64) for number in range(2)]
        return {
            "before": np.ones((count, 2), np.float32),
            "rows": rows,
            "some": rows[some_of(count)],
            "shape": ((count, 2), True, count),
            "policy": f"node~{name}",
            "counts": [int(flag.sum()) for flag in flags],
            "flags": flags,
            "names": True,
            "beside": (True, rows),
            "gone": False,
            "another": True,
        }


class RepeatedRows(Question):
    """Of a row that is written twice at once the last one stays."""

    defect = "PyTorch leaves open which one does"

    def ask(self, a: Asked) -> Any:
        import torch

        name = a.g.ntypes[0]
        policy = a.g.get_node_partition_policy(name)
        made = a.d.DistTensor((a.world.counts[name],), torch.int64, "repeated", None, policy)
        a.g.barrier()
        ids = a.node_ids(name, np.arange(max(a.g.rank(), 0), a.world.counts[name], TRAINERS))
        made[torch.cat([ids, ids, ids])] = torch.arange(3 * len(ids))
        found = np.asarray(made[ids])
        a.g.barrier()
        return np.array_equal(found, np.arange(2 * len(ids), 3 * len(ids)))

    def expected(self, world: World) -> Any:
        return True


def questions() -> Iterator[tuple[str, Question]]:
    """All of them, by name."""
    left = [Question]
    while left:
        one = left.pop()
        left += one.__subclasses__()
        if one is not Question:
            yield one.__name__, one()


def some_of(count: int) -> Ids:
    """Numbers below a count in no order, some of them twice."""
    return np.random.default_rng(count).integers(0, count, 40)


def one_each(ends: Ids) -> Ids:
    """A third of the edges in no order."""
    count = ends.shape[1]
    return np.random.default_rng(count).permutation(count)[: count // 3]


def seeds_of(count: int) -> Ids:
    """Seeds of a type: most nodes, in no order, some of them twice."""
    order = np.random.default_rng(count).permutation(count)
    return np.concatenate([order[: count * 3 // 4], order[:7]])


def full(degrees: Ids, fanout: int, again: bool) -> Ids:
    """How many edges a seed draws."""
    if fanout == -1:
        return degrees
    return np.where(degrees > 0, fanout, 0) if again else np.minimum(degrees, fanout)


def sorted_columns(drawn: Mapping[Canonical, Ids]) -> dict[Canonical, Ids]:
    """Edges in the order of their original IDs."""
    return {name: columns[:, np.argsort(columns[2])] for name, columns in drawn.items()}


def count_draws(world: World, name: Canonical, drawn: Ids, end: int = 1) -> Ids:
    """Edges that each node of the destination type got, or (end 0) of the source type."""
    return np.bincount(drawn[end], minlength=world.counts[name[2 * end]])


def check_edges(
    world: World, name: Canonical, drawn: Ids, again: bool, seeds: Any = None, end: int = 1
) -> None:
    """Each is an edge of the graph, and a seed draws it once unless it may come again."""
    assert np.array_equal(world.edges[name][:, drawn[2]], drawn[:2]), name
    if not again:
        count = world.counts[name[2 * end]]
        times = np.bincount(seeds_of(count) if seeds is None else seeds, minlength=count)
        ids, counts = np.unique(drawn[2], return_counts=True)
        assert (counts <= times[world.edges[name][end, ids]]).all(), name


def check_draw(
    world: World,
    name: Canonical,
    drawn: Ids,
    fanout: int,
    again: bool,
    possible: Ids | None = None,
) -> None:
    """What `seeds_of` drew of one edge type, of all edges or of those that are possible."""
    check_edges(world, name, drawn, again)
    count = world.counts[name[2]]
    seeds = np.bincount(seeds_of(count), minlength=count)
    wanted = seeds * full(world.degrees(name, 1, possible), fanout, again)
    assert np.array_equal(count_draws(world, name, drawn), wanted), name
    assert possible is None or possible[drawn[2]].all(), name


def original_of(a: Asked, by_type: Mapping[str, Any]) -> dict[str, Ids]:
    """Original IDs by node type, those of no node left out."""
    return {k: a.nodes[k][np.asarray(ids)] for k, ids in by_type.items() if len(ids)}


def of_block(a: Asked, block: Any) -> dict[str, Any]:
    """A block in original IDs: nodes of both sides by type, and edges by type."""
    sides: dict[str, dict[str, Ids]] = {}
    for key, nodes in (("sources", block.srcnodes), ("destinations", block.dstnodes)):
        ids = {name: np.asarray(nodes[name].data[NID]) for name in a.g.ntypes}
        sides[key] = {name: a.nodes[name][of] for name, of in ids.items()}
    edges = {}
    for name in block.canonical_etypes:
        if not block.num_edges(name):
            continue
        one, other = (np.asarray(ids) for ids in block.edges(etype=name))
        ids = np.asarray(block.edges[name].data[EID])
        ends = sides["sources"][name[0]][one], sides["destinations"][name[2]][other]
        edges[name] = np.stack([*ends, a.edges[name][ids]])
    return {**sides, "edges": edges}


def check_blocks(
    world: World, blocks: list[Any], fanouts: list[int], gone: Mapping[Any, Ids] | None = None
) -> None:
    """Destinations come first among sources, blocks fit into each other, draws are full."""
    for block, fanout in zip(blocks, fanouts, strict=True):
        for name, ids in block["destinations"].items():
            assert np.array_equal(block["sources"][name][: len(ids)], ids)
            assert len(np.unique(block["sources"][name])) == len(block["sources"][name])
        for name in world.edges:
            drawn = block["edges"].get(name, np.empty((3, 0), int))
            seeds = block["destinations"][name[2]]
            check_edges(world, name, drawn, False, seeds)
            left = np.ones(world.edges[name].shape[1], bool)
            left[(gone or {}).get(name, np.empty(0, int))] = False
            assert left[drawn[2]].all()
            wanted = np.minimum(world.degrees(name, 1, left), fanout)[seeds]
            assert np.array_equal(count_draws(world, name, drawn)[seeds], wanted)
    for one, other in itertools.pairwise(blocks):
        for name, ids in other["sources"].items():
            assert np.array_equal(one["destinations"][name], ids)


def draw_every_way(a: Asked, rank: int) -> dict[str, Any]:
    """What Troupe's loaders draw for a trainer, by every sampler and with every kind of negatives:
    the same on any placement."""
    import troupe

    alone = {"batch_size": 12, "shuffle": True, "seed": 11, "rank": rank, "world": TRAINERS}
    samplers = {
        "even": troupe.NeighborSampler([3, 2]),
        "again": troupe.NeighborSampler([3, 2], replace=True),
        "all": troupe.NeighborSampler([-1]),
        "out": troupe.NeighborSampler([3, 2], "out"),
        "out again": troupe.NeighborSampler([3, 2], "out", replace=True),
        "weights": troupe.NeighborSampler([3, 2], prob="w"),
        "weights again": troupe.NeighborSampler([3, 2], prob="w", replace=True),
        "mask": troupe.NeighborSampler([3, 2], mask="keep"),
        "mask again": troupe.NeighborSampler([3, 2], mask="keep", replace=True),
        "labor": troupe.LaborSampler([3, 2]),
        "labor, mask": troupe.LaborSampler([3, 2], mask="keep"),
        "poisson": troupe.LaborSampler([3, 2], poisson=True),
    }
    nodes = a.g.nodes_of(None, a.g.ntypes[0])
    found: dict[str, Any] = {
        name: [batch.digest() for batch in troupe.DistNodeDataLoader(a.g, nodes, one, **alone)]
        for name, one in samplers.items()
    }
    negatives = {
        "of sources": a.negatives.PerSourceUniform(2),
        "no edges": a.negatives.Corruption(3, "either", no_edges=True),
        "both ends": a.negatives.Corruption(2, "both"),
        "shared": a.negatives.SharedUniform(4),
        "by degree": a.negatives.Corruption(2, "sources", by_degree=True),
        "in the batch": a.negatives.InBatch(2),
        "global": a.negatives.GlobalUniform(2),
    }
    for name, negative in negatives.items():
        of = ONLY if a.world.is_homogeneous else GOES
        found[name] = EdgeLoader().batches(a, of, negative, exclude="self", **alone)
    return found


class DrawnGraph(NamedTuple):
    """Stands for a DGLGraph with all nodes, where DGL is not installed."""

    graph: Any
    by_type: dict[Canonical, Any]

    @property
    def canonical_etypes(self) -> list[Canonical]:
        return list(self.by_type)

    def num_nodes(self) -> int:
        return int(self.graph.num_nodes())

    @property
    def edges(self) -> DrawnEdges:
        return DrawnEdges(self.by_type)


class DrawnEdges(NamedTuple):
    """``edges(etype=)`` are ends, ``edges[etype].data`` rows."""

    by_type: dict[Canonical, Any]

    def __call__(self, etype: Canonical) -> Any:
        return self.by_type[etype][:2]

    def __getitem__(self, etype: Any) -> Any:
        class Rows(NamedTuple):
            data: dict[str, Any]

        return Rows({EID: self.by_type[etype][2]})


def _stand_in(graph: Any, edges: Mapping[int, Any], wanted: Any = None) -> DrawnGraph:
    import torch

    none = (torch.empty(0, dtype=torch.int64),) * 3
    numbers = range(len(graph.etypes)) if wanted is None else wanted
    return DrawnGraph(graph, {graph.canonical_etypes[n]: edges.get(n, none) for n in numbers})


def asked_ours(world: World, g: Any, ranks: list[int | None]) -> Asked:
    """A graph of Troupe's, asked without DGL."""
    import troupe
    from troupe import negative_sampler
    from troupe.dgl import distributed, drawn_graph

    drawn_graph.graph_of_edges = _stand_in
    return Asked(
        world,
        g,
        distributed,
        {name: np.asarray(g.orig_ids(name)) for name in g.ntypes},
        {name: np.asarray(g.orig_edge_ids(name)) for name in g.canonical_etypes},
        ranks,
        troupe.NeighborSampler,
        distributed,
        lambda g, etype, ids, sampler, **options: troupe.DistEdgeDataLoader(
            g, ids, sampler, etype=etype, **options
        ),
        negative_sampler,
    )


def main(book: str, kind: str, folder: str) -> None:
    from troupe.dgl import distributed

    distributed.initialize(None)
    g = distributed.DistGraph("g", part_config=book)
    assert g.world == TRAINERS
    a = asked_ours(make_world(kind), g, [None])
    answers = {name: question.ask(a) for name, question in questions()}
    answers["drawn"] = draw_every_way(a, g.rank())
    (Path(folder) / f"{kind}-{g.num_parts}.{g.rank()}").write_bytes(pickle.dumps(answers))
    g.barrier()
    distributed.exit_client()


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    main(*sys.argv[1:])
