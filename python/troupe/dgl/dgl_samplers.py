# SPDX-License-Identifier: Apache-2.0
"""DGL's samplers, over a DistGraph or a graph of DGL's own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .. import sampler as troupe_sampler
from ..types import EID, NID
from . import rows_ahead
from .dist_graph import DistGraph
from .drawn_graph import seeds_by_type
from .installed import need
from .later import not_yet
from .prefetching import prefetched


class BlockSampler:
    """What draws the blocks of seeds; a program's own derives from it.

    A subclass defines ``sample_blocks(g, seeds, exclude_eids=None)``, which returns input nodes,
    output nodes and a list of blocks. Loaders call it on threads. Features by name, in a graph of
    several types mappings of types to lists of them, are put into the first block's sources
    (`prefetch_node_feats`), the last block's destinations (`prefetch_labels`) and the edges of all
    (`prefetch_edge_feats`).
    """

    def __init__(
        self,
        prefetch_node_feats: Any = None,
        prefetch_labels: Any = None,
        prefetch_edge_feats: Any = None,
        output_device: Any = None,
    ) -> None:
        self.prefetch_node_feats = prefetch_node_feats or []
        self.prefetch_labels = prefetch_labels or []
        self.prefetch_edge_feats = prefetch_edge_feats or []
        self.output_device = output_device

    def sample_blocks(self, g: Any, seed_nodes: Any, exclude_eids: Any = None) -> Any:
        """Input nodes, output nodes and blocks of seeds."""
        raise NotImplementedError(f"{type(self).__name__} defines no sample_blocks()")

    def assign_lazy_features(self, result: Any) -> Any:
        """The same: `sample` reads what is to be prefetched, and a program asks for the rest."""
        return result

    def sample(self, g: Any, seed_nodes: Any, exclude_eids: Any = None) -> Any:
        """As `sample_blocks`; the blocks have the features that are to be prefetched."""
        result = self.sample_blocks(g, seed_nodes, exclude_eids=exclude_eids)
        return prefetched(g, self, self.assign_lazy_features(result))


class NeighborSampler(BlockSampler):
    """Draws neighbours along in-edges or out-edges, layer by layer.

    Parameters
    ----------
    fanouts : a number a layer, or a mapping of edge types to such numbers; -1: all, 0: none.
    edge_dir : "in", or "out", evenly, over partitions that have out-edges. The edges of blocks lead
        from the neighbours to the nodes that drew them; of several types those that were drawn
        along out-edges are of the type with its ends swapped.
    prob : an edge feature, in proportion to which edges are drawn, or a mask.
    mask : an edge feature of bool or uint8; edges of 0 are not drawn.
    replace : draw with replacement.
    """

    def __init__(
        self,
        fanouts: Sequence[Any],
        edge_dir: str = "in",
        prob: str | None = None,
        mask: str | None = None,
        replace: bool = False,
        prefetch_node_feats: Any = None,
        prefetch_labels: Any = None,
        prefetch_edge_feats: Any = None,
        output_device: Any = None,
        fused: bool = True,
    ) -> None:
        super().__init__(prefetch_node_feats, prefetch_labels, prefetch_edge_feats, output_device)
        if prob is not None and mask is not None:
            raise ValueError("NeighborSampler: prob and mask exclude each other")
        self.fanouts = list(fanouts)
        self.edge_dir = edge_dir
        self.prob = prob or mask
        self.mask = mask
        self.replace = replace

    def sample_blocks(self, g: Any, seed_nodes: Any, exclude_eids: Any = None) -> Any:
        """Input nodes, output nodes and blocks of seeds."""
        if isinstance(g, DistGraph):
            seeds = seeds_by_type(g, seed_nodes)
            if seeds:
                return self._sample_once(g, seeds, seed_nodes, exclude_eids)
        return self._sample_by_layer(g, seed_nodes, exclude_eids)

    def own(self) -> troupe_sampler.NeighborSampler:
        """The same as a sampler of Troupe's own."""
        return troupe_sampler.NeighborSampler(
            self.fanouts, self.edge_dir, self.prob, replace=self.replace
        )

    def _sample_once(
        self, g: DistGraph, seeds: dict[str, Any], output_nodes: Any, exclude_eids: Any
    ) -> Any:
        need("blocks")
        tables = rows_ahead.tables_to_draw(g, seeds, len(self.fanouts))
        batch = self.own().draw(
            g, seeds, exclude_eids=exclude_eids, orig_ids=False, tables=list(tables.values())
        )
        rows_ahead.keep_rows(g, batch, tables)
        return batch.input_nodes, output_nodes, [block.to_dgl() for block in batch.blocks]

    def _sample_by_layer(self, g: Any, seed_nodes: Any, exclude_eids: Any) -> Any:
        dgl = need("blocks")
        seeds = seed_nodes
        blocks: list[Any] = []
        for fanout in reversed(self.fanouts):
            drawn = g.sample_neighbors(
                seeds,
                fanout,
                edge_dir=self.edge_dir,
                prob=self.prob,
                replace=self.replace,
                output_device=self.output_device,
                exclude_edges=exclude_eids,
            )
            if self.edge_dir == "out":  # messages go to the nodes that drew
                drawn = dgl.reverse(drawn, copy_edata=True)
            block = dgl.to_block(drawn, seeds)
            for etype in block.canonical_etypes:
                rows = block.edges[etype].data
                ids = drawn.edges[etype].data.get(EID)
                if ids is not None:
                    rows[EID] = ids[rows[EID]]
            seeds = block.srcdata[NID]
            blocks.insert(0, block)
        return seeds, seed_nodes, blocks

    def __repr__(self) -> str:
        return f"NeighborSampler({self.fanouts})"


MultiLayerNeighborSampler = NeighborSampler


class LaborSampler(NeighborSampler):
    """LABOR-0: nodes of a batch prefer the same neighbours, so the batch has fewer of them.

    Parameters
    ----------
    fanouts : a number a layer, or a mapping of edge types to such numbers; -1: all, 0: none.
    edge_dir : "in"
    prob, importance_sampling, layer_dependency, batch_dependency : their defaults alone.
    """

    def __init__(
        self,
        fanouts: Sequence[Any],
        edge_dir: str = "in",
        prob: str | None = None,
        importance_sampling: int = 0,
        layer_dependency: bool = False,
        batch_dependency: int = 1,
        prefetch_node_feats: Any = None,
        prefetch_labels: Any = None,
        prefetch_edge_feats: Any = None,
        output_device: Any = None,
    ) -> None:
        wanted = (prob, importance_sampling, bool(layer_dependency), batch_dependency)
        if wanted != (None, 0, False, 1):
            not_yet(
                "LaborSampler with prob, importance_sampling, layer_dependency or batch_dependency",
                "leave them out: LABOR-0 draws evenly, each layer and batch by itself",
            )
        super().__init__(
            fanouts,
            edge_dir,
            prefetch_node_feats=prefetch_node_feats,
            prefetch_labels=prefetch_labels,
            prefetch_edge_feats=prefetch_edge_feats,
            output_device=output_device,
        )

    def own(self) -> troupe_sampler.NeighborSampler:
        """The same as a sampler of Troupe's own."""
        return troupe_sampler.LaborSampler(self.fanouts, self.edge_dir)

    def sample_blocks(self, g: Any, seed_nodes: Any, exclude_eids: Any = None) -> Any:
        """Input nodes, output nodes and blocks of seeds."""
        if not isinstance(g, DistGraph):
            not_yet("LaborSampler over a graph of DGL's own", "draw with NeighborSampler")
        return super().sample_blocks(g, seed_nodes, exclude_eids)

    def __repr__(self) -> str:
        return f"LaborSampler({self.fanouts})"


class MultiLayerFullNeighborSampler(NeighborSampler):
    """Takes every neighbour in each of `num_layers` layers."""

    def __init__(self, num_layers: int, **options: Any) -> None:
        super().__init__([-1] * num_layers, **options)


def as_ids(seeds: Any) -> Any:
    """Seeds as tensors: IDs, or a mapping of node types to them."""
    import torch

    if isinstance(seeds, Mapping):
        return {name: as_ids(ids) for name, ids in seeds.items()}
    return torch.as_tensor(seeds)
