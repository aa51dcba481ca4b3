# SPDX-License-Identifier: Apache-2.0
"""Loaders of edges: the neighbourhoods of their ends, with pairs that are no edges beside them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from . import errors
from .arrays import Ids, id_tensor
from .batch import Batch
from .binding import deadline, lib, made
from .edge_exclusion import Exclusion, by_type
from .loader import DistNodeDataLoader, draws_in_library
from .negative_sampler import NegativeSampler
from .pair_graph import PairGraph, TypedPairGraph
from .sampler import BlockSampler, take_batch
from .seeds import EdgeSet, joined
from .types import EtypeName

if TYPE_CHECKING:
    from .graph import DistGraph

Canonical = tuple[str, str, str]
Ends = tuple[Ids, Ids]


class EdgePredictionSampler(BlockSampler):
    """Draws the neighbourhoods of edges' ends by a sampler of nodes.

    Parameters
    ----------
    sampler : what draws blocks of nodes: ``sample_blocks(g, seeds, exclude_eids)``, whose seeds are
        a mapping of the node types of the ends to their IDs.
    etype : the edge type; None: the only one.
    exclude, reverse_eids, reverse_etypes : edges that no layer draws (see `Exclusion`).
    negative_sampler : called with the graph and edges; see `troupe.negative_sampler`.
    """

    def __init__(
        self,
        sampler: Any,
        etype: EtypeName = None,
        exclude: Any = None,
        reverse_eids: Any = None,
        reverse_etypes: Any = None,
        negative_sampler: Any = None,
    ) -> None:
        if negative_sampler is not None and not callable(negative_sampler):
            raise TypeError(
                f"negative_sampler={negative_sampler!r}: give what the graph and edges are given to"
            )
        self.sampler = sampler
        self.etype = etype
        self.negative_sampler = negative_sampler
        self.exclusion = Exclusion(exclude, reverse_eids, reverse_etypes)

    def sample_blocks(self, g: DistGraph, seeds: Any, exclude_eids: Any = None) -> Any:
        """Input nodes, the edges as a `PairGraph`, negative pairs as another where there is a
        negative sampler, and blocks. Where seeds map edge types to edges, both
        are `TypedPairGraph`."""
        if isinstance(seeds, Mapping):
            return self._draw_typed(g, by_type(g, seeds), exclude_eids)
        etype = g.to_canonical_etype(self.etype)
        edges = {etype: seeds}
        sources, targets = g.find_edges(seeds, etype)
        pairs = [(np.asarray(sources), np.asarray(targets))]
        if self.negative_sampler is not None:
            pairs.append(_negative_ends(g, etype, self.negative_sampler(g, edges)))
        excluded = self.exclusion.of(g, edges) if exclude_eids is None else exclude_eids
        nodes, places = _each_node_once(g, {etype: pairs})
        inputs, _, blocks = self.sampler.sample_blocks(g, nodes, excluded)
        graphs = [
            PairGraph(etype, nodes, ends, seeds if number == 0 else None)
            for number, ends in enumerate(places[etype])
        ]
        return (inputs, *graphs, blocks)

    def _draw_typed(self, g: DistGraph, seeds: Mapping[Canonical, Ids], excluded: Any) -> Any:
        """A batch of edges of several types: of each its edges come before its negatives."""
        some = {name: id_tensor(ids, g.tensors) for name, ids in seeds.items() if len(ids)}
        pairs = {}
        negative = {} if self.negative_sampler is None else self.negative_sampler(g, some)
        for name, ids in seeds.items():
            pairs[name] = [_as_arrays(g.find_edges(ids, name))]
            if self.negative_sampler is not None:
                pairs[name].append(_negative_ends(g, name, negative) if len(ids) else _NO_ENDS)
        if excluded is None:
            excluded = self.exclusion.of(g, some)
        nodes, places = _each_node_once(g, pairs)
        inputs, _, blocks = self.sampler.sample_blocks(g, nodes, excluded)
        graphs = [
            TypedPairGraph(
                nodes,
                {name: ends[number] for name, ends in places.items()},
                {name: id_tensor(ids, g.tensors) for name, ids in seeds.items()}
                if number == 0
                else None,
            )
            for number in range(1 if self.negative_sampler is None else 2)
        ]
        return (inputs, *graphs, blocks)


_NO_ENDS: Ends = (np.empty(0, np.int64), np.empty(0, np.int64))


def _as_arrays(ends: tuple[Any, Any]) -> Ends:
    return np.asarray(ends[0]), np.asarray(ends[1])


def _each_node_once(
    g: DistGraph, pairs: Mapping[Canonical, list[Ends]]
) -> tuple[dict[str, Any], dict[Canonical, list[tuple[Any, Any]]]]:
    """The ends of lists of pairs by node type, and where those of each list are among them."""
    lists: dict[str, list[Ids]] = {}
    for name, of_type in pairs.items():
        for sources, targets in of_type:
            lists.setdefault(name[0], []).append(sources)
            lists.setdefault(name[2], []).append(targets)
    nodes, found = {}, {}
    for ntype, ends in lists.items():
        ids, places = _in_order(ends)
        nodes[ntype] = id_tensor(ids, g.tensors)
        found[ntype] = iter([id_tensor(at, g.tensors) for at in places])
    # They come in the order in which they were put there.
    return nodes, {
        name: [(next(found[name[0]]), next(found[name[2]])) for _ in of_type]
        for name, of_type in pairs.items()
    }


def _negative_ends(g: DistGraph, etype: Canonical, given: Any) -> Ends:
    """Global IDs of what a negative sampler gave: sources and destinations, or these by type."""
    if isinstance(given, Mapping):
        by_name = {g.to_canonical_etype(name): pairs for name, pairs in given.items()}
        given = by_name.get(etype)
    try:
        given = tuple(given)
    except TypeError:  # nothing that has parts
        given = ()
    if len(given) != 2:
        raise errors.InvalidArgument(
            f"a negative sampler gave no pairs for edges of {etype}: it returns sources and "
            "destinations, or a mapping of edge types to these"
        )
    types = (g.types.ntype(etype[0]), g.types.ntype(etype[2]))
    sources, targets = (g.checked_ids(ids, False, t) for ids, t in zip(given, types, strict=True))
    if len(sources) != len(targets):
        raise errors.InvalidArgument(
            f"a negative sampler gave {len(sources)} sources and {len(targets)} destinations: a "
            "pair has one of each"
        )
    return sources, targets


def _in_order(ends: list[Ids]) -> tuple[Ids, list[Ids]]:
    """Each node once, in the order of first appearance, and where those of each list are."""
    every = np.concatenate(ends)
    ids, first, inverse = np.unique(every, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    places = rank[inverse.reshape(-1)]
    return ids[order], np.split(places, np.cumsum([len(one) for one in ends])[:-1])


class DistEdgeDataLoader(DistNodeDataLoader):
    """Mini-batches of edges: ``(input_nodes, pair_graph, blocks)``, or, with a negative sampler,
    ``(input_nodes, pair_graph, negative_graph, blocks)``. Graphs of pairs are `PairGraph` or, of a
    mapping of edge types, `TypedPairGraph`, whose negatives are of the type of their edges.

    The library deals the edges out, as it does nodes: those of all ranks together are the whole
    set, each once an epoch, the same on any placement. Where it has what is asked for, its own
    threads make the batches as well: neighbours of a `NeighborSampler`, pairs of any sampler of
    `troupe.negative_sampler` but `GlobalUniform`, and ``exclude`` of None, "self", "reverse_id" or
    "reverse_types". Else threads of Python draw them.

    Parameters
    ----------
    g : DistGraph
    eids : EdgeSet, list or mapping
        Edges by their global IDs; None: all of the type, which takes no memory. Or a mapping of
        edge types to these, whose edges are shuffled together; of one type it is that type's list.
    graph_sampler : NeighborSampler, or BlockSampler of the program's own
        What draws for the ends.
    etype : optional
        The edge type; None: the only one. Not with a mapping.
    exclude, reverse_eids, reverse_etypes, negative_sampler
        Of `EdgePredictionSampler`.
    device, **options
        Of `DistNodeDataLoader`; what the library does not make brings no rows along.

    Attributes
    ----------
    in_library : bool
        Whether the library makes the batches.
    """

    def __init__(
        self,
        g: DistGraph,
        eids: Any,
        graph_sampler: Any,
        device: Any = None,
        *,
        etype: EtypeName = None,
        exclude: Any = None,
        reverse_eids: Any = None,
        reverse_etypes: Any = None,
        negative_sampler: Any = None,
        **options: Any,
    ) -> None:
        if isinstance(eids, Mapping) and len(eids) == 1 and etype is None:
            etype, eids = next(iter(eids.items()))
        self._edges = edge_sets(g, eids, etype)
        sampler = EdgePredictionSampler(
            graph_sampler, etype, exclude, reverse_eids, reverse_etypes, negative_sampler
        )
        self._is_typed = isinstance(self._edges, tuple)
        names = [g.canonical_etypes[number] for number in self._numbers()]
        sampler.exclusion.check_types(*names)
        rule = sampler.exclusion.in_library(g, *names, listed=True)
        drawn = rule is not None and self._is_made_in_library(
            graph_sampler, negative_sampler, options
        )
        self._sampler_of_edges = sampler
        self._rule = rule or {}
        self.in_library = drawn
        seeds: EdgeSet | tuple[EdgeSet, ...] = self._edges
        if drawn and self._rule.get("reverse_ids") == lib.TR_REVERSE_LISTED:
            seeds = tuple(_with_reverses(g, one, sampler.exclusion) for one in self._parts())
        super().__init__(g, seeds, graph_sampler if drawn else sampler, device, **options)
        self.sampler = sampler

    def _parts(self) -> tuple[EdgeSet, ...]:
        return self._edges if isinstance(self._edges, tuple) else (self._edges,)

    def _numbers(self) -> list[int]:
        return [one.number for one in self._parts()]

    @staticmethod
    def _is_made_in_library(graph_sampler: Any, negative: Any, options: dict[str, Any]) -> bool:
        """Processes of the program's own take what is drawn there."""
        return (
            draws_in_library(graph_sampler)
            and (negative is None or _options_of(negative) is not None)
            and not options.get("worker_processes")
        )

    def _links(self) -> Any:
        """Negatives, and edges to be left out, where the library knows of them."""
        if not self.in_library:
            return None
        negative = self._sampler_of_edges.negative_sampler
        drawn = {} if negative is None else _options_of(negative) or {}
        return made("tr_link_options", **drawn, **self._rule)

    def _delivered(self, batch: Batch) -> Any:
        """The tuple that `EdgePredictionSampler` makes too."""
        if not self.in_library:
            return batch
        nodes = batch.output_nodes
        if not isinstance(nodes, Mapping):
            nodes = {self.graph.ntypes[0]: nodes}
        if self._is_typed:
            return (batch.input_nodes, *self._typed_graphs(batch, nodes), batch.blocks)
        etype = self.graph.canonical_etypes[self._numbers()[0]]
        graphs = [PairGraph(etype, nodes, self._placed(batch.pairs), batch.seed_edges)]
        if self._sampler_of_edges.negative_sampler is not None:
            graphs.append(PairGraph(etype, nodes, self._placed(batch.negative_pairs)))
        return (batch.input_nodes, *graphs, batch.blocks)

    def _typed_graphs(self, batch: Batch, nodes: Mapping[str, Any]) -> list[TypedPairGraph]:
        """The graphs of a batch of several types."""
        names = [self.graph.canonical_etypes[number] for number in self._numbers()]
        lists = [(batch.pairs, batch.seed_edges)]
        if self._sampler_of_edges.negative_sampler is not None:
            lists.append((batch.negative_pairs, None))
        graphs = []
        for ends, edges in lists:
            placed = {name: self._placed(ends[name]) for name in names}
            graphs.append(TypedPairGraph(nodes, placed, edges))
        return graphs

    def _placed(self, ends: tuple[Any, Any]) -> tuple[Any, Any]:
        sources, targets = (id_tensor(places, self.graph.tensors) for places in ends)
        return sources, targets

    def _report_share(self) -> None:
        """Nothing: an edge lies with its destination, and which those are is not asked here."""

    def _pad(self, empty: Batch) -> Batch:
        """A batch of the first edge of all, in the place of one without seeds."""
        parts = [one for one in self._sets if isinstance(one, EdgeSet)]
        some = next(one for one in parts if len(one))
        sets = [one.head(1 if one is some else 0) for one in parts]
        options = made(
            "tr_sample_options",
            spec=self._drawn.spec(self.graph),
            pairs=joined(self.graph, sets),
            links=self._links(),
            edge_ids=self._brings["edge_ids"],
            original_ids=self._brings["orig_ids"],
            degrees=self._brings["degrees"],
            features=self.layout.features,
            labels=self.layout.labels,
            seed=1,
        )
        return take_batch(
            self.graph.session.waiter,
            self.layout,
            lib.tr_sample,
            self.graph.pointer(),
            options,
            deadline(None),
        ).stand_for(empty)

    def __reduce__(self) -> tuple[Any, ...]:
        return _loader_of, (self.graph, self._edges, self.sampler, self._made_of)


def _with_reverses(g: DistGraph, edges: EdgeSet, exclusion: Exclusion) -> EdgeSet:
    """The same edges, each with its reverse, where the program has said any."""
    ids = edges.read(0, len(edges))
    reverses = exclusion.reverses(g, g.canonical_etypes[edges.number], ids)
    if reverses is None:
        return edges
    return edges.with_reverses(np.ascontiguousarray(reverses, np.int64))


def _options_of(negative: Any) -> dict[str, int] | None:
    """By which the library draws a sampler's pairs; a program's own may be any callable."""
    return negative.in_library() if isinstance(negative, NegativeSampler) else None


def edge_sets(g: DistGraph, edges: Any, etype: EtypeName) -> EdgeSet | tuple[EdgeSet, ...]:
    """Edges of a type as the seeds of a loader, or of each of several."""
    if not isinstance(edges, (Mapping, tuple)) or (
        isinstance(edges, tuple) and not all(isinstance(one, EdgeSet) for one in edges)
    ):
        return edge_set(g, edges, etype)
    if etype is not None:
        raise errors.InvalidArgument(f"etype={etype!r}: the edges are a mapping of edge types")
    if not edges:
        raise errors.InvalidArgument("the edges are of no edge type: give a mapping of some")
    if isinstance(edges, tuple):
        return tuple(edge_set(g, one) for one in edges)
    return tuple(edge_set(g, ids, name) for name, ids in edges.items())


def edge_set(g: DistGraph, edges: Any = None, etype: EtypeName = None) -> EdgeSet:
    """Edges of a type as the seeds of a loader: global IDs; None: all, which takes no memory."""
    if isinstance(edges, EdgeSet):
        return edges.within(g, True, edges.number if etype is None else g.types.etype(etype))
    number = g.types.etype(etype)
    if edges is None:
        return EdgeSet(g, number, "all")
    return EdgeSet(g, number, "list", g.checked_ids(edges, True, number))


def _loader_of(
    g: DistGraph,
    edges: EdgeSet | tuple[EdgeSet, ...],
    sampler: EdgePredictionSampler,
    options: dict[str, Any],
) -> DistEdgeDataLoader:
    rule = sampler.exclusion
    return DistEdgeDataLoader(
        g,
        edges,
        sampler.sampler,
        etype=sampler.etype,
        exclude=rule.exclude,
        reverse_eids=rule.reverse_eids,
        reverse_etypes=rule.reverse_etypes,
        negative_sampler=sampler.negative_sampler,
        **options,
    )
