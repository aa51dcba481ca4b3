# SPDX-License-Identifier: Apache-2.0
"""The loader of Python beside the C loader, in turns on one graph and session.

    PYTHONPATH=build/python/lib TROUPE=build/troupe python3 python/bench/loader.py [--rounds N]
        [--nodes N] [--edges N] [--batches N]

Batches of 1024 seeds with fanout 5,10,15 and their features and labels. The C loader's are taken
and released one by one by the library's calls alone; Python's are taken as a training takes them,
with their features, labels and the edges of each block as tensors. Prints two lines of JSON:

- ``python_loader``: batches a second; the ratio is to be 0.95 at least, on a machine with nothing
  else to do;
- ``python_loader_cost``: what the training thread computes more for a batch than by the library's
  calls, beside all that the process computes for it; at most 0.05, however busy the machine is.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

import troupe
from troupe.binding import FOREVER, ffi, lib

FANOUTS = [5, 10, 15]


def graph_of(folder: Path, nodes: int, edges: int) -> Path:
    command = os.environ.get("TROUPE", "troupe")
    raw, parts = folder / "raw", folder / "parts"
    sizes = ["--nodes", nodes, "--edges", edges, "--features", 100, "--classes", 47, "--seed", 1]
    for words in (
        ["generate", "skew", *sizes, "--out", raw],
        ["partition", raw, "--parts", 1, "--method", "random", "--out", parts, "--name", "g"],
    ):
        said = [command, *map(str, words), "--quiet"]
        subprocess.run(said, check=True, stdout=subprocess.DEVNULL)
    return parts / "g.json"


def now() -> tuple[float, float, float]:
    """Seconds: that pass, that this thread computed, and that the process did."""
    return time.perf_counter(), time.thread_time(), time.process_time()


def since(begin: tuple[float, float, float], count: int) -> tuple[float, ...]:
    return tuple((end - start) / count for end, start in zip(now(), begin, strict=True))


def by_library(loader: troupe.DistNodeDataLoader, count: int) -> tuple[float, ...]:
    box, pointer = ffi.new("struct tr_batch **"), loader.pointer()
    begin = now()
    for _ in range(count):
        assert lib.tr_loader_next(pointer, FOREVER, box, ffi.NULL) == 0
        lib.tr_batch_release(box[0])
    return since(begin, count)


def by_python(loader: troupe.DistNodeDataLoader, count: int) -> tuple[float, ...]:
    begin = now()
    for _ in range(count):
        batch = next(loader)
        assert len(batch.features) >= len(batch.labels)
        for block in batch.blocks:
            block.as_csr()
    return since(begin, count)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--nodes", type=int, default=490000)
    parser.add_argument("--edges", type=int, default=24700000)
    parser.add_argument("--batches", type=int, default=20)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = graph_of(Path(folder), given.nodes, given.edges)
        with troupe.open(path, seed=1, tensors="torch") as graph:
            loader = troupe.DistNodeDataLoader(
                graph,
                None,
                troupe.NeighborSampler(FANOUTS),
                batch_size=1024,
                shuffle=True,
                features="feat",
                labels="label",
                orig_ids=False,
                edge_ids=False,
            )
            turns: list[list[tuple[float, ...]]] = []
            for number in range(given.rounds + 1):
                turns.append([])
                for take in (by_library, by_python):
                    loader.begin(number)  # both take the same batches
                    take(loader, 2)  # what waits has been made before
                    turns[-1].append(take(loader, given.batches))
    del turns[0]
    middle = statistics.median
    emit(
        "python_loader",
        middle(1 / python[0] for _, python in turns),
        "batches/s",
        "the C loader",
        middle(1 / library[0] for library, _ in turns),
        middle(library[0] / python[0] for library, python in turns),
    )
    emit(
        "python_loader_cost",
        middle(python[1] - library[1] for library, python in turns),
        "s/batch",
        "all that a batch costs by the C loader",
        middle(library[2] for library, _ in turns),
        middle((python[1] - library[1]) / library[2] for library, python in turns),
    )


def emit(figure: str, value: float, unit: str, reference: str, other: float, ratio: float) -> None:
    line = {"figure": figure, "value": value, "unit": unit, "reference": reference}
    print(json.dumps({**line, "reference_value": other, "ratio": ratio}))


if __name__ == "__main__":
    main()
