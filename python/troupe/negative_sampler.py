# SPDX-License-Identifier: Apache-2.0
"""Negative samplers: pairs of nodes that stand for edges that are not there.

Nodes are drawn by their original IDs, from a number that the draws of a loader's batch are keyed
by, so the same seed gives the same pairs on any placement, whichever thread draws them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from .arrays import Ids, Tensors, id_tensor
from .edge_queries import NO_EDGE, edges_between
from .errors import InvalidArgument

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


def _check_k(k: int) -> int:
    if k < 1:
        raise InvalidArgument(f"k={k}: give 1 or more negative pairs an edge")
    return int(k)


class PerSourceUniform(NegativeSampler):
    """For each edge (u, v), k pairs (u, w): w is any node of the destination type.

    A pair may be an edge of the graph, and w may be v.
    """

    def __init__(self, k: int) -> None:
        self.k = _check_k(k)

    def _generate(self, g: Any, eids: Any, canonical_etype: Canonical) -> tuple[Any, Any]:
        sources, _ = g.find_edges(eids, etype=canonical_etype)
        count = len(sources) * self.k
        drawn = random_nodes(g, random(g), canonical_etype[2], count)
        tensors: Tensors = getattr(g, "tensors", "torch")
        return (
            id_tensor(np.repeat(np.asarray(sources), self.k), tensors),
            id_tensor(drawn, tensors),
        )

    def __repr__(self) -> str:
        return f"PerSourceUniform({self.k})"


Uniform = PerSourceUniform


class SharedUniform(NegativeSampler):
    """For each edge (u, v), k pairs (u, w), where all edges of a batch have the same k nodes w.

    They are any nodes of the destination type. A batch has fewer nodes so, and scores of its pairs
    are one product of matrices.
    """

    def __init__(self, k: int) -> None:
        self.k = _check_k(k)

    def _generate(self, g: Any, eids: Any, canonical_etype: Canonical) -> tuple[Any, Any]:
        sources, _ = g.find_edges(eids, etype=canonical_etype)
        drawn = random_nodes(g, random(g), canonical_etype[2], self.k)
        tensors: Tensors = getattr(g, "tensors", "torch")
        return (
            id_tensor(np.repeat(np.asarray(sources), self.k), tensors),
            id_tensor(np.tile(drawn, len(sources)), tensors),
        )

    def __repr__(self) -> str:
        return f"SharedUniform({self.k})"


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
