# SPDX-License-Identifier: Apache-2.0
"""DGL's batches of edges: pair graphs, negative pairs, and the blocks of their ends."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..edge_exclusion import Exclusion, by_type
from ..types import EID, NID
from .dgl_loaders import IGNORED, DistDataLoader, SeedList, ids_of_items
from .dgl_samplers import as_ids
from .dist_graph import DistGraph
from .drawn_graph import edge_subgraph, graph_of_edges
from .installed import need, own
from .prefetching import read_features


class EdgePredictionSampler:
    """Draws the neighbourhoods of edges' ends by a sampler of nodes.

    Made by `as_edge_prediction_sampler`; ``sample(g, edges)`` returns input nodes, the edges as a
    graph, negative pairs as a graph (where there is a negative sampler) and blocks. Both graphs
    have the same nodes, which are those that the last block ends in.
    """

    def __init__(
        self,
        sampler: Any,
        exclude: Any = None,
        reverse_eids: Any = None,
        reverse_etypes: Any = None,
        negative_sampler: Any = None,
        prefetch_labels: Any = None,
    ) -> None:
        self.sampler = sampler
        self.exclude = exclude
        self.reverse_eids = reverse_eids
        self.reverse_etypes = reverse_etypes
        self.negative_sampler = negative_sampler
        self.prefetch_labels = prefetch_labels or []
        self.output_device = getattr(sampler, "output_device", None)
        self._exclusion = Exclusion(exclude, reverse_eids, reverse_etypes)

    def sample(self, g: Any, seed_edges: Any) -> Any:
        """A batch of these edges: IDs, or a mapping of edge types to them."""
        dgl = need("batches of edges")
        if not isinstance(g, DistGraph):
            return self._of_dgl().sample(g, seed_edges)
        seeds = {name: as_ids(ids) for name, ids in by_type(g, seed_edges).items()}
        given = seeds if isinstance(seed_edges, Mapping) else as_ids(seed_edges)
        pairs = edge_subgraph(g, seeds, relabel_nodes=False)
        ids = {name: pairs.edges[name].data[EID] for name in pairs.canonical_etypes}
        graphs = [pairs]
        if self.negative_sampler is not None:
            graphs.append(_pair_graph(g, self.negative_sampler(g, given)))
        graphs = dgl.compact_graphs(graphs)
        for name, kept in ids.items():
            graphs[0].edges[name].data[EID] = kept
        names = graphs[0].canonical_etypes
        read_features(graphs[0].edges, names, EID, g.edges, self.prefetch_labels)
        nodes = graphs[0].ndata[NID]
        excluded = _as_given(self._exclusion.of(g, given), given)
        input_nodes, _, blocks = self.sampler.sample(g, nodes, excluded)
        return (input_nodes, *graphs, blocks)

    def _of_dgl(self) -> Any:
        """The same over a graph of DGL's own."""
        return own("as_edge_prediction_sampler")(
            self.sampler,
            self.exclude,
            self.reverse_eids,
            self.reverse_etypes,
            self.negative_sampler,
            self.prefetch_labels,
        )


def as_edge_prediction_sampler(
    sampler: Any,
    exclude: Any = None,
    reverse_eids: Any = None,
    reverse_etypes: Any = None,
    negative_sampler: Any = None,
    prefetch_labels: Any = None,
) -> EdgePredictionSampler:
    """A sampler of edges, made of one of nodes.

    Parameters
    ----------
    sampler : anything with ``sample(g, seeds, exclude_eids)``.
    exclude : None, "self", "reverse_id", "reverse_types", a callable, or IDs: edges that no layer
        draws (see `troupe.edge_exclusion.Exclusion`).
    reverse_eids : the reverse of each edge by its ID, or a mapping of edge types to such.
    reverse_etypes : a mapping of edge types to those that reverse them.
    negative_sampler : called with the graph and edges, returns sources and destinations.
    prefetch_labels : names of edge features, or a mapping of edge types to them, that the graph of
        the batch's edges gets.
    """
    return EdgePredictionSampler(
        sampler, exclude, reverse_eids, reverse_etypes, negative_sampler, prefetch_labels
    )


def _as_given(excluded: Any, edges: Any) -> Any:
    """Edges to leave out as DGL gives them: tensors, by type where the batch's edges are."""
    if not isinstance(excluded, Mapping):
        return None if excluded is None else as_ids(excluded)
    tensors = as_ids(excluded)
    return (
        tensors if isinstance(edges, Mapping) or len(tensors) != 1 else next(iter(tensors.values()))
    )


def _pair_graph(g: DistGraph, pairs: Any) -> Any:
    """Pairs of nodes as a graph with all nodes, and every edge type of the graph."""
    if not isinstance(pairs, Mapping):
        pairs = {g.to_canonical_etype(None): pairs}
    edges = {}
    for name, (sources, targets) in pairs.items():
        number = g.types.etype(name)
        edges[number] = (as_ids(sources).long(), as_ids(targets).long(), None)
    return graph_of_edges(g, edges)


class EdgeCollator:
    """Makes a batch of edges: input nodes, pair graphs and blocks.

    Parameters
    ----------
    g : DistGraph
    eids : IDs, or a mapping of edge types to them.
    graph_sampler : a sampler of nodes, or what `as_edge_prediction_sampler` made of one.
    g_sampling : the graph that neighbours are drawn from, where it is another one; nothing is
        excluded then.
    exclude, reverse_eids, reverse_etypes, negative_sampler : as `as_edge_prediction_sampler`.
    """

    def __init__(
        self,
        g: Any,
        eids: Any,
        graph_sampler: Any,
        g_sampling: Any = None,
        exclude: Any = None,
        reverse_eids: Any = None,
        reverse_etypes: Any = None,
        negative_sampler: Any = None,
        gb_padding: int = 1,
    ) -> None:
        if not isinstance(eids, Mapping) and len(g.canonical_etypes) > 1:
            raise AssertionError("eids: the graph has several edge types; give a mapping of them")
        self.g = g
        self.eids = eids
        self.graph_sampler = graph_sampler
        if g_sampling is not None and g_sampling is not g:
            raise NotImplementedError("g_sampling is not there yet: give exclude instead")
        self.g_sampling = g
        self.exclude = exclude if g_sampling is None else None
        self.negative_sampler = negative_sampler
        options = (self.exclude, reverse_eids, reverse_etypes, negative_sampler)
        if isinstance(graph_sampler, EdgePredictionSampler):
            if any(option is not None for option in options):
                raise TypeError(
                    "graph_sampler is one of edges already, by as_edge_prediction_sampler(): give "
                    "exclude, reverse_eids, reverse_etypes and negative_sampler there alone"
                )
            self._sampler = graph_sampler
        else:
            self._sampler = as_edge_prediction_sampler(graph_sampler, *options)
        self._dataset = SeedList(eids)

    @property
    def dataset(self) -> SeedList:
        """The edges."""
        return self._dataset

    def collate(self, items: Any) -> Any:
        """A batch of these edges: IDs, or (type, ID) each, or IDs by type."""
        return self._sampler.sample(self.g, ids_of_items(items))


class DistEdgeDataLoader(DistDataLoader):
    """Batches of edges: ``(input_nodes, pair_graph, blocks)``, or, with a negative sampler,
    ``(input_nodes, pair_graph, negative_pair_graph, blocks)``.

    Parameters
    ----------
    g : DistGraph
    eids : IDs, or a mapping of edge types to them; each rank gives its own (`edge_split`).
    graph_sampler : a sampler of nodes, or what `as_edge_prediction_sampler` made of one.
    device : None or "cpu"
    batch_size, shuffle, drop_last, queue_size : as `DistDataLoader`.
    **others
        exclude, reverse_eids, reverse_etypes, negative_sampler, g_sampling: of `EdgeCollator`;
        num_workers, pin_memory and their kin are accepted and ignored.
    """

    def __init__(
        self,
        g: Any,
        eids: Any,
        graph_sampler: Any,
        device: Any = None,
        batch_size: int = 1,
        shuffle: bool = False,
        drop_last: bool = False,
        queue_size: int | None = None,
        **others: Any,
    ) -> None:
        if device is not None and str(device) != "cpu":
            raise ValueError(f"device={device!r}: batches are made in the CPU's memory")
        collating = {name: others.pop(name) for name in COLLATING if name in others}
        unknown = others.keys() - IGNORED
        if unknown:
            raise TypeError(f"DistEdgeDataLoader has no option {sorted(unknown)[0]!r}")
        self.collator = EdgeCollator(g, eids, graph_sampler, **collating)
        super().__init__(
            self.collator.dataset,
            batch_size,
            shuffle,
            self.collator.collate,
            drop_last,
            queue_size,
        )


COLLATING = (
    "g_sampling",
    "exclude",
    "reverse_eids",
    "reverse_etypes",
    "negative_sampler",
)
