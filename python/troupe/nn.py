# SPDX-License-Identifier: Apache-2.0
"""Layers of graph neural networks over blocks, as plain modules of PyTorch.

>>> import torch, troupe
>>> from troupe import nn
>>> first, second = nn.SAGEConv(100, 256, activation=torch.relu), nn.SAGEConv(256, 47)
>>> for batch in loader:
...     h = first(batch.blocks[0], batch.features)
...     h = second(batch.blocks[1], h)

Parameters have the names and shapes that they have in DGL's modules of the same names. On the CPU
neighbours are summed by the library's own loops; see `Aggregation`. `Model` is what
``troupe train`` trains; `load` and `save` read and write the folders of runs, and `infer` computes
every node.
"""

from __future__ import annotations

from .activation import relu_dropout
from .aggregation import Aggregation
from .nn_hetero import HeteroGraphConv
from .nn_infer import infer
from .nn_layers import GATConv, GraphConv, SAGEConv
from .nn_models import Model, load, save
from .nn_relations import RelGraphConv
from .nn_typed_models import TypedModel

__all__ = [
    "Aggregation",
    "GATConv",
    "GraphConv",
    "HeteroGraphConv",
    "Model",
    "RelGraphConv",
    "SAGEConv",
    "TypedModel",
    "infer",
    "load",
    "relu_dropout",
    "save",
]
