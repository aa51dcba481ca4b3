# SPDX-License-Identifier: Apache-2.0
"""Which features of a graph batches bring along, and under which names of PyG's."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .. import errors

if TYPE_CHECKING:
    from ..graph import DistGraph
    from ..tables import Table
    from ..tensors import DistTensor

Attrs = Sequence[str] | Mapping[str, str] | None

# How `troupe.partition_graph` names what PyG's data have, for nodes and for edges.
NODE_NAMES = {"x": "feat", "y": "label"}
EDGE_NAMES = {"edge_attr": "feat"}


class Selection:
    """Features by the names that they have in a batch, for each type that has them.

    Parameters
    ----------
    graph : DistGraph
    attrs : sequence or mapping of str, optional
        Names in the batch, or a mapping of these to features of nodes. By itself the name "x"
        stands for the feature "x" or else "feat", and "y" for "y" or else "label". None: those two,
        of the types that have them.
    edge_attrs : likewise, of edges
        "edge_attr" stands for "edge_attr" or else "feat". None: no features of edges.

    Raises
    ------
    NotFound
        No type has such a feature.
    """

    def __init__(self, graph: DistGraph, attrs: Attrs = None, edge_attrs: Attrs = None) -> None:
        self._graph = graph
        self.given = (attrs, edge_attrs)
        wanted = tuple(NODE_NAMES) if attrs is None else attrs
        # By number of the type: names in the batch, and features.
        self.of_nodes = [
            _found(graph.nodes[n].data, wanted, NODE_NAMES) for n in graph.types.ntypes
        ]
        self.of_edges = [
            _found(graph.edges[e].data, edge_attrs or (), EDGE_NAMES)
            for e in graph.types.canonical_etypes
        ]
        _check_known("attrs", () if attrs is None else attrs, self.of_nodes)
        _check_known("edge_attrs", edge_attrs or (), self.of_edges)

    @property
    def features(self) -> str | None:
        """The feature that "x" stands for, which comes along with draws; None: there is none.

        Only what the partitions have can come so.
        """
        for number, names in enumerate(self.of_nodes):
            name = names.get("x")
            if name is not None and name in self._graph.tables_of(False, number):
                return name
        return None

    def rows(self, of_edges: bool, number: int, attr: str, ids: Any) -> Any:
        """Rows of a feature by its name in the batch.

        Parameters
        ----------
        of_edges, number : the type.
        attr : the name in the batch.
        ids : global IDs of the type: int64, shape ``(n,)``.

        Returns
        -------
        tensor, shape ``(n,)`` or ``(n, width)``.
        """
        return self.table(of_edges, number, attr)[ids]

    def table(self, of_edges: bool, number: int, attr: str) -> Table | DistTensor:
        """The feature itself."""
        view = self._graph.edges if of_edges else self._graph.nodes
        types = self._graph.types
        name = types.canonical_etypes[number] if of_edges else types.ntypes[number]
        features = (self.of_edges if of_edges else self.of_nodes)[number]
        return view[name].data[features[attr]]


def _found(
    features: Mapping[str, Any], wanted: Iterable[str], other_names: Mapping[str, str]
) -> dict[str, str]:
    """Those of the wanted names that a type has, and its features for them."""
    found = {}
    for attr in wanted:
        named = [wanted[attr]] if isinstance(wanted, Mapping) else [attr, other_names.get(attr)]
        name = next((one for one in named if one is not None and one in features), None)
        if name is not None:
            found[attr] = name
    return found


def _check_known(what: str, wanted: Iterable[str], found: Sequence[Mapping[str, str]]) -> None:
    for attr in wanted:
        if not any(attr in of_type for of_type in found):
            name = wanted[attr] if isinstance(wanted, Mapping) else attr
            raise errors.NotFound(f"{what}: no type of the graph has a feature {name!r}")
