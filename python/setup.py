# SPDX-License-Identifier: Apache-2.0
"""What pyproject.toml cannot say of the build: the C modules and the library below them."""

from __future__ import annotations

import atexit
import shutil
import sys
import sysconfig
import tempfile
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

sys.path.insert(0, str(Path(__file__).resolve().parent))
import ffi_build
import find_library


class BuildModules(build_ext):
    """Finds the library, or builds it, before the modules that link it are made."""

    def run(self) -> None:
        # Not before: metadata are also made without a library.
        library = find_library.find()
        made = ffi_build.modules(
            library.include, [str(library.folder)], library.runtime_dirs, library.has_model
        )
        temp = str(Path(self.build_temp).absolute())
        core = self.distribution.ext_modules[:1]
        self.distribution.ext_modules = core + [m.distutils_extension(temp) for m in made]
        # Once more, for these; it reads this option as a text again.
        self.swig_opts = None
        self.finalize_options()
        super().run()
        target = Path(__file__).resolve().parent if self.inplace else Path(self.build_lib)
        find_library.carry(library, target / "troupe")


# An interpreter without a global lock has no limited API before 3.15: its modules are its own.
LIMITED = not sysconfig.get_config_var("Py_GIL_DISABLED")

# Nothing is written beside the sources, and nothing of an earlier build gets into the package.
made_in = tempfile.mkdtemp(prefix="troupe-python.")
atexit.register(shutil.rmtree, made_in, ignore_errors=True)

setup(
    ext_modules=[
        Extension(
            "troupe._core",
            ["troupe/core_module.c"],
            py_limited_api=LIMITED,
            define_macros=[("Py_LIMITED_API", "0x030B0000")] if LIMITED else [],
            extra_compile_args=["-std=c11"],
        )
    ],
    cmdclass={"build_ext": BuildModules},
    options={
        "bdist_wheel": {"py_limited_api": "cp311"} if LIMITED else {},
        "build": {"build_base": made_in},
        "egg_info": {"egg_base": made_in},
    },
)
