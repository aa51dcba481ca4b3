# SPDX-License-Identifier: Apache-2.0
"""Tensors of PyTorch where they are asked for, over the same memory."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import numpy as np
import pytest
from conftest import NODES, World

import troupe

torch = pytest.importorskip("torch")


@pytest.fixture
def tensors(world: World) -> Iterator[troupe.DistGraph]:
    with troupe.open(world.path, seed=7, tensors="torch") as opened:
        yield opened


def batch_of(graph: troupe.DistGraph) -> troupe.Batch:
    sampler = troupe.NeighborSampler([4, 4])
    return next(
        iter(
            troupe.DistNodeDataLoader(
                graph, None, sampler, batch_size=64, features="feat", labels="label"
            )
        )
    )


def test_rows_and_ids_are_tensors(tensors: troupe.DistGraph, world: World) -> None:
    index = torch.tensor([5, 3, 3], dtype=torch.int32)
    rows = tensors.ndata["feat"][index]
    assert rows.dtype == torch.float32 and rows.shape == (3, 16)
    original = tensors.orig_ids(ids=index)
    assert original.dtype == torch.int64
    assert np.array_equal(rows.numpy(), world.feat[original.numpy()])
    assert tensors.ndata["label"][[]].shape == (0,)
    assert tensors.ndata["feat"].dtype == torch.float32
    assert tensors.in_degrees().dtype == torch.int64
    assert tensors.get_partition_book().nid2partid(index).dtype == torch.int64
    with pytest.raises(TypeError, match="booleans"):
        tensors.ndata["feat"][torch.tensor([True])]


def test_a_batch_is_tensors_over_its_own_memory(tensors: troupe.DistGraph, world: World) -> None:
    batch = batch_of(tensors)
    with troupe.open(world.path, seed=7) as arrays:
        other = batch_of(arrays)
        assert batch.digest() == other.digest()
        assert np.array_equal(batch.features.numpy(), other.features)
        assert np.array_equal(batch.labels.numpy(), other.labels)
        for one, two in zip(batch.blocks, other.blocks, strict=True):
            for ours, theirs in zip(
                (*one.as_csr(), *one.edges()), (*two.as_csr(), *two.edges()), strict=True
            ):
                assert np.array_equal(ours.numpy(), theirs)
    assert batch.features.data_ptr() == batch.features.data_ptr()
    assert batch.input_nodes.dtype == torch.int64
    assert batch.blocks[0].as_csr().indices.dtype == torch.int32


def test_a_tensor_keeps_its_memory_and_goes_on_any_thread(world: World) -> None:
    graph = troupe.open(world.path, seed=7, tensors="torch")
    batch = batch_of(graph)
    features = batch.features
    expected = features.clone()
    del batch
    graph.close()
    del graph
    assert torch.equal(features, expected)
    box = [features]
    del features
    thread = threading.Thread(target=box.clear)
    thread.start()
    thread.join()


def test_masks_are_seeds(tensors: troupe.DistGraph) -> None:
    book = tensors.get_partition_book()
    chosen = troupe.node_split(torch.arange(NODES) % 2 == 0, book)
    assert len(chosen) == NODES // 2 and chosen[:3].dtype == torch.int64


def test_a_step_of_training(tensors: troupe.DistGraph) -> None:
    layer = torch.nn.Linear(16, 4)
    optimiser = torch.optim.Adam(layer.parameters(), lr=0.05)
    losses = []
    sampler = troupe.NeighborSampler([5])
    loader = troupe.DistNodeDataLoader(
        tensors, None, sampler, batch_size=256, shuffle=True, features="feat", labels="label"
    )
    for _ in range(5):
        for batch in loader:
            csr = batch.blocks[0].as_csr()
            # The mean over neighbours, as a segment sum.
            index = csr.indptr.long()
            summed = torch.zeros(len(index), 16)
            summed[1:] = torch.cumsum(batch.features[csr.indices.long()], 0)[index[1:] - 1]
            counts = (index[1:] - index[:-1]).clamp(min=1).unsqueeze(1)
            own = batch.features[: len(batch.labels)]
            loss = torch.nn.functional.cross_entropy(
                layer(own + (summed[1:] - summed[:-1]) / counts), batch.labels
            )
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            losses.append(float(loss))
    assert losses[-1] < 0.7 * losses[0]
