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
from .dist_graph import DistGraph
from .dist_tensor import DistTensor, GraphTensor


def _graph_of(mask: Any, book: Any, what: str) -> DistGraph:
    if isinstance(mask, GraphTensor) and isinstance(mask.graph, DistGraph):
        return mask.graph
    graph = getattr(book, "graph", None)
    return graph if isinstance(graph, DistGraph) else context.graph_of(what)


def _selected(graph: DistGraph, mask: Any, of_edges: bool, number: int) -> Any:
    """IDs that a mask selects, ascending; a range: all of them."""
    count = graph.rows_of_type(of_edges, number)
    what = "edge_split" if of_edges else "node_split"
    if mask is None:
        return range(count)
    if isinstance(mask, GraphTensor) and not of_edges:
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


def _rank_of(graph: DistGraph, rank: int | None) -> int:
    """The trainer that a share is of."""
    if rank is None:
        return graph.rank()
    if not 0 <= rank < max(graph.world, 1):
        raise errors.OutOfRange(f"rank={rank}: the job has {max(graph.world, 1)} trainers")
    return rank


def _share(graph: DistGraph, chosen: Any, rank: int, owned: range, even: bool) -> Any:
    """A trainer's share, as a tensor: by runs of IDs, which lie near each other."""
    import torch

    world = max(graph.world, 1)
    sharers = list(range(world))
    if not even and world >= graph.num_parts:
        # Of what the partition owns, shared by the trainers that stand for it.
        if isinstance(chosen, range):
            chosen = owned
        else:
            chosen = chosen[(chosen >= owned.start) & (chosen < owned.stop)]
        sharers = [one for one in sharers if graph.part_of(one) == graph.part_of(rank)]
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
    partition_book : the graph's; None: of the newest open graph.
    ntype : the node type, where `nodes` does not say.
    rank : the trainer; None: this process's.
    force_even : shares differ by one node at most; else each partition's nodes are shared by the
        trainers that stand for it.
    node_trainer_ids : accepted as DGL has it; shares are runs of IDs.
    """
    graph = _graph_of(nodes, partition_book, "node_split")
    if isinstance(nodes, GraphTensor):
        ntype = str(nodes.type_name)
    elif ntype == DEFAULT_NTYPE and len(graph.ntypes) == 1:
        ntype = graph.ntypes[0]
    number = graph.types.ntype(ntype)
    rank = _rank_of(graph, rank)
    owned = graph.get_partition_book().node_range(graph.part_of(rank), ntype)
    chosen = _selected(graph, nodes, False, number)
    return _share(graph, chosen, rank, owned, force_even)


def edge_split(
    edges: Any,
    partition_book: Any = None,
    etype: Any = DEFAULT_ETYPE,
    rank: int | None = None,
    force_even: bool = True,
    edge_trainer_ids: Any = None,
) -> Any:
    """The edges of a mask that a trainer works on: as `node_split`."""
    graph = _graph_of(edges, partition_book, "edge_split")
    if isinstance(edges, GraphTensor):
        etype = edges.type_name
    elif etype in (DEFAULT_ETYPE, DEFAULT_ETYPE[1]) and len(graph.etypes) == 1:
        etype = graph.canonical_etypes[0]
    number = graph.types.etype(etype)
    rank = _rank_of(graph, rank)
    owned = graph.get_partition_book().edge_range(graph.part_of(rank), etype)
    chosen = _selected(graph, edges, True, number)
    return _share(graph, chosen, rank, owned, force_even)
