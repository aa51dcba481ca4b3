# SPDX-License-Identifier: Apache-2.0
"""Troupe: trains graph neural networks on graphs that are cut into partitions.

>>> import troupe
>>> g = troupe.open("parts/g.json", seed=1, tensors="torch")
>>> sampler = troupe.NeighborSampler([10, 25])
>>> loader = troupe.DistNodeDataLoader(g, g.ndata["train_mask"], sampler, batch_size=1024,
...                                    shuffle=True, features="feat", labels="label")
>>> for batch in loader:
...     step(batch.blocks, batch.features, batch.labels)

Importing this module reads none of the others: each name comes from its own when it is first used,
so NumPy is imported by the first graph, and PyTorch by the first tensor that is asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .batch import Batch as Batch
    from .batch import Block as Block
    from .book import PartitionBook as PartitionBook
    from .book import load_partition_book as load_partition_book
    from .checkpointing import checkpoint as checkpoint
    from .checkpointing import resume as resume
    from .edge_loader import DistEdgeDataLoader as DistEdgeDataLoader
    from .edge_loader import EdgePredictionSampler as EdgePredictionSampler
    from .edge_loader import edge_set as edge_set
    from .errors import Error as Error
    from .graph import DistGraph as DistGraph
    from .group import Group as Group
    from .job import barrier as barrier
    from .job import initialize as initialize
    from .job import num_trainers as num_trainers
    from .job import open as open
    from .job import rank as rank
    from .job import shutdown as shutdown
    from .loader import DistNodeDataLoader as DistNodeDataLoader
    from .observing import LivePage as LivePage
    from .observing import Status as Status
    from .observing import live_page as live_page
    from .observing import status as status
    from .pair_graph import PairGraph as PairGraph
    from .pair_graph import TypedPairGraph as TypedPairGraph
    from .parallel import ddp as ddp
    from .partitioning import partition_graph as partition_graph
    from .ranking import RankingEvaluator as RankingEvaluator
    from .reporting import report as report
    from .runs import RunRecord as RunRecord
    from .runs import open_run as open_run
    from .sampler import BlockSampler as BlockSampler
    from .sampler import LaborSampler as LaborSampler
    from .sampler import MultiLayerFullNeighborSampler as MultiLayerFullNeighborSampler
    from .sampler import MultiLayerNeighborSampler as MultiLayerNeighborSampler
    from .sampler import NeighborSampler as NeighborSampler
    from .sampler import sample_neighbors as sample_neighbors
    from .seeds import EdgeSet as EdgeSet
    from .seeds import NodeSet as NodeSet
    from .seeds import node_split as node_split
    from .session import Session as Session
    from .tensors import DistTensor as DistTensor

__version__ = "0.1.0"

NID = EID = "_ID"
NTYPE = ETYPE = "_TYPE"

# The module of each public name.
_MODULES: dict[str, tuple[str, ...]] = {
    "batch": ("Batch", "Block"),
    "book": ("PartitionBook", "load_partition_book"),
    "checkpointing": ("checkpoint", "resume"),
    "dgl": (),
    "edge_loader": ("DistEdgeDataLoader", "EdgePredictionSampler", "edge_set"),
    "errors": ("Error",),
    "graph": ("DistGraph",),
    "group": ("Group",),
    "job": ("barrier", "initialize", "num_trainers", "open", "rank", "shutdown"),
    "loader": ("DistNodeDataLoader",),
    "negative_sampler": (),
    "nn": (),
    "observing": ("LivePage", "Status", "live_page", "status"),
    "parallel": ("ddp",),
    "pair_graph": ("PairGraph", "TypedPairGraph"),
    "partitioning": ("partition_graph",),
    "plot": (),
    "pyg": (),
    "ranking": ("RankingEvaluator",),
    "raw": (),
    "reporting": ("report",),
    "runs": ("RunRecord", "open_run"),
    "sampler": (
        "BlockSampler",
        "LaborSampler",
        "MultiLayerFullNeighborSampler",
        "MultiLayerNeighborSampler",
        "NeighborSampler",
        "sample_neighbors",
    ),
    "seeds": ("EdgeSet", "NodeSet", "node_split"),
    "session": ("Session",),
    "tensors": ("DistTensor",),
    "train_many": (),
    "training": (),
}
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names}

__all__ = ["EID", "ETYPE", "NID", "NTYPE", "__version__", *_MODULE_OF]


def __getattr__(name: str) -> object:
    from importlib import import_module

    module = _MODULE_OF.get(name)
    if module is not None:
        value: object = getattr(import_module(f".{module}", __name__), name)
    elif name in _MODULES:
        value = import_module(f".{name}", __name__)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_MODULES})
