# SPDX-License-Identifier: Apache-2.0
"""Exact inference layer by layer: every node's rows from those of all its neighbours."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import torch

from . import errors
from .batch import Batch, Block

if TYPE_CHECKING:
    from .graph import DistGraph
    from .nn_typed_models import TypedModel
    from .sampler import NeighborSampler

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
    layer, however many need it. Batches have all edges of their destinations; of a model that was
    trained with ``draw_by`` or ``draw_mask``, those that its draws could take.

    Parameters
    ----------
    g : DistGraph
        Of one node type, and any number of them with a `TypedModel`; opened with
        ``tensors="torch"``.
    layers : sequence of callables, or Model, or TypedModel
        ``layer(block, rows)`` gives the rows of the block's destinations, shape
        ``(num_dst, width)``, from those of its sources. Modules are put into eval mode for the
        time of the call.
    features : str, or tensor of shape ``(num_nodes, width)``
        What the first layer reads: a feature of nodes, or rows by global ID. A `TypedModel` takes
        the name of a feature.
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
        A row a node by global ID, of a `TypedModel` of its target type; ``g.orig_ids()`` has the
        user's own.
    """
    from .nn_models import Model
    from .nn_typed_models import TypedModel

    if isinstance(layers, TypedModel):
        return _infer_typed(g, layers, features, batch_size, prepare, progress)
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
    with _evaluating([m for m in (layers, *chosen) if isinstance(m, torch.nn.Module)]):
        sampler = _all_neighbours(getattr(layers, "config", {}))
        return _pass_all(g, chosen, features, batch_size, prepare, bool(degrees), sampler, progress)


def _all_neighbours(config: Mapping[str, Any]) -> NeighborSampler:
    """Draws all edges that the run's own draws could take."""
    from .sampler import MultiLayerFullNeighborSampler, NeighborSampler

    draw_by, draw_mask = config.get("draw_by"), config.get("draw_mask")
    if draw_by is None and draw_mask is None:
        return MultiLayerFullNeighborSampler(1)

    class Sampler(NeighborSampler):
        def _draws_by(self, graph: DistGraph) -> tuple[str | None, str | None]:
            return draw_by, draw_mask

    return Sampler([-1], prob=draw_by or draw_mask)


@contextmanager
def _evaluating(modules: list[torch.nn.Module]) -> Iterator[None]:
    """Modules in eval mode and without gradients, and afterwards as they were."""
    training = [(part, part.training) for module in modules for part in module.modules()]
    for module in modules:
        module.eval()
    try:
        with torch.no_grad():
            yield
    finally:
        for part, was in training:
            part.training = was


def _infer_typed(
    g: DistGraph,
    model: TypedModel,
    features: str | torch.Tensor,
    batch_size: int,
    prepare: object,
    progress: Callable[[int, int], object] | None,
) -> torch.Tensor:
    """The same of a model of relations: rows of each node type that the next layer reads."""
    if g.tensors != "torch" or not isinstance(features, str) or prepare is not None:
        raise errors.Unsupported(
            'infer() of a TypedModel: the graph has to be opened with tensors="torch", features be '
            "the name of a feature, and prepare not given"
        )
    sampler = _all_neighbours(model.config)
    rows: dict[str, torch.Tensor] | None = None
    total = sum(
        -(-g.num_nodes(ntype) // batch_size) for layer in model.layers for ntype in layer.ntypes
    )
    done = 0
    with _evaluating([model]):
        for layer in model.layers:
            made = {}
            for ntype in layer.ntypes:
                parts = []
                wanted = features if rows is None and model.features else None
                for batch in _typed_batches(g, sampler, ntype, wanted, batch_size):
                    if rows is None:
                        features_of = batch.features if model.features else {}
                        come = model.first_rows(features_of, batch.orig_nodes)
                    else:
                        read = _by_type(g, batch.input_nodes)
                        come = {t: rows[t][read[t]] for t in rows}
                    parts.append(layer(batch.blocks[0], come)[ntype])
                    done += 1
                    if progress is not None:
                        progress(done, total)
                if parts:
                    made[ntype] = torch.cat(parts)
            rows = made
    if rows is None or model.target not in rows:
        raise errors.InvalidArgument(f"infer(): the graph has no {model.target!r}")
    return rows[model.target]


def _by_type(g: DistGraph, found: Any) -> dict[str, torch.Tensor]:
    return found if isinstance(found, dict) else {g.types.ntypes[0]: found}


def _typed_batches(
    g: DistGraph, sampler: NeighborSampler, ntype: str, features: str | None, batch_size: int
) -> Iterator[Batch]:
    """All nodes of a type in their order, with all edges into them."""
    for first in range(0, g.num_nodes(ntype), batch_size):
        seeds = {ntype: torch.arange(first, min(first + batch_size, g.num_nodes(ntype)))}
        yield sampler.draw(g, seeds, features=features, edge_ids=False)


def _pass_all(
    g: DistGraph,
    layers: Sequence[Layer],
    features: str | torch.Tensor,
    batch_size: int,
    prepare: Callable[[torch.Tensor], torch.Tensor] | None,
    degrees: bool,
    sampler: NeighborSampler,
    progress: Callable[[int, int], object] | None,
) -> torch.Tensor:
    from .loader import DistNodeDataLoader

    name = features if isinstance(features, str) else None
    rows = None if isinstance(features, str) else features
    done = 0
    for layer in layers:
        loader = DistNodeDataLoader(
            g,
            None,
            sampler,
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
