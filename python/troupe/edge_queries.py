# SPDX-License-Identifier: Apache-2.0
"""Questions about edges of the whole graph, whichever process owns them: calls of `DistGraph`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

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


class Subgraph(NamedTuple):
    """Edges, and of a subgraph with nodes of its own which these are."""

    # Sources, destinations and IDs, by the numbers of edge types.
    edges: dict[int, tuple[Ids, Ids, Ids]]
    # Global IDs by the numbers of node types; empty where sources and destinations are such.
    nodes: dict[int, Ids]


def _joined(parts: Iterable[Ids]) -> Ids:
    return np.concatenate([np.empty(0, np.int64), *parts])


def _counts(count: int, found: Mapping[int, Ids]) -> Any:
    return ffi.new("size_t[]", [len(found.get(number, ())) for number in range(count)])


def _split(rows: Ids, counts: Iterable[int]) -> list[Ids]:
    return np.split(rows, np.cumsum(list(counts))[:-1])


def edge_subgraph(graph: DistGraph, edges: Mapping[int, Any]) -> Subgraph:
    """The subgraph of edges, by the numbers of their types, with numbers of nodes in their places.

    Nodes stand in the order in which the edges have them, sources of a type before destinations.
    """
    types = graph.types
    wanted = {number: graph.checked_ids(ids, True, number) for number, ids in edges.items()}
    ids = _joined(wanted[number] for number in sorted(wanted))
    counts, found = _counts(len(types.etypes), wanted), ffi.new("size_t[]", len(types.ntypes))
    sources, destinations, nodes = (np.empty(n * len(ids), np.int64) for n in (1, 1, 2))
    into = id_pointer(sources), id_pointer(destinations), id_pointer(nodes), found
    graph.session.waiter.call(
        lib.tr_graph_edge_subgraph, graph.pointer(), id_pointer(ids), counts, FOREVER, *into
    )
    ends = (_split(rows, counts) for rows in (sources, destinations, ids))
    by_type = dict(enumerate(zip(*ends, strict=True)))
    of_nodes = _split(nodes[: sum(found)], found)
    return Subgraph({number: by_type[number] for number in wanted}, dict(enumerate(of_nodes)))


def in_subgraph(graph: DistGraph, nodes: Mapping[int, Any]) -> Subgraph:
    """All in-edges of nodes, by the numbers of their types; their ends are global IDs."""
    types = graph.types
    wanted = {number: graph.checked_ids(ids, False, number) for number, ids in nodes.items()}
    ids = _joined(wanted[number] for number in sorted(wanted))
    room = sum(
        int(degrees(graph, wanted[target], types.canonical_etypes[number], False).sum())
        for number, (_, target) in enumerate(types.ends)
        if target in wanted
    )
    counts, found = _counts(len(types.ntypes), wanted), ffi.new("size_t[]", len(types.etypes))
    rows = [np.empty(room, np.int64) for _ in range(3)]
    into = room, found, *map(id_pointer, rows)
    graph.session.waiter.call(
        lib.tr_graph_in_subgraph, graph.pointer(), id_pointer(ids), counts, FOREVER, *into
    )
    by_type = enumerate(zip(*(_split(part, found) for part in rows), strict=True))
    return Subgraph({number: edges for number, edges in by_type if found[number]}, {})


def edges_between(graph: DistGraph, u: Any, v: Any, etype: EtypeName) -> tuple[Ids, Ids, Ids]:
    """Sources, destinations, and the first edge from one to the other; `NO_EDGE`: there is none."""
    number, sources = nodes_at(graph, etype, u, 0)
    _, destinations = nodes_at(graph, etype, v, 1)
    # One node is paired with each of the others, as DGL has it.
    if len(sources) == 1:
        sources = np.repeat(sources, len(destinations))
    elif len(destinations) == 1:
        destinations = np.repeat(destinations, len(sources))
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
