# SPDX-License-Identifier: Apache-2.0
"""PyTorch Geometric over Troupe: its loader, stores and sampler over a partitioned graph.

>>> from troupe.pyg import NeighborLoader
>>> g = troupe.open("parts/g.json", seed=1, tensors="torch")
>>> loader = NeighborLoader(g, num_neighbors=[25, 10], input_nodes=g.ndata["train_mask"],
...                         batch_size=1024, shuffle=True)
>>> for batch in loader:
...     scores = model(batch.x, batch.edge_index)[: batch.batch_size]
...     loss = torch.nn.functional.cross_entropy(scores, batch.y[: batch.batch_size])

`NeighborLoader`, `LinkNeighborLoader` and `LinkLoader` have the arguments of PyG's, and batches are
PyG's ``Data`` and ``HeteroData``, drawn and filled ahead of the loop by threads. `graph_data` gives
scripts their graph as ``Data`` or ``HeteroData``; data that are in memory the loaders take as they
are. For PyG's own loaders there are `FeatureStore`, `GraphStore` and `NeighborSampler`.

torch_geometric (2.5 or newer) is imported by the first of these names that is used; neither pyg-lib
nor torch-sparse is needed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .data_source import graph_data as graph_data
    from .later_loaders import DistLinkNeighborLoader as DistLinkNeighborLoader
    from .later_loaders import DistNeighborLoader as DistNeighborLoader
    from .later_loaders import HGTLoader as HGTLoader
    from .link_loader import LinkLoader as LinkLoader
    from .link_loader import LinkNeighborLoader as LinkNeighborLoader
    from .pyg_loader import NeighborLoader as NeighborLoader
    from .pyg_sampler import NeighborSampler as NeighborSampler
    from .pyg_stores import FeatureStore as FeatureStore
    from .pyg_stores import GraphStore as GraphStore
    from .pyg_stores import stores as stores

_MODULE_OF = {
    "DistLinkNeighborLoader": "later_loaders",
    "DistNeighborLoader": "later_loaders",
    "FeatureStore": "pyg_stores",
    "GraphStore": "pyg_stores",
    "HGTLoader": "later_loaders",
    "LinkLoader": "link_loader",
    "LinkNeighborLoader": "link_loader",
    "NeighborLoader": "pyg_loader",
    "NeighborSampler": "pyg_sampler",
    "graph_data": "data_source",
    "stores": "pyg_stores",
}

__all__ = list(_MODULE_OF)


def __getattr__(name: str) -> object:
    from importlib import import_module

    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        import_module("torch_geometric")
    except ImportError as error:
        raise ImportError(
            f"troupe.pyg.{name} takes torch_geometric, which cannot be imported ({error}); install "
            "it, or use troupe.DistNodeDataLoader, which needs no other library"
        ) from error
    value: object = getattr(import_module(f".{_MODULE_OF[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
