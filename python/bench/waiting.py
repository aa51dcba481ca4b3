# SPDX-License-Identifier: Apache-2.0
"""What waits cost: a thread beside one that waits, and the first batch of a program.

    PYTHONPATH=build/python/lib TROUPE=build/troupe python3 python/bench/waiting.py [--rounds N]
        [--graph NAME.json]

Prints a line of JSON a figure:

- ``python_second_thread``: how often a thread counts in a second while the main thread waits for
  servers that nobody starts; its reference is a main thread that sleeps. The ratio is to be
  0.9 at least, on a machine with a core to spare;
- ``python_first_batch``, of the graph that is given: seconds from starting the interpreter to the
  first batch of 1024 seeds with fanout 5,10,15, features and labels; at most 10 on the big graph.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

import troupe

SECONDS = 0.5
FIRST = """
import sys, troupe
g = troupe.open(sys.argv[1], seed=1)
loader = troupe.DistNodeDataLoader(
    g, g.ndata["train_mask"], troupe.NeighborSampler([5, 10, 15]), batch_size=1024, shuffle=True,
    features="feat", labels="label")
print(len(next(iter(loader)).features), flush=True)
"""


def command(*words: object) -> None:
    said = [os.environ.get("TROUPE", "troupe"), *map(str, words), "--quiet"]
    subprocess.run(said, check=True, stdout=subprocess.DEVNULL)


def counted(wait: Callable[[], object]) -> float:
    """How often another thread counts in a second while this one waits."""
    rates: list[float] = []

    def count() -> None:
        begin, number = time.perf_counter(), 0
        while time.perf_counter() < begin + SECONDS:
            number += 1
        rates.append(number / (time.perf_counter() - begin))

    thread = threading.Thread(target=count)
    thread.start()
    wait()
    thread.join()
    return rates[0]


def wait_in_library(graph: troupe.DistGraph) -> None:
    try:
        troupe.DistTensor(1000, "float32", "t", graph=graph, timeout=1.5 * SECONDS)
    except troupe.errors.TimedOut:
        return
    raise AssertionError("there are no servers, and yet a tensor was made")


def second_thread(rounds: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        sizes = ["--nodes", 1000, "--edges", 5000, "--features", 4, "--classes", 2, "--seed", 1]
        command("generate", "sbm", *sizes, "--out", place / "raw")
        command("partition", place / "raw", "--parts", 1, "--out", place / "parts", "--name", "g")
        host = {"name": "a", "unix": str(place / "s"), "servers": 1, "samplers": 1, "trainers": 1}
        job = {"name": "job", "graph": str(place / "parts/g.json"), "direct": False}
        job["hosts"] = [{**host, "loops": 1, "processes": "role"}]
        (place / "c.json").write_text(json.dumps(job))
        with troupe.DistGraph(cluster=place / "c.json", process=2, incarnation=1) as graph:
            turns = [
                (
                    counted(lambda: time.sleep(1.5 * SECONDS)),
                    counted(lambda: wait_in_library(graph)),
                )
                for _ in range(rounds)
            ]
    middle = statistics.median
    emit(
        "python_second_thread",
        middle(waits for _, waits in turns),
        "counts/s",
        "beside a main thread that sleeps",
        middle(sleeps for sleeps, _ in turns),
        middle(waits / sleeps for sleeps, waits in turns),
    )


def first_batch(graph: str, rounds: int) -> None:
    seconds = []
    for _ in range(rounds):
        begin = time.perf_counter()
        words = [sys.executable, "-c", FIRST, graph]
        with subprocess.Popen(words, stdout=subprocess.PIPE) as program:
            assert program.stdout is not None and program.stdout.readline()
            seconds.append(time.perf_counter() - begin)
    value = statistics.median(seconds)
    emit("python_first_batch", value, "s", "the goal on the big graph", 10.0, value / 10)


def emit(figure: str, value: float, unit: str, reference: str, other: float, ratio: float) -> None:
    line = {"figure": figure, "value": value, "unit": unit, "reference": reference}
    print(json.dumps({**line, "reference_value": other, "ratio": ratio}), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--graph")
    given = parser.parse_args()
    second_thread(given.rounds)
    if given.graph is not None:
        first_batch(given.graph, given.rounds)


if __name__ == "__main__":
    main()
