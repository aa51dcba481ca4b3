# SPDX-License-Identifier: Apache-2.0
"""PyG's BaseSampler over a partitioned graph: draws are made where the partitions are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch_geometric.sampler import BaseSampler, HeteroSamplerOutput, SamplerOutput

from .. import errors
from .. import sampler as drawing
from ..pyg_data import new_nodes, sampled_edges
from .data_source import source_of, weight_of
from .link_draws import draw_links, negatives_of, with_negatives
from .refusals import check_arguments

if TYPE_CHECKING:
    from ..batch import Batch
    from ..graph import DistGraph


def fanouts_of(graph: DistGraph, num_neighbors: Any) -> list[drawing.Fanout]:
    """Fanouts by layer, from the input to the output, of PyG's by hop from the seeds.

    Parameters
    ----------
    num_neighbors : list of int, mapping of edge types to lists, or PyG's NumNeighbors
        Of each edge type so many in-edges of a node are drawn; -1: all.

    Raises
    ------
    InvalidArgument
        Lists are of different lengths, or an edge type has none.
    """
    default = getattr(num_neighbors, "default", None)
    values = getattr(num_neighbors, "values", num_neighbors)
    # A mapping has a method of that name.
    values = num_neighbors if callable(values) else values
    if not isinstance(values, Mapping):
        return [drawing.whole_fanout(number) for number in reversed(list(values))]
    by_etype: dict[Any, Sequence[int]] = {}
    for name, hops in values.items():
        split = getattr(name, "to_tuple", None)
        etype = graph.to_canonical_etype(name if split is None else split())
        by_etype[etype] = hops
    for etype in graph.canonical_etypes:
        if etype not in by_etype and default is None:
            raise errors.InvalidArgument(f"num_neighbors: edge type {etype} has none")
        by_etype.setdefault(etype, default or ())
    lengths = {len(hops) for hops in by_etype.values()}
    if len(lengths) != 1:
        raise errors.InvalidArgument(
            f"num_neighbors: edge types have {sorted(lengths)} hops; give each as many"
        )
    count = lengths.pop()
    layers = reversed(range(count))
    return [{e: drawing.whole_fanout(hops[i]) for e, hops in by_etype.items()} for i in layers]


class NeighborSampler(BaseSampler):
    """Draws neighbours along in-edges for PyG's loaders of nodes and of links.

    Parameters
    ----------
    data : DistGraph, or what `graph_data` or `stores` gives, or PyG's Data or HeteroData
        As `NeighborLoader` takes it.
    num_neighbors : list of int, mapping of edge types to lists, or PyG's NumNeighbors
        A number a hop, the seeds' first; -1: all neighbours.
    replace : bool
        Draw with replacement.
    weight_attr : str, optional
        An attribute of edges, in proportion to which they are drawn; those of 0 never are. Of
        data in memory it is partitioned along with the edges.
    **options
        PyG's others; those that cannot be honoured are refused by name.

    Notes
    -----
    It pickles as the graph and its options. Draws follow the seed of the graph's session and their
    number; in a worker process of PyTorch's, PyTorch's seed of that worker too.
    """

    def __init__(
        self,
        data: Any,
        num_neighbors: Any,
        replace: bool = False,
        weight_attr: str | None = None,
        **options: Any,
    ) -> None:
        check_arguments("NeighborSampler", options)
        self._of = source_of("NeighborSampler", data, weight_attr)
        self.graph = self._of.graph
        self._data = data
        self.num_neighbors = num_neighbors
        self.replace, self.weight_attr = replace, weight_attr
        fanouts = fanouts_of(self.graph, num_neighbors)
        weight = weight_of(self._of, weight_attr)
        self._sampler = drawing.NeighborSampler(fanouts, prob=weight, replace=replace)

    def __reduce__(self) -> tuple[Any, ...]:
        given = (self._data, self.num_neighbors, self.replace, self.weight_attr)
        return NeighborSampler, given

    @property
    def edge_permutation(self) -> Any:
        """What PyG's loaders find the attributes of edges by: None, or, of data in memory, the
        number there of each edge by its ID, a tensor or a mapping of edge types to such."""
        numbers = self._of.edge_numbers
        if numbers is None or self.graph.types.is_homogeneous:
            return None if numbers is None else numbers[0]
        return dict(zip(self.graph.canonical_etypes, numbers, strict=True))

    @property
    def sampler(self) -> drawing.NeighborSampler:
        """The same for Troupe's loaders."""
        return self._sampler

    def _seed(self) -> int:
        """Of the next draw. Worker processes open the graph anew, each and in each epoch: there
        PyTorch's seed, which differs, keeps their draws apart."""
        seed = self.graph.next_seed()
        # Its type differs between versions of PyTorch.
        get_worker: Any = torch.utils.data.get_worker_info
        worker = get_worker()
        if worker is None:
            return seed
        words = np.random.SeedSequence([seed, int(worker.seed)]).generate_state(1, np.uint64)
        return int(words[0]) or 1

    def sample_from_nodes(self, index: Any, **kwargs: Any) -> SamplerOutput | HeteroSamplerOutput:
        """Draws the neighbours of seeds.

        Parameters
        ----------
        index : NodeSamplerInput
            ``node``: global IDs, int64, shape ``(n,)``, repeats allowed.

        Returns
        -------
        SamplerOutput or HeteroSamplerOutput
            ``node``: global IDs, the seeds first in their order; ``row`` and ``col``: positions of
            sources and destinations in it; ``edge``: global IDs of edges; all int64. ``metadata``
            is ``(input_id, None)``.
        """
        if index.time is not None:
            raise errors.Unsupported("input_time: draws that respect times are not there yet")
        seeds = index.node if index.input_type is None else {index.input_type: index.node}
        batch = self._sampler.draw(self.graph, seeds, seed=self._seed(), orig_ids=False)
        return _output(batch, (index.input_id, None))

    def sample_from_edges(
        self, index: Any, neg_sampling: Any = None
    ) -> SamplerOutput | HeteroSamplerOutput:
        """Draws the neighbours of the ends of pairs, and negatives beside them.

        Parameters
        ----------
        index : EdgeSamplerInput
            ``row`` and ``col``: global IDs of sources and destinations, int64, shape ``(n,)``.
        neg_sampling : NegativeSampling, optional
            As `LinkLoader` takes it.

        Returns
        -------
        SamplerOutput or HeteroSamplerOutput
            As of `sample_from_nodes`; each end is one of the first nodes. ``metadata`` is
            ``(input_id, edge_label_index, edge_label, None)``, or, of triplets, ``(input_id,
            src_index, dst_pos_index, dst_neg_index, None)``.
        """
        if index.time is not None:
            raise errors.Unsupported("edge_label_time: draws that respect times are not there yet")
        graph, negatives = self.graph, negatives_of(neg_sampling)
        number = graph.types.etype(index.input_type)
        types = graph.types
        sources, destinations = (
            graph.checked_ids(ids, False, end)
            for ids, end in zip((index.row, index.col), types.ends[number], strict=True)
        )
        draw = draw_links(
            graph,
            self._sampler,
            number,
            (sources, destinations),
            negatives,
            self._seed(),
            orig_ids=False,
        )
        ends = draw.sources, draw.destinations
        if draw.negatives is not None:
            places = (torch.from_numpy(found) for found in (*ends, draw.negatives))
            return _output(draw.batch, (index.input_id, *places, None))
        label = with_negatives(index.label, len(sources), draw, negatives)
        pairs = torch.from_numpy(np.stack(ends))
        return _output(draw.batch, (index.input_id, pairs, label, None))

    def __repr__(self) -> str:
        return f"NeighborSampler({self.graph!r}, {self.num_neighbors})"


def check_sampler(name: str, given: Any) -> NeighborSampler:
    """The sampler that was given as this argument; TypeError: it is none of ours."""
    if not isinstance(given, NeighborSampler):
        raise TypeError(
            f"{name}: give a troupe.pyg.NeighborSampler, not {type(given).__name__}, which draws "
            "from a graph in memory"
        )
    return given


def _output(batch: Batch, metadata: Any) -> SamplerOutput | HeteroSamplerOutput:
    content = batch.content
    types = content.layout.types
    node = {n: content.node_ids(i, content.num_nodes(0, i)) for i, n in enumerate(types.ntypes)}
    edges = {e: sampled_edges(batch, i) for i, e in enumerate(types.canonical_etypes)}
    counts = {n: new_nodes(batch, i) for i, n in enumerate(types.ntypes)}
    if types.is_homogeneous and edges:
        (only,), (found,) = node.values(), edges.values()
        row, col = found.edge_index
        return SamplerOutput(
            only,
            row,
            col,
            found.edge_ids,
            num_sampled_nodes=counts[types.ntypes[0]],
            num_sampled_edges=found.counts,
            metadata=metadata,
        )
    return HeteroSamplerOutput(
        node,
        {e: found.edge_index[0] for e, found in edges.items()},
        {e: found.edge_index[1] for e, found in edges.items()},
        {e: found.edge_ids for e, found in edges.items()},
        num_sampled_nodes=counts,
        num_sampled_edges={e: found.counts for e, found in edges.items()},
        metadata=metadata,
    )
