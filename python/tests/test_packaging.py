# SPDX-License-Identifier: Apache-2.0
"""What pip does with the library below the package: takes it, builds it, says what is missing."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

PYTHON = Path(__file__).resolve().parents[1]


@pytest.fixture
def finder(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """python/find_library.py, which is no part of the package."""
    for name in ("TROUPE_BUILD", "TROUPE_CARRY"):
        monkeypatch.delenv(name, raising=False)
    spec = importlib.util.spec_from_file_location("find_library", PYTHON / "find_library.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "find_library", module)
    spec.loader.exec_module(module)
    return module


def write_program(path: Path, script: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n" + script)
    path.chmod(0o755)


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder whose programs stand before those of the system."""
    folder = tmp_path / "programs"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    return folder


def answer_as_installed(programs: Path, version: str) -> None:
    write_program(
        programs / "pkg-config",
        f'case "$1" in --modversion) echo {version} ;; *includedir*) echo /opt/t/include ;;'
        " *) echo /opt/t/lib ;; esac\n",
    )


@pytest.fixture
def tree(tmp_path: Path, finder: ModuleType, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository of nothing but a configure, whose build the tests write."""
    root = tmp_path / "tree"
    (root / "scripts").mkdir(parents=True)
    (root / "configure.ac").touch()
    setup = (PYTHON.parent / "scripts" / "setup.sh").read_text()
    (root / "scripts" / "setup.sh").write_text(setup)
    monkeypatch.setattr(finder, "ROOT", root)
    return root


MAKEFILE = """\
python-libraries:
\t@echo "  CC       first.lo"
\t@echo "  CXX      second.lo"
\t@echo "  CCLD     libtroupe.la"
install-python-libraries:
\tmkdir -p $(DESTDIR)/usr/include/troupe $(DESTDIR)/usr/lib $(DESTDIR)/usr/libexec/troupe
\tfor name in libtroupe libtroupe-model; do echo $$name >$(DESTDIR)/usr/lib/$$name.so.0; \\
\t    ln -s $$name.so.0 $(DESTDIR)/usr/lib/$$name.so; done
\techo helper >$(DESTDIR)/usr/libexec/troupe/troupe-metis
"""


def write_build(tree: Path) -> None:
    (tree / "Makefile.made").write_text(MAKEFILE)
    write_program(tree / "configure", f'cp "{tree}/Makefile.made" Makefile\n')


def test_the_installed_library_of_the_version_is_taken(finder: ModuleType, programs: Path) -> None:
    answer_as_installed(programs, finder.version())
    library = finder.find()
    assert (library.include, library.folder) == (Path("/opt/t/include"), Path("/opt/t/lib"))
    assert library.runtime_dirs == ["/opt/t/lib"]
    assert library.has_model and library.carried == []


def test_the_library_is_built_and_carried_where_another_version_is_installed(
    finder: ModuleType,
    programs: Path,
    tree: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    answer_as_installed(programs, "9.9.9")
    write_build(tree)
    library = finder.find()
    said = capsys.readouterr().err
    assert f"libtroupe 9.9.9 is installed, and the package needs {finder.version()}" in said
    assert "compiled 1 of 2 files" in said and "compiled 2 of 2 files" in said
    assert library.has_model and library.runtime_dirs == ["$ORIGIN"]
    package = tmp_path / "package"
    package.mkdir()
    finder.carry(library, package)
    names = sorted(path.name for path in package.iterdir())
    assert names == ["libtroupe-model.so.0", "libtroupe.so.0", "troupe-metis"]
    folder = library.folder
    assert folder.is_dir() and tree not in folder.parents
    del library
    assert not folder.exists()


def test_a_wheel_builds_the_library_also_where_it_is_installed(
    finder: ModuleType, programs: Path, tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer_as_installed(programs, finder.version())
    write_build(tree)
    monkeypatch.setenv("TROUPE_CARRY", "1")
    assert finder.find().carried


def test_a_build_that_fails_names_the_packages_that_are_missing(
    finder: ModuleType, programs: Path, tree: Path
) -> None:
    write_program(programs / "pkg-config", "exit 1\n")
    write_program(tree / "configure", "echo 'error: libevent was not found'; exit 1\n")
    with pytest.raises(SystemExit) as failed:
        finder.find()
    assert "building libtroupe failed" in str(failed.value)
    assert "error: libevent was not found" in str(failed.value)
    install = next(line for line in str(failed.value).splitlines() if "apt-get" in line)
    assert {"libevent-dev", "libjansson-dev", "libssl-dev"} < set(install.split())
    assert "autoconf" not in install.split()


def test_a_bootstrap_that_cannot_run_names_its_packages_too(
    finder: ModuleType, programs: Path, tree: Path
) -> None:
    for name in ("pkg-config", "autoreconf"):
        write_program(programs / name, "exit 1\n")
    write_program(tree / "bootstrap", "autoreconf --install\n")
    with pytest.raises(SystemExit, match=r"building libtroupe failed: \./bootstrap"):
        finder.find()


def test_a_tree_that_is_configured_itself_is_refused_with_the_way_out(
    finder: ModuleType, programs: Path, tree: Path
) -> None:
    write_program(programs / "pkg-config", "exit 1\n")
    (tree / "config.status").touch()
    with pytest.raises(SystemExit, match="make distclean"):
        finder.find()


def test_a_package_without_its_repository_says_so(
    finder: ModuleType, programs: Path, tree: Path
) -> None:
    write_program(programs / "pkg-config", "exit 1\n")
    (tree / "configure.ac").unlink()
    with pytest.raises(SystemExit, match="run pip in a checkout"):
        finder.find()


def test_a_build_folder_without_libraries_is_named(
    finder: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TROUPE_BUILD", str(tmp_path))
    with pytest.raises(SystemExit, match=r"\.libs has no libtroupe\.so"):
        finder.find()
