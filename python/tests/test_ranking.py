# SPDX-License-Identifier: Apache-2.0
"""Ranks of edges among their negative pairs, against counting one by one."""

from __future__ import annotations

import doctest
import math

import numpy as np
import pytest

import troupe
from troupe import errors


def plainly(positive: np.ndarray, negative: np.ndarray, hits: list[int]) -> dict[str, float]:
    ranks, shares = [], []
    for score, others in zip(positive, negative, strict=True):
        wins = [1.0 if other < score else 0.5 if other == score else 0.0 for other in others]
        shares.append(sum(wins) / len(wins))
        ranks.append(1 + len(wins) - sum(wins))
    return {
        "edges": len(ranks),
        "auc": sum(shares) / len(ranks),
        "mrr": sum(1 / rank for rank in ranks) / len(ranks),
        **{f"hits@{k}": sum(rank <= k for rank in ranks) / len(ranks) for k in hits},
    }


def test_figures_are_those_of_counting() -> None:
    random = np.random.default_rng(5)
    # Few different scores, so that many are shared.
    positive, negative = random.integers(0, 9, 700) / 8, random.integers(0, 7, (700, 12)) / 8
    hits = [1, 2, 5]
    whole = troupe.RankingEvaluator(hits=hits)
    whole.update(positive, negative)
    assert whole.result() == pytest.approx(plainly(positive, negative, hits))
    pieces = [troupe.RankingEvaluator(hits=hits) for _ in range(3)]
    for piece, at in zip(pieces, np.array_split(np.arange(700), 3), strict=True):
        for some in np.array_split(at, 7):
            piece.update(positive[some].tolist(), negative[some].reshape(-1))
    for other in pieces[1:]:
        pieces[0].merge(other.totals)
    assert pieces[0].result() == pytest.approx(whole.result())


def test_scores_that_are_all_alike_gain_nothing() -> None:
    evaluator = troupe.RankingEvaluator(hits=[1])
    evaluator.update(np.zeros(5), np.zeros((5, 4)))
    assert evaluator.result() == {"edges": 5, "auc": 0.5, "mrr": 1 / 3, "hits@1": 0.0}


def test_tensors_with_gradients_are_taken() -> None:
    torch = pytest.importorskip("torch")
    evaluator = troupe.RankingEvaluator()
    evaluator.update(torch.ones(3, requires_grad=True), torch.zeros(6, requires_grad=True))
    assert evaluator.result()["auc"] == 1.0 and "edges=3" in repr(evaluator)
    narrow = [torch.tensor(scores).bfloat16() for scores in ([0.5, 0.5], [[0.25], [0.75]])]
    evaluator.update(*narrow)
    assert evaluator.result()["auc"] == 0.8


def test_before_an_edge_came_there_are_no_figures() -> None:
    evaluator = troupe.RankingEvaluator()
    evaluator.update([], [])
    assert evaluator.result()["edges"] == 0 and math.isnan(evaluator.result()["mrr"])


@pytest.mark.parametrize(
    ("positive", "negative", "text"),
    [
        ([[1.0]], [1.0], "positive: shape"),
        ([1.0, 2.0], [1.0, 2.0, 3.0], "negative: shape"),
        ([1.0, 2.0], [], "negative: shape"),
        ([1.0, 2.0], [[1.0], [2.0], [3.0], [4.0]], "negative: shape"),
        ([math.nan], [1.0], "positive: a score is not a number"),
        ([1.0], [math.nan], "negative: a score is not a number"),
    ],
)
def test_what_does_not_fit_is_refused(positive: list, negative: list, text: str) -> None:
    evaluator = troupe.RankingEvaluator()
    with pytest.raises(errors.InvalidArgument, match=text):
        evaluator.update(positive, negative)
    assert evaluator.result()["edges"] == 0
    with pytest.raises(errors.InvalidArgument, match="hits"):
        troupe.RankingEvaluator(hits=[0])
    with pytest.raises(errors.InvalidArgument, match="totals: shape"):
        evaluator.merge([1.0])


def test_the_example_holds() -> None:
    (example,) = doctest.DocTestFinder(recurse=False).find(
        troupe.RankingEvaluator, "RankingEvaluator", globs={"troupe": troupe}
    )
    assert doctest.DocTestRunner(verbose=False).run(example).failed == 0
