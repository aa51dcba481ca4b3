# SPDX-License-Identifier: Apache-2.0
"""The processes of one side of a comparison: what they compute and hold, and their end.

Each process begins a session of its own, so that what it starts is found in /proc by the session's
number. Memory is what the processes hold for themselves, and the larger of what they share: pages
of files do not count, which the system takes back by itself.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any


class Failed(Exception):
    """A side ended before it had answered; the message is for the table."""


def _session(pid: str) -> int:
    """The session of a process."""
    return int(Path("/proc", pid, "stat").read_text().rpartition(")")[2].split()[3])


def _computed(pid: str) -> float:
    """Seconds that all threads of a process have computed, by Linux's clock of that process."""
    return time.clock_gettime((~int(pid) << 3) | 2)


def _pages(pid: str) -> tuple[int, int]:
    """Bytes that a process holds for itself, and that it shares."""
    lines = Path("/proc", pid, "status").read_text().splitlines()
    kib = {line.split()[0]: int(line.split()[1]) for line in lines if line.endswith(" kB")}
    return kib.get("RssAnon:", 0) << 10, kib.get("RssShmem:", 0) << 10


def _shared_files(pid: str) -> set[Path]:
    """Shared memory that a process has mapped, which it leaves behind when it is killed.

    Such objects have no folders (shm_open(3)): what lies deeper are files, such as the graph's.
    """
    lines = Path("/proc", pid, "maps").read_text().splitlines()
    files = {Path(line.split(maxsplit=5)[5]) for line in lines if " /dev/shm/" in line}
    return {file for file in files if file.parent == Path("/dev/shm")}


@contextlib.contextmanager
def _on_cores(cores: set[int] | None) -> Iterator[None]:
    """What this thread starts runs on these cores."""
    before = os.sched_getaffinity(0)
    if cores:
        os.sched_setaffinity(0, cores)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


class Side:
    """One side: its processes, of which the last that is started is the one that answers."""

    def __init__(self, name: str, log: Path, cores: set[int] | None = None) -> None:
        self.name = name
        self.log = log
        self.cores = cores
        self.peak = 0
        self.ended_for: str | None = None
        self._processes: list[subprocess.Popen[str]] = []
        log.parent.mkdir(parents=True, exist_ok=True)
        self._log: IO[str] = log.open("w")

    def start(self, command: Sequence[Any], more: Mapping[str, str], *, answers: bool) -> None:
        """Starts a process; `more` is added to the environment."""
        with _on_cores(self.cores):
            process = subprocess.Popen(
                [str(word) for word in command],
                stdin=subprocess.PIPE if answers else subprocess.DEVNULL,
                stdout=subprocess.PIPE if answers else self._log,
                stderr=self._log,
                env={**os.environ, **more},
                start_new_session=True,
                text=True,
            )
        self._processes.append(process)

    def _pids(self) -> list[str]:
        sessions = {process.pid for process in self._processes}
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            with contextlib.suppress(OSError, IndexError):
                if _session(pid) in sessions:
                    found.append(pid)
        return found

    def cpu(self) -> float:
        """Seconds that all its processes have computed."""
        total = 0.0
        for pid in self._pids():
            with contextlib.suppress(OSError):
                total += _computed(pid)
        return total

    def memory(self) -> int:
        """Bytes that its processes hold now."""
        own, shared = 0, 0
        for pid in self._pids():
            with contextlib.suppress(OSError):
                one, other = _pages(pid)
                own, shared = own + one, max(shared, other)
        self.peak = max(self.peak, own + shared)
        return own + shared

    def lines(self) -> Iterator[str]:
        """What the process that answers says, until it ends."""
        stdout = self._processes[-1].stdout
        assert stdout is not None
        for line in stdout:
            self._log.write(line)
            self._log.flush()
            yield line

    def answer(self) -> Any:
        """Its next answer."""
        for line in self.lines():
            return json.loads(line)
        raise Failed(self.why())

    def ask(self, count: int) -> Any:
        """Has it draw batches; the answer, with the seconds that its processes computed."""
        stdin, used = self._processes[-1].stdin, self.cpu()
        assert stdin is not None
        try:
            stdin.write(f"{count}\n")
            stdin.flush()
        except OSError as error:
            raise Failed(self.why()) from error
        said = self.answer()
        return {**said, "cpu": self.cpu() - used}

    def wait(self) -> int:
        """The exit status of the process that answers, once it has ended."""
        return self._processes[-1].wait()

    def why(self) -> str:
        """Why it gave no answer: the bound of memory, or the end of what it said."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._processes[-1].wait(10)
        if self.ended_for is not None:
            return self.ended_for
        said = [line for line in self.log.read_text(errors="replace").splitlines() if line.strip()]
        return f"failed: {said[-1] if said else 'without a word'} ({self.log})"

    def kill(self, why: str | None = None) -> None:
        """Ends what is left of it at once, and removes the files in memory that it leaves."""
        self.ended_for = self.ended_for or why
        pids, files = self._pids(), set[Path]()
        for pid in pids:
            with contextlib.suppress(OSError, IndexError):
                files |= _shared_files(pid)
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(pid), signal.SIGKILL)
        for file in files:
            with contextlib.suppress(OSError):
                file.unlink()

    def end(self, patience: float = 30) -> None:
        """Lets it end by itself, and kills what has not ended then."""
        deadline = time.monotonic() + patience
        for process in reversed(self._processes):
            with contextlib.suppress(OSError):
                if process.stdin is not None:
                    process.stdin.close()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(max(0.1, deadline - time.monotonic()))
        self.kill()
        for process in self._processes:
            process.wait()
            if process.stdout is not None:
                process.stdout.close()
        self._log.close()


def _available() -> int:
    """Bytes that the machine could still give."""
    for line in Path("/proc/meminfo").read_text().splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) << 10
    return 0


class Bound:
    """Ends the largest side where all hold more than a bound, or the machine has no more."""

    PERIOD = 0.2
    # What is left to the machine whatever the bound is.
    RESERVE = 1 << 30

    def __init__(self, bytes_max: int) -> None:
        self.bytes_max = bytes_max
        self._sides: list[Side] = []
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def _watch(self) -> None:
        while not self._over.wait(self.PERIOD):
            held = {side: side.memory() for side in list(self._sides)}
            if not held:
                continue
            largest = max(held, key=lambda side: held[side])
            if sum(held.values()) > self.bytes_max:
                largest.kill(f"did not fit in {self.bytes_max / 1e9:.1f} GB")
            elif _available() < self.RESERVE:
                largest.kill(f"the machine had no more memory at {held[largest] / 1e9:.1f} GB")

    def __enter__(self) -> Bound:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()
        self.end_all()

    def watch(self, side: Side) -> Side:
        """Counts a side from now on."""
        self._sides.append(side)
        return side

    def end(self, side: Side) -> None:
        """Ends a side, which counts no more."""
        side.end()
        if side in self._sides:
            self._sides.remove(side)

    def end_all(self) -> None:
        """Ends every side."""
        for side in list(self._sides):
            self.end(side)
