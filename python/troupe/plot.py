# SPDX-License-Identifier: Apache-2.0
"""Pictures of runs and of partitions, by matplotlib, which is imported when one is drawn.

Every function returns a figure of matplotlib: ``figure.savefig("losses.png")``, or shown as it is
in a notebook.
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from .binding import call, ffi, lib, made
from .runs import RunRecord, open_run

AnyPath = str | os.PathLike[str]
AnyRun = AnyPath | RunRecord

AGAINST = ("steps", "seconds", "epochs")
LABELS = {
    "train_loss": "Training loss",
    "loss": "Validation loss",
    "accuracy": "Validation accuracy",
    "macro_f1": "Validation macro-F1",
    "roc_auc": "Validation ROC AUC",
    "mrr": "Validation MRR",
}
# Edges that are looked at in one piece.
PIECE = 1 << 22


def _pyplot() -> Any:
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError(
            "troupe.plot draws with matplotlib: install it (Debian: python3-matplotlib)"
        ) from error
    return pyplot


def _records(runs: AnyRun | Sequence[AnyRun]) -> list[RunRecord]:
    listed: Sequence[AnyRun]
    listed = [runs] if isinstance(runs, (str, os.PathLike, RunRecord)) else runs
    return [run if isinstance(run, RunRecord) else open_run(run) for run in listed]


def _positions(run: RunRecord, against: str) -> list[float]:
    """Where each epoch's end stands on the axis."""
    at, positions = 0.0, []
    for epoch in run.epochs:
        if against == "epochs":
            at = float(epoch.epoch)
        elif against == "steps":
            at += float(epoch.steps)
        else:
            at += epoch.seconds if math.isfinite(epoch.seconds) else 0.0
        positions.append(at)
    return positions


def _points(run: RunRecord, against: str, score: str) -> list[tuple[float, float]]:
    points = []
    for at, epoch in zip(_positions(run, against), run.epochs, strict=True):
        if score == "train_loss":
            value = epoch.train_loss
        elif epoch.validation is not None:
            value = getattr(epoch.validation, score)
        else:
            continue
        if math.isfinite(value):
            points.append((at, value))
    return points


def curves(
    runs: AnyRun | Sequence[AnyRun],
    *,
    against: str = "steps",
    scores: Sequence[str] | None = None,
) -> Any:
    """Losses and scores of runs, a picture each, a line a run.

    Parameters
    ----------
    runs : the folder of a run or a `RunRecord`, or several.
    against : "steps", "seconds" or "epochs".
    scores : of "train_loss", "loss", "accuracy", "macro_f1", "roc_auc" and "mrr" (all but the first
        of the validation nodes); None: those that a run has.
    """
    if against not in AGAINST:
        raise ValueError(f"against={against!r}: give one of {', '.join(map(repr, AGAINST))}")
    for score in scores or ():
        if score not in LABELS:
            raise ValueError(f"scores: {score!r}: give some of {', '.join(map(repr, LABELS))}")
    records = _records(runs)
    lines = {
        score: [(run.path, _points(run, against, score)) for run in records]
        for score in scores or LABELS
    }
    shown = {k: v for k, v in lines.items() if scores or any(points for _, points in v)}
    shown = shown or {"train_loss": lines["train_loss"]}
    figure, axes = _pyplot().subplots(
        1, len(shown), figsize=(4.5 * len(shown), 3.6), squeeze=False, layout="constrained"
    )
    for axis, (score, by_run) in zip(axes[0], shown.items(), strict=True):
        for path, points in by_run:
            x, y = [p[0] for p in points], [p[1] for p in points]
            axis.plot(x, y, label=path, marker="o" if len(points) < 20 else None, markersize=3)
        axis.set_title(LABELS[score])
        axis.set_xlabel(against)
        axis.grid(alpha=0.3)
    if len(records) > 1:
        axes[0][0].legend(fontsize="small")
    return figure


def partition_figures(path: AnyPath) -> dict[str, np.ndarray[Any, Any]]:
    """Numbers a partition of a graph, whose files are mapped and read once.

    Parameters
    ----------
    path : ``DIR/NAME.json``.

    Returns
    -------
    dict
        "nodes" and "edges" that each partition owns, "halo": nodes of others in its lists, and
        "cut": its edges that come from nodes of other partitions.
    """
    from .graph import DistGraph

    with DistGraph(part_config=path, map_files=True) as graph:
        book = graph.get_partition_book()
        parts = book.num_partitions()
        names = ("nodes", "edges", "halo", "cut")
        found = {name: np.zeros(parts, dtype=np.int64) for name in names}
        for part in range(parts):
            figures = made("tr_part_info")
            call(lib.tr_book_part, book.pointer(), part, figures)
            found["nodes"][part] = figures.num_nodes
            found["edges"][part] = figures.num_edges
            found["halo"][part] = figures.halo_nodes
            for etype, name in enumerate(book.canonical_etypes):
                own = book.node_range(part, name[0])
                found["cut"][part] += _foreign(graph, part, etype, own.start, own.stop)
    return found


def _foreign(graph: Any, part: int, etype: int, begin: int, end: int) -> int:
    """How many edges of a type into a partition come from outside these nodes."""
    edges = made("tr_part_edges")
    call(lib.tr_graph_part_edges, graph.pointer(), part, etype, edges)
    foreign = 0
    for first in range(0, edges.num_edges, PIECE):
        count = min(PIECE, edges.num_edges - first)
        sources: np.ndarray[Any, Any] = np.frombuffer(
            ffi.buffer(edges.sources + first, count * 4), dtype=np.uint32
        )
        if edges.source_ids != ffi.NULL:
            most = int(sources.max()) + 1
            ids = np.frombuffer(ffi.buffer(edges.source_ids, most * 8), dtype=np.uint64)
            sources = ids[sources]
        foreign += int(np.count_nonzero((sources < begin) | (sources >= end)))
    return foreign


def partitions(path: AnyPath) -> Any:
    """How a graph is partitioned: how even nodes and edges are, the halo, and the edges cut.

    Parameters
    ----------
    path : ``DIR/NAME.json``; its partitions have to be here.
    """
    figures = partition_figures(path)
    titles = {
        "nodes": "Nodes owned",
        "edges": "Edges owned",
        "halo": "Halo nodes",
        "cut": "Edges cut",
    }
    figure, axes = _pyplot().subplots(1, 4, figsize=(15, 3.4), layout="constrained")
    for axis, (name, title) in zip(axes, titles.items(), strict=True):
        counts = figures[name]
        axis.bar(np.arange(len(counts)), counts)
        axis.axhline(float(counts.mean()), color="0.4", linestyle="--", linewidth=1)
        axis.set_title(title)
        axis.set_xlabel("partition")
        axis.xaxis.get_major_locator().set_params(integer=True)
    axes[3].set_ylabel(f"{figures['cut'].sum() / max(1, figures['edges'].sum()):.1%} of all")
    return figure


__all__ = ["curves", "partition_figures", "partitions"]
