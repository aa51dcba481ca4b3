# SPDX-License-Identifier: Apache-2.0
"""Edges that were drawn or asked for, as graphs of DGL with global IDs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from .. import edge_queries
from ..sampler import NeighborSampler, SampledEdges
from ..types import EID, NID
from .installed import need
from .total_fanout import edges_in_total

if TYPE_CHECKING:
    from .dist_graph import DistGraph

FORMATS = ["coo", "csr", "csc"]
Edges = tuple[Any, Any, Any]


def seeds_by_type(graph: DistGraph, nodes: Any) -> dict[str, Any]:
    """Seeds by node type, those of no node left out."""
    if not isinstance(nodes, Mapping):
        nodes = {graph.ntypes[graph.types.ntype(None)]: nodes}
    return {name: ids for name, ids in nodes.items() if ids is not None and len(ids)}


def drawn_edges(
    graph: DistGraph,
    nodes: Any,
    fanout: Any,
    replace: bool,
    exclude: Any,
    seed: int | None = None,
    prob: str | None = None,
    edge_dir: str = "in",
    total: bool = False,
) -> dict[int, Edges]:
    """What `fanout` draws for the nodes: sources, destinations and IDs by edge type."""
    types = graph.types
    found: dict[int, Edges] = {}
    sampler = NeighborSampler([fanout], edge_dir, prob, replace=replace, total=total)
    # An edge type has one type at each end, so its edges are all of one draw.
    for name, ids in seeds_by_type(graph, nodes).items():
        drawn = SampledEdges(
            sampler.draw(graph, {name: ids}, seed=seed, exclude_eids=exclude, orig_ids=False)
        )
        for number, (source, target) in enumerate(types.ends):
            etype = types.canonical_etypes[number]
            drew = source if edge_dir == "out" else target
            if drew == types.ntype(name) and drawn.num_edges(etype):
                found[number] = (*drawn.edges(etype), drawn.edge_ids(etype))
    return found


def graph_of_edges(
    graph: DistGraph, edges: Mapping[int, Edges], wanted: Any = None, nodes: Any = None
) -> Any:
    """A DGLGraph with all nodes of a graph, and these edges by number of their types.

    Edges without IDs (None) are pairs of nodes that are no edges of the graph. With `nodes`, global
    IDs by number of their types, it has these alone, and edges are between their places.
    """
    import torch

    dgl = need("graphs that were drawn")
    index, frame = dgl.heterograph_index, dgl.frame.Frame
    types = graph.types
    numbers = list(range(len(types.etypes)) if wanted is None else wanted)
    counts = [
        graph.rows_of_type(False, t) if nodes is None else len(nodes[t])
        for t in range(len(types.ntypes))
    ]
    nothing = torch.empty(0, dtype=torch.int64)
    relations, frames = [], []
    for number in numbers:
        source, target = types.ends[number]
        sources, destinations, ids = edges.get(number, (nothing, nothing, nothing))
        relations.append(
            index.create_unitgraph_from_coo(
                1 if source == target else 2,
                counts[source],
                counts[target],
                sources,
                destinations,
                FORMATS,
            )
        )
        frames.append(frame({} if ids is None else {EID: ids}, len(sources)))
    names = [types.etypes[number] for number in numbers]
    rows = None if nodes is None else [frame({NID: ids}, len(ids)) for ids in nodes]
    if len(types.ntypes) == 1 and len(names) == 1:
        return dgl.DGLGraph(relations[0], types.ntypes, names, rows, frames)
    ends = [types.ends[number] for number in numbers]
    sides = [s for s, _ in ends], [t for _, t in ends]
    meta = dgl.graph_index.from_coo(len(types.ntypes), *sides, True)
    whole = index.create_heterograph_from_relations(
        meta, relations, dgl.utils.toindex(counts, "int64")
    )
    return dgl.DGLGraph(whole, types.ntypes, names, rows, frames)


def drawn_graph(
    graph: DistGraph,
    nodes: Any,
    fanout: Any,
    replace: bool,
    exclude: Any,
    seed: int | None = None,
    prob: str | None = None,
    edge_dir: str = "in",
) -> Any:
    """Edges that were drawn, as a DGLGraph."""
    found = drawn_edges(graph, nodes, fanout, replace, exclude, seed, prob, edge_dir)
    return graph_of_edges(graph, found)


def drawn_in_total(
    graph: DistGraph,
    nodes: Any,
    fanout: int,
    replace: bool,
    exclude: Any,
    prob: str | None,
    edge_dir: str,
) -> Any:
    """So many edges of each node over all edge types together, as a DGLGraph."""
    if prob is None:
        found = drawn_edges(graph, nodes, fanout, replace, exclude, edge_dir=edge_dir, total=True)
    else:
        seeds = seeds_by_type(graph, nodes)
        found = edges_in_total(graph, seeds, fanout, replace, exclude, prob, edge_dir)
    return graph_of_edges(graph, found)


def _tensors(edges: tuple[Any, Any, Any]) -> Edges:
    import torch

    sources, destinations, ids = map(torch.from_numpy, edges)
    return sources, destinations, ids


def in_subgraph(graph: DistGraph, nodes: Any) -> Any:
    """All in-edges of nodes, by node type, as a DGLGraph of all nodes."""
    seeds = seeds_by_type(graph, nodes)
    by_number = {graph.types.ntype(name): ids for name, ids in seeds.items()}
    found = edge_queries.in_subgraph(graph, by_number).edges
    return graph_of_edges(graph, {number: _tensors(edges) for number, edges in found.items()})


def edge_subgraph(graph: DistGraph, edges: Any, relabel_nodes: bool) -> Any:
    """These edges as a DGLGraph that has no other edge type."""
    import torch

    types = graph.types
    if not isinstance(edges, Mapping):
        edges = {types.canonical_etypes[types.etype(None)]: edges}
    of_type = {types.etype(name): ids for name, ids in edges.items()}
    wanted = {n: torch.from_numpy(graph.checked_ids(ids, True, n)) for n, ids in of_type.items()}
    if relabel_nodes:
        found = edge_queries.edge_subgraph(graph, wanted)
        edges = {number: _tensors(ends) for number, ends in found.edges.items()}
        nodes = [torch.from_numpy(found.nodes[n]) for n in range(len(types.ntypes))]
        return graph_of_edges(graph, edges, sorted(edges), nodes)
    ends = {n: graph.find_edges(ids, types.canonical_etypes[n]) for n, ids in wanted.items()}
    return graph_of_edges(graph, {n: (*ends[n], ids) for n, ids in wanted.items()}, sorted(wanted))
