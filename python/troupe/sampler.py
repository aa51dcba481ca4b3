# SPDX-License-Identifier: Apache-2.0
"""What to draw, and drawing once, without a loader."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from . import errors
from .arrays import id_pointer, ids_of
from .batch import Batch, Block, Layout
from .binding import call, deadline, ffi, lib, made, owned
from .types import EtypeName

if TYPE_CHECKING:
    from .graph import DistGraph

LAYERS_MAX: int = lib.TR_LAYERS_MAX
EVERY: int = lib.TR_EVERY

Fanout = int | Mapping[Any, int]


class BlockSampler:
    """What draws the blocks of seeds; a program's own derives from it.

    A subclass defines ``sample_blocks(g, seeds, exclude_eids=None)``, which returns input nodes,
    output nodes and a list of blocks.
    """

    def sample_blocks(self, g: DistGraph, seeds: Any, exclude_eids: Any = None) -> Any:
        """Input nodes, output nodes and blocks of seeds."""
        raise NotImplementedError(f"{type(self).__name__} defines no sample_blocks()")

    def sample(self, g: DistGraph, seeds: Any, exclude_eids: Any = None) -> Any:
        """The same, as DGL calls it."""
        return self.sample_blocks(g, seeds, exclude_eids)


class NeighborSampler(BlockSampler):
    """Draws neighbours along in-edges, layer by layer.

    Parameters
    ----------
    fanouts : sequence
        A number a layer, from the input layer to the output layer: of each edge type so many
        in-edges of a node are drawn; -1: all, 0: none. Or a mapping of edge types to such numbers,
        of which those that it does not name draw 0.
    edge_dir : "in"
    prob, mask : not there yet.
    replace : bool
        Draw with replacement.
    """

    def __init__(
        self,
        fanouts: Sequence[Fanout],
        edge_dir: str = "in",
        prob: str | None = None,
        mask: str | None = None,
        replace: bool = False,
    ) -> None:
        if edge_dir != "in":
            raise errors.Unsupported(f"edge_dir={edge_dir!r}: neighbours are drawn along in-edges")
        if prob is not None or mask is not None:
            raise errors.Unsupported("draws by weights and masks of edges are not there yet")
        if not 1 <= len(fanouts) <= LAYERS_MAX:
            raise errors.InvalidArgument(f"fanouts: {len(fanouts)} layers; 1 .. {LAYERS_MAX}")
        self.fanouts = list(fanouts)
        self.replace = replace

    @property
    def num_layers(self) -> int:
        """Layers."""
        return len(self.fanouts)

    def spec(self, graph: DistGraph) -> Any:
        """What is drawn, as the library takes it."""
        box = ffi.new("struct tr_sample_spec **")
        call(lib.tr_sample_spec_create, graph.pointer(), self.num_layers, box)
        spec = owned(box[0], lib.tr_sample_spec_destroy)
        for layer, fanout in enumerate(self.fanouts):
            call(lib.tr_sample_spec_set_replace, spec, layer, EVERY, self.replace)
            if isinstance(fanout, Mapping):
                for name, number in fanout.items():
                    etype = graph.types.etype(name)
                    call(lib.tr_sample_spec_set_fanout, spec, layer, etype, int(number))
            else:
                call(lib.tr_sample_spec_set_fanout, spec, layer, EVERY, int(fanout))
        return spec

    def draw(
        self,
        g: DistGraph,
        seeds: Any,
        *,
        seed: int | None = None,
        features: str | None = None,
        labels: str | None = None,
        edge_ids: bool = True,
        orig_ids: bool = True,
        degrees: bool = False,
        timeout: float | None = None,
    ) -> Batch:
        """Draws one batch; its seeds are in the order given, repeats included.

        Parameters
        ----------
        g : the graph.
        seeds : global IDs, or a mapping of one node type to them.
        seed : of the random choices; None: the graph's next (of its session's seed and its calls).

        Returns
        -------
        Batch
            The same seeds, fanouts and seed give the same batch on any placement.
        """
        name = None
        if isinstance(seeds, Mapping):
            given = {k: v for k, v in seeds.items() if v is not None and len(v)}
            if len(given) != 1:
                raise errors.Unsupported("seeds of several node types at once: use a loader")
            name, seeds = next(iter(given.items()))
        ntype = g.types.ntype(name)
        ids = ids_of(seeds, g.num_nodes(g.types.ntypes[ntype]), g.types.node_name(ntype))
        options = made(
            "tr_sample_options",
            spec=self.spec(g),
            ntype=ntype,
            seeds=id_pointer(ids),
            num_seeds=len(ids),
            seed=g.next_seed() if seed is None else seed,
            edge_ids=edge_ids,
            original_ids=orig_ids,
            degrees=degrees,
            features=features,
            labels=labels,
        )
        return take_batch(
            g.session.waiter,
            Layout(g.types, g.tensors, features, labels),
            lib.tr_sample,
            g.pointer(),
            options,
            deadline(timeout),
        )

    def sample_blocks(
        self, g: DistGraph, seeds: Any, exclude_eids: Any = None
    ) -> tuple[Any, Any, list[Block]]:
        """Input nodes, output nodes and blocks of seeds."""
        if exclude_eids is not None:
            raise errors.Unsupported("exclude_eids: draws without some edges are not there yet")
        batch = self.draw(g, seeds)
        return batch.input_nodes, batch.output_nodes, batch.blocks

    def __repr__(self) -> str:
        return f"NeighborSampler({self.fanouts})"


MultiLayerNeighborSampler = NeighborSampler


class MultiLayerFullNeighborSampler(NeighborSampler):
    """Takes every neighbour in each of `num_layers` layers."""

    def __init__(self, num_layers: int) -> None:
        super().__init__([-1] * num_layers)


def take_batch(waiter: Any, layout: Layout, function: Any, *args: Any) -> Batch:
    """A batch of a call that gives one; nothing is left behind where a signal comes between."""
    box = ffi.new("struct tr_batch **")
    try:
        waiter.call(function, *args, box)
        pointer, box[0] = box[0], ffi.NULL
        return Batch(pointer, layout)
    except BaseException:
        lib.tr_batch_release(box[0])
        raise


class SampledEdges:
    """In-edges that `sample_neighbors` drew, in global IDs."""

    def __init__(self, batch: Batch) -> None:
        self.batch = batch
        self._block = batch.blocks[0]

    def num_edges(self, etype: EtypeName = None) -> int:
        """Edges of a type; None: of all."""
        return self._block.num_edges(etype)

    def edges(self, etype: EtypeName = None) -> tuple[Any, Any]:
        """Global IDs of sources and destinations: int64, shape ``(num_edges,)`` each."""
        types = self.batch.content.layout.types
        source, destination = types.ends[types.etype(etype)]
        places = self._block.edges(etype=etype)
        sources = self._block.srcnodes[types.ntypes[source]].data["_ID"]
        destinations = self._block.dstnodes[types.ntypes[destination]].data["_ID"]
        from_places, into_places = (np.asarray(p) for p in places)
        if self.batch.content.layout.tensors == "torch":
            import torch

            return (
                sources[torch.from_numpy(from_places.astype(np.int64))],
                destinations[torch.from_numpy(into_places.astype(np.int64))],
            )
        return sources[from_places], destinations[into_places]

    def edge_ids(self, etype: EtypeName = None) -> Any:
        """Global IDs of the edges: int64, shape ``(num_edges,)``."""
        return self._block.as_csr(etype).edge_ids

    def __repr__(self) -> str:
        return f"SampledEdges({self.num_edges()} edges)"


def sample_neighbors(
    g: DistGraph,
    nodes: Any,
    fanout: Fanout,
    edge_dir: str = "in",
    prob: str | None = None,
    replace: bool = False,
    *,
    seed: int | None = None,
) -> SampledEdges:
    """Draws in-edges of nodes: of each edge type `fanout`, or as a mapping says; -1: all.

    Parameters
    ----------
    g : the graph.
    nodes : global IDs, repeats allowed; or a mapping of one node type to them.
    seed : of the random choices; None: the graph's next.
    """
    sampler = NeighborSampler([fanout], edge_dir, prob, None, replace)
    return SampledEdges(sampler.draw(g, nodes, seed=seed, orig_ids=False))
