# SPDX-License-Identifier: Apache-2.0
"""The installed DGL: found when it is needed, and given our names for libraries that import it."""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.util import find_spec
from typing import Any

# Names of dgl.dataloading as DGL has them, of modules that `install` changed.
_own: dict[str, Any] = {}


def find() -> Any | None:
    """The installed DGL, imported; None: there is none."""
    if "dgl" not in sys.modules and find_spec("dgl") is None:
        return None
    return import_module("dgl")


def need(what: str) -> Any:
    """The installed DGL, which `what` takes.

    Raises
    ------
    ImportError
        It is not installed, or cannot be imported; the message says what asked for it.
    """
    try:
        found = find()
    except Exception as error:
        raise ImportError(f"{what} takes DGL, which cannot be imported: {error}") from error
    if found is None:
        raise ImportError(
            f"{what} takes DGL (2.1 or newer), which is not installed; `import troupe` has loaders "
            "and blocks that need no other library"
        )
    return found


def own(name: str) -> Any:
    """A name of DGL's ``dgl.dataloading`` as DGL has it, also after `install`."""
    if name in _own:
        return _own[name]
    return getattr(need(f"dgl.dataloading.{name}").dataloading, name)


def install() -> None:
    """Puts Troupe's ``dgl.distributed`` and loaders into the installed DGL.

    For libraries that import dgl themselves: call it before they are imported. ``dgl.distributed``
    and the modules below it in ``sys.modules`` become Troupe's, and so do the ``Dist*`` loaders and
    the samplers of ``dgl.dataloading``, negative ones too. Calling it again does nothing.
    """
    dgl = need("troupe.dgl.install()")
    from . import dataloading, distributed

    for name, module in distributed.MODULES.items():
        sys.modules[f"dgl.distributed{name and '.' + name}"] = module
    dgl.distributed = distributed
    for name in dataloading.__all__:
        if name not in _own and hasattr(dgl.dataloading, name):
            _own[name] = getattr(dgl.dataloading, name)
        setattr(dgl.dataloading, name, getattr(dataloading, name))
    sys.modules["dgl.dataloading.negative_sampler"] = dataloading.negative_sampler
