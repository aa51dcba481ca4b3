# SPDX-License-Identifier: Apache-2.0
"""The program in README.md, as it stands there, on a small archive of packages."""

from __future__ import annotations

import ast
import os
import random
import re
import subprocess
import sys
from pathlib import Path

import pytest

README = Path(__file__).resolve().parents[2] / "README.md"
SECTIONS = {"games": "cards dice", "libs": "shared functions", "mail": "letters boxes"}


def program_of_readme() -> str:
    blocks = re.findall(r"^```python\n(.*?)^```$", README.read_text(), re.M | re.S)
    assert len(blocks) == 1
    return str(blocks[0])


def write_archive(folder: Path) -> None:
    """A program that answers as apt-cache: packages whose words and friends tell their section."""
    draw, lines = random.Random(1), []
    names = {section: [f"{section}{i}" for i in range(100)] for section in SECTIONS}
    for section, words in SECTIONS.items():
        for name in names[section]:
            others = ", ".join(draw.sample(names[section], 3))
            lines += [f"Package: {name}", f"Section: {section}", f"Depends: {others}"]
            lines += [f"Description: {words} for {name}", ""]
    folder.mkdir()
    (folder / "list").write_text("\n".join(lines))
    (folder / "apt-cache").write_text(f'#!/bin/sh\n[ "$1" = dumpavail ] && cat "{folder}/list"\n')
    (folder / "apt-cache").chmod(0o755)


def test_the_program_of_the_readme_trains(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    program = program_of_readme()
    # Two imports, and about ten statements.
    assert len([node for node in ast.walk(ast.parse(program)) if isinstance(node, ast.stmt)]) <= 15
    write_archive(tmp_path / "programs")
    path = f"{tmp_path}/programs:{os.environ['PATH']}"
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        cwd=tmp_path,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    accuracy = re.search(r"test accuracy tensor\(([0-9.]+)\)", done.stdout)
    assert accuracy and float(accuracy.group(1)) > 0.9, done.stdout
