# SPDX-License-Identifier: Apache-2.0
"""Importing is cheap, and names are there."""

from __future__ import annotations

import resource
import subprocess
import sys

import pytest

import troupe


def test_importing_reads_neither_numpy_nor_the_library() -> None:
    code = (
        "import sys, troupe; "
        "sys.exit(any(m in sys.modules for m in ('numpy', 'torch', 'troupe._libtroupe')))"
    )
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_importing_takes_less_than_150_ms() -> None:
    # What it computes: how long that takes depends on what else the machine does.
    def took(code: str) -> float:
        begin = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, "-c", code], check=True)
        end = resource.getrusage(resource.RUSAGE_CHILDREN)
        return end.ru_utime - begin.ru_utime + end.ru_stime - begin.ru_stime

    beside = min(took("pass") for _ in range(5))
    assert min(took("import troupe, troupe.errors") for _ in range(5)) - beside < 0.150


def test_every_public_name_is_there_and_documented() -> None:
    for name in troupe.__all__:
        value = getattr(troupe, name)
        assert value is not None
        if callable(value):
            assert value.__doc__, name


def test_a_name_that_is_none_says_so() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        troupe.nothing  # noqa: B018


def test_the_package_has_the_version_of_the_library() -> None:
    root = __import__("pathlib").Path(__file__).resolve().parents[2]
    assert f"AC_INIT([troupe], [{troupe.__version__}])" in (root / "configure.ac").read_text()
