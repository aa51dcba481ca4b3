# SPDX-License-Identifier: Apache-2.0
"""DGL's NeighborSampler and DataLoader over a graph in this process."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import dgl
import numpy as np
import torch
import turns
import whole_graph


def graph_of(parts: str, bits: int, with_features: bool) -> Any:
    dtype = {32: np.int32, 64: np.int64}[bits]
    index, sources = whole_graph.topology(parts, dtype)
    none = torch.empty(0, dtype=index.dtype)  # edges are numbered as they stand
    g = dgl.graph(("csc", (index, sources, none)), num_nodes=len(index) - 1)
    if with_features:
        g.ndata["features"], g.ndata["labels"] = whole_graph.features(parts)
    return g


def batches(given: Any) -> Iterator[int]:
    with_features = given["features"]
    g = graph_of(given["parts"], given["bits"], with_features)
    sampler = dgl.dataloading.NeighborSampler(
        given["fanouts"],
        prefetch_node_feats=["features"] if with_features else None,
        prefetch_labels=["labels"] if with_features else None,
    )
    seeds = torch.arange(g.num_nodes(), dtype=g.idtype)
    loader = dgl.dataloading.DataLoader(
        g, seeds, sampler, batch_size=given["batch"], shuffle=True, num_workers=0
    )
    while True:
        for _, _, blocks in loader:
            if with_features:
                rows = blocks[0].srcdata["features"]
                assert len(rows) == blocks[0].num_src_nodes()
                assert len(blocks[-1].dstdata["labels"]) <= given["batch"]
            yield sum(block.num_edges() for block in blocks)


if __name__ == "__main__":
    answers = turns.claim_answers()
    drawn = batches(turns.arguments())
    next(drawn)  # the graph is there
    turns.serve(drawn, answers)
