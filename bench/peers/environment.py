# SPDX-License-Identifier: Apache-2.0
"""What the comparison takes: an interpreter with DGL, Troupe's package for it, DGL's script."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent

# DGL is made for Python 3.11 at most, the oldest that Troupe's package takes.
PYTHON = "python3.11"
GUIDE = "examples/distributed/graphsage/node_classification.py"
# Of DGL's sources; tests/outside/python_dgl.sh has the same.
REPOSITORY = "https://github.com/dmlc/dgl"
REVISION = "3d16000b4170fa741ed9e9667f22ba84d3493026"


class Missing(Exception):
    """Something that the comparison takes is not there; the message says how to get it."""


@dataclass
class Environment:
    """An interpreter, and what its programs find."""

    python: Path
    build: Path
    guide: Path | None

    @property
    def troupe(self) -> Path:
        """The command."""
        return self.build / "troupe"

    def variables(self, threads: int) -> dict[str, str]:
        """The environment of a program that computes on so many threads."""
        return {
            "PYTHONPATH": str(self.build / "python/lib"),
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONUNBUFFERED": "1",
            "PYTHONWARNINGS": "ignore",
            "DGLBACKEND": "pytorch",
            "TROUPE_METIS": str(self.build / "troupe-metis"),
            "OMP_NUM_THREADS": str(threads),
            "OPENBLAS_NUM_THREADS": str(threads),
            "MKL_NUM_THREADS": str(threads),
        }


def _run(command: list[object], what: str, **options: object) -> None:
    """Runs a step of the set-up, and says what failed."""
    words = [str(word) for word in command]
    done = subprocess.run(words, capture_output=True, text=True, check=False, **options)  # type: ignore[call-overload]
    if done.returncode:
        raise Missing(f"{what}: `{' '.join(words)}` failed:\n{done.stderr[-2000:]}")


def interpreter(folder: Path) -> Path:
    """The interpreter of the environment in `folder`, which is installed where it is not whole."""
    python = folder / "bin/python"
    if (folder / "whole").exists():
        return python
    made_with = shutil.which(PYTHON)
    if made_with is None:
        raise Missing(f"DGL 2.1 takes {PYTHON}: install it, or name an interpreter with --python")
    print(f"Installing DGL 2.1 and PyTorch 2.2 into {folder} (5 GB) ...", file=sys.stderr)
    _run([made_with, "-m", "venv", folder], "an environment")
    wanted = HERE / "requirements.txt"
    _run([folder / "bin/pip", "install", "--quiet", "-r", wanted], "DGL")
    (folder / "whole").touch()
    return python


def build_package(python: Path, build: Path) -> None:
    """Builds Troupe's package for the interpreter, where check.sh does."""
    if not os.access(build / "troupe", os.X_OK):
        raise Missing(f"{build} has no troupe: build it there, or name a build with --build")
    folder = build / "python"
    folders = [f"--build-base={folder / 'temp'}", f"--build-lib={folder / 'lib'}"]
    _run(
        [python, "setup.py", "-q", "build", *folders],
        "Troupe's package",
        cwd=SOURCE / "python",
        env={**os.environ, "TROUPE_BUILD": str(build), "PYTHONDONTWRITEBYTECODE": "1"},
    )


def guide_script(checkout: Path | None, build: Path) -> Path:
    """The guide's script in a checkout of DGL's sources; one revision is fetched where none is."""
    if checkout is not None:
        if not (checkout / GUIDE).is_file():
            raise Missing(f"{checkout / GUIDE}: there is no such file")
        return checkout / GUIDE
    folder = build / "python/dgl-source"
    if not (folder / GUIDE).is_file():
        git: list[object] = ["git", "-C", folder]
        if not (folder / ".git").is_dir():
            folder.mkdir(parents=True, exist_ok=True)
            _run([*git, "init", "-q"], "DGL's sources")
        _run([*git, "fetch", "-q", "--depth", "1", REPOSITORY, REVISION], "DGL's sources")
        _run([*git, "checkout", "-q", "FETCH_HEAD", "--", str(Path(GUIDE).parent)], "the script")
    return folder / GUIDE
