# SPDX-License-Identifier: Apache-2.0
"""Graphs that the tests share, made by the command of the build (TROUPE)."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import troupe

NODES, EDGES, PARTS = 2000, 20000, 3


class World(NamedTuple):
    """A partitioned graph, and the arrays of the raw graph that it was made of."""

    raw: Path
    path: Path
    edges: np.ndarray
    feat: np.ndarray
    label: np.ndarray
    train_mask: np.ndarray


def pytest_configure() -> None:
    # A shell starts background jobs with SIGINT ignored, and Python then installs no handler of its
    # own: tests that interrupt a call would wait for ever.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def run_command(*words: object) -> None:
    command = os.environ.get("TROUPE", "troupe")
    subprocess.run([command, *map(str, words)], check=True, stdout=subprocess.DEVNULL)


@pytest.fixture(scope="session")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    folder = tmp_path_factory.mktemp("world")
    raw, parts = folder / "raw", folder / "parts"
    sizes = ["--nodes", NODES, "--edges", EDGES, "--features", 16, "--classes", 4, "--seed", 1]
    run_command("generate", "sbm", *sizes, "--out", raw, "--quiet")
    run_command("partition", raw, "--parts", PARTS, "--out", parts, "--name", "g", "--quiet")
    rows = {name: np.load(raw / f"node_data/_N/{name}.npy") for name in World._fields[3:]}
    edges = np.load(raw / "edges/_N:_E:_N.npy")
    return World(raw, parts / "g.json", edges, **rows)


@pytest.fixture
def graph(world: World) -> Iterator[troupe.DistGraph]:
    with troupe.open(world.path, seed=7) as opened:
        yield opened


@pytest.fixture
def g(world: World) -> Iterator[troupe.DistGraph]:
    pytest.importorskip("torch")
    with troupe.open(world.path, seed=7, tensors="torch") as opened:
        yield opened


@pytest.fixture
def pyg(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    pytest.importorskip("torch")
    from pyg_stand_ins import installed

    yield from installed(monkeypatch)
