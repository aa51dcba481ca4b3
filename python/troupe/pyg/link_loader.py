# SPDX-License-Identifier: Apache-2.0
"""PyG's LinkLoader and LinkNeighborLoader over a partitioned graph."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch_geometric.loader import LinkLoader as PygLinkLoader
from torch_geometric.loader import LinkNeighborLoader as PygLinkNeighborLoader

from .. import errors
from ..arrays import Ids
from ..edge_exclusion import Exclusion
from .epochs import EpochLoader
from .link_draws import negatives_of
from .link_maker import EdgesOfJob, LinkMaker
from .link_seeds import LinkSeeds, link_seeds
from .own_seeds import OwnSeeds
from .pyg_sampler import NeighborSampler, check_sampler
from .refusals import check_arguments, check_no_sampler
from .selection import Attrs

if TYPE_CHECKING:
    from ..seeds import EdgeSet


class LinkLoader(EpochLoader, PygLinkLoader):
    """Mini-batches of pairs of nodes and the drawn neighbourhoods of their ends, as PyG's
    LinkLoader gives them.

    Each ``for`` over it is an epoch. Draws, rows and batches are made ahead of the loop, by
    threads. Each end is one node of its batch, however often it comes. The same seed gives the same
    batches, negatives included, on any placement.

    Parameters
    ----------
    data : DistGraph, or what `graph_data` or `stores` gives, or PyG's Data or HeteroData
        As `NeighborLoader` takes it.
    link_sampler : NeighborSampler
        Of this package: what is drawn around the ends.
    edge_label_index : optional
        The pairs, whether the graph has such edges or not; in a graph of several edge types an edge
        type, or a pair of it and these:

        - None: all edges, which takes no memory. Shuffled, or in a job of several trainers, they
          are the job's: the library shares them out among its trainers. Else they come in the order
          of global IDs.
        - A mask of the graph (``g.edata["train_mask"]``) or an EdgeSet (`edge_set`): these edges
          are the job's, likewise.
        - Global IDs, int64 of shape ``(n,)``, or a mask of booleans: this trainer's own edges,
          whose ends are looked up a batch at a time.
        - int64 of shape ``(2, n)``: this trainer's own pairs, sources above destinations.
    edge_label : tensor, optional
        Of shape ``(n,)`` or ``(n, width)``: the pairs' labels; of the job's edges, all of them by
        ID. With binary negatives, classes from 0 are counted from 1: 0 is a negative's.
    neg_sampling : NegativeSampling, "binary", "triplet", mapping or pair, optional
        ``("binary", amount)``: ``ceil(amount * n)`` pairs more in a batch of n, of any node of the
        source type and any of the destination type, each as likely as the others. ``("triplet",
        amount)``: so many nodes of the destination type for each pair, drawn by the library. Either
        may be an edge of the graph.
    neg_sampling_ratio : float, optional
        The amount of binary ones.
    exclude, reverse_eids, reverse_etypes
        Not PyG's: edges that the draws of a batch leave out, of `DistEdgeDataLoader`. PyG, and this
        loader without `exclude`, may draw an edge that is to be predicted.
    transform, batch_size, shuffle, drop_last, num_workers, pin_memory, timeout, custom_cls, \
input_id, attrs, edge_attrs, seed, sampler
        Of `NeighborLoader`; `batch_size` counts pairs, without negatives.
    edge_label_time, transform_sampler_output, batch_sampler, generator, worker_init_fn, \
in_order
        Are there for their names: what Troupe does not do is refused with the reason.
    is_sorted, filter_per_worker, persistent_workers, prefetch_factor, multiprocessing_context, \
pin_memory_device, collate_fn, dataset
        Accepted without effect.

    Yields
    ------
    Data or HeteroData
        ``n_id``, ``edge_index``, ``e_id``, ``num_sampled_nodes``, ``num_sampled_edges``, the
        attributes, ``weight`` and ``padded``: as of `NeighborLoader`; the ends of pairs are the
        first nodes. Of b pairs and k negatives, of several types in the store of the edge type:
        ``input_id`` int64 ``(b,)``, positions in `edge_label_index`, or IDs of edges where that is
        None, a mask of the graph or the job's; ``edge_label_index`` int64 ``(2, b + k)``, positions
        in ``n_id``, negatives behind the pairs; ``edge_label`` ``(b + k,)`` or ``(b + k, width)``,
        of float32 where none were given, absent without labels and negatives. Of triplets, in the
        stores of the end's node types: ``src_index`` and ``dst_pos_index`` int64 ``(b,)``,
        ``dst_neg_index`` ``(b,)`` or, of several, ``(b, amount)``.

    Attributes
    ----------
    data : Data or HeteroData
        As of `NeighborLoader`.
    dataset : range
        As long as there are seeds of this trainer's.
    edge_label_index : as it was given.
    link_sampler : NeighborSampler
    neg_sampling : as it was given.

    Raises
    ------
    Unsupported
        A NotImplementedError: an argument that cannot be honoured, with the reason.
    OutOfRange
        A node or an edge is none of the graph; the message names it.
    Mismatch
        There is no label for each pair.
    TimedOut
        A batch took longer than `timeout`.
    """

    def __init__(
        self,
        data: Any,
        link_sampler: Any,
        edge_label_index: Any = None,
        edge_label: Any = None,
        edge_label_time: Any = None,
        neg_sampling: Any = None,
        neg_sampling_ratio: float | None = None,
        transform: Callable[[Any], Any] | None = None,
        transform_sampler_output: Any = None,
        filter_per_worker: bool | None = None,
        custom_cls: Any = None,
        input_id: Any = None,
        *,
        batch_size: int | None = 1,
        shuffle: bool | None = False,
        drop_last: bool = False,
        num_workers: int = 0,
        pin_memory: bool = False,
        timeout: float = 0,
        attrs: Attrs = None,
        edge_attrs: Attrs = None,
        exclude: Any = None,
        reverse_eids: Any = None,
        reverse_etypes: Any = None,
        seed: int = 0,
        sampler: Any = None,
        **options: Any,
    ) -> None:
        given = {k: v for k, v in locals().items() if k not in ("self", "options", "__class__")}
        refused = {k: given[k] for k in ("edge_label_time", "transform_sampler_output")}
        check_arguments(type(self).__name__, {**refused, **options})
        self._take_data(data, attrs, edge_attrs, custom_cls, pin_memory)
        self._made_of = {**given, **options}
        graph, features = self.graph, self._of.selection.features
        drawn = check_sampler("link_sampler", link_sampler).sampler
        self.link_sampler, self.neg_sampling = link_sampler, neg_sampling
        self.edge_label_index, self.transform = edge_label_index, transform
        self.batch_size = 1 if batch_size is None else int(batch_size)
        negatives = negatives_of(neg_sampling, neg_sampling_ratio)
        self._seeds = seeds = link_seeds(self._of, data, edge_label_index, bool(shuffle))
        is_triplet = negatives is not None and negatives.is_triplet
        if is_triplet and edge_label is not None:
            raise errors.InvalidArgument(
                "edge_label: triplets have none; src_index, dst_pos_index and dst_neg_index of a "
                "batch tell its edges from negatives"
            )
        label = _labels(graph.types.canonical_etypes[seeds.etype], seeds, edge_label)
        if label is not None and negatives is not None and len(label) and label.min() == 0:
            label = label + 1
        self._maker = LinkMaker(
            graph,
            drawn,
            seeds,
            label,
            _input_id(seeds, input_id),
            negatives,
            Exclusion(exclude, reverse_eids, reverse_etypes),
            self._fill,
            features=features,
            orig_ids=False,
            timeout=timeout or None,
        )
        if seeds.is_of_job:
            check_no_sampler("edge_label_index", sampler)
            edges: EdgeSet = seeds.given  # type: ignore[assignment]
            self._source = EdgesOfJob(
                graph,
                edges,
                self._maker.of_job,
                batch_size=self.batch_size,
                shuffle=bool(shuffle),
                drop_last=drop_last,
                orig_ids=False,
                seed=seed,
                timeout=timeout or None,
                num_workers=num_workers,
            )
        else:
            self._source = OwnSeeds(
                graph,
                len(seeds),
                self._maker.at,
                batch_size=self.batch_size,
                shuffle=bool(shuffle),
                drop_last=drop_last,
                seed=seed,
                workers=num_workers,
                sampler=sampler,
            )
        self._look_like_pytorchs(
            -(-len(seeds) // graph.world) if seeds.is_of_job else len(seeds),
            shuffle=bool(shuffle),
            drop_last=drop_last,
            num_workers=num_workers,
            pin_memory=pin_memory,
            sampler=sampler,
            options=options,
        )

    def __call__(self, index: Any) -> Any:
        """A batch of these seeds: positions in `edge_label_index`."""
        self._fill.attributes = self._attributes()
        places = np.asarray(index, dtype=np.int64)
        data = self._maker.at(places, self.graph.next_seed())
        return data if self.transform is None else self.transform(data)


class LinkNeighborLoader(LinkLoader, PygLinkNeighborLoader):
    """Mini-batches of pairs of nodes and drawn neighbours of their ends, as PyG's
    LinkNeighborLoader gives them.

    Parameters
    ----------
    data, edge_label_index, edge_label, neg_sampling, neg_sampling_ratio, transform, **options
        Of `LinkLoader`, whose batches these are.
    num_neighbors, replace, weight_attr, neighbor_sampler
        What is drawn, of `NeighborLoader`.
    edge_label_time, time_attr, temporal_strategy, disjoint, subgraph_type, directed, \
transform_sampler_output
        Are there for their names: what Troupe does not do is refused with the reason.
    is_sorted, filter_per_worker
        Accepted without effect.

    Examples
    --------
    >>> loader = troupe.pyg.LinkNeighborLoader(g, [20, 10], batch_size=1024, shuffle=True,
    ...                                        neg_sampling="binary")
    >>> for batch in loader:
    ...     found = model(batch.x, batch.edge_index)
    ...     sources, destinations = found[batch.edge_label_index]
    ...     scores = (sources * destinations).sum(-1)
    ...     loss = binary_cross_entropy_with_logits(scores, batch.edge_label)
    """

    def __init__(
        self,
        data: Any,
        num_neighbors: Any,
        edge_label_index: Any = None,
        edge_label: Any = None,
        edge_label_time: Any = None,
        replace: bool = False,
        subgraph_type: Any = "directional",
        disjoint: bool = False,
        temporal_strategy: str = "uniform",
        neg_sampling: Any = None,
        neg_sampling_ratio: float | None = None,
        time_attr: str | None = None,
        weight_attr: str | None = None,
        transform: Callable[[Any], Any] | None = None,
        transform_sampler_output: Any = None,
        is_sorted: bool = False,
        filter_per_worker: bool | None = None,
        neighbor_sampler: Any = None,
        directed: bool = True,
        **options: Any,
    ) -> None:
        given = {k: v for k, v in locals().items() if k not in ("self", "options", "__class__")}
        refused = (
            "subgraph_type",
            "disjoint",
            "temporal_strategy",
            "time_attr",
            "directed",
        )
        check_arguments(type(self).__name__, {k: given[k] for k in refused})
        sampler = neighbor_sampler
        if sampler is None:
            sampler = NeighborSampler(data, num_neighbors, replace, weight_attr)
        super().__init__(
            data,
            sampler,
            edge_label_index,
            edge_label,
            edge_label_time,
            neg_sampling,
            neg_sampling_ratio,
            transform,
            transform_sampler_output,
            filter_per_worker,
            **options,
        )
        self._made_of = {**given, **options}


def _labels(etype: tuple[str, str, str], seeds: LinkSeeds, edge_label: Any) -> Any:
    """Labels as a tensor, one for each seed or, of the job's, for each edge."""
    if edge_label is None:
        return None
    given = seeds.given
    if seeds.is_of_job and not given.is_all:  # type: ignore[union-attr]
        raise errors.InvalidArgument(
            "edge_label: the job's edges are known by their IDs; give a list of IDs as "
            "edge_label_index, or read labels by the batch's input_id"
        )
    label = torch.as_tensor(edge_label).cpu()
    if label.ndim == 0 or len(label) != len(seeds):
        raise errors.Mismatch(
            f"edge_label: of shape {tuple(label.shape)} for {len(seeds)} pairs of {etype}; one for "
            "each is needed"
        )
    return label


def _input_id(seeds: LinkSeeds, input_id: Any) -> Ids | None:
    """What seeds are called; None: by their positions, or the IDs of edges."""
    if input_id is None:
        return None
    if seeds.is_of_job:
        raise errors.InvalidArgument(
            "input_id: the job's edges are called by their IDs; give a list of IDs as "
            "edge_label_index"
        )
    named = np.ascontiguousarray(np.asarray(input_id), dtype=np.int64)
    if named.shape != (len(seeds),):
        raise errors.Mismatch(
            f"input_id: of shape {named.shape} for {len(seeds)} pairs; one for each is needed"
        )
    return named
