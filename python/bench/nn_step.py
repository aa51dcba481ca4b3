# SPDX-License-Identifier: Apache-2.0
"""One training step of `troupe.nn` beside the C trainer's, measured in turns.

    PYTHONPATH=build/python/lib TROUPE=build/troupe python3 python/bench/nn_step.py [--rounds N]
        [--scale X] [--dropout P] [--profile]

GraphSAGE of 3 layers, 100 features, hidden 256, 47 classes, on made batches of the shape that
``troupe bench step`` makes: 1024 seeds with fanout 5,10,15 on a graph whose sources are skewed as
N u^2. Prints a line of JSON a figure, as ``troupe bench --json`` does:

- ``nn_step``: Python's step on one thread; its reference is the C trainer's, each as multiples of
  the same matrix products alone that were measured beside it, so that a busy machine slows both;
- ``nn_step_threads``: how many times as fast two threads are.

Seconds of one thread are those that the process computed. The allocator keeps buffers from step to
step, as `troupe.initialize` has it do.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import json
import os
import statistics
import subprocess
import sys
import time
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch

from troupe import nn
from troupe.batch import Csr
from troupe.types import Types

NODES, INPUTS, HIDDEN, CLASSES = 2449029, 100, 256, 47
FANOUTS = (5, 10, 15)


class MadeBlock:
    """Edges with as many places as a sampled block has, and what layers ask of it."""

    def __init__(self, index: np.ndarray, sources: np.ndarray, num_src: int) -> None:
        self.csr = Csr(torch.from_numpy(index), torch.from_numpy(sources), None)
        self.num_src, self.num_dst = num_src, len(index) - 1
        types = Types(["_N"], ["_N:_E:_N"])
        self.content = SimpleNamespace(layout=SimpleNamespace(types=types))
        self.canonical_etypes = types.canonical_etypes
        self.kept: dict[Any, Any] = {}

    def as_csr(self, etype: Any = None, *, edge_ids: bool = True) -> Csr:
        return self.csr

    def num_src_nodes(self, ntype: str | None = None) -> int:
        return self.num_src

    def num_dst_nodes(self, ntype: str | None = None) -> int:
        return self.num_dst


def made_blocks(scale: float, seed: int) -> list[MadeBlock]:
    draw = np.random.default_rng(seed)
    nodes, seeds = int(NODES * scale) + 100000, max(64, int(1024 * scale))
    there = draw.permutation(nodes)[:seeds]
    blocks: list[MadeBlock] = []
    for fanout in reversed(FANOUTS):
        drawn = (nodes * draw.random(len(there) * fanout) ** 2).astype(np.int64) * 1000003 % nodes
        new, first = np.unique(drawn, return_index=True)
        fresh = np.sort(first[~np.isin(new, there)])
        every = np.concatenate([there, drawn[fresh]])
        place = np.empty(nodes, np.int32)
        place[every] = np.arange(len(every), dtype=np.int32)
        index = np.arange(len(there) + 1, dtype=np.int32) * np.int32(fanout)
        blocks.insert(0, MadeBlock(index, place[drawn], len(every)))
        there = every
    return blocks


class Products:
    """The matrix products of a step alone, on memory that is there."""

    def __init__(self, blocks: list[MadeBlock]) -> None:
        self.layers = []
        for i, block in enumerate(blocks):
            width, out = INPUTS if i == 0 else HIDDEN, CLASSES if i == 2 else HIDDEN
            rows = torch.rand(block.num_dst, width)
            weight = torch.rand(out, width)
            to = torch.empty(block.num_dst, out)
            back = torch.empty(block.num_dst, width) if i > 0 else None
            self.layers.append((rows, weight, to, back, torch.empty(out, width)))

    def run(self) -> None:
        for rows, weight, to, _, _ in self.layers:
            for _ in range(2):
                torch.mm(rows, weight.t(), out=to)
        for rows, weight, to, back, grads in reversed(self.layers):
            for _ in range(2):
                torch.mm(to.t(), rows, out=grads)
                if back is not None:
                    torch.mm(to, weight, out=back)


# Above this malloc() would map memory anew, and below give it back to the system.
KEEP = {
    "MALLOC_MMAP_THRESHOLD_": "4294967296",
    "MALLOC_TRIM_THRESHOLD_": "17179869184",
    "MALLOC_TOP_PAD_": "268435456",
}


def compute_on(threads: int) -> None:
    """PyTorch's threads, and those of an OpenBLAS below it."""
    torch.set_num_threads(threads)
    # Where there is another, its threads are PyTorch's.
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL("libopenblas.so.0").openblas_set_num_threads(threads)


def trainer_ratio(scale: float, rounds: int) -> tuple[float, float]:
    """The C trainer's step in seconds, and as a multiple of its products."""
    command = [os.environ.get("TROUPE", "troupe"), "bench", "step", "--json"]
    command += ["--scale", str(scale), "--rounds", str(rounds)]
    said = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    return said["value"], said["ratio"]


def emit(figure: str, value: float, unit: str, reference: str, other: float, ratio: float) -> None:
    print(
        json.dumps(
            {
                "figure": figure,
                "value": value,
                "unit": unit,
                "reference": reference,
                "reference_value": other,
                "ratio": ratio,
            }
        ),
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--dropout", type=float, default=0.5)
    parser.add_argument("--profile", action="store_true")
    parser.add_argument("--skip-trainer", action="store_true")
    given = parser.parse_args()
    blocks = made_blocks(given.scale, 1)
    torch.manual_seed(1)
    model = nn.Model("sage", INPUTS, HIDDEN, CLASSES, 3, dropout=given.dropout)
    optimiser = torch.optim.Adam(model.parameters(), lr=0.001)
    rows = torch.rand(blocks[0].num_src, INPUTS) - 0.5
    labels = torch.randint(0, CLASSES, (blocks[-1].num_dst,))
    products = Products(blocks)

    def step() -> None:
        for block in blocks:  # each batch has blocks of its own
            block.kept.clear()
        loss = torch.nn.functional.cross_entropy(model(blocks, rows), labels)
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        optimiser.step()

    def timed(work: Any) -> tuple[float, float]:
        begin, used = time.perf_counter(), time.process_time()
        work()
        return time.perf_counter() - begin, time.process_time() - used

    compute_on(1)
    step()
    products.run()
    if given.profile:
        with torch.profiler.profile() as profile:
            step()
        print(profile.key_averages().table(sort_by="self_cpu_time_total", row_limit=25))
        return
    steps, ratios, trainers, trainer_ratios = [], [], [], []
    for _ in range(given.rounds):
        (_, used), (_, bare) = timed(step), timed(products.run)
        steps.append(used)
        ratios.append(used / bare)
        if not given.skip_trainer:
            seconds, ratio = trainer_ratio(given.scale, 1)
            trainers.append(seconds)
            trainer_ratios.append(ratio)
    emit(
        "nn_step_products",
        statistics.median(steps),
        "s",
        "its matrix products alone",
        statistics.median(steps) / statistics.median(ratios),
        statistics.median(ratios),
    )
    if trainers:
        emit(
            "nn_step",
            statistics.median(steps),
            "s",
            "the C trainer's step",
            statistics.median(trainers),
            statistics.median(ratios) / statistics.median(trainer_ratios),
        )
    gains = []
    for _ in range(given.rounds):
        walls = []
        for threads in (1, 2):
            compute_on(threads)
            walls.append(timed(step)[0])
        gains.append(walls[0] / walls[1])
    emit(
        "nn_step_threads",
        statistics.median(gains),
        "times",
        "one thread",
        1.0,
        statistics.median(gains),
    )


if __name__ == "__main__":
    if not all(name in os.environ for name in KEEP):
        os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, **KEEP})
    main()
