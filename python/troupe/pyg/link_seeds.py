# SPDX-License-Identifier: Apache-2.0
"""What a program names as the seeds of a loader of links, in any of PyG's ways and in ours."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from torch_geometric.data import HeteroData

from .. import errors
from ..arrays import Ids
from ..seeds import EdgeSet
from ..tables import Table
from .data_source import Source
from .unread import Unread, UnreadDict

if TYPE_CHECKING:
    from ..graph import DistGraph

# Edges of which a mask is read at once.
PIECE = 1 << 20


@dataclass(frozen=True)
class LinkSeeds:
    """Edges or pairs of one edge type: this trainer's own, or the job's."""

    etype: int
    # Global IDs of edges (a range where all are meant, which takes no memory), the ends of pairs,
    # or edges that the library shares out among the job's trainers.
    given: Ids | range | tuple[Ids, Ids] | EdgeSet

    @property
    def is_of_job(self) -> bool:
        """Whether the library shares them out."""
        return isinstance(self.given, EdgeSet)

    @property
    def are_edges(self) -> bool:
        """Whether they have IDs."""
        return not isinstance(self.given, tuple)

    def __len__(self) -> int:
        return len(self.given[0]) if isinstance(self.given, tuple) else len(self.given)

    def at(self, places: Ids) -> Ids | tuple[Ids, Ids]:
        """Those at some places, of which all edges of the job have their IDs."""
        given = self.given
        if isinstance(given, tuple):
            return given[0][places], given[1][places]
        if isinstance(given, range) or (isinstance(given, EdgeSet) and given.is_all):
            return places
        return np.asarray(given)[places]


def link_seeds(source: Source, data: Any, edge_label_index: Any, shuffle: bool) -> LinkSeeds:
    """The seeds that `edge_label_index` names.

    Raises
    ------
    NotFound
        The graph has no such edge type, or several and none is named.
    OutOfRange
        A node or an edge is none of the graph; the message names it.
    """
    graph = source.graph
    etype, edges = _named(edge_label_index)
    if isinstance(edges, EdgeSet):
        edges = edges.within(graph, True, edges.number)
        _check_type(graph, etype, edges.number)
        return LinkSeeds(edges.number, edges)
    if isinstance(edges, Table):
        graph.get_partition_book().check_of(edges, True, edges.number)
        _check_type(graph, etype, edges.number)
        etype = edges.type_name
    number = _number(graph, etype)
    name = graph.types.canonical_etypes[number]
    count = graph.num_edges(name)
    if isinstance(edges, Table):
        return LinkSeeds(number, EdgeSet(graph, number, "list", _masked(graph, number, edges)))
    if edges is None or _are_all(data, name, edges):
        if source.edge_numbers is not None:
            return LinkSeeds(number, _by_number(source, number))
        if shuffle or graph.world > 1:
            return LinkSeeds(number, EdgeSet(graph, number, "all"))
        return LinkSeeds(number, range(count))
    given = edges if hasattr(edges, "shape") else np.asarray(edges)
    if "uint8" in str(given.dtype):
        raise TypeError(
            "edge_label_index: rows of uint8 may be a mask or IDs; give the mask of the graph "
            "itself, mask.bool(), or IDs as int64"
        )
    if len(given.shape) == 2:
        if given.shape[0] != 2:
            raise errors.Mismatch(
                f"edge_label_index: of shape {tuple(given.shape)}; pairs have two rows, sources "
                "above destinations"
            )
        ends = graph.types.ends[number]
        sources, destinations = (
            graph.checked_ids(row, False, end) for row, end in zip(given, ends, strict=True)
        )
        return LinkSeeds(number, (sources, destinations))
    if "bool" in str(given.dtype):
        if given.shape != (count,):
            raise errors.Mismatch(
                f"edge_label_index: a mask of {len(given)} for {count} edges of type {name}"
            )
        given = np.flatnonzero(np.asarray(given))
    ids = graph.checked_ids(given, True, number)
    return LinkSeeds(
        number, ids if source.edge_numbers is None else _by_number(source, number)[ids]
    )


def _named(given: Any) -> tuple[Any, Any]:
    """The edge type and what is behind it, each None where nothing is said."""
    if isinstance(given, str):
        return given, None
    if isinstance(given, (tuple, list)) and given:
        if all(isinstance(word, str) for word in given):
            return tuple(given), None
        if len(given) == 2 and isinstance(given[0], (str, tuple, list)) and len(given[0]) > 0:
            name = given[0]
            if isinstance(name, str) or all(isinstance(word, str) for word in name):
                return name if isinstance(name, str) else tuple(name), given[1]
    return None, given


def _number(graph: DistGraph, etype: Any) -> int:
    """The number of an edge type, which PyG also names by its ends alone."""
    if isinstance(etype, tuple) and len(etype) == 2:
        found = [e for e in graph.canonical_etypes if (e[0], e[2]) == etype]
        etype = found[0] if len(found) == 1 else etype
    return graph.types.etype(etype)


def _check_type(graph: DistGraph, etype: Any, number: int) -> None:
    """Refuses an edge type beside edges of another one."""
    if etype is not None and _number(graph, etype) != number:
        named, held = (graph.types.canonical_etypes[n] for n in (_number(graph, etype), number))
        raise errors.Mismatch(f"edge_label_index: edges of {held} are given as those of {named}")


def _masked(graph: DistGraph, number: int, mask: Table) -> Ids:
    """The edges that a mask of the graph selects, in an order that is the same on any placement."""
    every, found = EdgeSet(graph, number, "all"), [np.empty(0, np.int64)]
    for first in range(0, len(every), PIECE):
        ids = every.read(first, min(PIECE, len(every) - first))
        found.append(ids[np.asarray(mask[ids]) != 0])
    return np.concatenate(found)


def _are_all(data: Any, etype: tuple[str, str, str], edges: Any) -> bool:
    """Whether this is the whole edge list of data, which need not be looked at."""
    store = data[etype] if isinstance(data, HeteroData) else getattr(data, "_store", None)
    mapping = getattr(store, "_mapping", None)
    if mapping is None or "edge_index" not in mapping:
        return False
    held = mapping.held("edge_index") if isinstance(mapping, UnreadDict) else mapping["edge_index"]
    return held.is_value(edges) if isinstance(held, Unread) else held is edges


def _by_number(source: Source, number: int) -> Ids:
    """The IDs in the partition of data's edges, by their numbers in the data."""
    assert source.edge_numbers is not None
    numbers = np.asarray(source.edge_numbers[number])
    ids = np.empty(len(numbers), np.int64)
    ids[numbers] = np.arange(len(numbers))
    return ids
