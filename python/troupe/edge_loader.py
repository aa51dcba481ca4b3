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
from .edge_exclusion import Exclusion
from .loader import DistNodeDataLoader, draws_in_library
from .negative_sampler import NegativeSampler
from .sampler import BlockSampler, take_batch
from .seeds import EdgeSet
from .types import EID, NID, EtypeName

if TYPE_CHECKING:
    from .graph import DistGraph


class PairGraph:
    """Pairs of a batch's nodes: its edges, or pairs that are none.

    Attributes
    ----------
    ndata : dict
        ``_ID``: global IDs of the nodes, which are those that the last block ends in.
    edata : dict
        ``_ID``: global IDs of the edges; empty where pairs are no edges.
    """

    def __init__(self, nodes: Any, sources: Any, destinations: Any, edges: Any = None) -> None:
        self.ndata = {NID: nodes}
        self.edata = {} if edges is None else {EID: edges}
        self._ends = sources, destinations

    def num_nodes(self) -> int:
        """Nodes."""
        return len(self.ndata[NID])

    def num_edges(self) -> int:
        """Pairs."""
        return len(self._ends[0])

    def edges(self) -> tuple[Any, Any]:
        """Positions of sources and destinations among the nodes: int64 each."""
        return self._ends

    def __repr__(self) -> str:
        return f"PairGraph({self.num_edges()} pairs of {self.num_nodes()} nodes)"


class EdgePredictionSampler(BlockSampler):
    """Draws the neighbourhoods of edges' ends by a sampler of nodes.

    Parameters
    ----------
    sampler : what draws blocks of nodes: ``sample_blocks(g, seeds, exclude_eids)``.
    etype : the edge type, whose ends are of one node type; None: the only one.
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
        self.sampler = sampler
        self.etype = etype
        self.negative_sampler = negative_sampler
        self.exclusion = Exclusion(exclude, reverse_eids, reverse_etypes)

    def sample_blocks(self, g: DistGraph, seeds: Any, exclude_eids: Any = None) -> Any:
        """Input nodes, the edges as a `PairGraph`, negative pairs as another where there is a
        negative sampler, and blocks."""
        etype = g.to_canonical_etype(self.etype)
        edges = {etype: seeds}
        ends = [np.asarray(ids) for ids in g.find_edges(seeds, etype)]
        if self.negative_sampler is not None:
            ends += [np.asarray(ids) for ids in self.negative_sampler(g, edges)[etype]]
        nodes, places = _in_order(ends)
        blocks_of = id_tensor(nodes, g.tensors)
        excluded = self.exclusion.of(g, edges) if exclude_eids is None else exclude_eids
        input_nodes, _, blocks = self.sampler.sample_blocks(g, {etype[2]: blocks_of}, excluded)
        at = [id_tensor(positions, g.tensors) for positions in places]
        graphs = [PairGraph(blocks_of, at[0], at[1], seeds)]
        if self.negative_sampler is not None:
            graphs.append(PairGraph(blocks_of, at[2], at[3]))
        return (input_nodes, *graphs, blocks)


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
    """Mini-batches of edges of one type: ``(input_nodes, pair_graph, blocks)``, or, with a negative
    sampler, ``(input_nodes, pair_graph, negative_graph, blocks)``.

    The library deals the edges out, as it does nodes: those of all ranks together are the whole
    set, each once an epoch, the same on any placement. Where it has what is asked for, its own
    threads make the batches as well: neighbours of a `NeighborSampler`, pairs of any sampler of
    `troupe.negative_sampler` but `GlobalUniform`, and ``exclude`` of None, "self", "reverse_types",
    or "reverse_id" with a word for ``reverse_eids``. Else threads of Python draw them.

    Parameters
    ----------
    g : DistGraph
    eids : EdgeSet, or list
        Edges by their global IDs; None: all of the type, which takes no memory.
    graph_sampler : NeighborSampler, or BlockSampler of the program's own
        What draws for the ends.
    etype : optional
        The edge type, whose ends are of one node type; None: the only one.
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
        source, _, target = g.to_canonical_etype(etype)
        if source != target:
            raise errors.Unsupported(
                f"edges from {source!r} to {target!r}: loaders of edges draw for ends of one node "
                "type; DistEdgeDataLoader of troupe.dgl draws for several"
            )
        self._edges = edge_set(g, eids, etype)
        sampler = EdgePredictionSampler(
            graph_sampler, etype, exclude, reverse_eids, reverse_etypes, negative_sampler
        )
        rule = sampler.exclusion.in_library(g, g.to_canonical_etype(etype))
        drawn = rule is not None and self._is_made_in_library(
            graph_sampler, negative_sampler, options
        )
        if isinstance(reverse_eids, str) and not drawn:
            raise errors.Unsupported(
                f"reverse_eids={reverse_eids!r}: the library does not make these batches; give the "
                "reverse of each edge by its ID"
            )
        self._sampler_of_edges = sampler
        self._rule = rule or {}
        self.in_library = drawn
        super().__init__(g, self._edges, graph_sampler if drawn else sampler, device, **options)
        self.sampler = sampler

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
        if isinstance(nodes, Mapping):
            nodes = nodes[self._edges.ntype]
        graphs = [self._pair_graph(nodes, batch.pairs, batch.seed_edges)]
        if self._sampler_of_edges.negative_sampler is not None:
            graphs.append(self._pair_graph(nodes, batch.negative_pairs))
        return (batch.input_nodes, *graphs, batch.blocks)

    def _pair_graph(self, nodes: Any, ends: tuple[Any, Any], edges: Any = None) -> PairGraph:
        sources, targets = (id_tensor(places, self.graph.tensors) for places in ends)
        return PairGraph(nodes, sources, targets, edges)

    def _report_share(self) -> None:
        """Nothing: an edge lies with its destination, and which those are is not asked here."""

    def _pad(self, empty: Batch) -> Batch:
        """A batch of the first edge of all, in the place of one without seeds."""
        first = EdgeSet(self.graph, self._edges.number, "list", self._edges.read(0, 1))
        options = made(
            "tr_sample_options",
            spec=self._drawn.spec(self.graph),
            pairs=first.pointer(),
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


def _options_of(negative: Any) -> dict[str, int] | None:
    """By which the library draws a sampler's pairs; a program's own may be any callable."""
    return negative.in_library() if isinstance(negative, NegativeSampler) else None


def edge_set(g: DistGraph, edges: Any = None, etype: EtypeName = None) -> EdgeSet:
    """Edges of a type as the seeds of a loader: global IDs; None: all, which takes no memory."""
    if isinstance(edges, EdgeSet):
        return edges.within(g, True, edges.number if etype is None else g.types.etype(etype))
    number = g.types.etype(etype)
    if edges is None:
        return EdgeSet(g, number, "all")
    return EdgeSet(g, number, "list", g.checked_ids(edges, True, number))


def _loader_of(
    g: DistGraph, edges: EdgeSet, sampler: EdgePredictionSampler, options: dict[str, Any]
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
