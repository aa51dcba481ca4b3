# SPDX-License-Identifier: Apache-2.0
"""The partition book: which partition owns which nodes and edges."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from . import errors
from .arrays import Ids, Tensors, check_tensors, id_pointer, id_tensor, ids_of
from .binding import call, encoded, ffi, lib, made, owned, text
from .display import Display
from .seeds import NodeSet
from .tables import Table
from .types import EtypeName, Types

if TYPE_CHECKING:
    from .graph import DistGraph

ALL_TYPES: int = lib.TR_ALL_TYPES


class PartitionBook:
    """The book of a partitioned graph, as DGL's ``GraphPartitionBook`` answers.

    IDs of a type count over all partitions (*per-type* IDs: those that graphs, loaders and batches
    have). *Homogeneous* IDs count over all types too, partition by partition and in each type by
    type. Without a type the functions take homogeneous IDs, or in a graph of one type the only one.

    Parameters
    ----------
    path : path
        ``DIR/NAME.json``, as partitioning wrote it.
    partid : int
        The partition that `nid2localnid` counts from.
    opened : the library's own book, of the same path, where it is open already.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        partid: int = 0,
        tensors: str = "numpy",
        graph: DistGraph | None = None,
        opened: Any = None,
    ) -> None:
        if opened is None:
            box = ffi.new("struct tr_book **")
            call(lib.tr_book_open, encoded(path), box)
            opened = owned(box[0], lib.tr_book_close)
        self._book: Any = opened
        self.path = os.fspath(path)
        self.partid = partid
        self.graph = graph
        self._tensors: Tensors = check_tensors(tensors)
        info = made("tr_book_info")
        call(lib.tr_book_info, self._book, info)
        self.graph_name = text(info.graph_name)
        self.method = text(info.method)
        self.has_original_edge_ids = bool(info.original_edge_ids)
        self._num_parts = int(info.num_parts)
        ntypes, etypes = [], []
        self._node_counts: list[int] = []
        self._edge_counts: list[int] = []
        self._first_ids: list[int] = []
        for i in range(info.num_ntypes):
            ntype = made("tr_ntype_info")
            call(lib.tr_book_ntype, self._book, i, ntype)
            ntypes.append(text(ntype.name))
            self._node_counts.append(ntype.num_nodes)
            self._first_ids.append(ntype.first_id)
        for i in range(info.num_etypes):
            etype = made("tr_etype_info")
            call(lib.tr_book_etype, self._book, i, etype)
            etypes.append(text(etype.name))
            self._edge_counts.append(etype.num_edges)
        self.types = Types(ntypes, etypes)

    def pointer(self) -> Any:
        """The library's own book."""
        return self._book

    def row_shapes(self) -> dict[tuple[bool, int, str], tuple[int, ...]]:
        """The shapes of a row of each feature, by (of edges, number of the type, name)."""
        info = made("tr_book_info")
        call(lib.tr_book_info, self._book, info)
        shapes = {}
        for i in range(info.num_tables):
            table = made("tr_table_info")
            call(lib.tr_book_table, self._book, i, table)
            row = tuple(int(table.shape[axis]) for axis in range(table.ndim))
            shapes[bool(table.on_edges), int(table.type), text(table.name)] = row
        return shapes

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
        """Edge types, likewise."""
        return self.types.canonical_etypes

    @property
    def is_homogeneous(self) -> bool:
        """Whether there is one node type and at most one edge type."""
        return self.types.is_homogeneous

    def to_canonical_etype(self, etype: EtypeName) -> tuple[str, str, str]:
        """(source, relation, destination) of an edge type by any of its names."""
        return self.types.canonical_etypes[self.types.etype(etype)]

    def num_partitions(self) -> int:
        """How many partitions there are."""
        return self._num_parts

    def num_nodes(self, ntype: str | None = None) -> int:
        """Nodes of a type, or of all."""
        return (
            sum(self._node_counts) if ntype is None else self._node_counts[self.types.ntype(ntype)]
        )

    def num_edges(self, etype: EtypeName = None) -> int:
        """Edges of a type, or of all."""
        return (
            sum(self._edge_counts) if etype is None else self._edge_counts[self.types.etype(etype)]
        )

    def first_id(self, ntype: str | None = None) -> int:
        """The user's ID of the node whose original ID is 0: 1 where a text counts from 1."""
        return self._first_ids[self.types.ntype(ntype)]

    def metadata(self) -> list[dict[str, int]]:
        """For each partition its number and the nodes and edges that it owns."""
        found = []
        for part in range(self._num_parts):
            nodes = sum(len(self._range(False, t, part)) for t in range(len(self.ntypes)))
            edges = sum(len(self._range(True, t, part)) for t in range(len(self.etypes)))
            found.append({"machine_id": part, "num_nodes": nodes, "num_edges": edges})
        return found

    def _range(self, of_edges: bool, number: int, part: int) -> range:
        found = ffi.new("struct tr_range *")
        function = lib.tr_book_edge_range if of_edges else lib.tr_book_node_range
        call(function, self._book, number, part, found)
        return range(found.begin, found.end)

    def node_range(self, partid: int, ntype: str | None = None) -> range:
        """The per-type IDs that a partition owns."""
        return self._range(False, self.types.ntype(ntype), partid)

    def edge_range(self, partid: int, etype: EtypeName = None) -> range:
        """The same of edges."""
        return self._range(True, self.types.etype(etype), partid)

    def _type(self, of_edges: bool, name: Any) -> int:
        """The number of the type that a call means."""
        counts = self._edge_counts if of_edges else self._node_counts
        if name is None and len(counts) != 1:
            return ALL_TYPES
        return self.types.etype(name) if of_edges else self.types.ntype(name)

    def _name_of(self, of_edges: bool, number: int) -> str:
        """What has the IDs of a type, for messages."""
        if number == ALL_TYPES:
            return "edge" if of_edges else "node"
        return self.types.edge_name(number) if of_edges else self.types.node_name(number)

    def checked_ids(self, ids: Any, of_edges: bool, number: int, what: str | None = None) -> Ids:
        """The IDs of a type, or of all types, that an index names (see `arrays.ids_of`).

        `Mismatch`: it is a set of another graph, or of another type.
        """
        if isinstance(ids, NodeSet):
            self.check_of(ids, of_edges, number)
        counts = self._edge_counts if of_edges else self._node_counts
        count = sum(counts) if number == ALL_TYPES else counts[number]
        return ids_of(ids, count, self._name_of(of_edges, number) if what is None else what)

    def check_of(self, given: NodeSet | Table, of_edges: bool, number: int) -> None:
        """Refuses a set or a mask of another graph, or of another type than is meant."""
        of = given.graph
        if of.path != self.path and not is_same_book(of.path, self.path):
            raise errors.Mismatch(
                f"{given!r} is of the graph {of.graph_name!r} in {of.path}, not of "
                f"{self.graph_name!r} in {self.path}: IDs of one mean nothing in the other"
            )
        if (given.of_edges, given.number) != (of_edges, number):
            raise errors.Mismatch(
                f"{self._name_of(of_edges, number)}: {given!r} is of another type"
            )

    def _owners(self, of_edges: bool, ids: Any, name: Any) -> Any:
        number = self._type(of_edges, name)
        wanted = self.checked_ids(ids, of_edges, number)
        parts = np.empty(len(wanted), dtype=np.uint32)
        function = lib.tr_book_edge_owners if of_edges else lib.tr_book_node_owners
        into = ffi.cast("uint32_t *", parts.ctypes.data)
        call(function, self._book, number, id_pointer(wanted), len(wanted), into)
        return id_tensor(parts.astype(np.int64), self._tensors)

    def nid2partid(self, nids: Any, ntype: str | None = None) -> Any:
        """The partition that owns each node: int64, shape ``(len(nids),)``."""
        return self._owners(False, nids, ntype)

    def eid2partid(self, eids: Any, etype: EtypeName = None) -> Any:
        """The partition that owns each edge: int64, shape ``(len(eids),)``."""
        return self._owners(True, eids, etype)

    def _part_ids(self, of_edges: bool, partid: int, name: Any) -> Any:
        number = self._type(of_edges, name)
        if number != ALL_TYPES:
            found = self._range(of_edges, number, partid)
            return id_tensor(np.arange(found.start, found.stop, dtype=np.int64), self._tensors)
        pieces = [
            self._homogeneous(of_edges, t, np.asarray(self._range(of_edges, t, partid), np.int64))
            for t in range(len(self.etypes if of_edges else self.ntypes))
        ]
        return id_tensor(np.concatenate(pieces), self._tensors)

    def partid2nids(self, partid: int, ntype: str | None = None) -> Any:
        """The nodes that a partition owns."""
        return self._part_ids(False, partid, ntype)

    def partid2eids(self, partid: int, etype: EtypeName = None) -> Any:
        """The edges that a partition owns."""
        return self._part_ids(True, partid, etype)

    def nid2localnid(self, nids: Any, partid: int, ntype: str | None = None) -> Any:
        """Positions of nodes among those of their type that the partition owns."""
        number = self.types.ntype(ntype)
        return self._local(False, nids, partid, number)

    def eid2localeid(self, eids: Any, partid: int, etype: EtypeName = None) -> Any:
        """Positions of edges among those of their type that the partition owns."""
        number = self.types.etype(etype)
        return self._local(True, eids, partid, number)

    def _local(self, of_edges: bool, ids: Any, partid: int, number: int) -> Any:
        found = self._range(of_edges, number, partid)
        wanted = self.checked_ids(ids, of_edges, number)
        outside = wanted[(wanted < found.start) | (wanted >= found.stop)]
        if len(outside):
            what = self._name_of(of_edges, number)
            raise ValueError(f"{what}: {outside[0]} is not in partition {partid}")
        return id_tensor(wanted - found.start, self._tensors)

    def _homogeneous(self, of_edges: bool, number: int, ids: Ids) -> Ids:
        result = np.empty(len(ids), dtype=np.int64)
        function = lib.tr_book_edge_homogeneous if of_edges else lib.tr_book_node_homogeneous
        call(function, self._book, number, id_pointer(ids), len(ids), id_pointer(result))
        return result

    def map_to_homo_nid(self, ids: Any, ntype: str | None = None) -> Any:
        """Homogeneous IDs of nodes of a type."""
        number = self.types.ntype(ntype)
        wanted = self.checked_ids(ids, False, number)
        return id_tensor(self._homogeneous(False, number, wanted), self._tensors)

    def map_to_homo_eid(self, ids: Any, etype: EtypeName = None) -> Any:
        """Homogeneous IDs of edges of a type."""
        number = self.types.etype(etype)
        wanted = self.checked_ids(ids, True, number)
        return id_tensor(self._homogeneous(True, number, wanted), self._tensors)

    def _typed(self, of_edges: bool, ids: Any) -> tuple[Any, Any]:
        # A set of the only type has the IDs of all.
        alone = len(self.etypes if of_edges else self.ntypes) == 1
        wanted = self.checked_ids(ids, of_edges, 0 if alone else ALL_TYPES)
        numbers = np.empty(len(wanted), dtype=np.uint32)
        typed = np.empty(len(wanted), dtype=np.int64)
        function = lib.tr_book_edge_typed if of_edges else lib.tr_book_node_typed
        into = ffi.cast("uint32_t *", numbers.ctypes.data)
        call(function, self._book, id_pointer(wanted), len(wanted), into, id_pointer(typed))
        kinds = id_tensor(numbers.astype(np.int64), self._tensors)
        return kinds, id_tensor(typed, self._tensors)

    def map_to_per_ntype(self, ids: Any) -> tuple[Any, Any]:
        """The type's number and the per-type ID of homogeneous node IDs."""
        return self._typed(False, ids)

    def map_to_per_etype(self, ids: Any) -> tuple[Any, Any]:
        """The type's number and the per-type ID of homogeneous edge IDs."""
        return self._typed(True, ids)

    def __reduce__(self) -> tuple[Any, ...]:
        return PartitionBook, (self.path, self.partid, self._tensors, self.graph)

    def __repr__(self) -> str:
        return (
            f"PartitionBook({self.graph_name!r}, {self._num_parts} partitions, "
            f"{self.num_nodes()} nodes, {self.num_edges()} edges)"
        )

    def _repr_html_(self) -> str:
        parts = range(self._num_parts)
        rows = [
            (name, *(len(self.node_range(part, name)) for part in parts)) for name in self.ntypes
        ]
        rows += [
            (":".join(name), *(len(self.edge_range(part, name)) for part in parts))
            for name in self.canonical_etypes
        ]
        head = ("type", *(f"partition {part}" for part in parts))
        return Display(repr(self), head, rows).html()


def is_same_book(path: str | os.PathLike[str], other: str | os.PathLike[str]) -> bool:
    """Whether two paths are those of one book, or of copies of it."""
    try:
        return os.path.samefile(path, other) or (
            Path(path).read_bytes() == Path(other).read_bytes()
        )
    except OSError:
        return False


def load_partition_book(
    part_config: str | os.PathLike[str], part_id: int = 0
) -> tuple[PartitionBook, str, list[str], list[str]]:
    """The book of ``DIR/NAME.json``, the graph's name, its node types and its relations."""
    book = PartitionBook(part_config, part_id)
    return book, book.graph_name, book.ntypes, book.etypes
