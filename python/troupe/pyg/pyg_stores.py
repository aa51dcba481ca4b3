# SPDX-License-Identifier: Apache-2.0
"""PyG's FeatureStore and GraphStore over a partitioned graph, for PyG's own loaders.

>>> data = troupe.pyg.stores(g)
>>> sampler = troupe.pyg.NeighborSampler(g, num_neighbors=[25, 10])
>>> loader = torch_geometric.loader.NodeLoader(data, sampler, input_nodes=seeds, batch_size=1024)

In a graph of one node type and one edge type, PyG's ``group_name`` and ``edge_type`` are None, so
batches are ``Data``; else they are the types' names, and batches ``HeteroData``.

Both pickle as the graph does: a worker process opens it anew. Before Python 3.14 PyTorch forks its
workers, where every call on a graph of the parent is refused: give
``multiprocessing_context="spawn"``. Without workers the library's own threads draw, which is
faster.
"""

from __future__ import annotations

from typing import Any

from torch_geometric.data import FeatureStore as PygFeatureStore
from torch_geometric.data import GraphStore as PygGraphStore
from torch_geometric.data import TensorAttr
from torch_geometric.data.graph_store import EdgeAttr, EdgeLayout

from .. import errors
from ..graph import DistGraph
from ..tensors import DistTensor
from .selection import Attrs, Selection


def check_graph(what: str, graph: Any) -> DistGraph:
    """A graph whose rows are tensors.

    Raises
    ------
    TypeError
        It is none of Troupe's.
    InvalidArgument
        It was opened with arrays of NumPy.
    """
    if not isinstance(graph, DistGraph):
        raise TypeError(
            f"{what}: give a troupe.DistGraph or troupe.pyg.stores(g), not "
            f"{type(graph).__name__}; troupe.partition_graph() makes a graph of a PyG Data"
        )
    if graph.tensors != "torch":
        raise errors.InvalidArgument(
            f'{what}: the graph gives arrays of NumPy; open it with tensors="torch"'
        )
    return graph


class FeatureStore(PygFeatureStore):
    """Features of nodes and edges, read where and when rows of them are asked for.

    Parameters
    ----------
    graph : DistGraph
        Opened with ``tensors="torch"``.
    attrs, edge_attrs : sequence or mapping of str, optional
        Which features there are, under which names; see `Selection`. PyG's loaders fetch all those
        of nodes for every node of every batch, and none of edges; ``store[edge_type, name, e_id]``
        reads these.

    Notes
    -----
    ``store[group, name, ids]`` gives a tensor of shape ``(len(ids),)`` or ``(len(ids), width)``, in
    the order of the IDs, repeats included; an ID that is none is refused by `errors.OutOfRange`.
    Whole features are refused, since they may be larger than memory. Rows can be put where the name
    is one of a `DistTensor` that the program put among the graph's features.
    """

    def __init__(self, graph: DistGraph, attrs: Attrs = None, edge_attrs: Attrs = None) -> None:
        super().__init__()
        # PyG's stores take attributes that are set for features of theirs.
        self.__dict__["graph"] = check_graph("FeatureStore", graph)
        self.__dict__["selection"] = Selection(graph, attrs, edge_attrs)

    def __reduce__(self) -> tuple[Any, ...]:
        return FeatureStore, (self.graph, *self.selection.given)

    def _place(self, attr: TensorAttr) -> tuple[bool, int, dict[str, str]]:
        types, group, name = self.graph.types, attr.group_name, attr.attr_name
        of_edges = isinstance(group, tuple)
        if group is None and types.is_homogeneous and types.etypes:
            # The one type of nodes and the one of edges have no names here.
            of_edges = name in self.selection.of_edges[0] and name not in self.selection.of_nodes[0]
        number = types.etype(group) if of_edges else types.ntype(group)
        names = (self.selection.of_edges if of_edges else self.selection.of_nodes)[number]
        return of_edges, number, names

    def _table(self, attr: TensorAttr) -> Any | None:
        of_edges, number, names = self._place(attr)
        if attr.attr_name not in names:
            return None
        types = self.graph.types
        name = types.canonical_etypes[number] if of_edges else types.ntypes[number]
        view = self.graph.edges if of_edges else self.graph.nodes
        return view[name].data[names[attr.attr_name]]

    def _get_tensor(self, attr: TensorAttr) -> Any:
        table = self._table(attr)
        if table is None:
            raise KeyError(
                f"no feature {attr.attr_name!r} of {attr.group_name!r} is in the store: name it in "
                "attrs= or edge_attrs="
            )
        if attr.index is None:
            raise errors.Unsupported(
                f"all rows of {attr.attr_name!r}: a store gives rows by ID, index=; "
                "graph.ndata[name][:] reads a whole feature"
            )
        return table[attr.index]

    def _get_tensor_size(self, attr: TensorAttr) -> tuple[int, ...] | None:
        table = self._table(attr)
        return None if table is None else tuple(table.shape)

    def get_all_tensor_attrs(self) -> list[TensorAttr]:
        """The features of nodes that batches are to have."""
        types = self.graph.types
        groups = [None] if types.is_homogeneous else types.ntypes
        return [
            TensorAttr(group, attr)
            for group, names in zip(groups, self.selection.of_nodes, strict=True)
            for attr in names
        ]

    def _put_tensor(self, tensor: Any, attr: TensorAttr) -> bool:
        table = self._table(attr)
        if not isinstance(table, DistTensor):
            raise errors.Unsupported(
                f"{attr.attr_name!r}: the partitions do not change; put a troupe.DistTensor into "
                "graph.ndata, and name it in attrs="
            )
        table[slice(None) if attr.index is None else attr.index] = tensor
        return True

    def _remove_tensor(self, attr: TensorAttr) -> bool:
        raise errors.Unsupported(
            f"{attr.attr_name!r} cannot be removed: the partitions do not change; name in attrs= "
            "what batches are to have"
        )

    def __repr__(self) -> str:
        return f"FeatureStore({self.graph!r})"


class GraphStore(PygGraphStore):
    """The edge types of a graph and their sizes; its edges stay in their partitions.

    PyG's own sampler would read the whole graph into this process, which is refused: loaders of
    PyG take `NeighborSampler`.

    Parameters
    ----------
    graph : DistGraph
    """

    def __init__(self, graph: DistGraph) -> None:
        super().__init__()
        self.__dict__["graph"] = check_graph("GraphStore", graph)

    def __reduce__(self) -> tuple[Any, ...]:
        return GraphStore, (self.graph,)

    def get_all_edge_attrs(self) -> list[EdgeAttr]:
        """The edge types, with the numbers of their source and destination nodes."""
        types = self.graph.types
        return [
            EdgeAttr(
                None if types.is_homogeneous else name,
                EdgeLayout.CSC,
                size=(self.graph.num_nodes(name[0]), self.graph.num_nodes(name[2])),
            )
            for name in types.canonical_etypes
        ]

    def _get_edge_index(self, edge_attr: EdgeAttr) -> Any:
        raise errors.Unsupported(
            "all edges of a graph are not read into a client: give the loader "
            "neighbor_sampler=troupe.pyg.NeighborSampler(g, num_neighbors), or use "
            "troupe.pyg.NeighborLoader"
        )

    def _put_edge_index(self, edge_index: Any, edge_attr: EdgeAttr) -> bool:
        raise errors.Unsupported("edges of a partitioned graph do not change: partition it anew")

    def _remove_edge_index(self, edge_attr: EdgeAttr) -> bool:
        raise errors.Unsupported("edges of a partitioned graph do not change: partition it anew")

    def __repr__(self) -> str:
        return f"GraphStore({self.graph!r})"


def stores(
    graph: DistGraph, attrs: Attrs = None, edge_attrs: Attrs = None
) -> tuple[FeatureStore, GraphStore]:
    """A graph as PyG's loaders take it, `data`; the arguments are those of `FeatureStore`."""
    return FeatureStore(graph, attrs, edge_attrs), GraphStore(graph)
