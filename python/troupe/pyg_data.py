# SPDX-License-Identifier: Apache-2.0
"""Batches as the `Data` and `HeteroData` of PyTorch Geometric, which the first one imports."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from . import errors
from .types import CanonicalEtype

if TYPE_CHECKING:
    from .batch import Batch


class Sampled(NamedTuple):
    """The edges of one type over all hops, the seeds' first: each node's are those of the hop
    behind the one that first reached it."""

    edge_index: Any
    edge_ids: Any
    counts: list[int]


def _tensor(rows: Any) -> Any:
    import torch

    return torch.from_numpy(rows) if isinstance(rows, np.ndarray) else rows


def edge_name(batch: Batch, etype: int) -> CanonicalEtype:
    """The type of the edges of that number in all of a batch's blocks."""
    names = {block.types.canonical_etypes[etype] for block in batch.blocks}
    if len(names) > 1:
        raise errors.Unsupported(
            f"to_pyg(): edges of types {sorted(names)} were drawn along in-edges in some layers "
            "and along out-edges in others: draw them one way in all layers"
        )
    return names.pop()


def sampled_edges(batch: Batch, etype: int) -> Sampled:
    """The edges of a type that a batch drew, as PyG has them.

    A block has the edges of all nodes that were there before its hop, drawn anew in each; PyG
    expands a node once. So of each block come the rows of the nodes that its hop was the first to
    expand, which are its last."""
    import torch

    name = edge_name(batch, etype)
    pairs, ids, counts, expanded = [], [], [], 0
    for block in reversed(batch.blocks):
        csr = block.as_csr(name)
        index = np.asarray(csr.indptr)
        first = int(index[min(expanded, len(index) - 1)])
        degrees = np.diff(index)[expanded:]
        into = np.repeat(np.arange(expanded, expanded + len(degrees), dtype=np.int64), degrees)
        sources = np.asarray(csr.indices)[first:].astype(np.int64)
        pairs.append(np.stack([sources, into]))
        counts.append(len(sources))
        if csr.edge_ids is not None:
            ids.append(np.asarray(csr.edge_ids)[first:])
        elif not len(sources):
            ids.append(np.empty(0, dtype=np.int64))
        expanded = block.num_dst_nodes(name[2])
    every = np.concatenate(ids) if len(ids) == len(pairs) else None
    return Sampled(
        torch.from_numpy(np.concatenate(pairs, axis=1)),
        None if every is None else torch.from_numpy(every),
        counts,
    )


def new_nodes(batch: Batch, ntype: int) -> list[int]:
    """How many nodes each hop was the first to reach; the seeds are those of hop 0."""
    totals = [batch.content.num_nodes(layer, ntype) for layer in range(batch.num_layers, -1, -1)]
    return [totals[0], *(now - before for before, now in pairwise(totals))]


def _fill_nodes(store: Any, batch: Batch, ntype: int) -> None:
    content = batch.content
    total, seeds = content.num_nodes(0, ntype), content.num_nodes(batch.num_layers, ntype)
    store.n_id = _tensor(content.node_ids(ntype, total))
    store.num_nodes = total
    store.num_sampled_nodes = new_nodes(batch, ntype)
    if seeds or len(content.layout.types.ntypes) == 1:
        store.batch_size = seeds
    if content.layout.features is not None and content.rows(ntype, False) is not None:
        store.x = _tensor(content.rows_array(ntype, False))
    if content.layout.labels is not None and content.rows(ntype, True) is not None:
        store.y = _tensor(content.rows_array(ntype, True))


def _fill_edges(store: Any, sampled: Sampled) -> None:
    store.edge_index, store.num_sampled_edges = sampled.edge_index, sampled.counts
    if sampled.edge_ids is not None:
        store.e_id = sampled.edge_ids


def to_pyg(batch: Batch, cls: Any = None, is_hetero: bool | None = None) -> Any:
    """A batch as `torch_geometric.data.Data`; of several types as `HeteroData`.

    Parameters
    ----------
    batch : Batch
    cls : type, optional
        What to make instead, with the same attributes.
    is_hetero : bool, optional
        Whether it has types; None: where the graph has several.

    Returns
    -------
    Data or HeteroData
        ``edge_index`` int64 of shape ``(2, num_edges)``, sources above destinations, as positions
        in ``n_id``; ``n_id`` and ``e_id`` global IDs; ``batch_size`` seeds, which come first; ``x``
        and, of the seeds alone, ``y`` where the batch has them; ``num_sampled_nodes`` and
        ``num_sampled_edges``: lists with a number a hop. Of several types each has its own;
        ``batch_size`` those that have seeds.
    """
    try:
        from torch_geometric.data import Data, HeteroData
    except ImportError as error:
        raise errors.Unsupported(
            f"to_pyg(): torch_geometric cannot be imported ({error}); install it"
        ) from error
    types = batch.content.layout.types
    if is_hetero is None:
        is_hetero = not (len(types.ntypes) == 1 and len(types.etypes) == 1)
    if not is_hetero:
        data = Data() if cls is None else cls()
        _fill_nodes(data, batch, 0)
        _fill_edges(data, sampled_edges(batch, 0))
        return data
    hetero = HeteroData() if cls is None else cls()
    for ntype, node_name in enumerate(types.ntypes):
        _fill_nodes(hetero[node_name], batch, ntype)
    for etype in range(len(types.etypes)):
        _fill_edges(hetero[edge_name(batch, etype)], sampled_edges(batch, etype))
    return hetero
