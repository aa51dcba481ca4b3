# SPDX-License-Identifier: Apache-2.0
"""How well a model of links ranks edges above pairs that are none, batch by batch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .errors import InvalidArgument

Rows = np.ndarray[Any, np.dtype[np.float64]]


class RankingEvaluator:
    """Ranks each edge among its negative pairs by their scores, and keeps sums alone.

    So memory does not grow with the edges, and trainers add up `totals`. An edge whose score some
    pairs share has the middle of their places: a model that scores all pairs alike gains nothing.

    Parameters
    ----------
    hits : sequence of int
        The numbers k of ``hits@k``.

    Examples
    --------
    >>> evaluator = troupe.RankingEvaluator(hits=[1, 3])
    >>> evaluator.update([0.9, 0.2], [[0.1, 0.3], [0.5, 0.1]])
    >>> evaluator.result()
    {'edges': 2, 'auc': 0.75, 'mrr': 0.75, 'hits@1': 0.5, 'hits@3': 1.0}
    """

    def __init__(self, hits: Sequence[int] = (1, 3, 10)) -> None:
        if any(k < 1 for k in hits):
            raise InvalidArgument(f"hits={list(hits)}: give numbers of 1 or more")
        self.hits = tuple(int(k) for k in hits)
        self._totals = np.zeros(3 + len(self.hits))

    def update(self, positive: Any, negative: Any) -> None:
        """Counts edges.

        Parameters
        ----------
        positive : scores of edges, shape ``(n,)``: a tensor, an array or a list.
        negative : scores of their negative pairs, shape ``(n, k)``, or ``(n * k,)`` in the order in
            which loaders give pairs.

        Raises
        ------
        InvalidArgument
            The shapes do not fit, or a score is not a number.
        """
        edges, others = _scores(positive, "positive"), _scores(negative, "negative")
        if edges.ndim != 1:
            raise InvalidArgument(f"positive: shape {edges.shape}; give one score an edge")
        if len(edges) == 0:
            return
        fits = others.size > 0 and others.size % len(edges) == 0
        if not fits or (others.ndim > 1 and len(others) != len(edges)):
            raise InvalidArgument(
                f"negative: shape {others.shape}; give as many scores for each of "
                f"{len(edges)} edges"
            )
        others = others.reshape(len(edges), -1)
        above = (others > edges[:, None]).sum(1) + (others == edges[:, None]).sum(1) / 2
        ranks = 1 + above
        within = [(ranks <= k).sum() for k in self.hits]
        auc = 1 - above / others.shape[1]
        self._totals += [len(edges), auc.sum(), (1 / ranks).sum(), *within]

    @property
    def totals(self) -> Rows:
        """Sums over the edges: how many, then of each figure of `result`; float64."""
        return self._totals.copy()

    def merge(self, totals: Any) -> None:
        """Adds the `totals` of another evaluator of the same hits, as of another trainer."""
        other = np.asarray(totals, np.float64)
        if other.shape != self._totals.shape:
            raise InvalidArgument(
                f"totals: shape {other.shape}; those of an evaluator of hits={list(self.hits)} "
                f"have {self._totals.shape}"
            )
        self._totals += other

    def result(self) -> dict[str, float]:
        """The figures so far.

        ``edges`` is their number. ``auc`` is the share of an edge's negative pairs that score below
        it, those that score the same counting half, in the mean over edges: the area under the ROC
        curve of each edge with its own pairs. ``mrr`` is the mean of 1 / rank, ``hits@k`` the share
        of ranks up to k. They are NaN before an edge came.
        """
        edges = self._totals[0]
        names = ["auc", "mrr", *(f"hits@{k}" for k in self.hits)]
        means = self._totals[1:] / edges if edges else np.full(len(names), np.nan)
        return {
            "edges": int(edges),
            **{name: float(mean) for name, mean in zip(names, means, strict=True)},
        }

    def __repr__(self) -> str:
        figures = (f"{k}={v:.4g}" for k, v in self.result().items())
        return f"RankingEvaluator({', '.join(figures)})"


def _scores(given: Any, name: str) -> Rows:
    """Scores as float64, also of a tensor that gradients are computed for."""
    if hasattr(given, "detach"):
        given = given.detach().cpu().double()  # NumPy has no bfloat16
    scores = np.asarray(given, np.float64)
    if np.isnan(scores).any():
        raise InvalidArgument(f"{name}: a score is not a number (NaN)")
    return scores
