# SPDX-License-Identifier: Apache-2.0
"""Draws of so many edges of a node over all edge types together, as ``sample_neighbors`` of DGL.

The library draws these evenly. Here they are drawn by a feature, weights or a mask: all edges of
the seeds, in or out, are asked for and chosen from, which costs their degrees.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import edge_queries, errors
from ..arrays import Ids, id_tensor
from ..sampler import excluded_edges

if TYPE_CHECKING:
    from .dist_graph import DistGraph

Array = np.ndarray[Any, Any]
Edges = tuple[Any, Any, Any]


def edges_in_total(
    graph: DistGraph,
    seeds: Mapping[str, Any],
    fanout: int,
    replace: bool,
    exclude: Any,
    prob: str,
    edge_dir: str,
) -> dict[int, Edges]:
    """What is drawn for seeds by node type: sources, destinations and IDs by edge type.

    Each occurrence of a seed draws by itself. Edges of `exclude` are left out first.
    """
    if fanout < -1:
        raise errors.InvalidArgument(f"fanout={fanout}: give -1 for all, or 0 and more")
    if not any(prob in graph.tables_of(True, n) for n in range(len(graph.types.etypes))):
        raise errors.NotFound(f"prob={prob!r}: no edge type has a feature of that name")
    excluded, kinds = excluded_edges(graph, exclude)
    if edge_dir not in ("in", "out"):
        raise errors.InvalidArgument(f"edge_dir={edge_dir!r}: give 'in' or 'out'")
    out = edge_dir == "out"
    found: dict[int, Edges] = {}
    for name, ids in seeds.items():
        ntype = graph.types.ntype(name)
        nodes = graph.checked_ids(ids, False, ntype)
        rng = np.random.default_rng(graph.next_seed())
        pieces = [
            _edges_of(graph, nodes, number, excluded[kinds == number], prob, out)
            for number, ends in enumerate(graph.types.ends)
            if ends[0 if out else 1] == ntype
        ]
        if not pieces:
            continue
        numbers, places, others, edges, weights = map(np.concatenate, zip(*pieces, strict=True))
        chosen = _choose(rng, places, weights, len(nodes), fanout, replace)
        for number in np.unique(numbers[chosen]).tolist():
            own = chosen[numbers[chosen] == number]
            parts = others[own], nodes[places[own]], edges[own]
            other, drew, of = (id_tensor(ids, graph.tensors) for ids in parts)
            found[number] = (drew, other, of) if out else (other, drew, of)
    return found


def _edges_of(
    graph: DistGraph, nodes: Ids, number: int, excluded: Ids, prob: str, out: bool
) -> tuple[Array, ...]:
    """Edges of one type: its number, places of their nodes, nodes at their other ends, IDs and
    weights, each where it may be drawn."""
    etype = graph.types.canonical_etypes[number]
    sources, destinations, edges = edge_queries.edges_at(graph, nodes, etype, out)
    others = destinations if out else sources
    counts = edge_queries.degrees(graph, nodes, etype, out)
    places = np.repeat(np.arange(len(nodes)), counts)
    weights = np.ones(len(edges))
    if prob in graph.tables_of(True, number):
        if graph.tables_of(True, number)[prob].width != 1:
            raise errors.InvalidArgument(
                f"feature {prob!r} of {graph.types.edge_name(number)}s has several numbers an "
                "edge: weights have one"
            )
        rows = np.asarray(graph.edges[etype].data[prob][edges]).reshape(len(edges))
        # A mask says which edges may be drawn, whatever its numbers are.
        weights = (rows != 0 if rows.dtype in ("bool", "uint8") else rows).astype(np.float64)
        wrong = np.flatnonzero(~((weights >= 0) & (weights < np.inf)))
        if len(wrong):
            at = int(wrong[0])
            raise errors.InvalidArgument(
                f"feature {prob!r} of {graph.types.edge_name(number)} {edges[at]} is "
                f"{weights[at]}: weights are finite and not negative"
            )
    kept = (weights > 0) & ~np.isin(edges, excluded)
    kinds = np.full(len(edges), number)
    return tuple(of[kept] for of in (kinds, places, others, edges, weights))


def _choose(
    rng: np.random.Generator,
    places: Array,
    weights: Array,
    num_places: int,
    fanout: int,
    replace: bool,
) -> Array:
    """Which edges are drawn, node by node."""
    by_place = np.argsort(places, kind="stable")
    if fanout == -1:
        return by_place
    counts = np.bincount(places, minlength=num_places)
    begins = np.cumsum(counts) - counts
    if replace:
        # Shares of each node's own weights: beside those of a heavy node, light ones would be lost.
        shares = weights / np.bincount(places, weights, num_places)[places]
        sums = np.cumsum(shares[by_place])
        below = np.concatenate([[0.0], sums])[begins]
        total = np.concatenate([[0.0], sums])[begins + counts] - below
        drawing = np.repeat(np.flatnonzero(counts), fanout)
        wanted = below[drawing] + rng.random(len(drawing)) * total[drawing]
        at = np.searchsorted(sums, wanted, side="right")
        # A sum that was rounded may be that of the next node.
        last = (begins + counts - 1)[drawing]
        chosen: Array = by_place[np.clip(at, begins[drawing], last)]
        return chosen
    # The least of exponential keys are drawn one after the other in proportion to the weights.
    keys = rng.exponential(size=len(places)) / weights
    order: Array = np.lexsort((keys, places))
    ranks = np.arange(len(order)) - np.repeat(begins, counts)
    least: Array = order[ranks < fanout]
    return least
