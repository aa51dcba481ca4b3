# SPDX-License-Identifier: Apache-2.0
"""``dgl.distributed.DistGraph``: a partitioned graph that answers with tensors and DGLGraphs."""

from __future__ import annotations

import contextlib
import os
from typing import Any
from weakref import WeakValueDictionary

import numpy as np

from .. import errors
from .. import graph as troupe_graph
from ..types import DEFAULT_NTYPE, EtypeName
from . import context, dgl_folder, graph_parts, homogeneous
from .dist_tensor import DistTensor
from .graph_frames import FramesByType, GraphFrame
from .later import not_yet
from .partition_book import GraphPartitionBook
from .policy import PartitionPolicy
from .type_names import DGLTypes

# What to do in the place of what graphs in memory have.
_OF_LOADERS = (
    "dgl.dataloading.DataLoader draws from graphs in memory; DistNodeDataLoader and "
    "DistEdgeDataLoader draw from this one"
)
_BY_BLOCKS = (
    "no process has all edges; messages pass along the blocks of DistNodeDataLoader, of which a "
    "fanout of -1 has all neighbours of a layer"
)
_FIXED = "partitions are not written to; partition the new graph"
INSTEAD = {
    "adj": _BY_BLOCKS,
    "adj_external": _BY_BLOCKS,
    "add_edges": _FIXED,
    "add_nodes": _FIXED,
    "apply_edges": _BY_BLOCKS,
    "apply_nodes": _BY_BLOCKS,
    "get_edge_storage": _OF_LOADERS,
    "get_node_storage": _OF_LOADERS,
    "local_scope": _BY_BLOCKS,
    "local_var": _BY_BLOCKS,
    "multi_update_all": _BY_BLOCKS,
    "remove_edges": _FIXED,
    "remove_nodes": _FIXED,
    "subgraph": "the edges between some nodes are not looked up, which ShaDow, Cluster-GCN and "
    "SAINT take; in_subgraph() has all in-edges of nodes, edge_subgraph() some edges",
    "to": "batches move to a device, block.to(device), and rows likewise",
    "update_all": _BY_BLOCKS,
}


class Client:
    """What scripts find in ``g._client``."""

    def __init__(self, graph: DistGraph) -> None:
        self._graph = graph

    def barrier(self) -> None:
        """As the graph's."""
        self._graph.barrier()

    def data_name_list(self) -> list[str]:
        """Names of the tensors that there are: of features, and of programs."""
        frames = [self._graph.nodes[name].data for name in self._graph.ntypes]
        frames += [self._graph.edges[name].data for name in self._graph.canonical_etypes]
        found = [name for frame in frames for name in frame]
        return found + [key[1] for key in self._graph.handles if key[1]]

    gdata_name_list = data_name_list


class DistGraph(troupe_graph.DistGraph):
    """As `troupe.DistGraph`; rows, IDs and drawn graphs come as DGL gives them.

    Parameters
    ----------
    graph_name : str, optional
        Accepted as DGL has it; the book says what the graph is called.
    gpb : GraphPartitionBook, optional
        The path of one stands for `part_config`.
    part_config : path, optional
        ``DIR/NAME.json`` of Troupe's partitions, or of DGL's, which are converted first, into a
        folder beside them (see `troupe.dgl.dgl_folder`). In a job of several processes the graph
        is that of the cluster file; a path is then compared with it, where this host has the file.
        None: the graph of `gpb`, or of the environment's ``DGL_CONF_PATH``.
    standalone : bool
        A graph of this process alone, whatever `initialize` was given.
    **options
        Of the graph's session, beside those that `initialize` was given.
    """

    def __init__(
        self,
        graph_name: str | None = None,
        gpb: Any = None,
        part_config: str | os.PathLike[str] | None = None,
        *,
        standalone: bool = False,
        **options: Any,
    ) -> None:
        if not standalone:
            options = {**context.session_options(), **options}
        options["tensors"] = "torch"
        if part_config is None and gpb is not None:
            part_config = gpb.path
        if part_config is None and "session" not in options:
            part_config = os.environ.get("DGL_CONF_PATH") or None  # DGL's launcher sets it
        if "session" in options and part_config is not None and not os.path.exists(part_config):
            part_config = None
        if part_config is not None:
            part_config = dgl_folder.opened_as(part_config)
        # Tensors of programs: persistent ones, those that live as long as someone holds them,
        # those that were put beside features, and the newest object of each name.
        self.written: dict[tuple[str, str | None], Any] = {}
        self.attached: WeakValueDictionary[tuple[str, str | None], Any] = WeakValueDictionary()
        self.added: dict[tuple[bool, int], dict[str, Any]] = {}
        self.handles: WeakValueDictionary[tuple[str, str | None], DistTensor]
        self.handles = WeakValueDictionary()
        # Of a job of several processes: those that nobody here uses, but others may until the next
        # barrier.
        self.dropped: list[tuple[tuple[str, str | None], Any, bool]] = []
        # How often the tensor of a name left it to the next one.
        self._handed_over: dict[tuple[str, str | None], int] = {}
        super().__init__(None, None, part_config, **options)
        self.types = DGLTypes(self.types)
        if not standalone:
            context.opened(self)

    def __reduce__(self) -> tuple[Any, ...]:
        # Another process is no process of a job: it opens the same graph for itself, with the same
        # seed, and where this one is of a job from mapped files.
        options = dict(self.session.options)
        if self.session.is_of_cluster:
            options = {"seed": options["seed"], "map_files": True}
        return _opened_again, (self.path, options, (self.rank(), self.world))

    def close(self) -> None:
        """Closes the graph, and its session where that is its own; batches stay readable."""
        # While there is a graph to ask.
        self.dropped = []
        super().close()

    def barrier(self, timeout: float | None = None, rank: int | None = None) -> None:
        """Waits until every trainer of the job has come here; see `context.barrier`."""
        if self.session.is_of_cluster:
            context.barrier(timeout)
        else:
            super().barrier(timeout, rank)

    def free_dropped(self) -> None:
        """Frees tensors that were dropped, unless they were found again by their names."""
        gone = [one for one in self.dropped if one[0] not in self.handles]
        self.dropped = [one for one in self.dropped if one[0] in self.handles]
        for _, rows, is_former in gone:
            if is_former and rows.made:
                with contextlib.suppress(errors.Error):
                    rows.delete()

    def hand_over_name(self, key: tuple[str, str | None]) -> None:
        """The next tensor of a name is another one than the last."""
        self._handed_over[key] = self._handed_over.get(key, 0) + 1

    def stored_name(self, key: tuple[str, str | None]) -> str:
        """What the owners of the newest tensor of a name know it by."""
        number = self._handed_over.get(key, 0)
        return f"{key[1]} ({number})" if number else str(key[1])

    # Constants.

    @property
    def idtype(self) -> Any:
        """int64."""
        import torch

        return torch.int64

    @property
    def device(self) -> Any:
        """The CPU."""
        import torch

        return torch.device("cpu")

    def is_pinned(self) -> bool:
        """False."""
        return False

    is_block = False

    # Features.

    @property
    def nodes(self) -> Any:
        """``nodes[ntype].data`` are the tensors of a node type by name."""
        return FramesByType(self, False)

    @property
    def edges(self) -> Any:
        """``edges[etype].data`` are the tensors of an edge type by name."""
        return FramesByType(self, True)

    @property
    def ndata(self) -> Any:
        """Tensors of the only node type."""
        return GraphFrame(self, False, self.types.ntype(None))

    @property
    def edata(self) -> Any:
        """Tensors of the only edge type."""
        return GraphFrame(self, True, self.types.etype(None))

    # Partitions.

    @property
    def part_id(self) -> int:
        """The partition that stands for this process's machine: trainers share them evenly."""
        return self.part_of(self.rank())

    def part_of(self, rank: int) -> int:
        """The partition that stands for a trainer's machine."""
        return part_of_trainer(rank, self.num_parts, max(self.world, 1))

    def get_partition_book(self) -> GraphPartitionBook:
        """Which partition owns which nodes and edges."""
        opened = self._book.pointer()  # programs ask for it with every batch
        return GraphPartitionBook(self._book.path, self.part_id, graph=self, opened=opened)

    def get_node_partition_policy(self, ntype: str | None = None) -> PartitionPolicy:
        """How rows of a node type lie in partitions."""
        return self.get_partition_book().node_policy(ntype)

    def get_edge_partition_policy(self, etype: EtypeName = None) -> PartitionPolicy:
        """How rows of an edge type lie in partitions."""
        return self.get_partition_book().edge_policy(etype)

    @property
    def local_partition(self) -> Any:
        """This process's partition as a DGLGraph of its own nodes and edges and halo nodes."""
        return graph_parts.local_graph(self, self.get_partition_book())

    @property
    def _client(self) -> Client:
        return Client(self)

    def __getattr__(self, name: str) -> Any:
        # For what DGL's graphs in memory have, and its loaders and samplers of these ask for.
        instead = f": {INSTEAD[name]}" if name in INSTEAD else ""
        raise AttributeError(f"DistGraph has no attribute {name!r}{instead}")

    # Structure.

    def sample_neighbors(
        self,
        nodes: Any,
        fanout: Any,
        edge_dir: str = "in",
        prob: str | None = None,
        exclude_edges: Any = None,
        replace: bool = False,
        etype_sorted: bool = True,
        output_device: Any = None,
        **options: Any,
    ) -> Any:
        """Draws edges of nodes, as a DGLGraph of all nodes with ``edata[EID]``.

        Parameters
        ----------
        nodes : IDs, or a mapping of node types to them.
        fanout : of each edge type; -1: all, 0: none; or a mapping of edge types to such numbers.
        edge_dir : "in", or "out", evenly, where the partitions have out-edges.
        prob : an edge feature, in proportion to which edges are drawn, or a mask.
        exclude_edges : IDs, or a mapping of edge types to them: left out before the draw, which is
            as full as the other edges allow.
        """
        from .drawn_graph import drawn_graph

        return drawn_graph(
            self, nodes, fanout, replace, exclude_edges, prob=prob, edge_dir=edge_dir, **options
        )

    def in_subgraph(self, nodes: Any) -> Any:
        """All in-edges of nodes, or of a mapping of node types to them, as a DGLGraph."""
        from .drawn_graph import in_subgraph

        return in_subgraph(self, nodes)

    def edge_subgraph(self, edges: Any, relabel_nodes: bool = True, store_ids: bool = True) -> Any:
        """A DGLGraph of these edges, of these types alone."""
        from .drawn_graph import edge_subgraph

        if not store_ids:
            not_yet("edge_subgraph(store_ids=False)", "leave it at True")
        return edge_subgraph(self, edges, relabel_nodes)

    def in_degrees(self, v: Any = None, ntype: str | None = None, etype: EtypeName = None) -> Any:
        """In-degrees in the whole graph, over all edge types or along one; None: of all nodes.

        Without a type, in a graph of several node types, `v` are homogeneous IDs.
        """
        if ntype is None and etype is None and len(self.ntypes) > 1:
            return homogeneous.degrees(self, _unless_all(v), super().in_degrees)
        return super().in_degrees(_unless_all(v), ntype, etype)

    def out_degrees(self, u: Any = None, ntype: str | None = None, etype: EtypeName = None) -> Any:
        """Out-degrees in the whole graph, as `in_degrees`."""
        if ntype is None and etype is None and len(self.ntypes) > 1:
            return homogeneous.degrees(self, _unless_all(u), super().out_degrees)
        return super().out_degrees(_unless_all(u), ntype, etype)

    def add_edge_attribute(self, name: str, padding: Any = None) -> None:
        """For GraphBolt alone."""
        not_yet("add_edge_attribute", "it is for GraphBolt, which Troupe does not use")

    def node_ids(self, ids: Any, ntype: str = DEFAULT_NTYPE) -> np.ndarray[Any, Any]:
        """Checked IDs of nodes of a type."""
        number = self.types.ntype(ntype)
        return self.checked_ids(ids, False, number)


def part_of_trainer(rank: int, parts: int, world: int) -> int:
    """The partition that stands for a trainer's machine: trainers share them evenly."""
    return rank * parts // world if world > parts else rank % parts


def _unless_all(ids: Any) -> Any:
    """DGL's "__ALL__" as None."""
    return None if isinstance(ids, str) and ids == "__ALL__" else ids


def _opened_again(path: str, options: dict[str, Any], place: tuple[int, int]) -> DistGraph:
    graph = DistGraph(part_config=path, standalone=True, **options)
    graph.take_place(*place)
    context.opened(graph)
    return graph
