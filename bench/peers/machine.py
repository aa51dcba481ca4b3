# SPDX-License-Identifier: Apache-2.0
"""What a table was measured on: the machine, and the versions of what ran."""

from __future__ import annotations

import json
import os
import platform
import subprocess
from pathlib import Path
from typing import Any

from environment import Environment

PROBE = """
import json, platform, importlib.metadata as found
names = ("dgl", "torch", "numpy", "torchdata")
print(json.dumps({"python": platform.python_version(), **{n: found.version(n) for n in names}}))
"""


def _of_cpu(field: str) -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        name, _, value = line.partition(":")
        if name.strip() == field:
            return value.strip()
    return platform.machine()


def describe(environment: Environment) -> dict[str, Any]:
    """The machine and the versions."""
    probe = [str(environment.python), "-c", PROBE]
    versions = json.loads(subprocess.run(probe, check=True, capture_output=True).stdout)
    troupe = [str(environment.troupe), "--version"]
    said = subprocess.run(troupe, check=True, capture_output=True, text=True).stdout.split()
    pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return {
        "cpu": _of_cpu("model name"),
        "cores": len(os.sched_getaffinity(0)),
        "memory_bytes": pages,
        "kernel": platform.release(),
        "versions": {"troupe": said[-1] if said else "", **versions},
    }


def sentence(found: dict[str, Any], graph: dict[str, Any]) -> str:
    """The same for people, with the graph."""
    versions = found["versions"]
    others = ", ".join(f"{name} {versions[name]}" for name in ("dgl", "torch", "numpy", "python"))
    return (
        f"Measured on {found['cores']} cores of {found['cpu']} with {found['memory_bytes'] >> 30} "
        f"GiB, Linux {found['kernel']}, Troupe {versions['troupe']}, {others}, on a graph of "
        f"{graph['nodes']:,} nodes and {graph['edges']:,} edges (scale {graph['scale']:g}), "
        f"{graph['rounds']} rounds."
    )
