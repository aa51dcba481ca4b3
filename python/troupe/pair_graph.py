# SPDX-License-Identifier: Apache-2.0
"""The pairs of a batch of edges, as a graph of the nodes that are their ends."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

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
