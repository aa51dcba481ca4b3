# SPDX-License-Identifier: Apache-2.0
"""Names of DGL that Troupe has not yet: each raises NotImplementedError with what to do."""

from __future__ import annotations

from typing import Any, NoReturn


def not_yet(name: str, instead: str) -> NoReturn:
    """Refuses a name."""
    raise NotImplementedError(f"{name} is not there yet: {instead}")


class Later:
    """The base of classes that are not there yet."""

    instead = "see the porting page"

    def __init__(self, *args: Any, **options: Any) -> None:
        not_yet(type(self).__name__, self.instead)


class DistEmbedding(Later):
    """Embeddings that are trained."""

    instead = (
        "where all rows fit into each trainer's memory, torch.nn.Embedding(count, dim, "
        "sparse=True) over block.srcdata[dgl.NID] stands in its place, in the model that "
        "DistributedDataParallel wraps"
    )


class SparseAdam(Later):
    """An optimizer of embeddings."""

    instead = "torch.optim.SparseAdam trains torch.nn.Embedding(count, dim, sparse=True)"


class SparseAdagrad(Later):
    """An optimizer of embeddings."""

    instead = "torch.optim.Adagrad trains torch.nn.Embedding(count, dim, sparse=True)"


class DistGraphServer(Later):
    """A server process of DGL."""

    instead = "Troupe's servers are threads of its processes, or of `troupe serve`"
