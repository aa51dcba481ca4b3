# SPDX-License-Identifier: Apache-2.0
"""Negative samplers: pairs of nodes that stand for edges that are not there.

Nodes are drawn by their original IDs, from a number that the draws of a loader's batch are keyed
by, so the same seed gives the same pairs on any placement, whichever thread draws them.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from .arrays import Ids, Tensors, id_tensor
from .binding import lib
from .edge_queries import NO_EDGE, edges_between
from .errors import InvalidArgument
from .negative_pairs import ENDS, drawn_of, joined
from .seeds import EdgeSet

if TYPE_CHECKING:
    from .graph import DistGraph

Canonical = tuple[str, str, str]

# Attempts at pairs without an edge, of which GlobalUniform draws a few more than are missing.
ATTEMPTS = 3


class NegativeSampler:
    """What draws negative pairs; a program's own derives from it.

    A subclass defines ``_generate(g, eids, canonical_etype)``, which returns sources and
    destinations. Loaders call it on threads; random numbers that it takes of `random` are those of
    the batch.
    """

    def in_library(self) -> dict[str, int] | None:
        """Fields of ``struct tr_link_options`` by which the library draws these pairs; None: it
        does not."""
        return None

    def _generate(self, g: Any, eids: Any, canonical_etype: Canonical) -> tuple[Any, Any]:
        """Sources and destinations for edges of one type."""
        raise NotImplementedError(f"{type(self).__name__} defines no _generate()")

    def __call__(self, g: Any, eids: Any) -> Any:
        """Pairs for edges: sources and destinations, or a mapping of edge types to them.

        Parameters
        ----------
        g : the graph.
        eids : global IDs, or a mapping of edge types to them.
        """
        if isinstance(eids, Mapping):
            by_type = {g.to_canonical_etype(name): ids for name, ids in eids.items()}
            return {name: self._generate(g, ids, name) for name, ids in by_type.items()}
        return self._generate(g, eids, g.to_canonical_etype(None))


def random(g: DistGraph) -> np.random.Generator:
    """A generator whose numbers are those of the batch under way, or of the graph's next draw."""
    if not hasattr(g, "next_seed"):  # a graph of DGL's own
        import torch

        return np.random.default_rng(int(torch.randint(2**63 - 1, ())))
    return np.random.default_rng(g.next_seed())


def random_nodes(g: DistGraph, rng: np.random.Generator, ntype: str, count: int) -> Ids:
    """Global IDs of nodes of a type, each as likely as the others: the same on any placement."""
    drawn = rng.integers(0, g.num_nodes(ntype), count)
    return np.asarray(g.from_orig(drawn, ntype)) if hasattr(g, "from_orig") else drawn


def random_ends(
    g: DistGraph, rng: np.random.Generator, etype: Canonical, end: int, count: int
) -> Ids:
    """Sources (end 0) or destinations (1) of edges of a type, each edge as likely as the others."""
    if count == 0:
        return np.empty(0, np.int64)
    edges = rng.integers(0, g.num_edges(etype), count)
    if hasattr(g, "from_orig"):
        # By rank, so that they are the same edges on any placement.
        edges = EdgeSet(g, g.types.etype(etype), "all").read_at(edges)
    return np.asarray(g.find_edges(edges, etype=etype)[end])


def _check_k(k: Any) -> int:
    try:
        number = operator.index(k)
    except TypeError:
        raise TypeError(f"k={k!r}: give a whole number of negative pairs an edge") from None
    if not 1 <= number < 2**32:
        raise InvalidArgument(f"k={k}: give 1 or more negative pairs an edge, below 2^32")
    return number


class Corruption(NegativeSampler):
    """For each edge k pairs with other nodes in the place of its ends.

    Each node is as likely as the others. A pair may be an edge of the graph, and a node may be the
    edge's own.

    Parameters
    ----------
    k : int
    ends : "destinations", "sources", "either" or "both"
        The ends that are drawn. "either": the destination in the first half of an edge's pairs,
        which has one more of an odd number, and the source in the second. "both": pairs of any
        source and any destination.
    shared : bool
        Whether all edges of a batch have the same nodes, of which it has fewer so; scores of its
        pairs are products of matrices.
    no_edges : bool
        Whether a pair that is an edge of the graph is drawn again: 16 draws in all, the last of
        which stands. Not with `shared`.
    by_degree : bool
        Whether a destination is as likely as it has in-edges of the type, and a source as it has
        out-edges. In batches that a program makes, each node is a question for the graph.
    """

    def __init__(
        self,
        k: int,
        ends: str = "either",
        shared: bool = False,
        no_edges: bool = False,
        by_degree: bool = False,
    ) -> None:
        self.k = _check_k(k)
        self.ends = _check_ends(ends)
        self.shared = bool(shared)
        self.no_edges = bool(no_edges)
        self.by_degree = bool(by_degree)
        if self.shared and self.no_edges:
            raise InvalidArgument(
                "no_edges: a node that all edges of a batch share may make an edge with one of "
                "them; give shared=False"
            )

    def in_library(self) -> dict[str, int] | None:
        return _drawn_by(
            self, lib.TR_NEGATIVES_OF_BATCH if self.shared else lib.TR_NEGATIVES_OF_PAIR
        )

    def _generate(self, g: Any, eids: Any, canonical_etype: Canonical) -> tuple[Any, Any]:
        own = _ends_of(g, eids, canonical_etype)
        # As many as the library draws: none of no edges.
        groups, rng = min(len(own[0]), 1) if self.shared else len(own[0]), random(g)
        num_destinations, num_sources = drawn_of(self.ends, self.k)

        def drawn() -> tuple[Ids, Ids]:
            # In this order: each call takes numbers of the generator.
            targets = self._nodes(g, rng, canonical_etype, 1, groups * num_destinations)
            sources = self._nodes(g, rng, canonical_etype, 0, groups * num_sources)
            return joined(own, (sources, targets), self.ends, self.k)

        return _as_tensors(g, _drawn_again(g, canonical_etype, drawn, self.no_edges))

    def _nodes(
        self, g: Any, rng: np.random.Generator, etype: Canonical, end: int, count: int
    ) -> Ids:
        if self.by_degree:
            return random_ends(g, rng, etype, end, count)
        return random_nodes(g, rng, etype[2 * end], count)

    def __repr__(self) -> str:
        shared = ", shared=True" if self.shared else ""
        by = ", by_degree=True" if self.by_degree else ""
        return f"Corruption({self.k}, {self.ends!r}{shared}{_said(self.no_edges)}{by})"


class PerSourceUniform(Corruption):
    """For each edge (u, v), k pairs (u, w): w is any node of the destination type.

    A pair may be an edge of the graph, and w may be v.
    """

    def __init__(self, k: int) -> None:
        super().__init__(k, "destinations")

    def __repr__(self) -> str:
        return f"PerSourceUniform({self.k})"


Uniform = PerSourceUniform


class SharedUniform(Corruption):
    """For each edge (u, v), k pairs (u, w), where all edges of a batch have the same k nodes w.

    They are any nodes of the destination type. A batch has fewer nodes so, and scores of its pairs
    are one product of matrices.
    """

    def __init__(self, k: int) -> None:
        super().__init__(k, "destinations", shared=True)

    def __repr__(self) -> str:
        return f"SharedUniform({self.k})"


class InBatch(NegativeSampler):
    """For each edge k pairs with the ends of other edges of its batch, which has no nodes more.

    Each other edge is as likely as the others. A pair may be an edge of the graph, and is the edge
    itself where another edge ends in the same node. A batch of one edge has no pairs.

    Parameters
    ----------
    k : int
    ends : "destinations", "sources", "either" or "both"
        As of `Corruption`.
    no_edges : bool
        As of `Corruption`.
    """

    def __init__(self, k: int, ends: str = "destinations", no_edges: bool = False) -> None:
        self.k = _check_k(k)
        self.ends = _check_ends(ends)
        self.no_edges = bool(no_edges)

    def in_library(self) -> dict[str, int] | None:
        return _drawn_by(self, lib.TR_NEGATIVES_IN_BATCH)

    def _generate(self, g: Any, eids: Any, canonical_etype: Canonical) -> tuple[Any, Any]:
        own = _ends_of(g, eids, canonical_etype)
        count, rng = len(own[0]), random(g)
        if count < 2:
            none = np.empty(0, np.int64)
            return _as_tensors(g, (none, none))
        num_destinations, num_sources = drawn_of(self.ends, self.k)

        def drawn() -> tuple[Ids, Ids]:
            targets = own[1][_others(rng, count, num_destinations)]
            sources = own[0][_others(rng, count, num_sources)]
            return joined(own, (sources, targets), self.ends, self.k)

        return _as_tensors(g, _drawn_again(g, canonical_etype, drawn, self.no_edges))

    def __repr__(self) -> str:
        return f"InBatch({self.k}, {self.ends!r}{_said(self.no_edges)})"


def _said(no_edges: bool) -> str:
    return ", no_edges=True" if no_edges else ""


def _drawn_again(
    g: Any, canonical_etype: Canonical, drawn: Callable[[], tuple[Ids, Ids]], no_edges: bool
) -> tuple[Ids, Ids]:
    """What is drawn or, without edges, the first of so many draws of each pair that is none."""
    if not no_edges:
        return drawn()
    first = drawn()
    sources, targets = first[0].copy(), first[1].copy()
    for _ in range(int(lib.TR_NEGATIVE_TRIES) - 1):
        _, _, edges = edges_between(g, sources, targets, canonical_etype)
        left = np.flatnonzero(edges != NO_EDGE)
        if len(left) == 0:
            break
        again = drawn()
        sources[left], targets[left] = again[0][left], again[1][left]
    return sources, targets


def _others(rng: np.random.Generator, count: int, each: int) -> Ids:
    """So many other positions for each of the first `count`."""
    drawn = rng.integers(0, count - 1, (count, each))
    return (drawn + (drawn >= np.arange(count)[:, None])).reshape(-1)


def _ends_of(g: Any, eids: Any, canonical_etype: Canonical) -> tuple[Ids, Ids]:
    sources, targets = g.find_edges(eids, etype=canonical_etype)
    return np.asarray(sources), np.asarray(targets)


def _as_tensors(g: Any, pairs: tuple[Ids, Ids]) -> tuple[Any, Any]:
    tensors: Tensors = getattr(g, "tensors", "torch")
    return id_tensor(pairs[0], tensors), id_tensor(pairs[1], tensors)


def _check_ends(ends: str) -> str:
    if ends not in ENDS:
        raise InvalidArgument(f"ends={ends!r}: give one of {', '.join(ENDS)}")
    return ends


def _drawn_by(sampler: Corruption | InBatch, of: int) -> dict[str, int] | None:
    """None of what derives from a sampler of the package: it may draw otherwise."""
    if type(sampler) not in (Corruption, PerSourceUniform, SharedUniform, InBatch):
        return None
    return {
        "num_negatives": sampler.k,
        "negatives": of,
        "negative_ends": ENDS.index(sampler.ends),
        "no_edges": sampler.no_edges,
        "by": (
            lib.TR_NEGATIVES_BY_DEGREE
            if getattr(sampler, "by_degree", False)
            else lib.TR_NEGATIVES_UNIFORM
        ),
    }


class GlobalUniform(NegativeSampler):
    """Up to k pairs an edge, of any node of the source type and any of the destination type.

    Pairs that are edges of the graph are left out. Where these and those that came before leave
    too few, as in a small or dense graph, fewer pairs come.

    Parameters
    ----------
    k : int
    exclude_self_loops : bool
        Leave out pairs of a node with itself.
    replace : bool
        Whether a pair may come again.
    """

    def __init__(self, k: int, exclude_self_loops: bool = True, replace: bool = False) -> None:
        self.k = _check_k(k)
        self.exclude_self_loops = exclude_self_loops
        self.replace = replace

    def _generate(self, g: Any, eids: Any, canonical_etype: Canonical) -> tuple[Any, Any]:
        source_type, _, target_type = canonical_etype
        wanted, rng = len(eids) * self.k, random(g)
        pairs = np.empty((2, 0), np.int64)
        for _ in range(ATTEMPTS):
            missing = wanted - pairs.shape[1]
            if missing <= 0:
                break
            more = missing + missing // 5 + 1
            drawn = np.stack(
                [
                    random_nodes(g, rng, source_type, more),
                    random_nodes(g, rng, target_type, more),
                ]
            )
            if self.exclude_self_loops and source_type == target_type:
                drawn = drawn[:, drawn[0] != drawn[1]]
            _, _, edges = edges_between(g, drawn[0], drawn[1], canonical_etype)
            pairs = np.concatenate([pairs, drawn[:, edges == NO_EDGE]], 1)
            if not self.replace:
                _, first = np.unique(pairs, axis=1, return_index=True)
                pairs = pairs[:, np.sort(first)]
        pairs = np.ascontiguousarray(pairs[:, :wanted])
        return id_tensor(pairs[0], g.tensors), id_tensor(pairs[1], g.tensors)

    def __repr__(self) -> str:
        return f"GlobalUniform({self.k})"
