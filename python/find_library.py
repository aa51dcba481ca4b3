# SPDX-License-Identifier: Apache-2.0
"""Where the libraries of the package are: installed, in a build folder, or built now.

``pip install`` calls `find`. The environment says what it would not do by itself:

- ``TROUPE_BUILD``: a build folder of the repository, whose libraries stay there;
- ``TROUPE_STAGE``: the DESTDIR of an installation in a folder of the system, where the libraries
  will be when the package is used (for packages of distributions);
- ``TROUPE_CARRY``: build and carry the libraries, also where they are installed (for wheels).
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
# The folders that the system's loader looks into by itself.
SYSTEM_FOLDERS = ("/usr/lib", "/lib")
# What only ./bootstrap needs.
BOOTSTRAP_PACKAGES = {"autoconf", "automake", "libtool", "autoconf-archive"}
# Lines of a failed step that are shown.
SHOWN_LINES = 15


@dataclass
class Library:
    """What the C modules are compiled with."""

    include: Path
    folder: Path
    runtime_dirs: list[str]
    has_model: bool
    # Libraries and programs that go into the package itself; none: they are installed.
    carried: list[Path]
    # The folder that they were built in, which goes with the last reference to this.
    built_in: tempfile.TemporaryDirectory[str] | None = field(default=None, repr=False)


def version() -> str:
    """The version of the package, which is that of the library that it needs."""
    for line in (HERE / "pyproject.toml").read_text().splitlines():
        if line.startswith("version = "):
            return line.split('"')[1]
    raise SystemExit("python/pyproject.toml says no version")


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _pkg_config(*words: str) -> str | None:
    try:
        done = subprocess.run(["pkg-config", *words], capture_output=True, text=True)
    except FileNotFoundError:
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def _in_build_folder(build: Path) -> Library:
    """The libraries of a build of the repository, which stay there: for working on the package."""
    folder = build / ".libs"
    if not list(folder.glob("libtroupe.so*")):
        raise SystemExit(f"TROUPE_BUILD: {folder} has no libtroupe.so; run make there first")
    return Library(
        include=ROOT / "include",
        folder=folder,
        runtime_dirs=[str(folder)],
        has_model=bool(list(folder.glob("libtroupe-model.so*"))),
        carried=[],
    )


def _staged(stage: Path) -> Library:
    """The libraries below the folder that ``make install`` was given as DESTDIR."""
    found = sorted(stage.glob("usr/lib/**/libtroupe.so"))
    if not found:
        raise SystemExit(
            f"TROUPE_STAGE: {stage} has no usr/lib/.../libtroupe.so; install there first"
        )
    folder = found[0].parent
    return Library(
        include=stage / "usr/include",
        folder=folder,
        runtime_dirs=[],
        has_model=(folder / "libtroupe-model.so").exists(),
        carried=[],
    )


def _installed() -> Library | None:
    wanted, found = version(), _pkg_config("--modversion", "troupe")
    if found != wanted:
        if found is not None:
            _say(f"libtroupe {found} is installed, and the package needs {wanted}")
        return None
    include = _pkg_config("--variable=includedir", "troupe")
    libdir = _pkg_config("--variable=libdir", "troupe")
    if not include or not libdir:
        return None
    _say(f"libtroupe {wanted} is installed in {libdir}, and taken from there")
    system = libdir.startswith(SYSTEM_FOLDERS)
    return Library(
        include=Path(include),
        folder=Path(libdir),
        runtime_dirs=[] if system else [libdir],
        has_model=_pkg_config("--modversion", "troupe-model") == wanted,
        carried=[],
    )


def missing_packages() -> list[str]:
    """The Debian packages that building needs and of which nothing is here."""
    missing: list[str] = []
    if (ROOT / "scripts" / "setup.sh").is_file():
        script = 'root=$1; . "$1/scripts/setup.sh"; missing_of "$needed_to_build"'
        words = ["/bin/sh", "-c", script, "sh", str(ROOT)]
        done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True)
        missing = done.stdout.split()
    if (ROOT / "configure").is_file():
        missing = [name for name in missing if name not in BOOTSTRAP_PACKAGES]
    if not (Path(sysconfig.get_path("include")) / "Python.h").is_file():
        missing.append("python3-dev")
    return missing


def _run_step(
    words: list[str], folder: Path, on_line: Callable[[str], object] | None = None
) -> None:
    """Runs a step; where it fails, says what it printed last and which packages are missing."""
    last: list[str] = []
    try:
        with subprocess.Popen(
            words, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        ) as step:
            assert step.stdout is not None
            for line in step.stdout:
                last = [*last[1 - SHOWN_LINES :], line.rstrip()]
                if on_line is not None:
                    on_line(line)
        failed = step.returncode != 0
    except OSError as problem:
        failed, last = True, [str(problem)]
    if not failed:
        return
    problem_text = f"building libtroupe failed: {' '.join(words)}\n" + "".join(
        f"    {line}\n" for line in last
    )
    missing = missing_packages()
    if missing:
        problem_text += (
            "These Debian packages, or what they are called elsewhere, are missing:\n"
            f"    apt-get install {' '.join(missing)}\n"
        )
    raise SystemExit(problem_text)


def _is_compilation(line: str) -> bool:
    """Whether make's line says that a file is compiled."""
    return line.removeprefix('echo "').startswith(("  CC ", "  CXX "))


class _Compiled:
    """Says about ten times how far make is."""

    def __init__(self, total: int) -> None:
        self._total, self._done = total, 0

    def __call__(self, line: str) -> None:
        if not _is_compilation(line):
            return
        before = self._done * 10 // max(self._total, 1)
        self._done += 1
        if self._total and self._done * 10 // self._total > before:
            _say(f"  compiled {self._done} of {self._total} files")


def _built() -> Library:
    """Builds the repository in a temporary folder; the package carries what comes of it."""
    if not (ROOT / "configure.ac").is_file():
        raise SystemExit(
            f"libtroupe {version()} is not installed (pkg-config does not know it), and this is "
            "not its repository: install it, or run pip in a checkout"
        )
    if (ROOT / "config.status").is_file():
        raise SystemExit(
            f"{ROOT} is configured itself, so that it cannot be built in another folder: run "
            "make distclean there, or name it in TROUPE_BUILD"
        )
    place = tempfile.TemporaryDirectory(prefix="troupe-build.")
    build, stage = Path(place.name) / "build", Path(place.name) / "stage"
    build.mkdir()
    _say(f"building libtroupe {version()} in {build}, which takes some minutes")
    if not (ROOT / "configure").is_file():
        _say("  making ./configure")
        _run_step(["./bootstrap"], ROOT)
    _say("  configuring")
    # As for a folder of the system, so that no run path leads to the temporary one.
    where = ["--prefix=/usr", "--libdir=/usr/lib", "--disable-static", "LDFLAGS=-Wl,-s"]
    _run_step([str(ROOT / "configure"), "-q", "--enable-silent-rules", *where], build)
    make = ["make", "python-libraries"]
    planned = subprocess.run([*make, "-n"], cwd=build, capture_output=True, text=True).stdout
    total = sum(map(_is_compilation, planned.splitlines()))
    _run_step([*make, f"-j{os.cpu_count() or 1}"], build, _Compiled(total))
    _run_step(["make", "install-python-libraries", f"DESTDIR={stage}"], build)
    libraries = sorted((stage / "usr/lib").glob("libtroupe*.so.[0-9]"))
    return Library(
        include=stage / "usr/include",
        folder=stage / "usr/lib",
        runtime_dirs=["$ORIGIN"],
        has_model=(stage / "usr/lib/libtroupe-model.so").exists(),
        carried=[*libraries, stage / "usr/libexec/troupe/troupe-metis"],
        built_in=place,
    )


def find() -> Library:
    """The libraries of this version: TROUPE_BUILD's, TROUPE_STAGE's, installed, or built now."""
    build, stage = os.environ.get("TROUPE_BUILD"), os.environ.get("TROUPE_STAGE")
    if build:
        return _in_build_folder(Path(build).resolve())
    if stage:
        return _staged(Path(stage).resolve())
    installed = None if os.environ.get("TROUPE_CARRY") else _installed()
    return installed or _built()


def carry(library: Library, package: Path) -> None:
    """Copies what the package carries beside its modules, where the loader finds it."""
    for path in library.carried:
        shutil.copy2(path, package / path.name, follow_symlinks=True)
