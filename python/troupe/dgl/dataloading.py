# SPDX-License-Identifier: Apache-2.0
"""``dgl.dataloading``: Troupe's loaders and samplers; every other name is the installed DGL's."""

from __future__ import annotations

from . import dgl_negatives as negative_sampler
from .dgl_loaders import DistDataLoader, DistNodeDataLoader, NodeCollator
from .dgl_samplers import (
    BlockSampler,
    LaborSampler,
    MultiLayerFullNeighborSampler,
    MultiLayerNeighborSampler,
    NeighborSampler,
)
from .edge_loaders import (
    DistEdgeDataLoader,
    EdgeCollator,
    EdgePredictionSampler,
    as_edge_prediction_sampler,
)
from .installed import own

__all__ = [
    "BlockSampler",
    "DistDataLoader",
    "DistEdgeDataLoader",
    "DistNodeDataLoader",
    "EdgeCollator",
    "EdgePredictionSampler",
    "LaborSampler",
    "MultiLayerFullNeighborSampler",
    "MultiLayerNeighborSampler",
    "NeighborSampler",
    "NodeCollator",
    "as_edge_prediction_sampler",
    "negative_sampler",
]


def __getattr__(name: str) -> object:
    if name.startswith("__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return own(name)
