# SPDX-License-Identifier: Apache-2.0
"""Makes the batches of a loader of links, on its threads."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from .. import errors
from ..arrays import Ids
from ..edge_exclusion import Exclusion
from ..edge_loader import DistEdgeDataLoader
from ..loader import DistNodeDataLoader
from ..sampler import NeighborSampler
from ..seeds import EdgeSet
from .batch_fill import BatchFill
from .link_draws import LinkDraw, Negatives, draw_links, with_negatives
from .link_seeds import LinkSeeds

if TYPE_CHECKING:
    from ..batch import Batch
    from ..graph import DistGraph


class EdgesOfJob(DistEdgeDataLoader):
    """Deals out edges of any type; `make` draws around those of each batch."""

    def __init__(
        self, g: DistGraph, edges: EdgeSet, make: Callable[[Batch], Any], **options: Any
    ) -> None:
        self._edges, self.in_library, self._is_typed = edges, False, False
        nothing = NeighborSampler([{}])
        DistNodeDataLoader.__init__(self, g, edges, nothing, collate_fn=make, **options)


class LinkMaker:
    """Draws and fills batches of pairs.

    Parameters
    ----------
    sampler : what draws.
    seeds : LinkSeeds
    label : tensor, optional
        ``edge_label``: one for each seed; of the job's edges, for each edge by its ID.
    input_id : int64, optional
        What seeds that are this trainer's own are called; None: their positions.
    negatives : Negatives, optional
    exclusion : Exclusion
    fill : BatchFill
    **brings : of `NeighborSampler.draw_pairs`.
    """

    def __init__(
        self,
        graph: DistGraph,
        sampler: NeighborSampler,
        seeds: LinkSeeds,
        label: Any,
        input_id: Ids | None,
        negatives: Negatives | None,
        exclusion: Exclusion,
        fill: BatchFill,
        **brings: Any,
    ) -> None:
        self._graph, self._sampler, self._seeds, self._fill = graph, sampler, seeds, fill
        self._label, self._input_id, self._negatives = label, input_id, negatives
        self._exclusion, self._brings = exclusion, brings
        self._etype = graph.types.canonical_etypes[seeds.etype]
        is_of_seeds = isinstance(exclusion.exclude, str) or callable(exclusion.exclude)
        if is_of_seeds and not seeds.are_edges:
            raise errors.InvalidArgument(
                "exclude: pairs have no IDs of edges; give edges as edge_label_index: an edge "
                "type, a mask or IDs"
            )
        exclusion.check_types(self._etype)
        # The rule where the library knows it; pairs that are no edges leave none out there.
        is_binary = negatives is not None and not negatives.is_triplet
        self._rule = None if is_binary else exclusion.in_library(graph, self._etype)

    def at(self, places: Ids, seed: int) -> Any:
        """The batch of the seeds at these places; of all edges of the job, of these IDs."""
        seeds = self._seeds.at(places)
        named = places if self._input_id is None else self._input_id[places]
        if self._seeds.is_of_job:
            named = np.asarray(seeds)
        return self._filled(self._draw(seeds, seed), named, self._label_of(places), False, 1.0)

    def of_job(self, batch: Batch) -> Any:
        """The batch in the place of one that has nothing but its edges."""
        ids = np.asarray(batch.seed_edges)
        draw = self._draw(ids, self._graph.next_seed())
        return self._filled(draw, ids, self._label_of(ids), batch.padded, batch.weight)

    def _draw(self, seeds: Any, seed: int) -> LinkDraw:
        excluded = None
        if self._rule is None:
            excluded = self._exclusion.of(self._graph, {self._etype: seeds})
        return draw_links(
            self._graph,
            self._sampler,
            self._seeds.etype,
            seeds,
            self._negatives,
            seed,
            self._rule or {},
            exclude_eids=excluded,
            **self._brings,
        )

    def _label_of(self, places: Ids) -> Any:
        return None if self._label is None else self._label[torch.from_numpy(places)]

    def _filled(self, draw: LinkDraw, named: Ids, label: Any, padded: bool, weight: float) -> Any:
        """PyG's data of a draw, under PyG's names."""
        data, types = self._fill.drawn(draw.batch), self._graph.types
        source, _, target = name = self._etype
        edges = data[name] if self._fill.is_hetero else data
        sources = data[source] if self._fill.is_hetero else data
        targets = data[target] if self._fill.is_hetero else data
        for ntype in types.ntypes:
            # The seeds of a batch are pairs, which this would not count.
            _put(data[ntype] if self._fill.is_hetero else data, "batch_size", None)
        _put(edges, "input_id", torch.from_numpy(named))
        _put(edges, "edge_label_time", None)
        if draw.negatives is not None:
            _put(edges, "edge_label_index", None)
            _put(sources, "src_index", torch.from_numpy(draw.sources))
            _put(targets, "dst_pos_index", torch.from_numpy(draw.destinations))
            _put(targets, "dst_neg_index", torch.from_numpy(draw.negatives))
            return self._fill.finished(data, padded, weight)
        _put(
            edges, "edge_label_index", torch.from_numpy(np.stack([draw.sources, draw.destinations]))
        )
        _put(edges, "edge_label", with_negatives(label, len(named), draw, self._negatives))
        return self._fill.finished(data, padded, weight)


def _put(store: Any, name: str, value: Any) -> None:
    """Sets an attribute of the batch, or takes away one that the data have of that name."""
    if value is not None:
        store[name] = value
    elif name in store:
        del store[name]
