# SPDX-License-Identifier: Apache-2.0
"""Which nodes and edges a trainer works on, as tensors of IDs."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from .. import errors
from ..seeds import NodeSet
from ..types import DEFAULT_ETYPE, DEFAULT_NTYPE
from . import context
from .dist_graph import DistGraph, part_of_trainer
from .dist_tensor import DistTensor, GraphTensor


class _Place:
    """Who shares: the book, the graph where one is open, and this trainer's place."""

    def __init__(self, mask: Any, book: Any, what: str) -> None:
        graph = mask.graph if isinstance(mask, GraphTensor) else getattr(book, "graph", None)
        if not isinstance(graph, DistGraph) and book is None:
            graph = context.graph_of(what)
        self.graph = graph if isinstance(graph, DistGraph) else None
        # A book that was loaded by itself answers without a graph.
        self.book = book if self.graph is None else self.graph.get_partition_book()
        self.num_parts = int(self.book.num_partitions())
        self.world = max(context.get_num_client() if self.graph is None else self.graph.world, 1)
        self.rank = context.get_rank() if self.graph is None else self.graph.rank()

    def part_of(self, rank: int) -> int:
        """The partition that stands for a trainer's machine."""
        if self.graph is not None:
            return self.graph.part_of(rank)
        return part_of_trainer(rank, self.num_parts, self.world)


def _selected(place: _Place, mask: Any, of_edges: bool, name: Any, number: int) -> Any:
    """IDs that a mask selects, ascending; a range: all of them."""
    graph, book = place.graph, place.book
    count = book.num_edges(name) if of_edges else book.num_nodes(name)
    what = "edge_split" if of_edges else "node_split"
    if mask is None:
        return range(count)
    if isinstance(mask, GraphTensor) and graph is not None and not of_edges:
        chosen = NodeSet(graph, number, "mask", mask.name)
        return range(count) if len(chosen) == count else np.sort(chosen.read(0, len(chosen)))
    values = np.asarray(mask[slice(None)] if isinstance(mask, DistTensor) else mask)
    if values.shape != (count,):
        raise errors.InvalidArgument(
            f"{what}: the mask has shape {values.shape}, but the type has {count}"
        )
    if values.dtype.kind in "iu" and count > 2 and np.array_equal(values, np.arange(count)):
        warnings.warn(
            f"{what}(arange(N)) is taken as all; as a mask it would leave out number 0",
            stacklevel=3,
        )
        return range(count)
    return range(count) if values.all() else np.flatnonzero(values)


def _rank_of(place: _Place, rank: int | None) -> int:
    """The trainer that a share is of."""
    if rank is None:
        return place.rank
    if not 0 <= rank < place.world:
        raise errors.OutOfRange(f"rank={rank}: the job has {place.world} trainers")
    return rank


def _share(place: _Place, chosen: Any, rank: int, owned: range, even: bool) -> Any:
    """A trainer's share, as a tensor: by runs of IDs, which lie near each other."""
    import torch

    sharers = list(range(place.world))
    if not even and place.world >= place.num_parts:
        # Of what the partition owns, shared by the trainers that stand for it.
        if isinstance(chosen, range):
            chosen = owned
        else:
            chosen = chosen[(chosen >= owned.start) & (chosen < owned.stop)]
        sharers = [one for one in sharers if place.part_of(one) == place.part_of(rank)]
    least, more = divmod(len(chosen), len(sharers))
    index = sharers.index(rank)
    begin = index * least + min(index, more)
    mine = chosen[begin : begin + least + (index < more)]
    if isinstance(mine, range):
        return torch.arange(mine.start, mine.stop)
    return torch.from_numpy(np.ascontiguousarray(mine, dtype=np.int64))


def node_split(
    nodes: Any,
    partition_book: Any = None,
    ntype: str = DEFAULT_NTYPE,
    rank: int | None = None,
    force_even: bool = True,
    node_trainer_ids: Any = None,
) -> Any:
    """The nodes of a mask that a trainer works on: a tensor of IDs, ascending.

    Parameters
    ----------
    nodes : a mask, of the graph or a value a node. ``numpy.arange(g.num_nodes())``, which scripts
        write for "all", is taken as that, with a warning; None is all, too.
    partition_book : the graph's, or one that was loaded by itself; None: of the newest open graph.
    ntype : the node type, where `nodes` does not say.
    rank : the trainer; None: this process's.
    force_even : shares differ by one node at most; else each partition's nodes are shared by the
        trainers that stand for it.
    node_trainer_ids : accepted as DGL has it; shares are runs of IDs.
    """
    place = _Place(nodes, partition_book, "node_split")
    book = place.book
    if isinstance(nodes, GraphTensor):
        ntype = str(nodes.type_name)
    elif ntype == DEFAULT_NTYPE and len(book.ntypes) == 1:
        ntype = book.ntypes[0]
    number = book.types.ntype(ntype)
    rank = _rank_of(place, rank)
    owned = book.node_range(place.part_of(rank), ntype)
    chosen = _selected(place, nodes, False, ntype, number)
    return _share(place, chosen, rank, owned, force_even)


def edge_split(
    edges: Any,
    partition_book: Any = None,
    etype: Any = DEFAULT_ETYPE,
    rank: int | None = None,
    force_even: bool = True,
    edge_trainer_ids: Any = None,
) -> Any:
    """The edges of a mask that a trainer works on: as `node_split`."""
    place = _Place(edges, partition_book, "edge_split")
    book = place.book
    if isinstance(edges, GraphTensor):
        etype = edges.type_name
    elif etype in (DEFAULT_ETYPE, DEFAULT_ETYPE[1]) and len(book.etypes) == 1:
        etype = book.canonical_etypes[0]
    number = book.types.etype(etype)
    rank = _rank_of(place, rank)
    owned = book.edge_range(place.part_of(rank), etype)
    chosen = _selected(place, edges, True, etype, number)
    return _share(place, chosen, rank, owned, force_even)
