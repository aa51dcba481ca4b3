# SPDX-License-Identifier: Apache-2.0
"""A partitioned graph, opened."""

from __future__ import annotations

import copy
import itertools
import os
from collections.abc import Callable
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from . import draw_seed, edge_queries, errors
from .arrays import Ids, Tensors, check_tensors, id_pointer, id_tensor
from .binding import FOREVER, deadline, encoded, ffi, lib, made, opened, owned, text
from .book import PartitionBook, is_same_book
from .display import Display, list_features
from .group import Group
from .seeds import NodeSet, node_set
from .session import Session
from .tables import Scheme, TableInfo, TableMapping, TypeView, list_tables
from .types import EtypeName

if TYPE_CHECKING:
    from .tensors import DistTensor


class DistGraph:
    """A partitioned graph: its types and counts, features by ID, degrees, sampling.

    `troupe.open` is the short way to one. IDs are per type and global: partitioning gave them, so
    that each partition owns a range; `orig_ids` gives the user's own. IDs may come as an array, a
    tensor, a list, a range, a slice or one number, in any order, with repeats, or none.

    Parameters
    ----------
    graph_name : str, optional
        Checked against the book's name where it is given.
    gpb : PartitionBook, optional
        Accepted as DGL has it; the path of one stands for `part_config`.
    part_config : path, optional
        ``DIR/NAME.json``; None: the one that the session's cluster file names.
    session : Session, optional
        To open the graph in; None: one of its own, made with `options` (see `Session`) and closed
        with the graph.
    tensors : "numpy" or "torch"
        What rows, IDs and batches come as.
    timeout : float, optional
        Seconds for opening.

    Raises
    ------
    NotFound, BadFormat, InputOutputError
        Name a file; `Mismatch`: files, or this process and its job, do not belong together.
    """

    def __init__(
        self,
        graph_name: str | None = None,
        gpb: PartitionBook | None = None,
        part_config: str | os.PathLike[str] | None = None,
        *,
        session: Session | None = None,
        tensors: str = "numpy",
        timeout: float | None = None,
        **options: Any,
    ) -> None:
        if session is not None and options:
            raise TypeError(f"{next(iter(options))} is an option of the session, which is given")
        self.tensors: Tensors = check_tensors(tensors)
        if part_config is None and gpb is not None:
            part_config = gpb.path
        # Leaves the job of several processes that `initialize` joined with the graph.
        self.leave_job: Callable[[bool], None] | None = None
        self._opened_with = (graph_name, part_config, session, tensors, options)
        self._owns_session = session is None
        self.session = session if session is not None else Session(**options)
        self._part_config = None if part_config is None else os.fspath(part_config)
        self._pointer: Any = None
        self._added: dict[tuple[bool, int], dict[str, DistTensor]] = {}
        try:
            self._open(graph_name, timeout)
        except BaseException:
            self.close()
            raise

    def _open(self, graph_name: str | None, timeout: float | None) -> None:
        first = self.session.joined
        if first is None:
            self._open_pointer(timeout)
            self._unnamed = itertools.count()
            # Of the trainers of this process that came to a barrier.
            self._groups: dict[int, Group] = {}
        else:
            self._share(first)
        graph = self._pointer
        self._book = PartitionBook(text(lib.tr_graph_path(graph)), 0, self.tensors)
        self.types = self._book.types
        num_ntypes, num_etypes = len(self.types.ntypes), len(self.types.etypes)
        self._num_nodes = [int(lib.tr_graph_num_nodes(graph, i)) for i in range(num_ntypes)]
        self._num_edges = [int(lib.tr_graph_num_edges(graph, i)) for i in range(num_etypes)]
        place = made("tr_graph_place")
        self.session.waiter.call(lib.tr_graph_place, graph, place)
        self._rank, self._world = int(place.first_trainer), int(place.world)
        self._tables: dict[tuple[bool, int], dict[str, TableInfo]] = {}
        self._row_shapes: dict[tuple[bool, int, str], tuple[int, ...]] | None = None
        self.graph_name = self._book.graph_name
        if graph_name not in (None, self.graph_name):
            raise errors.Mismatch(
                f"{self._book.path} is of the graph {self.graph_name!r}, not {graph_name!r}"
            )
        self._calls = 0
        if first is None:
            self.session.join(self)

    def _open_pointer(self, timeout: float | None) -> None:
        box = ffi.new("struct tr_graph **")
        path = encoded(self._part_config)
        try:
            self.session.waiter.call(
                lib.tr_graph_open, self.session.pointer(), path, deadline(timeout), box
            )
        finally:
            if box[0] != ffi.NULL:
                self._pointer = owned(box[0], lib.tr_graph_close)

    def _share(self, first: DistGraph) -> None:
        """Is the graph with which this process joined its job, once more."""
        if self._part_config is not None and not first.is_of_book(self._part_config):
            raise errors.Mismatch(
                f"{self._part_config} is not the graph of the job, {first.path}: the session of a "
                "job of several processes has the graph that its cluster file names"
            )
        self._pointer, self._groups, self._unnamed = first._pointer, first._groups, first._unnamed

    @property
    def path(self) -> str:
        """Of its book, ``DIR/NAME.json``."""
        return self._book.path

    def is_of_book(self, path: str | os.PathLike[str]) -> bool:
        """Whether a book is that of this graph, or a copy of it."""
        return is_same_book(path, self.path)

    def pointer(self) -> Any:
        """The library's own graph."""
        return opened(self._pointer, "graph")

    @property
    def is_open(self) -> bool:
        """Whether it was not closed."""
        return self._pointer is not None and self.session.is_open

    def close(self) -> None:
        """Closes the graph, and its session where that is its own; batches stay readable."""
        # Tensors that are not to stay are deleted while there is a graph to ask.
        self._added = {}
        self._pointer = None
        self._groups = {}
        if self._owns_session:
            self.session.close()

    def __enter__(self) -> DistGraph:
        return self

    def __exit__(self, exception: object, *_: object) -> None:
        # The job of several processes that it is of: it is finished first, unless something failed.
        job, self.leave_job = self.leave_job, None
        if job is not None:
            job(exception is None)
        self.close()

    def __reduce__(self) -> tuple[Any, ...]:
        if not self.session.is_of_cluster:
            return _graph_of, self._opened_with
        # Another process is no process of the job: it opens the same graph for itself, with the
        # same seed, from mapped files.
        options = {"seed": self.session.options["seed"], "map_files": True}
        path = None if self._pointer is None else self._book.path
        place = (self._rank, self._world)
        return _worker_graph, (self.graph_name, path, self.tensors, options, place)

    # Types and counts.

    @property
    def ntypes(self) -> list[str]:
        """Node types, in the order of their numbers."""
        return self.types.ntypes

    @property
    def etypes(self) -> list[str]:
        """Relations of edge types, likewise."""
        return self.types.etypes

    @property
    def canonical_etypes(self) -> list[tuple[str, str, str]]:
        """Edge types (source, relation, destination), likewise."""
        return self.types.canonical_etypes

    @property
    def is_homogeneous(self) -> bool:
        """Whether there is one node type and at most one edge type."""
        return self.types.is_homogeneous

    def to_canonical_etype(self, etype: EtypeName) -> tuple[str, str, str]:
        """(source, relation, destination) of an edge type by any of its names."""
        return self.types.canonical_etypes[self.types.etype(etype)]

    def get_ntype_id(self, ntype: str | None) -> int:
        """The number of a node type."""
        return self.types.ntype(ntype)

    def get_etype_id(self, etype: EtypeName) -> int:
        """The number of an edge type."""
        return self.types.etype(etype)

    def number_of_type(self, name: Any, of_edges: bool) -> int:
        """The number of a type of nodes or edges."""
        return self.types.etype(name) if of_edges else self.types.ntype(name)

    def rows_of_type(self, of_edges: bool, number: int) -> int:
        """Nodes or edges of a type by its number."""
        return (self._num_edges if of_edges else self._num_nodes)[number]

    def num_nodes(self, ntype: str | None = None) -> int:
        """Nodes of a type, or of all types."""
        return sum(self._num_nodes) if ntype is None else self._num_nodes[self.types.ntype(ntype)]

    def num_edges(self, etype: EtypeName = None) -> int:
        """Edges of a type, or of all types."""
        return sum(self._num_edges) if etype is None else self._num_edges[self.types.etype(etype)]

    number_of_nodes = num_nodes
    number_of_edges = num_edges

    @property
    def num_parts(self) -> int:
        """Partitions."""
        return int(lib.tr_graph_num_parts(self.pointer()))

    def rank(self) -> int:
        """The first rank of this process among the trainers of the job."""
        return self._rank

    @property
    def world(self) -> int:
        """Trainers of the job."""
        return self._world

    def take_place(self, rank: int, world: int) -> None:
        """Loaders of this process are from here on those of a trainer elsewhere."""
        self._rank, self._world = rank, world

    # Features.

    def tables_of(self, of_edges: bool, number: int) -> dict[str, TableInfo]:
        """The features of a type by name."""
        found = self._tables.get((of_edges, number))
        if found is None:
            if self._row_shapes is None:
                self._row_shapes = self._book.row_shapes()
            found = list_tables(self.pointer(), self._row_shapes, of_edges, number)
            self._tables[of_edges, number] = found
        return found

    def row_shapes(self, *names: str | None) -> dict[tuple[int, str], tuple[int, ...]]:
        """The shapes of a row of these features of nodes, by type and name."""
        return {
            (number, name): self.tables_of(False, number)[name].row
            for number in range(len(self.types.ntypes))
            for name in names
            if name is not None and name in self.tables_of(False, number)
        }

    def added_to(self, of_edges: bool, number: int) -> dict[str, DistTensor]:
        """The tensors that this process put beside the features of a type."""
        return self._added.setdefault((of_edges, number), {})

    def next_unnamed(self) -> int:
        """The number of a tensor without a name."""
        return next(self._unnamed)

    # These are made when they are asked for, and not kept, so that nothing of the graph refers back
    # to it: it goes with its last user.

    @property
    def nodes(self) -> TypeView:
        """``nodes[ntype].data`` are the features of a node type by name."""
        return TypeView(self, False)

    @property
    def edges(self) -> TypeView:
        """``edges[etype].data`` are the features of an edge type by name."""
        return TypeView(self, True)

    @property
    def ndata(self) -> TableMapping:
        """Features of the only node type."""
        return self.nodes[None].data

    @property
    def edata(self) -> TableMapping:
        """Features of the only edge type."""
        return self.edges[None].data

    def node_attr_schemes(self, ntype: str | None = None) -> dict[str, Scheme]:
        """The shape of a row and the dtype of each feature of a node type."""
        frame = self.nodes[ntype].data
        return {name: Scheme(t.shape[1:], t.dtype) for name, t in frame.items()}

    def edge_attr_schemes(self, etype: EtypeName = None) -> dict[str, Scheme]:
        """The same of an edge type."""
        frame = self.edges[etype].data
        return {name: Scheme(t.shape[1:], t.dtype) for name, t in frame.items()}

    # Nodes by ID.

    def checked_ids(self, ids: Any, of_edges: bool, number: int, what: str | None = None) -> Ids:
        """The IDs of a type that an index names, as of `PartitionBook.checked_ids`."""
        return self._book.checked_ids(ids, of_edges, number, what)

    def _ids(self, ids: Any, ntype: str | None) -> tuple[int, Ids]:
        number = self.types.ntype(ntype)
        return number, self.checked_ids(ids, False, number)

    def orig_ids(self, ntype: str | None = None, ids: Any = None) -> Any:
        """The original IDs of nodes, which count from 0 as the rows of the user's arrays do.

        Where the imported text counts from 1, ``book.first_id(ntype)`` says so, and the text's IDs
        are these plus that.

        Parameters
        ----------
        ntype : str, optional
            The node type; None: the only one.
        ids : optional
            Global IDs; None: all, in their order.

        Returns
        -------
        int64, shape ``(len(ids),)``.
        """
        number, wanted = self._ids(slice(None) if ids is None else ids, ntype)
        original = np.empty(len(wanted), dtype=np.int64)
        if len(wanted):
            self.session.waiter.call(
                lib.tr_graph_original_ids,
                self.pointer(),
                number,
                id_pointer(wanted),
                len(wanted),
                FOREVER,
                id_pointer(original),
            )
        return id_tensor(original, self.tensors)

    def from_orig(self, orig_ids: Any, ntype: str | None = None) -> Any:
        """The inverse of `orig_ids`: global IDs of nodes by the user's own.

        Runs of near IDs are asked for together.
        """
        number, wanted = self._ids(orig_ids, ntype)
        every = NodeSet(self, number, "all")
        return id_tensor(every.read_at(wanted), self.tensors)

    def _degrees(self, ids: Any, ntype: str | None, of_in: bool) -> Any:
        number, wanted = self._ids(slice(None) if ids is None else ids, ntype)
        degrees = np.empty(len(wanted), dtype=np.uint32)
        into = ffi.cast("uint32_t *", degrees.ctypes.data)
        both = (into, ffi.NULL) if of_in else (ffi.NULL, into)
        if len(wanted):
            self.session.waiter.call(
                lib.tr_graph_degrees,
                self.pointer(),
                number,
                id_pointer(wanted),
                len(wanted),
                FOREVER,
                *both,
            )
        found = degrees.astype(np.int64)
        if isinstance(ids, (int, np.integer)):
            return int(found[0])
        return id_tensor(found, self.tensors)

    def in_degrees(self, v: Any = None, ntype: str | None = None, etype: EtypeName = None) -> Any:
        """In-degrees in the whole graph: int64; None: of all nodes.

        Over all edge types that go into `ntype`; or along `etype` alone, whose nodes they are then.
        """
        if etype is None:
            return self._degrees(v, ntype, True)
        return self._degrees_along(v, etype, False)

    def _degrees_along(self, ids: Any, etype: EtypeName, out: bool) -> Any:
        found = edge_queries.degrees(self, slice(None) if ids is None else ids, etype, out)
        if isinstance(ids, (int, np.integer)):
            return int(found[0])
        return id_tensor(found, self.tensors)

    def out_degrees(self, u: Any = None, ntype: str | None = None, etype: EtypeName = None) -> Any:
        """Out-degrees in the whole graph, as `in_degrees`.

        Along `etype` they need a graph that was partitioned with ``out_edges``, unless it is the
        only edge type out of its source type.
        """
        return (
            self._degrees(u, ntype, False) if etype is None else self._degrees_along(u, etype, True)
        )

    # Edges by ID.

    def find_edges(self, edges: Any, etype: EtypeName = None) -> tuple[Any, Any]:
        """Both ends of edges.

        Parameters
        ----------
        edges : per-type global IDs of edges, in any order, or a slice.
        etype : the edge type; None: the only one.

        Returns
        -------
        Sources and destinations : int64 each, in the order asked.
        """
        return edge_queries.find_edges(self, edges, etype)

    def orig_edge_ids(self, etype: EtypeName = None, edges: Any = None) -> Any:
        """The original IDs of edges: where they stand in the raw graph's arrays of their type.

        Partitioning gives edges their IDs by destination, also where there is one partition.

        Parameters
        ----------
        etype : the edge type; None: the only one.
        edges : per-type global IDs of edges; None: all, in their order.

        Returns
        -------
        int64, shape ``(len(edges),)``.

        Raises
        ------
        Unsupported
            The graph was partitioned with ``drop_edge_ids``.
        """
        found = edge_queries.original_ids(self, slice(None) if edges is None else edges, etype)
        return id_tensor(found, self.tensors)

    def in_edges(self, v: Any, form: str = "uv", etype: EtypeName = None) -> Any:
        """All edges that go into nodes, node by node in the order asked.

        Parameters
        ----------
        v : IDs of nodes of the edge type's destination type.
        form : "uv": sources and destinations; "eid": IDs of the edges; "all": all three.
        etype : the edge type; None: the only one.

        Returns
        -------
        int64 each; edges into one node stand in the order of their original IDs.
        """
        return self._edges_at(v, form, etype, False)

    def out_edges(self, u: Any, form: str = "uv", etype: EtypeName = None) -> Any:
        """All edges that go out of nodes, as `in_edges`, of nodes of the source type.

        `errors.Unsupported`: the graph was partitioned without ``out_edges``.
        """
        return self._edges_at(u, form, etype, True)

    def _edges_at(self, nodes: Any, form: str, etype: EtypeName, out: bool) -> Any:
        if form not in ("uv", "eid", "all"):
            raise errors.InvalidArgument(f'form={form!r}: give "uv", "eid" or "all"')
        edges = edge_queries.edges_at(self, nodes, etype, out)
        found = [id_tensor(ids, self.tensors) for ids in edges]
        return found[2] if form == "eid" else tuple(found[:2] if form == "uv" else found)

    def has_edges_between(self, u: Any, v: Any, etype: EtypeName = None) -> Any:
        """Whether there is an edge from each source to its destination: bool, of one pair or many.

        All in-edges of the destinations are looked through.
        """
        _, _, found = edge_queries.edges_between(self, u, v, etype)
        has = found != edge_queries.NO_EDGE
        return bool(has[0]) if np.ndim(u) == np.ndim(v) == 0 else id_tensor(has, self.tensors)

    def edge_ids(self, u: Any, v: Any, etype: EtypeName = None) -> Any:
        """The edge from each source to its destination: int64, of one pair or of many.

        Of several edges the one of the least original ID; `errors.NotFound` names a pair that has
        none.
        """
        found = edge_queries.edge_ids(self, u, v, etype)
        return int(found[0]) if np.ndim(u) == np.ndim(v) == 0 else id_tensor(found, self.tensors)

    def nodes_of(self, nodes: Any = None, ntype: str | None = None) -> NodeSet:
        """A set of nodes for a loader: all, those of a mask by its name, or a list of IDs."""
        return node_set(self, nodes, self.types.ntype(ntype))

    def next_seed(self) -> int:
        """The seed of a draw that names none: of the session's, the rank and this call's number.

        A loader's own threads draw by the seed of the batch that they make. Several other threads
        that draw at once say `seed` themselves, since their order is not known.
        """
        of_batch = draw_seed.next_seed()
        if of_batch is not None:
            return of_batch
        number, self._calls = self._calls, self._calls + 1
        words = np.random.SeedSequence([int(self.session.options["seed"]), self._rank, number])
        return int(words.generate_state(1, np.uint64)[0]) or 1

    # Beside the graph.

    def get_partition_book(self) -> PartitionBook:
        """Which partition owns which nodes and edges."""
        book = copy.copy(self._book)
        book.graph = self
        return book

    def sample_neighbors(self, nodes: Any, fanout: Any, **options: Any) -> Any:
        """As `troupe.sample_neighbors`."""
        from .sampler import sample_neighbors

        return sample_neighbors(self, nodes, fanout, **options)

    def barrier(self, timeout: float | None = None, rank: int | None = None) -> None:
        """Waits until every trainer of the job came to its barrier of the same number.

        Parameters
        ----------
        timeout : seconds; `errors.TimedOut` is an outcome for all, and the next barrier a new one.
        rank : of the trainer, where several are threads of this process; None: the first of it.

        Raises
        ------
        RolledBack
            A trainer died, and the group went back to its last checkpoint.
        """
        if self._world > 1:
            self.group(rank).barrier(timeout)

    def group(self, rank: int | None = None) -> Group:
        """The group of the job's trainers, as one of this process has it; None: the first."""
        number = self._rank if rank is None else rank
        group = self._groups.get(number)
        if group is None:
            group = self._groups[number] = Group(self, number)
        return group

    def note(
        self,
        *,
        epochs: int | None = None,
        loss: float | None = None,
        score: float | None = None,
        score_name: str = "score",
    ) -> None:
        """Tells observers and metrics what training has come to; cheap enough for each batch.

        ``troupe status``, ``top`` and ``/metrics`` show it; nothing is decided by it.

        Parameters
        ----------
        epochs : how many the trainers of this process are to make.
        loss : of late; what is not finite is not known.
        score : of the last validation.
        score_name : what that is, such as ``accuracy``; cut at 31 bytes.
        """
        if epochs is not None:
            lib.tr_graph_note_epochs(self.pointer(), epochs)
        if loss is not None:
            lib.tr_graph_note_loss(self.pointer(), float(loss))
        if score is not None:
            lib.tr_graph_note_score(self.pointer(), score_name.encode(), float(score))

    def wait_end(self, timeout: float | None = None) -> None:
        """Waits until the job has ended, which ends the actors of this process."""
        self.session.waiter.call(lib.tr_graph_wait_end, self.pointer(), deadline(timeout))

    def __repr__(self) -> str:
        if self._pointer is None:
            return f"DistGraph({self.graph_name!r}, closed)"
        return self._display().text()

    def _repr_html_(self) -> str:
        return escape(repr(self)) if self._pointer is None else self._display().html()

    def _display(self) -> Display:
        names = self.ntypes, [":".join(etype) for etype in self.canonical_etypes]
        types = [(False, i, names[0][i], count) for i, count in enumerate(self._num_nodes)]
        types += [(True, i, names[1][i], count) for i, count in enumerate(self._num_edges)]
        rows = [
            (
                "edges" if of_edges else "nodes",
                name,
                count,
                list_features([table[:3] for table in self.tables_of(of_edges, number).values()]),
            )
            for of_edges, number, name, count in types
        ]
        place = f", trainer {self._rank} of {self._world}" if self._world > 1 else ""
        title = f"DistGraph({self.graph_name!r}, {self.num_parts} partitions{place})"
        return Display(title, ("", "type", "count", "features"), rows)


def _graph_of(
    name: str | None, path: Any, session: Session | None, tensors: str, options: dict[str, Any]
) -> DistGraph:
    return DistGraph(name, None, path, session=session, tensors=tensors, **options)


def _worker_graph(
    name: str, path: Any, tensors: str, options: dict[str, Any], place: tuple[int, int]
) -> DistGraph:
    graph = DistGraph(name, None, path, tensors=tensors, **options)
    graph.take_place(*place)
    return graph
