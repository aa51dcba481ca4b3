# SPDX-License-Identifier: Apache-2.0
"""Runs a script that was written for a newer DGL on DGL 2.1.

The newer one has the Dist* loaders in `dgl.distributed`, 2.1 in `dgl.dataloading` alone: the names
are put there. Nothing else of DGL changes.
"""

from __future__ import annotations

import runpy
import sys

import dgl
import dgl.distributed

if __name__ == "__main__":
    for name in ("DistNodeDataLoader", "DistEdgeDataLoader"):
        if not hasattr(dgl.distributed, name):
            setattr(dgl.distributed, name, getattr(dgl.dataloading, name))
    sys.argv = sys.argv[1:]
    runpy.run_path(sys.argv[0], run_name="__main__")
