# SPDX-License-Identifier: Apache-2.0
"""Sets of nodes and edges belong to a graph: another one refuses them, since its IDs are others."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import troupe
from troupe import errors
from troupe.edge_loader import edge_set

Graphs = tuple[troupe.DistGraph, troupe.DistGraph]
CITES, WRITES = ("paper", "cites", "paper"), ("author", "writes", "paper")
PAPERS, AUTHORS, EDGES = 40, 20, 100


@pytest.fixture(scope="module")
def paths(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Two graphs of the same types and counts, so that every ID of one is an ID of the other."""
    folder, found = tmp_path_factory.mktemp("two"), []
    for name, parts in (("a", 1), ("b", 3)):
        random = np.random.default_rng(parts)
        papers = random.integers(0, PAPERS, (3, EDGES))
        authors = random.integers(0, AUTHORS, EDGES)
        troupe.partition_graph(
            {CITES: (papers[0], papers[1]), WRITES: (authors, papers[2])},
            name,
            parts,
            folder / name,
            part_method="random",
            num_nodes={"paper": PAPERS, "author": AUTHORS},
            ndata={"paper": {"mask": np.arange(PAPERS) % 2 == 0}},
            edata={CITES: {"place": np.arange(EDGES)}},
        )
        found.append(folder / name / f"{name}.json")
    return found


@pytest.fixture
def graphs(paths: list[Path]) -> Iterator[Graphs]:
    with troupe.open(paths[0], seed=1) as own, troupe.open(paths[1], seed=1) as other:
        yield own, other


def edge_loader(g: troupe.DistGraph, edges: Any) -> Any:
    return troupe.DistEdgeDataLoader(
        g, edges, troupe.NeighborSampler([2]), batch_size=9, etype=CITES
    )


def node_loader(g: troupe.DistGraph, nodes: Any) -> Any:
    return troupe.DistNodeDataLoader(g, nodes, troupe.NeighborSampler([2]), batch_size=9)


sampler = troupe.NeighborSampler([2])

OF_EDGES: dict[str, Callable[[troupe.DistGraph, Any], Any]] = {
    "loader": edge_loader,
    "find_edges": lambda g, edges: g.find_edges(edges, CITES),
    "orig_edge_ids": lambda g, edges: g.orig_edge_ids(CITES, edges),
    "rows": lambda g, edges: g.edges[CITES].data["place"][edges],
    "owners": lambda g, edges: g.get_partition_book().eid2partid(edges, CITES),
    "exclude": lambda g, edges: sampler.draw(g, {"paper": [1]}, exclude_eids={CITES: edges}),
}

OF_NODES: dict[str, Callable[[troupe.DistGraph, Any], Any]] = {
    "loader": node_loader,
    "loader of types": lambda g, nodes: node_loader(g, {"paper": nodes}),
    "in_degrees": lambda g, nodes: g.in_degrees(nodes, "paper"),
    "in_edges": lambda g, nodes: g.in_edges(nodes, etype=CITES),
    "rows": lambda g, nodes: g.nodes["paper"].data["mask"][nodes],
    "orig_ids": lambda g, nodes: g.orig_ids("paper", nodes),
    "owners": lambda g, nodes: g.get_partition_book().nid2partid(nodes, "paper"),
    "draw": lambda g, nodes: sampler.draw(g, {"paper": nodes}),
    "nodes_of": lambda g, nodes: g.nodes_of(nodes, "paper"),
}


@pytest.mark.parametrize("name", OF_EDGES)
def test_edges_of_another_graph_are_refused_by_name(graphs: Graphs, name: str) -> None:
    own, other = graphs
    for given in (None, [3, 5]):
        OF_EDGES[name](own, edge_set(own, given, CITES))
        with pytest.raises(errors.Mismatch, match=r"EdgeSet\(.*'b' in .*b\.json.*'a' in "):
            OF_EDGES[name](own, edge_set(other, given, CITES))
    with pytest.raises(errors.Mismatch, match=r"type 'paper:cites:paper': EdgeSet\(100 edges of"):
        OF_EDGES[name](own, edge_set(own, None, WRITES))


@pytest.mark.parametrize("name", OF_NODES)
def test_nodes_of_another_graph_are_refused_by_name(graphs: Graphs, name: str) -> None:
    own, other = graphs
    for given in (None, "mask", [3, 5]):
        OF_NODES[name](own, own.nodes_of(given, "paper"))
        with pytest.raises(errors.Mismatch, match=r"NodeSet\(.*'b' in .*b\.json.*'a' in "):
            OF_NODES[name](own, other.nodes_of(given, "paper"))
    if name != "loader":  # which takes any type
        with pytest.raises(errors.Mismatch, match=r"type 'paper': NodeSet.*another type"):
            OF_NODES[name](own, own.nodes_of([3], "author"))
        with pytest.raises(errors.Mismatch, match=r"type 'paper': EdgeSet.*another type"):
            OF_NODES[name](own, edge_set(own, [3], CITES))


def test_sets_are_indexed_as_arrays_are(graphs: Graphs) -> None:
    own, _ = graphs
    for some in (edge_set(own, None, CITES), own.nodes_of("mask", "paper")):
        ids = np.asarray(some)
        for index in (
            slice(2, 9),
            slice(9, 2),
            slice(None, None, -1),
            slice(1, 20, 3),
            [],
            [3, -1],
        ):
            assert np.array_equal(some[index], ids[index])
        assert np.array_equal(some[ids % 3 == 0], ids[ids % 3 == 0])
        assert some[-1] == ids[-1] and some[0] == ids[0]
        for index in (len(ids), -len(ids) - 1):
            with pytest.raises(IndexError, match=f"no place {index} in a set of {len(ids)} IDs"):
                print(some[index])


def test_masks_of_another_graph_are_refused_by_name(graphs: Graphs) -> None:
    own, other = graphs
    mask = own.nodes["paper"].data["mask"]
    for nodes in (mask, {"paper": mask}):
        assert len(node_loader(own, nodes)) == 3
        with pytest.raises(errors.Mismatch, match=r"Table\(paper/mask.*'a' in .*a\.json"):
            node_loader(other, nodes)
    with pytest.raises(errors.Mismatch, match=r"type 'author': Table\(paper/mask"):
        node_loader(own, {"author": mask})


def test_a_graph_that_is_opened_twice_is_one_graph(paths: list[Path], graphs: Graphs) -> None:
    with troupe.open(paths[0], seed=1) as again:
        nodes, edges = again.nodes_of([3, 5], "paper"), edge_set(again, None, CITES)
        for call in OF_NODES.values():
            call(graphs[0], nodes)
        for call in OF_EDGES.values():
            call(graphs[0], edges)
        batches = [[b.output_nodes["paper"] for b in node_loader(g, nodes)] for g in graphs[:1]]
        assert sorted(np.concatenate(batches[0]).tolist()) == [3, 5]
