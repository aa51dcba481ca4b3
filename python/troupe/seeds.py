# SPDX-License-Identifier: Apache-2.0
"""Node sets: what a loader takes its seeds from.

All nodes of a type and those of a mask are ranges to the library, which takes no memory for them
and asks nobody; a list of a user's own is copied once.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from . import errors
from .arrays import Ids, id_pointer, id_tensor
from .binding import FOREVER, call, encoded, ffi, lib, owned
from .tables import Table

if TYPE_CHECKING:
    from typing import Self

    from .graph import DistGraph

# Places of a set whose IDs are asked for at once.
READ_WINDOW = 1 << 17


class NodeSet:
    """Nodes of one type, in the order of their original IDs; read as an array, it is their IDs.

    Made by `node_split`, `DistGraph.nodes_of` or a loader. Its IDs are asked for when something
    reads them: ``numpy.asarray(nodes)``, ``nodes[10:20]``, iteration.
    """

    of_edges = False

    def __init__(self, graph: DistGraph, ntype: int, kind: str, given: Any = None) -> None:
        self.graph = graph
        self.number = ntype
        self._made_of = (kind, given)
        box = ffi.new("struct tr_nodes **")
        waiter = graph.session.waiter
        if kind == "all":
            waiter.call(lib.tr_nodes_all, graph.pointer(), ntype, FOREVER, box)
        elif kind == "mask":
            waiter.call(lib.tr_nodes_masked, graph.pointer(), ntype, encoded(given), FOREVER, box)
        else:
            waiter.call(
                lib.tr_nodes_listed,
                graph.pointer(),
                ntype,
                id_pointer(given),
                len(given),
                FOREVER,
                box,
            )
        self._pointer: Any = owned(box[0], lib.tr_nodes_close)

    @property
    def ntype(self) -> str:
        """The node type."""
        return self.graph.types.ntypes[self.number]

    def pointer(self) -> Any:
        """The library's own node set."""
        return self._pointer

    def within(self, graph: DistGraph, of_edges: bool, number: int) -> Self:
        """The set as one of a graph's: itself, or the same of a graph that was opened once more.

        Raises
        ------
        Mismatch
            It is of another graph, or its members are not of that type.
        """
        graph.get_partition_book().check_of(self, of_edges, number)
        if self.graph.is_open and self.graph.pointer() == graph.pointer():
            return self
        return type(self)(graph, number, *self._made_of)

    def __len__(self) -> int:
        return int(lib.tr_nodes_count(self.pointer()))

    @property
    def shape(self) -> tuple[int]:
        """One dimension."""
        return (len(self),)

    def read(self, first: int, count: int, original: bool = False) -> Ids:
        """Global (or original) IDs of a piece of the set, which may be larger than memory."""
        ids = np.empty(count, dtype=np.int64)
        function = lib.tr_nodes_original_ids if original else lib.tr_nodes_ids
        if count:
            self.graph.session.waiter.call(
                function, self.pointer(), first, count, FOREVER, id_pointer(ids)
            )
        return ids

    def read_at(self, places: Ids) -> Ids:
        """Global IDs of the nodes, or edges, at places of the set, in any order."""
        found = np.empty(len(places), dtype=np.int64)
        # Those of a window are asked for together, so that memory is bounded.
        windows = places // READ_WINDOW
        order = np.argsort(windows, kind="stable")
        ends = np.flatnonzero(np.diff(windows[order])) + 1
        for some in np.split(order, ends) if len(order) else []:
            low, high = int(places[some].min()), int(places[some].max())
            found[some] = self.read(low, high - low + 1)[places[some] - low]
        return found

    def orig_ids(self) -> Any:
        """The user's own IDs, ascending: int64, shape ``(len(self),)``."""
        return id_tensor(self.read(0, len(self), True), self.graph.tensors)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            first, stop, step = index.indices(len(self))
            if step == 1:
                ids = self.read(first, max(stop - first, 0), False)
                return id_tensor(ids, self.graph.tensors)
            return id_tensor(np.asarray(self)[index], self.graph.tensors)
        if isinstance(index, (int, np.integer)):
            place = int(index) + (len(self) if index < 0 else 0)
            if not 0 <= place < len(self):
                raise IndexError(f"there is no place {index} in a set of {len(self)} IDs")
            return int(self.read(place, 1, False)[0])
        places = np.asarray(index)
        if places.size == 0 and isinstance(index, (list, tuple)):  # which NumPy takes for floats
            places = places.astype(np.int64)
        return id_tensor(np.asarray(self)[places], self.graph.tensors)

    def __iter__(self) -> Iterator[int]:
        piece = 65536
        for first in range(0, len(self), piece):
            yield from self.read(first, min(piece, len(self) - first), False).tolist()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        ids = self.read(0, len(self), False)
        return ids if dtype is None else ids.astype(dtype)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.graph, self.number, *self._made_of)

    def __repr__(self) -> str:
        return f"NodeSet({len(self)} nodes of type {self.ntype!r})"


class EdgeSet(NodeSet):
    """Edges of one type, as the seeds of a loader; read as an array, it is their global IDs.

    All edges of a type are a range, in the order of the original IDs of destinations, then of
    edges; a list of a user's own is copied once, also one of edges and the reverse of each, as
    `with_reverses` makes.
    """

    of_edges = True

    def __init__(self, graph: DistGraph, etype: int, kind: str, given: Any = None) -> None:
        self.graph = graph
        self.number = etype
        self._made_of = (kind, given)
        box = ffi.new("struct tr_nodes **")
        if kind == "all":
            call(lib.tr_edges_all, graph.pointer(), etype, box)
        elif kind == "reversed":
            lists = [id_pointer(ids) for ids in given]
            call(lib.tr_edges_with_reverses, graph.pointer(), etype, *lists, len(given[0]), box)
        else:
            ids = id_pointer(given)
            call(lib.tr_edges_listed, graph.pointer(), etype, ids, len(given), box)
        self._pointer = owned(box[0], lib.tr_nodes_close)

    @property
    def ntype(self) -> str:
        """The type of the destinations, with which edges lie."""
        return self.graph.types.canonical_etypes[self.number][2]

    def with_reverses(self, reverses: Ids) -> EdgeSet:
        """A list of the same edges, each with its reverse by global ID; -1: it has none."""
        if len(reverses) != len(self):
            raise errors.Mismatch(f"{len(reverses)} reverses of {len(self)} edges")
        ids = self.read(0, len(self))
        return EdgeSet(self.graph, self.number, "reversed", (ids, reverses))

    def head(self, count: int) -> EdgeSet:
        """A list of the first so many."""
        kind, given = self._made_of
        if kind == "reversed":
            return EdgeSet(self.graph, self.number, kind, tuple(ids[:count] for ids in given))
        return EdgeSet(self.graph, self.number, "list", self.read(0, count))

    @property
    def is_all(self) -> bool:
        """Whether it is all edges of the type."""
        return bool(self._made_of[0] == "all")

    def read(self, first: int, count: int, original: bool = False) -> Ids:
        """Global IDs of a piece of the set."""
        if original:
            raise errors.Unsupported("edges are known by their global IDs")
        ids = np.empty(count, dtype=np.int64)
        if count:
            self.graph.session.waiter.call(
                lib.tr_edges_ids, self.pointer(), first, count, FOREVER, id_pointer(ids)
            )
        return ids

    def __repr__(self) -> str:
        return f"EdgeSet({len(self)} edges of type {self.graph.canonical_etypes[self.number]})"


class PairSet:
    """Pairs of nodes, whether the graph has such edges or not, to draw around.

    Parameters
    ----------
    etype : the number of the edge type whose source and destination types they are of.
    sources, destinations : global IDs, int64 of the same length, which are copied.
    """

    def __init__(self, graph: DistGraph, etype: int, sources: Ids, destinations: Ids) -> None:
        if len(sources) != len(destinations):
            raise errors.Mismatch(
                f"{len(sources)} sources and {len(destinations)} destinations make no pairs"
            )
        box = ffi.new("struct tr_nodes **")
        ends = id_pointer(sources), id_pointer(destinations)
        call(lib.tr_pairs_listed, graph.pointer(), etype, *ends, len(sources), box)
        self._pointer: Any = owned(box[0], lib.tr_nodes_close)

    def pointer(self) -> Any:
        """The library's own set."""
        return self._pointer


def node_set(graph: DistGraph, nodes: Any, ntype: int) -> NodeSet:
    """The node set that a user means by `nodes`.

    None or all IDs in order: every node of the type. A mask of the graph: its nodes. A mask of
    values, one a node by global ID: those that are not 0. Else a list of global IDs.
    """
    if isinstance(nodes, NodeSet):
        return nodes.within(graph, False, ntype)
    if nodes is None:
        return NodeSet(graph, ntype, "all")
    if isinstance(nodes, Table):
        graph.get_partition_book().check_of(nodes, False, ntype)
        return NodeSet(graph, ntype, "mask", nodes.name)
    if isinstance(nodes, str):
        return NodeSet(graph, ntype, "mask", nodes)
    return NodeSet(graph, ntype, "list", graph.checked_ids(nodes, False, ntype))


def joined(graph: DistGraph, sets: Sequence[NodeSet]) -> Any:
    """One set of several node types, or of several edge types, the library's own."""
    if len(sets) == 1:
        return sets[0].pointer()
    array = ffi.new("struct tr_nodes *[]", [one.pointer() for one in sets])
    box = ffi.new("struct tr_nodes **")
    join = lib.tr_pairs_join if sets[0].of_edges else lib.tr_nodes_join
    graph.session.waiter.call(join, array, len(sets), box)
    return owned(box[0], lib.tr_nodes_close)


def sets_of(graph: DistGraph, nodes: Any) -> list[NodeSet]:
    """The node sets of a loader's seeds: one, or one a node type of a mapping; a tuple is of sets
    of edges, one an edge type."""
    if isinstance(nodes, tuple) and nodes and all(isinstance(one, EdgeSet) for one in nodes):
        return [one.within(graph, True, one.number) for one in nodes]
    if isinstance(nodes, Mapping):
        if not nodes:
            raise errors.InvalidArgument("the seeds name no node type")
        types = graph.types
        return [node_set(graph, given, types.ntype(name)) for name, given in nodes.items()]
    if isinstance(nodes, NodeSet):
        return [nodes.within(graph, nodes.of_edges, nodes.number)]
    if isinstance(nodes, Table):
        name = nodes.type_name
        return [node_set(graph, nodes, graph.types.ntype(str(name)))]
    return [node_set(graph, nodes, graph.types.ntype(None))]


def node_split(
    nodes: Any,
    partition_book: Any = None,
    ntype: str | None = None,
    rank: int | None = None,
    force_even: bool = True,
    node_trainer_ids: Any = None,
    *,
    graph: DistGraph | None = None,
) -> NodeSet:
    """The nodes that a mask selects, as the seeds of a loader.

    Parameters
    ----------
    nodes : Table, array or tensor
        A mask: a feature of the graph (``g.ndata["train_mask"]``), or a value a node in the order
        of global IDs. ``numpy.arange(g.num_nodes())``, which scripts write for "all", is taken as
        that, with a warning, though as a mask it would leave out node 0.
    partition_book : PartitionBook, optional
        Of the graph, ``g.get_partition_book()``; needed where `nodes` is an array.
    ntype : str, optional
        The node type, of an array; a mask of the graph knows its own.
    rank, force_even, node_trainer_ids
        Accepted as DGL has them. Which trainer gets which seed is decided by the loader, which
        deals the whole set out evenly, a step at a time.

    Returns
    -------
    NodeSet
        Of the whole job: every rank gives the same set to its loader.
    """
    if isinstance(nodes, NodeSet):
        return nodes
    if isinstance(nodes, Table):
        return sets_of(nodes.graph, nodes)[0]
    graph = graph if graph is not None else getattr(partition_book, "graph", None)
    if graph is None:
        raise errors.InvalidArgument(
            "node_split: give the graph's partition book, g.get_partition_book(), with an array"
        )
    number = graph.types.ntype(ntype)
    count = graph.num_nodes(graph.types.ntypes[number])
    mask = np.asarray(nodes)
    if mask.shape != (count,):
        raise errors.InvalidArgument(
            f"node_split: the mask has shape {mask.shape}, but there are {count} nodes of type "
            f"{graph.types.ntypes[number]!r}"
        )
    if mask.dtype.kind in "iu" and count > 2 and np.array_equal(mask, np.arange(count)):
        warnings.warn(
            "node_split(arange(N)) is taken as all nodes; as a mask it would leave out node 0",
            stacklevel=2,
        )
        return NodeSet(graph, number, "all")
    if mask.all():
        return NodeSet(graph, number, "all")
    return NodeSet(graph, number, "list", np.flatnonzero(mask).astype(np.int64))
