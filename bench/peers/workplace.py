# SPDX-License-Identifier: Apache-2.0
"""Where the comparison works: its folder, its bound of memory, how programs are started."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from environment import HERE, Environment
from processes import Bound, Failed, Side

# What keeps malloc() from mapping each large buffer anew, and from giving it back to the system.
TUNED = {
    "MALLOC_MMAP_THRESHOLD_": "4294967296",
    "MALLOC_TRIM_THRESHOLD_": "17179869184",
    "MALLOC_TOP_PAD_": "268435456",
}


@dataclass
class Workplace:
    """A folder to work in, an environment, and the bound that holds for all that runs."""

    folder: Path
    environment: Environment
    bound: Bound

    def side(self, name: str, cores: set[int] | None = None) -> Side:
        """A side whose memory counts; its output goes to ``logs/NAME.log``."""
        return self.bound.watch(Side(name, self.folder / "logs" / f"{name}.log", cores))

    def program(self, name: str, given: Any) -> list[str]:
        """The command of a program of ``work/``, as a script of the environment's interpreter."""
        return [str(self.environment.python), str(HERE / "work" / name), json.dumps(given)]

    def face(self, script: Sequence[str]) -> list[str]:
        """The same script with DGL's names over Troupe."""
        return [script[0], "-m", "troupe.dgl", *script[1:]]

    def troupe(self, *words: Any) -> Side:
        """Runs the command; the side tells its peak of memory.

        Raises
        ------
        Failed
        """
        side = self.side(f"troupe-{words[0]}")
        said = [self.environment.troupe, *words, "--quiet"]
        side.start(said, self.environment.variables(len(os.sched_getaffinity(0))), answers=True)
        for _ in side.lines():
            pass
        code = side.wait()
        why = side.why() if code else ""
        self.bound.end(side)
        if code:
            raise Failed(why)
        return side

    def dgl_partition(self, parts: Path, count: int, method: str, out: Path) -> tuple[Any, Side]:
        """Has DGL partition the graph into a folder that is made anew; its answer, and the side.

        Raises
        ------
        Failed
        """
        shutil.rmtree(out, ignore_errors=True)
        side = self.side(f"dgl-partition-{method}-{count}")
        given = {"parts": str(parts), "count": count, "method": method, "out": str(out)}
        threads = len(os.sched_getaffinity(0))
        command = self.program("dgl_partition.py", given)
        side.start(command, self.environment.variables(threads), answers=True)
        try:
            return side.answer(), side
        finally:
            self.bound.end(side)
