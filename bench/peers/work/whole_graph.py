# SPDX-License-Identifier: Apache-2.0
"""The graph in one piece, for libraries that keep it in their own process.

It is read from a folder of Troupe's with one partition, whose files are arrays in CSC order and
whose node IDs are those of every other side.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch

EDGES = "edge~_N:_E:_N~"


def read(part: Path, name: str, dtype: Any = None) -> torch.Tensor:
    """An array of the partition in memory of its own."""
    mapped = np.load(part / f"{name}.npy", mmap_mode="r")
    return torch.from_numpy(np.array(mapped, dtype=dtype or mapped.dtype))


def topology(parts: str, dtype: Any) -> tuple[torch.Tensor, torch.Tensor]:
    """Where the in-edges of each node begin, and their sources."""
    part = Path(parts) / "part0"
    return read(part, EDGES + "index", dtype), read(part, EDGES + "indices", dtype)


def features(parts: str) -> tuple[torch.Tensor, torch.Tensor]:
    """Features and labels of all nodes."""
    part = Path(parts) / "part0"
    feature = "node~_N~feature~"
    return read(part, feature + "features"), read(part, feature + "labels")


def masks(parts: str) -> dict[str, torch.Tensor]:
    """The masks of all nodes."""
    part = Path(parts) / "part0"
    names = [f"{split}_mask" for split in ("train", "val", "test")]
    return {name: read(part, f"node~_N~feature~{name}").bool() for name in names}
