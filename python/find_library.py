# SPDX-License-Identifier: Apache-2.0
"""Where the libraries of the package are: installed, in a build folder, or built now."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
# The folders that the system's loader looks into by itself.
SYSTEM_FOLDERS = ("/usr/lib", "/lib")


@dataclass
class Library:
    """What the C modules are compiled with."""

    include: Path
    folder: Path
    runtime_dirs: list[str]
    has_model: bool
    # Libraries and programs that go into the package itself; none: they are installed.
    carried: list[Path]


def version() -> str:
    """The version of the package, which is that of the library that it needs."""
    for line in (HERE / "pyproject.toml").read_text().splitlines():
        if line.startswith("version = "):
            return line.split('"')[1]
    raise SystemExit("python/pyproject.toml says no version")


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
        include=HERE.parent / "include",
        folder=folder,
        runtime_dirs=[str(folder)],
        has_model=bool(list(folder.glob("libtroupe-model.so*"))),
        carried=[],
    )


def _installed() -> Library | None:
    if _pkg_config("--exists", f"troupe = {version()}") is None:
        return None
    include = _pkg_config("--variable=includedir", "troupe")
    libdir = _pkg_config("--variable=libdir", "troupe")
    if not include or not libdir:
        return None
    system = libdir.startswith(SYSTEM_FOLDERS)
    return Library(
        include=Path(include),
        folder=Path(libdir),
        runtime_dirs=[] if system else [libdir],
        has_model=_pkg_config("--exists", "troupe-model") is not None,
        carried=[],
    )


def _built() -> Library:
    """Builds the repository into a folder of its own; the package carries what comes of it."""
    root = HERE.parent
    if not (root / "configure.ac").is_file():
        raise SystemExit(
            f"libtroupe {version()} is not installed (pkg-config does not know it), and this is "
            "not its repository: install it, or run pip in a checkout"
        )
    build = HERE / "build" / "library"
    prefix = HERE / "build" / "prefix"
    build.mkdir(parents=True, exist_ok=True)
    print(f"building libtroupe {version()} in {build}", file=sys.stderr)
    if not (root / "configure").is_file():
        subprocess.run(["./bootstrap"], cwd=root, check=True)
    if not (build / "Makefile").is_file():
        subprocess.run([str(root / "configure"), "-q", f"--prefix={prefix}"], cwd=build, check=True)
    jobs = f"-j{os.cpu_count() or 1}"
    for words in (["make", jobs], ["make", "install"]):
        subprocess.run([*words], cwd=build, check=True, stdout=subprocess.DEVNULL)
    libraries = sorted((prefix / "lib").glob("libtroupe*.so.[0-9]"))
    return Library(
        include=prefix / "include",
        folder=prefix / "lib",
        runtime_dirs=["$ORIGIN"],
        has_model=bool(list((prefix / "lib").glob("libtroupe-model.so"))),
        carried=[*libraries, prefix / "libexec" / "troupe" / "troupe-metis"],
    )


def find() -> Library:
    """The libraries of this version: TROUPE_BUILD's, those installed, or built now."""
    build = os.environ.get("TROUPE_BUILD")
    if build:
        return _in_build_folder(Path(build).resolve())
    return _installed() or _built()


def carry(library: Library, package: Path) -> None:
    """Copies what the package carries beside its modules, where the loader finds it."""
    for path in library.carried:
        if path.exists():
            shutil.copy2(path, package / path.name, follow_symlinks=True)
