# SPDX-License-Identifier: Apache-2.0
"""GraphBolt's loader over a graph in this process."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
import turns
import whole_graph
from dgl import graphbolt


def batches(given: Any) -> Iterator[int]:
    with_features = given["features"]
    index, sources = whole_graph.topology(given["parts"], np.int64)
    graph = graphbolt.fused_csc_sampling_graph(index, sources)
    seeds = graphbolt.ItemSet(torch.arange(len(index) - 1), names="seed_nodes")
    pipe = graphbolt.ItemSampler(seeds, batch_size=given["batch"], shuffle=True)
    pipe = pipe.sample_neighbor(graph, given["fanouts"])
    if with_features:
        rows, labels = whole_graph.features(given["parts"])
        store = graphbolt.BasicFeatureStore(
            {
                ("node", None, "features"): graphbolt.TorchBasedFeature(rows),
                ("node", None, "labels"): graphbolt.TorchBasedFeature(labels.reshape(-1, 1)),
            }
        )
        pipe = pipe.fetch_feature(store, node_feature_keys=["features"])
    loader = graphbolt.DataLoader(pipe, num_workers=0)
    while True:
        for batch in loader:
            if with_features:
                assert len(batch.node_features["features"]) == len(batch.input_nodes)
            yield sum(len(drawn.sampled_csc.indices) for drawn in batch.sampled_subgraphs)


if __name__ == "__main__":
    answers = turns.claim_answers()
    drawn = batches(turns.arguments())
    next(drawn)  # the graph is there
    turns.serve(drawn, answers)
