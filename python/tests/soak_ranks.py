# SPDX-License-Identifier: Apache-2.0
"""Trainers in Python that are killed, or stand still, at random moments: the same batches in every
process that trained, the same weights, and an end in time.

Run by ``tests/soak/kill_ranks.sh`` for TROUPE_SOAK_SECONDS; TROUPE_SEED repeats its draws.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import time
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from conftest import World
from launching import EXAMPLE, Launch, write_cluster

torch = pytest.importorskip("torch")

BATCH_SIZE = 20
WORDS = (EXAMPLE, "--classes", 4, "--epochs", 12, "--checkpoint-every", 5)
WORDS += ("--batch-size", BATCH_SIZE)
RECORDER = Path(__file__).resolve().parent / "record_batches.py"
# Longer than the others wait before they count a process as dead.
STANDS_STILL = 20
# What a struck job may take beside what is done twice: a call's deadline (10 s), the silence after
# which a process counts as dead, and the moment until all of that is noticed.
LATE = 30


class Run(NamedTuple):
    """What a job left behind."""

    weights: Any
    # Of each trainer, by epoch and number: the digests that its processes saw.
    batches: dict[tuple[int, int, int], set[str]]
    took: float


def batches_of(folder: Path) -> dict[tuple[int, int, int], set[str]]:
    found: dict[tuple[int, int, int], set[str]] = {}
    for file in folder.iterdir():
        for line in file.read_text().splitlines():
            epoch, number, digest = line.split()
            found.setdefault((int(file.name), int(epoch), int(number)), set()).add(digest)
    return found


def run_of(cluster: Path, draw: random.Random | None) -> Run:
    """Trains, is disturbed as drawn, and gives what is left."""
    folder = cluster.parent
    for name in ("kept", "batches"):
        shutil.rmtree(folder / name, ignore_errors=True)
    (folder / "batches").mkdir()
    begun = time.monotonic()
    recorded = (RECORDER, folder / "batches", BATCH_SIZE, *WORDS)
    job = Launch(cluster, *recorded, "--out", folder / "weights.pt")
    if draw is not None:
        victim, number = draw.randrange(4), draw.choice((signal.SIGKILL, signal.SIGSTOP))
        job.until(lambda said: f"/trainer {3 + victim}] started" in said)
        time.sleep(draw.uniform(0.2, 20))
        if job.process.poll() is None:
            try:
                pid = job.python_of(victim)
                os.kill(pid, number)
                after = time.monotonic() - begun
                print(f"trainer {victim} got signal {number} after {after:.1f} s")
                if number == signal.SIGSTOP:
                    time.sleep(STANDS_STILL)
                    os.kill(pid, signal.SIGCONT)
            except (IndexError, ProcessLookupError, FileNotFoundError):
                print(f"trainer {victim} had ended")
    job.finish()
    took = time.monotonic() - begun
    print(f"the job took {took:.1f} s", flush=True)
    return Run(torch.load(folder / "weights.pt"), batches_of(folder / "batches"), took)


def test_struck_jobs_are_as_one_that_was_not(world: World, tmp_path: Path) -> None:
    seed = int(os.environ.get("TROUPE_SEED", time.time_ns()))
    print(f"TROUPE_SEED={seed} repeats this")
    draw = random.Random(seed)
    until = time.monotonic() + float(os.environ.get("TROUPE_SOAK_SECONDS", "60"))
    cluster = write_cluster(tmp_path, world.path, 4)
    expected = run_of(cluster, None)
    assert {rank for rank, _, _ in expected.batches} == set(range(4))
    assert all(len(digests) == 1 for digests in expected.batches.values())
    while time.monotonic() < until:
        found = run_of(cluster, draw)
        assert all(torch.equal(found.weights[n], expected.weights[n]) for n in expected.weights)
        # Also those that a process took before it was struck, and that were taken again.
        assert found.batches == expected.batches
        # At most all is done twice, from the start of the processes on.
        assert found.took < 2 * expected.took + STANDS_STILL + LATE
