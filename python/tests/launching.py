# SPDX-License-Identifier: Apache-2.0
"""Jobs of several processes for tests: a cluster file, the launcher, its processes."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

# Every wait is bounded, by far more than it takes.
LIMIT = 180
EXAMPLE = Path(__file__).resolve().parents[2] / "examples/python/graphsage.py"


def write_cluster(folder: Path, graph: Path, trainers: int) -> Path:
    """Two servers, a sampler and so many trainers, each a process, on unix sockets."""
    (folder / "s").mkdir(mode=0o700)
    host = {"name": "a", "unix": str(folder / "s"), "servers": 2, "samplers": 1}
    host |= {"trainers": trainers, "loops": 1, "processes": "role"}
    job = {
        "name": "job",
        "graph": str(graph),
        "seed": 3,
        "hosts": [host],
        "checkpoints": {"folder": str(folder / "kept")},
        "restart": {"times": 3, "seconds": 600},
    }
    (folder / "cluster.json").write_text(json.dumps(job))
    return folder / "cluster.json"


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


class Launch:
    """A job under way: `troupe launch CLUSTER -- python WORDS...`."""

    def __init__(self, cluster: Path, *words: object) -> None:
        self._log = cluster.parent / f"log-{time.monotonic_ns()}"
        command = [os.environ.get("TROUPE", "troupe"), "launch", str(cluster), "--master-port"]
        command += [str(free_port()), "--", sys.executable, *map(str, words)]
        with self._log.open("w") as log:
            self.process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT
            )

    def said(self) -> str:
        return self._log.read_text(errors="replace")

    def until(self, is_reached: Callable[[str], object]) -> None:
        """Waits for something among what was said."""
        end = time.monotonic() + LIMIT
        while not is_reached(self.said()):
            assert self.process.poll() is None, self.said()
            assert time.monotonic() < end, self.said()
            time.sleep(0.02)

    def python_of(self, trainer: int) -> int:
        """The process number of a trainer's interpreter, which a holder started."""
        process = 3 + trainer
        started = re.findall(rf"/trainer {process}\] started, process number (\d+)", self.said())
        # Each thread has its own children.
        threads = Path(f"/proc/{started[-1]}/task").glob("*/children")
        children = [child for thread in threads for child in thread.read_text().split()]
        return int(children[0])

    def finish(self) -> str:
        """What was said, once the job has ended well."""
        try:
            code = self.process.wait(LIMIT)
        finally:
            if self.process.poll() is None:
                self.process.terminate()
                self.process.wait(60)
        assert code == 0, self.said()
        return self.said()
