# SPDX-License-Identifier: Apache-2.0
"""Troupe's loader: as a program in C takes its batches, and as one in Python does."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import turns

import troupe
from troupe.binding import FOREVER, ffi, lib


def loader_of(graph: troupe.DistGraph, given: Any) -> troupe.DistNodeDataLoader:
    with_features = given["features"]
    return troupe.DistNodeDataLoader(
        graph,
        None,
        troupe.NeighborSampler(given["fanouts"]),
        batch_size=given["batch"],
        shuffle=True,
        features="features" if with_features else None,
        labels="labels" if with_features else None,
        orig_ids=False,
        edge_ids=False,
    )


def by_library(loader: troupe.DistNodeDataLoader, given: Any) -> Iterator[int]:
    """By calls of the library alone; of a batch's edges only their number is asked."""
    box, pointer = ffi.new("struct tr_batch **"), loader.pointer()
    block = ffi.new("struct tr_block *")
    block.size = ffi.sizeof("struct tr_block")
    epoch = 0
    while True:
        rv = lib.tr_loader_next(pointer, FOREVER, box, ffi.NULL)
        if rv == lib.TR_EEND:
            epoch += 1
            loader.begin(epoch)
            continue
        assert rv == 0, rv
        edges = 0
        for layer in range(len(given["fanouts"])):
            assert lib.tr_batch_block(box[0], layer, 0, block, ffi.NULL) == 0
            edges += block.num_edges
        lib.tr_batch_release(box[0])
        yield edges


def by_python(loader: troupe.DistNodeDataLoader, given: Any) -> Iterator[int]:
    """With every array of a batch as a tensor."""
    while True:
        for batch in loader:
            if given["features"]:
                assert len(batch.features) >= len(batch.labels)
            yield sum(len(block.as_csr().indices) for block in batch.blocks)


if __name__ == "__main__":
    given = turns.arguments()
    answers = turns.claim_answers()
    with troupe.open(given["book"], seed=1, tensors="torch") as graph:
        take = {"c": by_library, "python": by_python}[given["face"]]
        turns.serve(take(loader_of(graph, given), given), answers)
