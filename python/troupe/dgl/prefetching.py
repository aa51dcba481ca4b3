# SPDX-License-Identifier: Apache-2.0
"""Features that a sampler was asked to prefetch, put into the blocks that it drew."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from ..types import EID, NID
from .dist_graph import DistGraph


def prefetched(g: Any, sampler: Any, result: Any) -> Any:
    """Input nodes, output nodes and blocks, as they are, whose blocks have the features.

    Of a graph of DGL's own they are marked alone: its loaders read them.
    """
    of_nodes, labels, of_edges = (
        sampler.prefetch_node_feats,
        sampler.prefetch_labels,
        sampler.prefetch_edge_feats,
    )
    if not (of_nodes or labels or of_edges):
        return result
    _, _, blocks = result
    if isinstance(g, DistGraph):
        read_features(blocks[0].srcnodes, blocks[0].srctypes, NID, g.nodes, of_nodes)
        read_features(blocks[-1].dstnodes, blocks[-1].dsttypes, NID, g.nodes, labels)
        for block in blocks:
            read_features(block.edges, block.canonical_etypes, EID, g.edges, of_edges)
        return result
    marks = import_module("dgl.dataloading.base")
    marks.set_src_lazy_features(blocks[0], of_nodes)
    marks.set_dst_lazy_features(blocks[-1], labels)
    for block in blocks:
        marks.set_edge_lazy_features(block, of_edges)
    return result


def read_features(views: Any, types: Any, key: str, of_graph: Any, names: Any) -> None:
    """Reads the features of a graph's nodes or edges by the IDs that stand there under a key."""
    if not names:
        return
    if not isinstance(names, Mapping):
        if len(types) > 1:
            raise TypeError(
                f"{', '.join(names)}: the graph has several types; give a mapping of types to the "
                "names of features to prefetch"
            )
        names = {types[0]: names}
    for name, features in names.items():
        rows = views[name].data
        for feature in features:
            rows[feature] = of_graph[name].data[feature][rows[key]]
