# SPDX-License-Identifier: Apache-2.0
"""Partition folders that DGL wrote."""

from __future__ import annotations

import os


def opened_as(part_config: str | os.PathLike[str]) -> str:
    """The path of Troupe's partitions that stand for a part_config."""
    return os.fspath(part_config)
