# SPDX-License-Identifier: Apache-2.0
"""What pyproject.toml cannot say of the build: the C modules and the library below them."""

from __future__ import annotations

import sys
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

sys.path.insert(0, str(Path(__file__).resolve().parent))
import ffi_build
import find_library


class BuildModules(build_ext):
    """Finds the library, or builds it, before the modules that link it are made."""

    def finalize_options(self) -> None:
        self.set_undefined_options("build", ("build_temp", "build_temp"))
        self.library = find_library.find()
        made = ffi_build.modules(
            self.library.include,
            [str(self.library.folder)],
            self.library.runtime_dirs,
            self.library.has_model,
        )
        core = self.distribution.ext_modules[:1]
        self.distribution.ext_modules = core + [
            module.distutils_extension(str(Path(self.build_temp).absolute())) for module in made
        ]
        super().finalize_options()

    def run(self) -> None:
        super().run()
        target = Path(__file__).resolve().parent if self.inplace else Path(self.build_lib)
        find_library.carry(self.library, target / "troupe")


setup(
    ext_modules=[
        Extension(
            "troupe._core",
            ["troupe/core_module.c"],
            py_limited_api=True,
            define_macros=[("Py_LIMITED_API", "0x030B0000")],
            extra_compile_args=["-std=c11"],
        )
    ],
    cmdclass={"build_ext": BuildModules},
    options={"bdist_wheel": {"py_limited_api": "cp311"}},
)
