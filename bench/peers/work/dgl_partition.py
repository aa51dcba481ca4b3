# SPDX-License-Identifier: Apache-2.0
"""DGL's partition_graph, on a graph that is in memory already; it answers how long that took."""

from __future__ import annotations

import json
import time

import dgl.distributed
import numpy as np
import torch
import turns
import whole_graph

if __name__ == "__main__":
    answers = turns.claim_answers()
    given = turns.arguments()
    index, sources = whole_graph.topology(given["parts"], np.int64)
    # DGL partitions what it has as pairs of ends.
    ends = torch.repeat_interleave(torch.arange(len(index) - 1), index.diff())
    g = dgl.graph((sources, ends), num_nodes=len(index) - 1)
    del sources, ends
    g.ndata["features"], g.ndata["labels"] = whole_graph.features(given["parts"])
    g.ndata.update(whole_graph.masks(given["parts"]))
    begin, used = time.perf_counter(), time.process_time()
    dgl.distributed.partition_graph(
        g, "g", given["count"], given["out"], part_method=given["method"]
    )
    said = {"seconds": time.perf_counter() - begin, "cpu": time.process_time() - used}
    print(json.dumps(said), file=answers, flush=True)
