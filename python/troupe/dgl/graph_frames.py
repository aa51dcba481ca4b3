# SPDX-License-Identifier: Apache-2.0
"""``g.nodes[type].data`` and its kin: features, and the tensors that a program puts beside them."""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from typing import TYPE_CHECKING, Any, NamedTuple

from .dist_tensor import DistTensor, GraphTensor

if TYPE_CHECKING:
    from .dist_graph import DistGraph

# Tables that partition_graph() made for itself.
HIDDEN = "_balance_"


class GraphFrame(MutableMapping[str, Any]):
    """Tensors of one type by name. Those of the partitions can be neither changed nor removed.

    What a program puts beside them is a DistTensor, or a tensor that this process alone knows.
    """

    def __init__(self, graph: DistGraph, of_edges: bool, number: int) -> None:
        self._graph = graph
        self._of_edges = of_edges
        self._number = number
        tables = graph.tables_of(of_edges, number)
        self._tables = {name: t for name, t in tables.items() if not name.startswith(HIDDEN)}
        self._added = graph.added.setdefault((of_edges, number), {})

    def __getitem__(self, name: str) -> Any:
        if name in self._added:
            return self._added[name]
        info = self._tables.get(name)
        if info is None:
            known = ", ".join(map(repr, self)) or "none"
            raise KeyError(f"no feature {name!r}; the type has {known}")
        return GraphTensor(self._graph, self._of_edges, self._number, info)

    def __setitem__(self, name: str, value: Any) -> None:
        import torch

        if not isinstance(value, (DistTensor, torch.Tensor)):
            raise TypeError(f"{name!r}: give a DistTensor or a tensor, not {type(value).__name__}")
        rows = self._graph.rows_of_type(self._of_edges, self._number)
        if len(value) != rows:
            raise ValueError(f"{name!r}: {len(value)} rows, but the type has {rows}")
        self._added[name] = value

    def __delitem__(self, name: str) -> None:
        if name not in self._added:
            what = "belongs to the partitions" if name in self._tables else "is not there"
            raise KeyError(f"{name!r} {what}")
        del self._added[name]

    def __contains__(self, name: object) -> bool:
        return name in self._added or name in self._tables

    def __iter__(self) -> Iterator[str]:
        yield from self._tables
        yield from (name for name in self._added if name not in self._tables)

    def __len__(self) -> int:
        return len(self._tables.keys() | self._added.keys())

    def __repr__(self) -> str:
        return f"{{{', '.join(map(repr, self.values()))}}}"


class TypeFrames(NamedTuple):
    """The tensors of a type."""

    data: GraphFrame


class FramesByType:
    """``g.nodes`` or ``g.edges``: ``[type].data``; called, the IDs of all nodes of a type."""

    def __init__(self, graph: DistGraph, of_edges: bool) -> None:
        self._graph = graph
        self._of_edges = of_edges

    def __getitem__(self, name: Any) -> TypeFrames:
        number = self._graph.number_of_type(name, self._of_edges)
        return TypeFrames(GraphFrame(self._graph, self._of_edges, number))

    def __call__(self, name: Any = None) -> Any:
        import torch

        number = self._graph.number_of_type(name, self._of_edges)
        return torch.arange(self._graph.rows_of_type(self._of_edges, number))
