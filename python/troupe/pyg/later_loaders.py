# SPDX-License-Identifier: Apache-2.0
"""Loaders of PyG that Troupe has not yet: each raises NotImplementedError with what to do."""

from __future__ import annotations

from typing import Any

from .. import errors


class _Later:
    instead = ""

    def __init__(self, *args: Any, **options: Any) -> None:
        raise errors.Unsupported(
            f"troupe.pyg.{type(self).__name__} is not there yet: {self.instead}"
        )


class DistNeighborLoader(_Later):
    """PyG's loader of nodes over partitions of its own."""

    instead = (
        "NeighborLoader over a graph of troupe.initialize() or troupe.open() is the loader of a "
        "job: its trainers share the seeds of a mask of the graph"
    )


class DistLinkNeighborLoader(_Later):
    """PyG's loader of links over partitions of its own."""

    instead = (
        "LinkNeighborLoader over a graph of troupe.initialize() or troupe.open() is the loader of "
        "a job: its trainers share the edges of a mask of the graph"
    )


class HGTLoader(_Later):
    """Batches whose nodes are drawn by type in proportion to their degrees."""

    instead = (
        "draws by a budget for each node type; NeighborLoader draws so many neighbours of each "
        "edge type"
    )
