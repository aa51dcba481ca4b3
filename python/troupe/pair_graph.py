# SPDX-License-Identifier: Apache-2.0
"""The pairs of a batch of edges, as a graph of the nodes that are their ends."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from .errors import NotFound
from .types import EID, NID

Canonical = tuple[str, str, str]


class PairGraph:
    """Pairs of a batch's nodes: its edges, or pairs that are none.

    Parameters
    ----------
    etype : the canonical type of the edges; its first and its last name are the types of the ends.
    nodes : global IDs of the nodes of each of these types.
    ends : positions of sources and destinations among the nodes of their types: int64 each.
    edges : global IDs of the edges; None: the pairs need be no edges.

    Attributes
    ----------
    etype : tuple
        The canonical type of the edges.
    srcdata, dstdata : dict
        ``_ID``: global IDs of the nodes of the source type, and of the destination type; they are
        those that the last block ends in.
    ndata : dict
        ``_ID``: the same; of ends of two types a mapping of these to their nodes.
    edata : dict
        ``_ID``: global IDs of the edges; empty where pairs are no edges.
    """

    def __init__(
        self,
        etype: Canonical,
        nodes: Mapping[str, Any],
        ends: tuple[Any, Any],
        edges: Any = None,
    ) -> None:
        source, _, target = self.etype = etype
        self.srcdata = {NID: nodes[source]}
        self.dstdata = {NID: nodes[target]}
        both = nodes[source] if source == target else {t: nodes[t] for t in (source, target)}
        self.ndata = {NID: both}
        self.edata = {} if edges is None else {EID: edges}
        self._ends = ends

    def num_src_nodes(self) -> int:
        """Nodes of the source type."""
        return len(self.srcdata[NID])

    def num_dst_nodes(self) -> int:
        """Nodes of the destination type."""
        return len(self.dstdata[NID])

    def num_nodes(self) -> int:
        """Nodes of all types."""
        one = self.etype[0] == self.etype[2]
        return self.num_src_nodes() + (0 if one else self.num_dst_nodes())

    def num_edges(self) -> int:
        """Pairs."""
        return len(self._ends[0])

    def edges(self) -> tuple[Any, Any]:
        """Positions of sources and destinations among the nodes of their types: int64 each."""
        return self._ends

    def __repr__(self) -> str:
        return f"PairGraph({self.num_edges()} pairs of {self.num_nodes()} nodes)"


class _Edges:
    """The edges of a `TypedPairGraph`: called with a type, their ends; by a type, their data."""

    def __init__(self, graph: TypedPairGraph) -> None:
        self._graph = graph

    def __call__(self, etype: Any = None) -> tuple[Any, Any]:
        return self._graph.ends_of(etype)

    def __getitem__(self, etype: Any) -> EdgesOfType:
        name = self._graph.to_canonical_etype(etype)
        edges = self._graph.edata.get(EID)
        return EdgesOfType({} if edges is None else {EID: edges[name]})


class EdgesOfType(NamedTuple):
    """What a pair graph has of the edges of a type: ``data[EID]``, their global IDs."""

    data: dict[str, Any]


class TypedPairGraph:
    """Pairs of several edge types among a batch's nodes: its edges, or pairs that are none.

    Parameters
    ----------
    nodes : global IDs of the nodes of each type that is an end of some edge type.
    ends : of each edge type positions of sources and destinations among the nodes of their types.
    edges : of each edge type global IDs of the edges; None: the pairs need be no edges.

    Attributes
    ----------
    canonical_etypes : list
        The edge types whose edges the loader has, some of which may have no pairs in the batch.
    ntypes : list
        The node types of their ends.
    ndata : dict
        ``_ID``: a mapping of node types to the global IDs of their nodes, which are those that the
        last block ends in.
    edata : dict
        ``_ID``: a mapping of edge types to global IDs of the edges; empty where pairs are no edges.
    edges
        ``edges(etype)``: positions of sources and destinations of a type's pairs, int64 each;
        ``edges[etype].data["_ID"]``: their global IDs.
    """

    def __init__(
        self,
        nodes: Mapping[str, Any],
        ends: Mapping[Canonical, tuple[Any, Any]],
        edges: Mapping[Canonical, Any] | None = None,
    ) -> None:
        self.canonical_etypes = list(ends)
        self.ntypes = sorted({name for of in ends for name in (of[0], of[2])})
        self.ndata = {NID: {name: nodes[name] for name in self.ntypes}}
        self.edata: dict[str, Any] = {} if edges is None else {EID: dict(edges)}
        self._ends = dict(ends)
        self.edges = _Edges(self)

    def to_canonical_etype(self, etype: Any) -> Canonical:
        """The type whose name, or whose three names, these are."""
        found = [of for of in self.canonical_etypes if etype in (of, of[1])]
        if len(found) != 1:
            names = ", ".join(map(str, self.canonical_etypes))
            raise NotFound(f"etype={etype!r}: give one of {names}")
        return found[0]

    def ends_of(self, etype: Any) -> tuple[Any, Any]:
        """Positions of sources and destinations of a type's pairs."""
        return self._ends[self.to_canonical_etype(etype)]

    def num_nodes(self, ntype: str | None = None) -> int:
        """Nodes of a type; None: of all."""
        nodes = self.ndata[NID]
        return sum(map(len, nodes.values())) if ntype is None else len(nodes[ntype])

    def num_edges(self, etype: Any = None) -> int:
        """Pairs of a type; None: of all."""
        if etype is not None:
            return len(self.ends_of(etype)[0])
        return sum(len(ends[0]) for ends in self._ends.values())

    def __repr__(self) -> str:
        return (
            f"TypedPairGraph({self.num_edges()} pairs of {len(self.canonical_etypes)} edge types, "
            f"{self.num_nodes()} nodes)"
        )
