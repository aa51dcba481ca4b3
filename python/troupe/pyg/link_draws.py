# SPDX-License-Identifier: Apache-2.0
"""Draws around pairs of nodes, with negatives beside them, as PyG's loaders of links have them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .. import errors
from ..arrays import Ids
from ..binding import lib
from ..edge_queries import find_edges
from ..negative_sampler import random_nodes
from ..seeds import EdgeSet, PairSet

if TYPE_CHECKING:
    from ..batch import Batch
    from ..graph import DistGraph
    from ..sampler import NeighborSampler

# Negatives are drawn by the seed of their batch and this, so that they are no numbers of its draws.
OF_NEGATIVES = 1


class Negatives(NamedTuple):
    """What PyG's NegativeSampling says."""

    is_triplet: bool
    amount: float


def negatives_of(neg_sampling: Any, ratio: Any = None) -> Negatives | None:
    """The negatives that a program asks for, in any of PyG's ways.

    Parameters
    ----------
    neg_sampling : NegativeSampling, "binary", "triplet", mapping, pair or None
    ratio : float, optional
        ``neg_sampling_ratio`` of PyG's: so many binary ones a pair, in the place of `neg_sampling`.
    """
    if ratio:
        neg_sampling = ("binary", ratio)
    if neg_sampling is None:
        return None
    names = ("mode", "amount", "src_weight", "dst_weight")
    if isinstance(neg_sampling, str):
        given: Mapping[str, Any] = {"mode": neg_sampling}
    elif isinstance(neg_sampling, Mapping):
        given = neg_sampling
    elif isinstance(neg_sampling, (tuple, list)):
        given = dict(zip(names, neg_sampling, strict=False))
    else:
        given = {name: getattr(neg_sampling, name, None) for name in names}
    unknown = [str(name) for name in given if name not in (*names, "weight")]
    if unknown:
        raise errors.InvalidArgument(
            f"neg_sampling: {', '.join(unknown)}: no such field; give {' and '.join(names[:2])}"
        )
    mode, amount = given.get("mode"), given.get("amount")
    mode, amount = getattr(mode, "value", mode), 1 if amount is None else amount
    if mode not in ("binary", "triplet"):
        raise errors.InvalidArgument(f"neg_sampling: mode {mode!r}; give 'binary' or 'triplet'")
    if any(given.get(name) is not None for name in ("weight", *names[2:])):
        raise errors.Unsupported(
            "neg_sampling: negatives are drawn evenly; weights of nodes are not there yet"
        )
    if isinstance(amount, (str, bytes)):
        raise TypeError(f"neg_sampling: amount={amount!r}; give a number above 0")
    if not 0 < amount < math.inf:
        raise errors.InvalidArgument(f"neg_sampling: amount={amount}; give a number above 0")
    if mode == "triplet" and amount != int(amount):
        raise errors.InvalidArgument(
            f"neg_sampling: amount={amount}; a triplet has a whole number of negatives"
        )
    return Negatives(mode == "triplet", amount)


class LinkDraw(NamedTuple):
    """A batch around pairs. Positions are those in the nodes of a type: int64."""

    batch: Batch
    # Of the n pairs and, behind them, of binary negatives.
    sources: Ids
    destinations: Ids
    # Of a triplet's: shape (n,), or (n, amount) of several.
    negatives: Ids | None


def draw_links(
    graph: DistGraph,
    sampler: NeighborSampler,
    etype: int,
    seeds: Ids | tuple[Ids, Ids],
    negatives: Negatives | None,
    seed: int,
    rule: Mapping[str, int] | None = None,
    **options: Any,
) -> LinkDraw:
    """Draws the neighbourhoods of all ends, each node once.

    The same pairs and seed give the same batch and negatives on any placement.

    Parameters
    ----------
    etype : the number of the edge type.
    seeds : global IDs of edges, or those of sources and destinations.
    negatives : binary ones are pairs of any node of the source type and any of the destination
        type, triplets have any nodes of the destination type.
    seed : of the random choices; not 0.
    rule : which edges the library leaves out, of `Exclusion.in_library`.
    **options : of `NeighborSampler.draw_pairs`.
    """
    links = dict(rule or {})
    if negatives is not None and negatives.is_triplet:
        links["num_negatives"] = int(negatives.amount)
        links["negatives"] = lib.TR_NEGATIVES_OF_PAIR
    elif negatives is not None:
        seeds = _with_pairs(graph, etype, seeds, negatives.amount, seed)
    pairs: EdgeSet | PairSet
    if isinstance(seeds, tuple):
        pairs = PairSet(graph, etype, *seeds)
    else:
        pairs = EdgeSet(graph, etype, "list", seeds)
    batch = sampler.draw_pairs(graph, pairs, links, seed=seed, **options)
    sources, destinations = (np.asarray(places) for places in batch.pairs)
    found = None
    if negatives is not None and negatives.is_triplet:
        found = np.asarray(batch.negative_pairs[1])
        found = found if negatives.amount == 1 else found.reshape(len(sources), -1)
    return LinkDraw(batch, sources, destinations, found)


def with_negatives(label: Any, count: int, draw: LinkDraw, negatives: Negatives | None) -> Any:
    """Labels of pairs and, behind them, of binary negatives, which have 0."""
    if negatives is None or negatives.is_triplet:
        return label
    import torch

    label = torch.ones(count) if label is None else label
    return torch.cat([label, label.new_zeros((len(draw.sources) - count, *label.shape[1:]))])


def _with_pairs(
    graph: DistGraph, etype: int, seeds: Ids | tuple[Ids, Ids], amount: float, seed: int
) -> tuple[Ids, Ids]:
    """The ends of pairs and, behind them, of ``ceil(amount * pairs)`` pairs of any nodes."""
    name = graph.types.canonical_etypes[etype]
    if not isinstance(seeds, tuple):
        sources, destinations = find_edges(graph, seeds, name)
        seeds = np.asarray(sources), np.asarray(destinations)
    rng = np.random.Generator(np.random.PCG64(np.random.SeedSequence([seed, OF_NEGATIVES])))
    count = math.ceil(amount * len(seeds[0]))
    # In this order: each call takes numbers of the generator.
    drawn = [random_nodes(graph, rng, name[end], count) for end in (0, 2)]
    return np.concatenate([seeds[0], drawn[0]]), np.concatenate([seeds[1], drawn[1]])
