# SPDX-License-Identifier: Apache-2.0
"""DGL's DistNodeDataLoader as the guide uses it; under ``python -m troupe.dgl`` it is Troupe's.

As DGL's own it is started twice: once as the server of the partition (``DGL_ROLE=server``), which
never comes back from `initialize`, and once as its client.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import dgl
import dgl.distributed
import torch
import turns


def batches(g: Any, given: Any) -> Iterator[int]:
    loader = dgl.dataloading.DistNodeDataLoader(
        g,
        torch.arange(g.num_nodes()),
        dgl.dataloading.NeighborSampler(given["fanouts"]),
        batch_size=given["batch"],
        shuffle=True,
        drop_last=False,
    )
    while True:
        for input_nodes, seeds, blocks in loader:
            if given["features"]:
                rows = g.ndata["features"][input_nodes]
                labels = g.ndata["labels"][seeds]
                assert len(rows) == blocks[0].num_src_nodes() and len(labels) == len(seeds)
            yield sum(block.num_edges() for block in blocks)


if __name__ == "__main__":
    answers = turns.claim_answers()
    given = turns.arguments()
    dgl.distributed.initialize(os.environ.get("DGL_IP_CONFIG"))
    g = dgl.distributed.DistGraph("g", part_config=given["book"])
    turns.serve(batches(g, given), answers)
    dgl.distributed.exit_client()
