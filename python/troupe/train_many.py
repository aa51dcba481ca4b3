# SPDX-License-Identifier: Apache-2.0
"""Several trainings, one after the other: of several seeds, and of several values of options."""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from .task import OnProgress
from .training import AnyPath, Event, Run, train

SCORES = ("accuracy", "macro_f1", "roc_auc", "mrr", "loss")


class Point:
    """What came of one choice of options.

    Attributes
    ----------
    options : dict
        The values of the options that were swept.
    runs : list of Run
        One a seed.
    """

    def __init__(self, options: dict[str, Any], runs: list[Run]) -> None:
        self.options, self.runs = options, runs

    def scores(self, split: str = "test", score: str = "accuracy") -> list[float]:
        """A score of each run whose "validation" or "test" nodes have one."""
        if split not in ("validation", "test"):
            raise ValueError(f"split={split!r}: give 'validation' or 'test'")
        if score not in SCORES:
            raise ValueError(f"score={score!r}: give one of {', '.join(map(repr, SCORES))}")
        found = [getattr(run, split) for run in self.runs]
        values = [float(getattr(scores, score)) for scores in found if scores is not None]
        return [value for value in values if math.isfinite(value)]

    def mean(self, split: str = "test", score: str = "accuracy") -> float:
        """Of the runs; NaN: none has the score."""
        return statistics.fmean(self.scores(split, score) or [math.nan])

    def deviation(self, split: str = "test", score: str = "accuracy") -> float:
        """The standard deviation of the runs (of a sample); NaN: fewer than two have the score."""
        values = self.scores(split, score)
        return statistics.stdev(values) if len(values) > 1 else math.nan

    def __repr__(self) -> str:
        chosen = ", ".join(f"{name}={value}" for name, value in self.options.items())
        test = f"test accuracy {self.mean():.4f} ± {self.deviation():.4f}"
        return f"Point({chosen or 'no option swept'}: {len(self.runs)} runs, {test})"


def train_many(
    graph: AnyPath,
    run: AnyPath,
    *,
    seeds: Sequence[int] = (0,),
    sweep: Mapping[str, Sequence[Any]] | None = None,
    progress: OnProgress = None,
    on_event: Callable[[Event], object] | None = None,
    **options: Any,
) -> list[Point]:
    """Trains once for each seed and each choice of options; as ``troupe train --seeds --sweep``.

    Parameters
    ----------
    graph : ``DIR/NAME.json``.
    run : the folder of the runs, which are at ``lr=0.01,hidden=64/seed-3`` below it.
    seeds : one a run, each named once.
    sweep : options and their values, each named once; every choice of them is tried, the last
        option changing fastest.
    progress, on_event, **options : as of `troupe.training.train`, for every run; those of
        ``tensorboard=`` have folders below it as they have below `run`.

    Returns
    -------
    list of Point
        In the order in which they were trained.
    """
    if not seeds:
        raise ValueError("seeds: give at least one")
    if "seed" in options:
        raise TypeError("give seeds= in place of seed=")
    _refuse_twice("seeds", seeds)
    board = options.pop("tensorboard", None)
    axes = dict(sweep or {})
    for name, values in axes.items():
        if name in options:
            raise TypeError(f"{name}: give it in sweep or as an option, not as both")
        if isinstance(values, str) or not values:
            raise ValueError(f"sweep: {name}: give a list of at least one value")
        _refuse_twice(f"sweep: {name}", values)
    points = []
    for values in itertools.product(*axes.values()):
        chosen = dict(zip(axes, values, strict=True))
        folder = Path(run) / _folder(chosen)
        folder.mkdir(parents=True, exist_ok=True)
        runs = [
            train(
                graph,
                folder / f"seed-{seed}",
                seed=seed,
                progress=progress,
                on_event=on_event,
                **options,
                **chosen,
                **_board(board, folder.relative_to(run) / f"seed-{seed}"),
            )
            for seed in seeds
        ]
        points.append(Point(chosen, runs))
    return points


def _board(board: AnyPath | None, below: Path) -> dict[str, Any]:
    """The option of a run, where there is a folder for TensorBoard."""
    return {} if board is None else {"tensorboard": Path(board) / below}


def _refuse_twice(what: str, values: Sequence[Any]) -> None:
    """A run that is trained twice would count twice in the mean and the deviation."""
    seen: list[Any] = []
    for value in values:
        plain = list(value) if isinstance(value, tuple) else value
        if plain in seen:
            raise ValueError(f"{what}: {value!r} is named twice; name each value once")
        seen.append(plain)


def _folder(chosen: Mapping[str, Any]) -> str:
    """The name of a choice's folder, without what would lead into another one."""

    def shown(value: Any) -> str:
        text = ",".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)
        return text.replace("/", "_")

    return ",".join(f"{name.replace('_', '-')}={shown(value)}" for name, value in chosen.items())
