# SPDX-License-Identifier: Apache-2.0
"""Exact inference layer by layer: every node's rows from those of all its neighbours."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import torch

from . import errors
from .batch import Block

if TYPE_CHECKING:
    from .graph import DistGraph

Layer = Callable[[Block, torch.Tensor], torch.Tensor]


def infer(
    g: DistGraph,
    layers: Sequence[Layer] | Any,
    features: str | torch.Tensor = "feat",
    *,
    batch_size: int = 4096,
    prepare: Callable[[torch.Tensor], torch.Tensor] | None = None,
    degrees: bool | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> torch.Tensor:
    """What comes out for every node, with all neighbours in each layer.

    All nodes pass the first layer before any passes the second, so a node is computed once a
    layer, however many need it. Batches have all edges of their destinations.

    Parameters
    ----------
    g : DistGraph
        Of one node type, opened with ``tensors="torch"``.
    layers : sequence of callables, or Model
        ``layer(block, rows)`` gives the rows of the block's destinations, shape
        ``(num_dst, width)``, from those of its sources. Modules are put into eval mode for the
        time of the call.
    features : str, or tensor of shape ``(num_nodes, width)``
        What the first layer reads: a feature of nodes, or rows by global ID.
    batch_size : int
        Destinations at a time.
    prepare : callable, optional
        Of the features, before the first layer; of a Model its own.
    degrees : bool, optional
        Whether blocks have degrees in the whole graph; None: where a Model needs them.
    progress : callable, optional
        Called with the batches that were done and how many there are.

    Returns
    -------
    tensor of shape ``(num_nodes, width)``
        A row a node by global ID; ``g.orig_ids()`` has the user's own.
    """
    from .nn_models import Model

    if isinstance(layers, Model):
        prepare = layers.prepare if prepare is None else prepare
        degrees = layers.kind == "gcn" if degrees is None else degrees
        chosen: list[Layer] = list(layers.layers)
    else:
        chosen = list(layers)
    if g.tensors != "torch" or len(g.types.ntypes) != 1:
        raise errors.Unsupported(
            'infer(): the graph has to have one node type, and tensors="torch"'
        )
    modules = [layer for layer in (layers, *chosen) if isinstance(layer, torch.nn.Module)]
    training = [(part, part.training) for module in modules for part in module.modules()]
    for module in modules:
        module.eval()
    try:
        with torch.no_grad():
            return _pass_all(g, chosen, features, batch_size, prepare, bool(degrees), progress)
    finally:
        for part, was in training:
            part.training = was


def _pass_all(
    g: DistGraph,
    layers: Sequence[Layer],
    features: str | torch.Tensor,
    batch_size: int,
    prepare: Callable[[torch.Tensor], torch.Tensor] | None,
    degrees: bool,
    progress: Callable[[int, int], object] | None,
) -> torch.Tensor:
    from .loader import DistNodeDataLoader
    from .sampler import MultiLayerFullNeighborSampler

    name = features if isinstance(features, str) else None
    rows = None if isinstance(features, str) else features
    done = 0
    for layer in layers:
        loader = DistNodeDataLoader(
            g,
            None,
            MultiLayerFullNeighborSampler(1),
            batch_size=batch_size,
            features=name,
            edge_ids=False,
            orig_ids=False,
            degrees=degrees,
            rank=0,
            world=1,
        )
        total, out = len(layers) * len(loader), None
        with loader:
            for batch in loader:
                block = batch.blocks[0]
                come = batch.features if rows is None else rows[batch.input_nodes]
                if prepare is not None:
                    come = prepare(come)
                made = layer(block, come)
                if out is None:
                    out = made.new_empty((g.num_nodes(), *made.shape[1:]))
                out[batch.output_nodes] = made
                done += 1
                if progress is not None:
                    progress(done, total)
        if out is None:
            raise errors.InvalidArgument("infer(): the graph has no nodes")
        rows, name, prepare = out, None, None
    if rows is None:
        raise errors.InvalidArgument("infer(): there is no layer")
    return rows
