# SPDX-License-Identifier: Apache-2.0
"""An epoch of the script of DGL's guide, unchanged, on DGL and under ``python -m troupe.dgl``.

DGL's has a server of the partition and one trainer, as its launcher starts them; Troupe's is one
process. Each runs with the machine's cores, once a round, for two epochs, of which the second
counts: seconds that pass from the first batch's request to the last step. In the same rounds DGL's
runs with its allocator tuned as Troupe tunes its own process.
"""

from __future__ import annotations

import os
import re
import statistics
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from big_graph import CLASSES, BigGraph
from compare_loaders import dgl_job, free_port
from environment import HERE
from processes import Failed, Side
from rows import Row, compared
from workplace import TUNED, Workplace

EPOCHS = 2
EPOCH_LINE = re.compile(r"Epoch Time\(s\): ([0-9.]+), sample\+data_copy: ([0-9.]+)")
INFERENCE_LINE = re.compile(r"Val Acc .* time: ([0-9.]+)")


@dataclass
class Shape:
    """Options of the script."""

    label: str
    options: dict[str, Any]


SHAPES = [
    Shape(
        "3 layers, hidden 256, fanout 5,10,15, batch 1024",
        {"num_layers": 3, "num_hidden": 256, "fan_out": "5,10,15", "batch_size": 1024},
    ),
    Shape(
        "its defaults (2 layers, hidden 16, fanout 10,25, batch 1000)",
        {"num_layers": 2, "num_hidden": 16, "fan_out": "10,25", "batch_size": 1000},
    ),
]
ON_DGL = {"as it comes": {}, "allocator tuned alike": TUNED}
# Two thirds and a third of the time.
GOALS = {"as it comes": 3.0, "allocator tuned alike": 1.5}


def _script(place: Workplace, book: Any, hosts: str, shape: Shape) -> list[str]:
    fixed = {
        "graph_name": "g",
        "part_config": book,
        "ip_config": hosts,
        "n_classes": CLASSES,
        "num_epochs": EPOCHS,
        "log_every": 10**6,
        "eval_every": 10**6,
    }
    options = [f"--{name}={value}" for name, value in {**fixed, **shape.options}.items()]
    return [str(place.environment.guide), *options]


def _start(place: Workplace, graph: BigGraph, shape: Shape, on: str | None) -> Side:
    """The script on DGL, tuned or not, or over Troupe (None)."""
    if on is not None and graph.dgl_note:
        raise Failed(graph.dgl_note)
    side = place.side(f"guide-{'troupe' if on is None else 'dgl-' + on.split()[0]}")
    threads = len(os.sched_getaffinity(0))
    alone = {"RANK": "0", "WORLD_SIZE": "1", "LOCAL_RANK": "0"}
    alone |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port())}
    more = {**place.environment.variables(threads), **alone}
    if on is None:
        script = _script(place, graph.parts / "g.json", "none", shape)
        side.start([place.environment.python, "-m", "troupe.dgl", *script], more, answers=True)
        return side
    book = graph.dgl_parts / "g.json"
    job = dgl_job(place.folder / "job", book)
    script = _script(place, book, job["DGL_IP_CONFIG"], shape)
    command = [place.environment.python, HERE / "work/run_on_dgl.py", *script]
    more |= {**job, **ON_DGL[on]}
    side.start(command, {**more, "DGL_ROLE": "server"}, answers=False)
    side.start(command, {**more, "DGL_ROLE": "client"}, answers=True)
    return side


@dataclass
class Epoch:
    """What the last epoch took: seconds passed, those waited for batches, and computed."""

    seconds: float
    sampling: float
    cpu: float
    inference: float | None
    bytes: int


def _epoch(place: Workplace, graph: BigGraph, shape: Shape, on: str | None, infer: bool) -> Epoch:
    """Runs the script until its last epoch is over, or until inference is."""
    side = _start(place, graph, shape, on)
    epochs: list[tuple[float, float, float]] = []
    inference = None
    try:
        for line in side.lines():
            if found := EPOCH_LINE.search(line):
                epochs.append((float(found[1]), float(found[2]), side.cpu()))
                if len(epochs) == EPOCHS and not infer:
                    break
            elif found := INFERENCE_LINE.search(line):
                inference = float(found[1])
                break
        if len(epochs) < EPOCHS or (infer and inference is None):
            raise Failed(side.why())
        if not infer:
            side.kill()  # its inference would follow
    finally:
        place.bound.end(side)
    seconds, sampling, cpu = epochs[-1]
    return Epoch(seconds, sampling, cpu - epochs[-2][2], inference, side.peak)


def _rows(
    graph: BigGraph, shape: Shape, found: dict[str | None, list[Epoch]], notes: dict[str, str]
) -> Iterator[Row]:
    what = f"an epoch of the guide's script: {shape.label}"
    for on in ON_DGL:
        row = Row("guide", what, "s", f"DGL, {on}", "`python -m troupe.dgl`", goal=GOALS[on])
        ours = found[None]
        row.ours_value = statistics.median(one.seconds for one in ours) if ours else None
        row.note = notes.get(on, "")
        theirs = found[on]
        if theirs and len(theirs) == len(ours):
            pairs = [one.seconds for one in theirs], [one.seconds for one in ours]
            vars(row).update(compared(*pairs, seconds=True))
            row.more["ratio_computed"] = compared(
                [one.cpu for one in theirs], [one.cpu for one in ours], seconds=True
            )["ratio"]
        row.more["peer_rounds"] = [vars(one) for one in theirs]
        row.more["ours_rounds"] = [vars(one) for one in ours]
        yield row


def compare(place: Workplace, graph: BigGraph, rounds: int, infer: bool) -> Iterator[Row]:
    """Rows of each shape, for DGL as it comes and tuned."""
    for shape in SHAPES:
        print(f"The guide's script: {shape.label} ...", file=sys.stderr)
        found: dict[str | None, list[Epoch]] = {None: [], **{on: [] for on in ON_DGL}}
        notes: dict[str, str] = {}
        for _ in range(rounds):
            for on in [*ON_DGL, None]:
                if on in notes:
                    continue
                try:
                    found[on].append(_epoch(place, graph, shape, on, infer))
                except Failed as failed:
                    if on is None:
                        raise
                    notes[on] = str(failed)
        yield from _rows(graph, shape, found, notes)
