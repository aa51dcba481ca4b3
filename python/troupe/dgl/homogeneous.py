# SPDX-License-Identifier: Apache-2.0
"""Questions by homogeneous IDs, which count nodes, and edges, over all types of a graph."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .dist_graph import DistGraph


def degrees(graph: DistGraph, nodes: Any, of_type: Callable[[Any, str], Any]) -> Any:
    """Degrees of nodes of any types, in the order asked; None: of all.

    Parameters
    ----------
    of_type : gives the degrees of nodes of one type, by their per-type IDs.
    """
    import torch

    every = torch.arange(graph.num_nodes())
    ids = every if nodes is None else torch.as_tensor(nodes).reshape(-1)
    kinds, typed = graph.get_partition_book().map_to_per_ntype(ids)
    found = torch.empty(len(ids), dtype=torch.int64)
    for number, name in enumerate(graph.ntypes):
        own = kinds == number
        found[own] = of_type(typed[own], name)
    return int(found[0]) if isinstance(nodes, int) else found


def find_edges(graph: DistGraph, edges: Any) -> tuple[Any, Any]:
    """Both ends of edges of any types, in the order asked."""
    import torch

    book = graph.get_partition_book()
    kinds, typed = book.map_to_per_etype(torch.as_tensor(edges).reshape(-1))
    found = torch.empty_like(typed), torch.empty_like(typed)
    for number, name in enumerate(graph.canonical_etypes):
        own = kinds == number
        for ids, ends, ntype in zip(
            found, graph.find_edges(typed[own], name), (name[0], name[2]), strict=True
        ):
            ids[own] = book.map_to_homo_nid(ends, ntype)
    return found
