# SPDX-License-Identifier: Apache-2.0
"""Trainers in Python that are killed, or stand still, at random moments: the same weights.

Run by ``tests/soak/kill_ranks.sh`` for TROUPE_SOAK_SECONDS; TROUPE_SEED repeats its draws.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import time
from pathlib import Path
from typing import Any

import pytest
from conftest import World
from launching import EXAMPLE, Launch, write_cluster

torch = pytest.importorskip("torch")

WORDS = (EXAMPLE, "--classes", 4, "--epochs", 12, "--batch-size", 20, "--checkpoint-every", 5)
# Longer than the others wait before they count a process as dead.
STANDS_STILL = 20


def weights_of(cluster: Path, draw: random.Random | None) -> Any:
    """Trains, is disturbed as drawn, and gives the weights."""
    folder = cluster.parent
    shutil.rmtree(folder / "kept", ignore_errors=True)
    begun = time.monotonic()
    job = Launch(cluster, *WORDS, "--out", folder / "weights.pt")
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
    print(f"the job took {time.monotonic() - begun:.1f} s", flush=True)
    return torch.load(folder / "weights.pt")


def test_struck_jobs_have_the_weights_of_one_that_was_not(world: World, tmp_path: Path) -> None:
    seed = int(os.environ.get("TROUPE_SEED", time.time_ns()))
    print(f"TROUPE_SEED={seed} repeats this")
    draw = random.Random(seed)
    until = time.monotonic() + float(os.environ.get("TROUPE_SOAK_SECONDS", "60"))
    cluster = write_cluster(tmp_path, world.path, 4)
    expected = weights_of(cluster, None)
    while time.monotonic() < until:
        found = weights_of(cluster, draw)
        assert all(torch.equal(found[name], expected[name]) for name in expected)
