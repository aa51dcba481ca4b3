# SPDX-License-Identifier: Apache-2.0
"""Features of a graph as lazy mappings: nothing is read before rows are asked for."""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from .arrays import DTYPES, id_pointer, numpy_dtype, pointer_to, rows_into
from .binding import call, deadline, encoded, lib, made, text
from .display import Display

if TYPE_CHECKING:
    from .graph import DistGraph
    from .tensors import DistTensor

T = TypeVar("T")


class TableInfo(NamedTuple):
    """A feature of a node type or an edge type."""

    name: str
    dtype: str
    width: int
    row: tuple[int, ...]
    """The shape of a row: (), (16,), (3, 4)."""


class Scheme(NamedTuple):
    """What rows of a table are: the shape of one and its dtype."""

    shape: tuple[int, ...]
    dtype: Any


def list_tables(
    graph: Any, shapes: dict[tuple[bool, int, str], tuple[int, ...]], of_edges: bool, number: int
) -> dict[str, TableInfo]:
    """The features of a type of an open graph, whose book says what shape their rows have."""
    count = lib.tr_graph_num_edge_features if of_edges else lib.tr_graph_num_features
    get = lib.tr_graph_edge_feature if of_edges else lib.tr_graph_feature
    tables = {}
    for i in range(count(graph, number)):
        info = made("tr_feature_info")
        call(get, graph, number, i, info)
        name, width = text(info.name), int(info.width)
        row = shapes.get((of_edges, number, name), () if width == 1 else (width,))
        tables[name] = TableInfo(name, DTYPES[info.dtype], width, row)
    return tables


class Table:
    """One feature: a row for each node or edge of a type, read where and when it is asked for.

    ``table[ids]`` gives the rows of these IDs, in their order, repeats and none included: an array
    (or a tensor, as the graph was opened) of shape ``(len(ids), *row)``, where the rows have the
    shape that the graph was partitioned with: none for a number a row. bfloat16 comes as its 16
    bits to NumPy.

    Raises
    ------
    OutOfRange
        An ID is negative, or there is none such; the message names it.
    TypeError
        The index is a mask of booleans.
    """

    def __init__(self, graph: DistGraph, of_edges: bool, type_number: int, info: TableInfo) -> None:
        self._graph = graph
        self._of_edges = of_edges
        self._type = type_number
        self._info = info

    @property
    def of_edges(self) -> bool:
        """Whether rows are of edges."""
        return self._of_edges

    @property
    def number(self) -> int:
        """The number of the type whose rows these are."""
        return self._type

    @property
    def name(self) -> str:
        """Its name in the type."""
        return self._info.name

    @property
    def type_name(self) -> str | tuple[str, str, str]:
        """The node type or the canonical edge type whose rows these are."""
        types = self._graph.types
        return types.canonical_etypes[self._type] if self._of_edges else types.ntypes[self._type]

    @property
    def graph(self) -> DistGraph:
        """The graph that it belongs to."""
        return self._graph

    @property
    def dtype(self) -> Any:
        """The element type, of NumPy or PyTorch."""
        if self._graph.tensors == "torch":
            import torch

            return getattr(torch, self._info.dtype)
        return numpy_dtype(self._info.dtype)

    @property
    def shape(self) -> tuple[int, ...]:
        """Rows, and the shape of a row."""
        return (len(self), *self._row)

    @property
    def ndim(self) -> int:
        """1, and one more for each dimension of a row."""
        return len(self.shape)

    @property
    def _row(self) -> tuple[int, ...]:
        return self._info.row

    def __len__(self) -> int:
        count = lib.tr_graph_num_edges if self._of_edges else lib.tr_graph_num_nodes
        return int(count(self._graph.pointer(), self._type))

    def __getitem__(self, index: Any) -> Any:
        single = isinstance(index, (int, np.integer)) and not isinstance(index, (bool, np.bool_))
        rows = self.fetch(self._graph.checked_ids(index, self._of_edges, self._type))
        return rows[0] if single else rows

    def fetch(self, ids: np.ndarray[Any, np.dtype[np.int64]], timeout: float | None = None) -> Any:
        """Rows of IDs that are checked already, within a timeout in seconds."""
        rows, address = rows_into(len(ids), self._info.dtype, self._row, self._graph.tensors)
        if len(ids):
            function = lib.tr_graph_fetch_edges if self._of_edges else lib.tr_graph_fetch
            self._graph.session.waiter.call(
                function,
                self._graph.pointer(),
                self._type,
                encoded(self._info.name),
                id_pointer(ids),
                len(ids),
                deadline(timeout),
                pointer_to(address),
            )
        return rows

    def __setitem__(self, index: Any, value: Any) -> None:
        raise NotImplementedError(
            f"{self.name!r} belongs to the partitions, which do not change: "
            "make a DistTensor for rows that a program writes"
        )

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        rows = np.asarray(self[:])
        return rows if dtype is None else rows.astype(dtype)

    def __repr__(self) -> str:
        of = ":".join(self.type_name) if isinstance(self.type_name, tuple) else self.type_name
        return f"Table({of}/{self.name}, shape={self.shape}, dtype={self._info.dtype})"


class TableMapping(MutableMapping[str, "Table | DistTensor"]):
    """The features of one type by their names, and the tensors that this process put beside them.

    ``graph.ndata["h"] = tensor`` is for look-ups here: neither other processes nor loaders know it.
    """

    def __init__(self, graph: DistGraph, of_edges: bool, number: int) -> None:
        self._graph = graph
        self._of_edges = of_edges
        self._type = number
        self._tables = graph.tables_of(of_edges, number)
        self._added = graph.added_to(of_edges, number)

    def __getitem__(self, name: str) -> Table | DistTensor:
        added = self._added.get(name)
        if added is not None:
            return added
        info = self._tables.get(name)
        if info is None:
            known = ", ".join(map(repr, self)) or "none"
            raise KeyError(f"no feature {name!r}; the type has {known}")
        return Table(self._graph, self._of_edges, self._type, info)

    def __setitem__(self, name: str, value: Table | DistTensor) -> None:
        from .tensors import DistTensor

        if self._of_edges:
            raise NotImplementedError(
                f"{name!r}: a DistTensor has a row for each node of a type; "
                "rows of edges are not there yet"
            )
        if not isinstance(value, DistTensor):
            raise TypeError(f"{name!r}: give a DistTensor, not {type(value).__name__}")
        ntype = self._graph.ntypes[self._type]
        if value.graph is not self._graph or value.ntype != ntype:
            raise ValueError(f"{name!r}: {value!r} is not of this graph's nodes of type {ntype!r}")
        self._added[name] = value

    def __delitem__(self, name: str) -> None:
        if name not in self._added:
            what = "belongs to the partitions" if name in self._tables else "is not there"
            raise KeyError(f"{name!r} {what}")
        del self._added[name]

    def __iter__(self) -> Iterator[str]:
        yield from self._tables
        yield from (name for name in self._added if name not in self._tables)

    def __len__(self) -> int:
        return len(self._tables.keys() | self._added.keys())

    def __repr__(self) -> str:
        return f"{{{', '.join(map(repr, self.values()))}}}"

    def _repr_html_(self) -> str:
        rows = [(name, str(value.dtype), str(value.shape)) for name, value in self.items()]
        return Display("features", ("name", "type", "shape"), rows).html()


class TypeView:
    """``graph.nodes`` or ``graph.edges``: ``[type].data`` are the type's features."""

    def __init__(self, graph: DistGraph, of_edges: bool) -> None:
        self._graph = graph
        self._of_edges = of_edges

    def __getitem__(self, name: Any) -> TypeData:
        number = self._graph.number_of_type(name, self._of_edges)
        return TypeData(TableMapping(self._graph, self._of_edges, number))


class TypeData(NamedTuple):
    """The features of a type."""

    data: TableMapping
