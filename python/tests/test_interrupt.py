# SPDX-License-Identifier: Apache-2.0
"""Signals end waits at once, whatever is waited for; nothing else ends with them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import NODES, World

import troupe

TRAINER = 3  # behind two servers and a sampler, which nobody starts


@pytest.fixture
def lonely(world: World, tmp_path: Path) -> Iterator[troupe.DistGraph]:
    """A trainer whose servers and sampler never come: every call that asks them waits."""
    host = {"name": "a", "unix": str(tmp_path / "s"), "servers": 2, "samplers": 1, "trainers": 1}
    host |= {"loops": 1, "processes": "role"}
    job = {"name": "job", "graph": str(world.path), "direct": False, "hosts": [host]}
    (tmp_path / "c.json").write_text(json.dumps(job))
    options = {"cluster": tmp_path / "c.json", "process": TRAINER, "incarnation": 1}
    with troupe.DistGraph(**options) as graph:
        yield graph


def sampler() -> troupe.NeighborSampler:
    return troupe.NeighborSampler([2])


CALLS: dict[str, Callable[[troupe.DistGraph], Any]] = {
    "rows": lambda g: g.ndata["feat"][[0, NODES - 1]],
    "original ids": lambda g: g.orig_ids(),
    "original ids of edges": lambda g: g.orig_edge_ids(),
    "inverse": lambda g: g.from_orig([1, 2]),
    "degrees": lambda g: g.in_degrees([0, NODES - 1]),
    "set": lambda g: np.asarray(g.nodes_of("train_mask")),
    "listed": lambda g: g.nodes_of([1, 2]),
    "draw": lambda g: sampler().draw(g, [1, 2]),
    "batch": lambda g: next(iter(troupe.DistNodeDataLoader(g, None, sampler(), batch_size=9))),
    "group": lambda g: g.group().restore(),
    "tensor": lambda g: troupe.DistTensor((NODES, 2), "float32", "t", graph=g),
    "neighbours": lambda g: troupe.sample_neighbors(g, [1, 2], 3),
    "end": lambda g: g.wait_end(),
}


class Sender:
    """Sends this process a signal after a while, and notes when."""

    def __init__(self, number: int, after: float) -> None:
        self._number, self._after, self.at = number, after, 0.0
        self._thread = threading.Thread(target=self._send)

    def _send(self) -> None:
        time.sleep(self._after)
        self.at = time.perf_counter()
        os.kill(os.getpid(), self._number)

    def __enter__(self) -> Sender:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._thread.join()


@pytest.mark.parametrize("name", CALLS)
def test_ctrl_c_ends_every_wait_at_once(lonely: troupe.DistGraph, name: str) -> None:
    # A later one finds the session as the earlier one left it.
    for after in (0.1, 0.3, 0.3):
        with Sender(signal.SIGINT, after) as sender, pytest.raises(KeyboardInterrupt):
            CALLS[name](lonely)
        assert time.perf_counter() - sender.at < 0.2


def test_ctrl_c_ends_opening(world: World, tmp_path: Path) -> None:
    host = {"name": "a", "unix": str(tmp_path / "s"), "servers": 2, "samplers": 1, "trainers": 1}
    job = {"name": "job", "graph": str(world.path), "hosts": [{**host, "processes": "role"}]}
    (tmp_path / "c.json").write_text(json.dumps(job))
    options = {"cluster": tmp_path / "c.json", "process": TRAINER, "incarnation": 1}
    # Its address is another's: opening waits for it.
    with (
        troupe.DistGraph(**options),
        Sender(signal.SIGINT, 0.3) as sender,
        pytest.raises(KeyboardInterrupt),
    ):
        troupe.DistGraph(**options)
    assert time.perf_counter() - sender.at < 0.5


# The sampler and the trainer of a job whose servers stand still from the first draw on. The main
# thread waits for the batch that the program's own sampler draws, on a thread of the loader.
OWN_DRAWS = """
import os, signal, sys, threading, time
from pathlib import Path
import troupe

def stands_still(task):
    return (task / "stat").read_text().rpartition(")")[2].split()[0] == "T"

class Own(troupe.BlockSampler):
    def sample_blocks(self, g, seeds, exclude_eids=None):
        os.kill(int(sys.argv[2]), signal.SIGSTOP)
        # Its threads stop one by one, and one that still runs would answer.
        while not all(map(stands_still, Path("/proc", sys.argv[2], "task").iterdir())):
            time.sleep(0.01)
        started.set()
        return troupe.NeighborSampler([2]).sample_blocks(g, seeds)

def strike():
    started.wait()
    time.sleep(0.5)
    print(time.monotonic(), flush=True)
    signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

started = threading.Event()
g = troupe.DistGraph(cluster=sys.argv[1], process=1, incarnation=1)
loader = troupe.DistNodeDataLoader(g, None, Own(), batch_size=9)
threading.Thread(target=strike).start()
try:
    next(iter(loader))
except KeyboardInterrupt:
    print(time.monotonic(), flush=True)
"""


def test_a_program_ends_whose_own_draws_wait(world: World, tmp_path: Path) -> None:
    here = {"name": "a", "unix": str(tmp_path / "a"), "servers": 2, "samplers": 0, "trainers": 0}
    there = {"name": "b", "unix": str(tmp_path / "b"), "samplers": 1, "trainers": 1, "loops": 1}
    job = {"name": "job", "graph": str(world.path), "direct": False, "hosts": [here, there]}
    cluster = tmp_path / "c.json"
    cluster.write_text(json.dumps(job))
    serve = [
        os.environ.get("TROUPE", "troupe"),
        "serve",
        "--cluster",
        str(cluster),
        "--process",
        "0",
    ]
    with subprocess.Popen(serve, stdin=subprocess.DEVNULL) as server:
        try:
            words = [sys.executable, "-c", OWN_DRAWS, str(cluster), str(server.pid)]
            done = subprocess.run(words, capture_output=True, text=True, timeout=60)
        finally:
            server.kill()
    assert done.returncode == 0, done.stderr
    struck, ended = map(float, done.stdout.split())
    assert ended - struck < 0.2


# A daemon that draws while the interpreter ends. What is registered before the package runs after
# it has closed the session, and waits until the thread has ended, however it does.
DRAWING_DAEMON = """
import atexit, sys, threading
atexit.register(lambda: thread.join())
import troupe

def draw():
    while True:
        for batch in loader:
            drawn.set()

g = troupe.open(sys.argv[1])
loader = troupe.DistNodeDataLoader(g, None, troupe.NeighborSampler([2]), batch_size=50)
drawn, thread = threading.Event(), threading.Thread(target=draw, daemon=True)
thread.start()
drawn.wait()
"""


def test_threads_that_draw_at_the_end_of_the_interpreter_leave_no_traceback(world: World) -> None:
    words = [sys.executable, "-c", DRAWING_DAEMON, str(world.path)]
    done = subprocess.run(words, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_handler_that_raises_ends_the_wait_with_its_exception(lonely: troupe.DistGraph) -> None:
    def handler(*_: object) -> None:
        raise LookupError("from the handler")

    before = signal.signal(signal.SIGALRM, handler)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        with pytest.raises(LookupError, match="from the handler"):
            lonely.in_degrees()
        # No batch was taken, and the loader says so.
        loader = troupe.DistNodeDataLoader(lonely, None, sampler(), batch_size=9)
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        with pytest.raises(LookupError, match="from the handler"):
            next(loader)
        assert loader.state_dict()["batch"] == 0
    finally:
        signal.signal(signal.SIGALRM, before)


def test_a_handler_that_returns_lets_the_call_wait_on(lonely: troupe.DistGraph) -> None:
    seen: list[int] = []
    before = signal.signal(signal.SIGALRM, lambda number, _: seen.append(number))
    loader = troupe.DistNodeDataLoader(lonely, None, sampler(), batch_size=9, timeout=0.8)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        begin = time.perf_counter()
        with pytest.raises(TimeoutError) as caught:
            next(iter(loader))
        assert caught.value.name == "TR_ETIMEDOUT"
        assert seen == [signal.SIGALRM] and time.perf_counter() - begin >= 0.8
    finally:
        signal.signal(signal.SIGALRM, before)


def test_calls_of_other_threads_wait_on(lonely: troupe.DistGraph) -> None:
    ended: list[BaseException] = []

    def wait() -> None:
        loader = troupe.DistNodeDataLoader(lonely, None, sampler(), batch_size=9, timeout=1.5)
        try:
            next(iter(loader))
        except BaseException as error:
            ended.append(error)

    thread = threading.Thread(target=wait)
    thread.start()
    with Sender(signal.SIGINT, 0.3), pytest.raises(KeyboardInterrupt):
        lonely.in_degrees()
    assert thread.is_alive() and not ended
    thread.join()
    assert isinstance(ended[0], troupe.errors.TimedOut)


def test_closing_ends_the_calls_of_other_threads(lonely: troupe.DistGraph) -> None:
    ended: list[BaseException] = []

    def wait() -> None:
        try:
            lonely.in_degrees()
        except troupe.Error as error:
            ended.append(error)

    threads = [threading.Thread(target=wait) for _ in range(4)]
    for thread in threads:
        thread.start()
    time.sleep(0.2)
    lonely.close()
    for thread in threads:
        thread.join(10)
        assert not thread.is_alive()
    assert {error.name for error in ended} <= {"TR_ECANCELED", "TR_ECLOSED"} and len(ended) == 4


def test_waits_let_other_threads_run(lonely: troupe.DistGraph) -> None:
    stop = threading.Event()

    def wait() -> None:
        with pytest.raises(troupe.Error):
            lonely.in_degrees()
        stop.set()

    thread = threading.Thread(target=wait)
    thread.start()
    count, until = 0, time.perf_counter() + 0.3
    while time.perf_counter() < until:
        count += 1
    assert count > 10000 and not stop.is_set()
    lonely.close()
    thread.join(10)
    assert stop.is_set()
