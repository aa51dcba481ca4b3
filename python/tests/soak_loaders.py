# SPDX-License-Identifier: Apache-2.0
"""Loaders that are opened and left in every way: nothing hangs, leaks or comes stale.

Run by ``tests/soak/python_loaders.sh``, also on libraries with the address sanitizer
(``python/check.sh`` says how); TROUPE_SEED repeats its draws.
"""

from __future__ import annotations

import gc
import os
import random
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from conftest import World

import troupe

LOADERS = 1000
SEED = int(os.environ.get("TROUPE_SEED", time.time_ns()))
SANITIZED = "libasan" in os.environ.get("LD_PRELOAD", "")


def loader_of(graph: troupe.DistGraph, **options: Any) -> troupe.DistNodeDataLoader:
    given = {"batch_size": 64, "shuffle": True, "features": "feat", "labels": "label", **options}
    return troupe.DistNodeDataLoader(
        graph, graph.ndata["train_mask"], troupe.NeighborSampler([5, 3, 4]), **given
    )


def held() -> tuple[int, int, int]:
    """Bytes in memory, open files and threads of this process."""
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    files = len(os.listdir("/proc/self/fd"))
    return pages * os.sysconf("SC_PAGE_SIZE"), files, len(os.listdir("/proc/self/task"))


def leave(graph: troupe.DistGraph, draw: random.Random, kept: list[Any]) -> None:
    """Opens a loader and leaves it somewhere, as programs do."""
    loader = loader_of(graph, prefetch=draw.choice((0, 1, 8)), rank=0, world=1)
    way = draw.randrange(6)
    try:
        for number, batch in enumerate(loader):
            kept[draw.randrange(len(kept))] = draw.choice((batch, batch.features, batch.blocks[0]))
            if number >= draw.randrange(12):
                if way == 0:
                    raise RuntimeError("in the loop")
                if way == 1:
                    loader.close()
                if way == 2:
                    loader.cancel()
                break
    except RuntimeError:
        pass
    if way == 3:
        loader.begin(7)
        kept[0] = next(loader)
    if way == 4:
        kept[1] = loader
    if way == 5:
        loader.set_epoch(3)
        assert next(iter(loader)).epoch == 3


def test_loaders_that_are_left_leave_nothing(world: World) -> None:
    print(f"TROUPE_SEED={SEED} repeats this")
    draw = random.Random(SEED)
    kept: list[Any] = [None] * 8
    with troupe.open(world.path, seed=3, samplers=4) as graph:
        expected = [batch.digest() for batch in loader_of(graph)]
        for _ in range(LOADERS // 2):
            leave(graph, draw, kept)
        kept[:] = [None] * len(kept)
        before = held()
        for _ in range(LOADERS // 2):
            leave(graph, draw, kept)
        kept[:] = [None] * len(kept)
        after = held()
        print(f"bytes, files, threads: {before} behind 500 loaders, {after} behind 1000")
        assert after[1:] == before[1:]
        # The sanitizer keeps what is freed for a while.
        assert SANITIZED or after[0] < before[0] + (16 << 20)
        assert [batch.digest() for batch in loader_of(graph)] == expected


def test_loaders_at_once_have_their_own_batches(world: World) -> None:
    """Ten threads on four samplers, each of which begins epochs anew and leaves them."""
    epochs, found, failed = 5, [0] * 10, []
    with troupe.open(world.path, seed=3, samplers=4) as graph:
        whole = loader_of(graph)
        expected = [[batch.digest() for batch in whole] for _ in range(epochs)]

        def run(number: int) -> None:
            draw = random.Random(SEED + number)
            try:
                loader = loader_of(graph)
                for _ in range(30):
                    epoch, first = draw.randrange(epochs), draw.randrange(len(loader))
                    loader.begin(epoch, first)
                    for index in range(first, draw.randrange(first, len(loader)) + 1):
                        batch = next(loader)
                        assert (batch.epoch, batch.index) == (epoch, index)
                        assert batch.digest() == expected[epoch][index]
                        found[number] += 1
            except BaseException as error:
                failed.append(error)

        threads = [threading.Thread(target=run, args=(number,)) for number in range(10)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert not failed and min(found) >= 30, failed


def test_sessions_that_end_leave_nothing(world: World) -> None:
    counts = []
    for number in range(60):
        graph = troupe.open(world.path, seed=3)
        batch = next(iter(loader_of(graph)))
        graph.close()
        assert batch.features.shape[0] == batch.blocks[0].num_src_nodes()
        del graph, batch
        if number >= 19:
            counts.append(held())
    print(f"bytes, files, threads: {counts[0]} behind 20 sessions, {counts[-1]} behind 60")
    assert counts[0][1:] == counts[-1][1:]
    assert SANITIZED or counts[-1][0] < counts[0][0] + (16 << 20)


def test_garbage_in_files_is_an_error(world: World, tmp_path: Path) -> None:
    """Bytes are overwritten, cut off or added anywhere: what is not refused can be read."""
    draw = random.Random(SEED)
    files = sorted(p.relative_to(world.path.parent) for p in world.path.parent.rglob("*.npy"))
    refused = 0
    for number in range(60):
        folder = tmp_path / str(number)
        shutil.copytree(world.path.parent, folder)
        victim = folder / draw.choice([*files, Path("g.json")])
        content = bytearray(victim.read_bytes())
        way = draw.randrange(3)
        if way == 0:
            for _ in range(8):
                content[draw.randrange(min(len(content), 4096))] = draw.randrange(256)
        elif way == 1:
            del content[draw.randrange(len(content)) :]
        else:
            content[draw.randrange(len(content)) :] = draw.randbytes(64)
        victim.write_bytes(content)
        try:
            with troupe.open(folder / "g.json", seed=1, verify_files=True, map_files=True) as graph:
                for batch in loader_of(graph, timeout=30):
                    assert len(batch.features)
        except troupe.Error:
            refused += 1
        shutil.rmtree(folder)
    print(f"{refused} of 60 damaged folders were refused")
    assert refused >= 30


ENDS = {
    "batches": "kept = [next(iter(loader)) for _ in range(3)]; sys.kept = kept, loader, g",
    "in a wait": "threading.Thread(target=lambda: [list(loader) for _ in range(9999)], daemon=True)"
    ".start(); time.sleep(0.1)",
    "exception": "next(iter(loader)); raise SystemExit(0)",
    "cycle": "a = [next(iter(loader))]; a.append(a); g.a = a",
    "exit": "b = next(iter(loader)); os._exit(0)",
    "rows in a thread": "b = next(iter(loader)).features; "
    "threading.Thread(target=lambda: (time.sleep(0.1), b.sum())).start()",
}


@pytest.mark.parametrize("name", ENDS)
def test_the_interpreter_ends_at_any_moment(world: World, name: str) -> None:
    code = (
        "import os, sys, threading, time, troupe\n"
        "g = troupe.open(sys.argv[1])\n"
        "loader = troupe.DistNodeDataLoader(g, None, troupe.NeighborSampler([3, 3]),\n"
        "                                   batch_size=50, features='feat')\n" + ENDS[name] + "\n"
    )
    for _ in range(10):
        words = [sys.executable, "-c", code, str(world.path)]
        done = subprocess.run(words, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0 and done.stderr == "", done.stderr
