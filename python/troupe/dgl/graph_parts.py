# SPDX-License-Identifier: Apache-2.0
"""Partitions of an open graph, as they lie in memory, as graphs of DGL."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from .. import errors
from ..arrays import Ids
from ..binding import call, ffi, lib, made
from ..types import NID, NTYPE
from .installed import need

if TYPE_CHECKING:
    from ..graph import DistGraph
    from .partition_book import GraphPartitionBook

Array = np.ndarray[Any, Any]


def _over(pointer: Any, count: int, dtype: str) -> Array:
    """An array over the graph's memory, valid while the graph is open."""
    if count == 0:
        return np.empty(0, dtype)
    size = count * np.dtype(dtype).itemsize
    return np.frombuffer(ffi.buffer(ffi.cast("char *", pointer), size), dtype=dtype)


class PartEdges:
    """The in-edges, of one type, of the nodes of a partition, over the graph's memory."""

    def __init__(self, graph: DistGraph, part: int, etype: int) -> None:
        self._graph = graph
        found = made("tr_part_edges")
        try:
            call(lib.tr_graph_part_edges, graph.pointer(), part, etype, found)
        except errors.NotFound:
            call(lib.tr_graph_map_parts, graph.pointer())
            call(lib.tr_graph_part_edges, graph.pointer(), part, etype, found)
        self.num_edges = int(found.num_edges)
        self.first_edge = int(found.first_edge)
        self.index = _over(found.index, int(found.num_rows) + 1, "uint64")
        self._sources = _over(found.sources, self.num_edges, "uint32")
        ids = found.source_ids
        self._source_ids = None
        if ids != ffi.NULL and self.num_edges:
            self._source_ids = _over(ids, int(self._sources.max()) + 1, "uint64")

    def sources(self, places: Any) -> Ids:
        """Global IDs of the sources of edges by their places in the partition."""
        found = self._sources[places]
        ids: Array = found if self._source_ids is None else self._source_ids[found]
        return ids.astype(np.int64)


class PartArrays:
    """A partition in homogeneous IDs: its own nodes, then halo nodes, and its nodes' in-edges."""

    def __init__(self, graph: DistGraph, book: GraphPartitionBook) -> None:
        part = book.partid
        inner = [_homogeneous_nodes(book, t, part) for t in range(len(book.ntypes))]
        own = np.concatenate(inner)
        sources, destinations, ids, kinds = [], [], [], []
        for etype, (_, _, target) in enumerate(book.canonical_etypes):
            edges = PartEdges(graph, part, etype)
            places = np.arange(edges.num_edges)
            from_type, _, _ = book.canonical_etypes[etype]
            sources.append(np.asarray(book.map_to_homo_nid(edges.sources(places), from_type)))
            rows = np.repeat(np.arange(len(edges.index) - 1), np.diff(edges.index.astype(np.int64)))
            destinations.append(inner[book.types.ntype(target)][rows])
            every = places + edges.first_edge
            ids.append(np.asarray(book.map_to_homo_eid(every, book.canonical_etypes[etype])))
            kinds.append(np.full(len(every), etype, np.int32))
        from_ids = np.concatenate(sources)
        low = int(own[0]) if len(own) else 0
        outside = (from_ids < low) | (from_ids >= low + len(own))
        halo = np.unique(from_ids[outside])
        self.node_ids = np.concatenate([own, halo])
        self.num_inner = len(own)
        local = from_ids - low
        local[outside] = len(own) + np.searchsorted(halo, from_ids[outside])
        self.sources = local
        self.destinations = np.concatenate(destinations) - low
        self.edge_ids = np.concatenate(ids)
        self.etypes = np.concatenate(kinds)


def _homogeneous_nodes(book: GraphPartitionBook, ntype: int, part: int) -> Array:
    name = book.ntypes[ntype]
    found = book.node_range(part, name)
    ids = np.arange(found.start, found.stop, dtype=np.int64)
    return np.asarray(book.map_to_homo_nid(ids, name))


def local_graph(graph: DistGraph, book: GraphPartitionBook) -> Any:
    """A partition as a DGLGraph of one type, with the names that DGL's partitions have.

    ``ndata``: ``_ID`` (global homogeneous IDs), ``inner_node``, ``part_id``; ``edata``: ``_ID``,
    ``inner_edge``; ``_TYPE`` of both where the graph has several types.
    """
    import torch

    dgl = need("a partition as a DGLGraph")
    arrays = PartArrays(graph, book)
    ends = torch.from_numpy(arrays.sources), torch.from_numpy(arrays.destinations)
    made_of = dgl.graph(ends, num_nodes=len(arrays.node_ids))
    ids = torch.from_numpy(arrays.node_ids)
    inner = torch.zeros(len(ids), dtype=torch.uint8)
    inner[: arrays.num_inner] = 1
    made_of.ndata[dgl.NID] = ids
    made_of.ndata["inner_node"] = inner
    made_of.edata[dgl.EID] = torch.from_numpy(arrays.edge_ids)
    made_of.edata["inner_edge"] = torch.ones(len(arrays.edge_ids), dtype=torch.uint8)
    homogeneous = book.is_homogeneous
    name = book.ntypes[0] if homogeneous else None
    made_of.ndata["part_id"] = book.nid2partid(ids, name)
    if not homogeneous:
        kinds, _ = book.map_to_per_ntype(ids)
        made_of.ndata[dgl.NTYPE] = kinds.to(torch.int32)
        made_of.edata[dgl.ETYPE] = torch.from_numpy(arrays.etypes)
    return made_of


def is_inner(data: Any, name: str, number: int) -> Any:
    """Which rows of a partition are its own, of the type of that number."""
    own = data[name] == 1
    return own & (data["_TYPE"] == number) if "_TYPE" in data else own


class ReservedDtypes(Mapping[str, Any]):
    """The element types of the columns that a partition of DGL has; PyTorch is imported late."""

    _names: ClassVar[dict[str, str]] = {
        "inner_node": "uint8",
        "inner_edge": "uint8",
        NID: "int64",
        NTYPE: "int32",
    }

    def __getitem__(self, name: str) -> Any:
        import torch

        return getattr(torch, self._names[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)
