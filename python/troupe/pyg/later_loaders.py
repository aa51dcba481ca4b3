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


class HGTLoader(_Later):
    """Batches whose nodes are drawn by type in proportion to their degrees."""

    instead = (
        "draws by a budget for each node type; NeighborLoader draws so many neighbours of each "
        "edge type"
    )
