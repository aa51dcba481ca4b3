# SPDX-License-Identifier: Apache-2.0
"""Questions about edges of the whole graph, whichever process owns them: calls of `DistGraph`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from . import errors
from .arrays import Ids, id_pointer, id_tensor
from .binding import FOREVER, ffi, lib
from .types import EtypeName

if TYPE_CHECKING:
    from .graph import DistGraph

# tr_graph_edges_between()'s TR_EDGE_NONE, as int64.
NO_EDGE = -1


def _ask(graph: DistGraph, call: Any, etype: int, ids: Ids, *rest: Any) -> None:
    graph.session.waiter.call(
        call, graph.pointer(), etype, id_pointer(ids), len(ids), FOREVER, *rest
    )


def nodes_at(graph: DistGraph, etype: EtypeName, ids: Any, end: int) -> tuple[int, Ids]:
    """The number of an edge type, and checked IDs of nodes at one end of it: 0 source, 1 target."""
    number = graph.types.etype(etype)
    ntype = graph.types.ends[number][end]
    return number, graph.checked_ids(ids, False, ntype)


def edges_of(graph: DistGraph, etype: EtypeName, ids: Any) -> tuple[int, Ids]:
    """The number of an edge type, and checked IDs of its edges."""
    number = graph.types.etype(etype)
    return number, graph.checked_ids(ids, True, number)


def find_edges(graph: DistGraph, edges: Any, etype: EtypeName) -> tuple[Any, Any]:
    """Both ends of edges."""
    number, wanted = edges_of(graph, etype, edges)
    ends = np.empty_like(wanted), np.empty_like(wanted)
    if len(wanted):
        into = id_pointer(ends[0]), id_pointer(ends[1])
        _ask(graph, lib.tr_graph_find_edges, number, wanted, *into)
    return id_tensor(ends[0], graph.tensors), id_tensor(ends[1], graph.tensors)


def original_ids(graph: DistGraph, edges: Any, etype: EtypeName) -> Ids:
    """The numbers of edges in the raw graph."""
    number, wanted = edges_of(graph, etype, edges)
    found = np.empty_like(wanted)
    if len(wanted):
        _ask(graph, lib.tr_graph_original_edge_ids, number, wanted, id_pointer(found))
    return found


def degrees(graph: DistGraph, nodes: Any, etype: EtypeName, out: bool) -> Ids:
    """In-degrees or out-degrees along one edge type."""
    number, wanted = nodes_at(graph, etype, nodes, 0 if out else 1)
    found = np.empty_like(wanted)
    if len(wanted):
        call = lib.tr_graph_out_degrees if out else lib.tr_graph_in_degrees
        _ask(graph, call, number, wanted, id_pointer(found))
    return found


def edges_at(graph: DistGraph, nodes: Any, etype: EtypeName, out: bool) -> tuple[Ids, Ids, Ids]:
    """Sources, destinations and IDs of the in-edges or out-edges of nodes, node by node."""
    number, wanted = nodes_at(graph, etype, nodes, 0 if out else 1)
    counts = degrees(graph, wanted, etype, out)
    index = np.empty(len(wanted) + 1, dtype=np.int64)
    others = np.empty(int(counts.sum()), dtype=np.int64)
    ids = np.empty_like(others)
    if len(others) or out:  # which may be refused
        call = lib.tr_graph_out_edges if out else lib.tr_graph_in_edges
        into = id_pointer(index), id_pointer(others), id_pointer(ids)
        _ask(graph, call, number, wanted, len(others), *into)
    own = np.repeat(wanted, counts)
    return (own, others, ids) if out else (others, own, ids)


def edges_between(graph: DistGraph, u: Any, v: Any, etype: EtypeName) -> tuple[Ids, Ids, Ids]:
    """Sources, destinations, and the first edge from one to the other; `NO_EDGE`: there is none."""
    number, sources = nodes_at(graph, etype, u, 0)
    _, destinations = nodes_at(graph, etype, v, 1)
    # One node is paired with each of the others, as DGL has it.
    count = max(len(sources), len(destinations))
    if count != min(len(sources), len(destinations)) and 1 in (len(sources), len(destinations)):
        sources = np.ascontiguousarray(np.broadcast_to(sources, count))
        destinations = np.ascontiguousarray(np.broadcast_to(destinations, count))
    if len(sources) != len(destinations):
        raise errors.InvalidArgument(
            f"{len(sources)} sources and {len(destinations)} destinations make no pairs"
        )
    found = np.empty_like(sources)
    if len(sources):
        graph.session.waiter.call(
            lib.tr_graph_edges_between,
            graph.pointer(),
            number,
            id_pointer(sources),
            id_pointer(destinations),
            len(sources),
            FOREVER,
            ffi.cast("uint64_t *", found.ctypes.data),
        )
    return sources, destinations, found


def edge_ids(graph: DistGraph, u: Any, v: Any, etype: EtypeName) -> Ids:
    """The first edge of each pair, all of which have one."""
    sources, destinations, found = edges_between(graph, u, v, etype)
    none = np.flatnonzero(found == NO_EDGE)
    if len(none):
        at = int(none[0])
        name = graph.types.edge_name(graph.types.etype(etype))
        raise errors.NotFound(
            f"there is no {name} from {sources[at]} to {destinations[at]} (pair {at})"
        )
    return found
