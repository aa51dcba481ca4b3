# SPDX-License-Identifier: Apache-2.0
"""DGL's module over Troupe: ``from troupe import dgl`` in the place of ``import dgl``.

`distributed`, the ``Dist*`` loaders and the samplers of `dataloading`, and the constants are
Troupe's; every other name is that of the installed DGL (2.1 or newer), which is imported when such
a name is first used. `install` puts the same into ``sys.modules``, for libraries that import dgl
themselves, and for scripts with ``import dgl.distributed``: ``python -m troupe.dgl script.py`` runs
one unchanged.

>>> from troupe import dgl
>>> dgl.distributed.initialize("ip_config.txt")
>>> g = dgl.distributed.DistGraph("g", part_config="parts/g.json")
>>> sampler = dgl.dataloading.NeighborSampler([10, 25])
>>> loader = dgl.dataloading.DistNodeDataLoader(g, nodes, sampler, batch_size=1000, shuffle=True)
>>> for input_nodes, output_nodes, blocks in loader:
...     step(blocks, g.ndata["feat"][input_nodes], g.ndata["label"][output_nodes])

What it gives are DGL's own objects: blocks are ``DGLBlock``, drawn edges ``DGLGraph``, rows and IDs
tensors of PyTorch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..types import EID, ETYPE, NID, NTYPE

if TYPE_CHECKING:
    from . import dataloading as dataloading
    from . import distributed as distributed
    from .installed import install as install

__all__ = ["EID", "ETYPE", "NID", "NTYPE", "dataloading", "distributed", "install"]


def __getattr__(name: str) -> object:
    from importlib import import_module
    from importlib.util import find_spec

    value: object
    # Also the modules of the package itself, which import each other by `from . import name`.
    if not name.startswith("__") and find_spec(f"{__name__}.{name}") is not None:
        value = import_module(f".{name}", __name__)
    elif name == "install":
        value = import_module(".installed", __name__).install
    elif name.startswith("__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    else:
        value = getattr(import_module(".installed", __name__).need(f"dgl.{name}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    from .installed import find

    return sorted({*globals(), *__all__, *dir(find())})
