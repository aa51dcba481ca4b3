# SPDX-License-Identifier: Apache-2.0
"""Makes the two cffi modules of the package from the public headers.

The declarations are what the preprocessor leaves of ``include/troupe/*.h``, so nobody keeps a
second copy of them, and the C compiler checks each against the library's own headers (API mode): a
header that changes what Python relies on is an error of the build, not a crash at a user's.

``troupe._libtroupe`` has all of ``libtroupe``. ``troupe._libmodel`` has ``libtroupe-model``, which
brings a BLAS: it is imported by the first training alone.
"""

from __future__ import annotations

import os
import re
import subprocess
import sysconfig
import tempfile
from pathlib import Path

import cffi

# In an order in which each names only what those before it declare.
MODEL_HEADERS = ("aggregate.h", "model.h", "report.h", "run.h", "trainer_state.h")
# Headers of the system, of which declarations need only types that cffi knows.
SYSTEM_HEADERS = ("signal.h", "stdbool.h", "stddef.h", "stdint.h")
LINE_MARKER = re.compile(r'^# \d+ "([^"]*)"')
CONSTANT = re.compile(r"^#define (TR_[A-Z0-9_]+)[ \t]+(?!\\)(.+)$", re.M)
INITIALISER = re.compile(r"^#define (TR_[A-Z0-9_]+_INIT)\b(?:[^\n]*\\\n)+[^\n]*", re.M)
NOT_CONSTANT = ("TR_API", "TR_PRINTF")
# Texts, structs and real numbers.
NOT_WHOLE = re.compile(r'[.{"]|\b\d+[eE][-+]?\d+|\b(?!0[xX])\d+[fF]\b')


def _preprocessed(include: Path, header: str, compiler: str) -> str:
    """What the preprocessor makes of a header, without what the system's headers say."""
    with tempfile.TemporaryDirectory() as empty:
        for name in SYSTEM_HEADERS:
            (Path(empty) / name).write_text("")
        # Without predefined macros (-undef) attributes of the compiler are left out.
        command = [*compiler.split(), "-E", "-undef", "-nostdinc", "-I", empty, "-I", str(include)]
        return subprocess.run(
            [*command, str(include / "troupe" / header)], check=True, capture_output=True, text=True
        ).stdout


def _lines_of(text: str, wanted: set[str]) -> str:
    """The lines that come from the headers of these names."""
    lines, taken = [], False
    for line in text.splitlines():
        marker = LINE_MARKER.match(line)
        if marker:
            path = Path(marker.group(1))
            taken = path.parent.name == "troupe" and path.name in wanted
        elif taken and line.strip():
            lines.append(line)
    return "\n".join(lines)


def _constants(text: str) -> list[str]:
    """The names of macros that stand for whole numbers."""
    names = []
    for name, value in CONSTANT.findall(re.sub(r"/\*.*?\*/", "", text, flags=re.S)):
        if name in NOT_CONSTANT or name.endswith("_INIT") or NOT_WHOLE.search(value):
            continue
        names.append(name)
    return names


def _initialisers(text: str) -> list[tuple[str, str]]:
    """Pairs of a struct and the macro that initialises it."""
    pairs = []
    for found in INITIALISER.finditer(text):
        struct = re.search(r"sizeof\(struct (\w+)\)", found.group(0))
        if struct:
            pairs.append((struct.group(1), found.group(1)))
    return pairs


def _module(name: str, include: Path, headers: list[str], top: list[str], cc: str) -> cffi.FFI:
    """An FFI with all that these headers declare; `top` are included by the C file."""
    wanted = set(headers)
    source = [f"#include <troupe/{header}>" for header in top]
    # One that includes the others has them all; of several, each has its own.
    declared = [
        _lines_of(_preprocessed(include, header, cc), {header} if len(top) > 1 else wanted)
        for header in top
    ]
    for header in sorted(wanted):
        text = (include / "troupe" / header).read_text()
        declared += [f"#define {constant} ..." for constant in _constants(text)]
        for struct, macro in _initialisers(text):
            declared.append(f"void init_{struct}(struct {struct} *value);")
            source.append(
                f"static void init_{struct}(struct {struct} *value)"
                f" {{ struct {struct} initial = {macro}; *value = initial; }}"
            )
    ffi = cffi.FFI()
    ffi.declared = "\n".join(declared)
    ffi.source_text = "\n".join(source)
    ffi.module_name = name
    return ffi


def modules(
    include: Path, library_dirs: list[str], runtime_dirs: list[str], model: bool = True
) -> list[cffi.FFI]:
    """The FFIs of the package, ready for ``compile()`` or ``distutils_extension()``.

    Parameters
    ----------
    include : the folder that has ``troupe/troupe.h``.
    library_dirs : where the linker finds the libraries.
    runtime_dirs : what goes into the modules' run path.
    model : whether ``libtroupe-model`` is there.
    """
    cc = os.environ.get("CC", "cc")
    every = [p.name for p in (include / "troupe").glob("*.h") if p.name not in MODEL_HEADERS]
    linked = {
        "include_dirs": [str(include)],
        "library_dirs": library_dirs,
        "extra_link_args": [f"-Wl,-rpath,{folder}" for folder in runtime_dirs],
        "py_limited_api": not sysconfig.get_config_var("Py_GIL_DISABLED"),
    }
    core = _module("troupe._libtroupe", include, every, ["troupe.h"], cc)
    core.cdef(core.declared)
    core.set_source(core.module_name, core.source_text, libraries=["troupe"], **linked)
    made = [core]
    if model:
        trained = _module("troupe._libmodel", include, list(MODEL_HEADERS), list(MODEL_HEADERS), cc)
        trained.include(core)
        trained.cdef(trained.declared)
        trained.set_source(
            trained.module_name,
            "#include <troupe/troupe.h>\n" + trained.source_text,
            libraries=["troupe-model", "troupe"],
            **linked,
        )
        made.append(trained)
    return made
