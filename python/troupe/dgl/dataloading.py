# SPDX-License-Identifier: Apache-2.0
"""``dgl.dataloading``: Troupe's loaders and samplers; every other name is the installed DGL's."""

from __future__ import annotations

from .dgl_loaders import DistDataLoader, DistNodeDataLoader, NodeCollator
from .dgl_samplers import (
    BlockSampler,
    LaborSampler,
    MultiLayerFullNeighborSampler,
    MultiLayerNeighborSampler,
    NeighborSampler,
)
from .installed import own
from .later import DistEdgeDataLoader, EdgeCollator

__all__ = [
    "BlockSampler",
    "DistDataLoader",
    "DistEdgeDataLoader",
    "DistNodeDataLoader",
    "EdgeCollator",
    "LaborSampler",
    "MultiLayerFullNeighborSampler",
    "MultiLayerNeighborSampler",
    "NeighborSampler",
    "NodeCollator",
]


def __getattr__(name: str) -> object:
    if name.startswith("__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return own(name)
