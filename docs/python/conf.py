# SPDX-License-Identifier: Apache-2.0
"""How Sphinx makes the pages: sphinx-build -W docs/python OUT, with the package on the path."""

from importlib import import_module

from sphinx.ext.autodoc.mock import mock

import troupe

project = "Troupe"
version = release = troupe.__version__
extensions = ["sphinx.ext.autodoc", "sphinx.ext.napoleon"]
html_theme = "alabaster"
html_theme_options = {"description": "import troupe"}
exclude_patterns = ["**.ipynb"]
default_role = "py:obj"
autodoc_member_order = "bysource"
autodoc_typehints = "none"
autodoc_default_options = {"members": True, "show-inheritance": True}
# PyTorch's own, of modules that derive from its classes.
autodoc_inherit_docstrings = False
napoleon_google_docstring = False
napoleon_use_ivar = True
# Both faces have some names, such as DistGraph: a text that means one says which.
suppress_warnings = ["ref.python"]
# DGL and PyG may not be here; their pages need their names no more than these.
autodoc_mock_imports = ["dgl", "torch_geometric"]
# What the page of names lists beside the modules of troupe._MODULES.
MORE_MODULES = ("partitioning", "task", "dgl.distributed")


def _public_modules() -> list[str]:
    named = [name for name, names in troupe._MODULES.items() if not names]
    return [*dict.fromkeys([*named, *MORE_MODULES])]


def _section(name: str) -> str:
    module = import_module(f"troupe.{name}")
    # Names that are made when they are first used: now, while what they derive from is mocked.
    with mock(autodoc_mock_imports):
        for public in getattr(module, "__all__", ()):
            getattr(module, public)
    title = f"``troupe.{name}``"
    # Names of a module without __all__ that were made elsewhere are others'.
    members = "" if hasattr(module, "__all__") else "\n   :no-imported-members:"
    return f"{title}\n{'-' * len(title)}\n\n.. automodule:: troupe.{name}{members}\n"


def _fill_in(app, page, source):
    """The modules take the place of a comment, so that none is forgotten."""
    if page == "api":
        sections = "\n".join(map(_section, _public_modules()))
        source[0] = source[0].replace(".. the modules stand here", sections)


def setup(app):
    app.connect("source-read", _fill_in)
