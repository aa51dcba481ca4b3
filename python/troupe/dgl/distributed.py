# SPDX-License-Identifier: Apache-2.0
"""``dgl.distributed``: DGL's names over Troupe's graphs.

What is not there yet raises NotImplementedError with what to do instead.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Mapping
from types import ModuleType
from typing import Any

from ..types import DEFAULT_ETYPE, DEFAULT_NTYPE
from . import graph_parts, homogeneous, services
from .context import (
    barrier,
    client_barrier,
    exit_client,
    get_num_client,
    get_num_machines,
    get_num_trainers,
    get_rank,
    initialize,
    is_initialized,
    shutdown,
)
from .dgl_loaders import DistDataLoader, DistNodeDataLoader, NodeCollator
from .dgl_partitions import (
    load_partition,
    load_partition_book,
    load_partition_feats,
    partition_graph,
)
from .dist_graph import DistGraph
from .dist_tensor import DistTensor
from .drawn_graph import drawn_in_total
from .edge_loaders import DistEdgeDataLoader, EdgeCollator
from .later import (
    DistEmbedding,
    DistGraphServer,
    SparseAdagrad,
    SparseAdam,
    not_yet,
)
from .partition_book import GraphPartitionBook
from .policy import (
    EdgePartitionPolicy,
    HeteroDataName,
    NodePartitionPolicy,
    PartitionPolicy,
    parse_hetero_data_name,
)
from .range_book import RangePartitionBook
from .services import (
    Request,
    Response,
    get_num_server,
    kvstore,
    recv_response,
    register_service,
    remote_call,
    rpc,
    send_request,
    send_request_to_machine,
)
from .workload import edge_split, node_split

MAX_QUEUE_SIZE = 20 << 30
SERVER_EXIT = "server_exit"
get_local_partid = get_rank
get_global_rank = get_trainer_rank = get_rank


def dgl_partition_to_graphbolt(part_config: Any, *args: Any, **options: Any) -> None:
    """Leaves partitions as they are, with a warning: loaders draw from these."""
    warnings.warn(
        f"dgl_partition_to_graphbolt: {part_config} stays as it is: Troupe draws by itself",
        stacklevel=2,
    )


def get_role() -> str:
    """ "default": a trainer."""
    return "default"


def sample_neighbors(
    g: DistGraph,
    nodes: Any,
    fanout: Any,
    edge_dir: str = "in",
    prob: str | None = None,
    exclude_edges: Any = None,
    replace: bool = False,
    use_graphbolt: bool = False,
) -> Any:
    """Draws edges of nodes; a number as `fanout` is one over all edge types together.

    ``g.sample_neighbors`` and `sample_etype_neighbors` draw so many of each edge type.
    """
    if len(g.etypes) == 1 or isinstance(fanout, Mapping):
        return g.sample_neighbors(nodes, fanout, edge_dir, prob, exclude_edges, replace)
    return drawn_in_total(g, nodes, fanout, replace, exclude_edges, prob, edge_dir)


def sample_etype_neighbors(
    g: DistGraph, nodes: Any, fanout: Any, *args: Any, **options: Any
) -> Any:
    """As ``g.sample_neighbors``: so many in-edges of each edge type."""
    options.pop("use_graphbolt", None)
    return g.sample_neighbors(nodes, fanout, *args, **options)


def in_subgraph(g: DistGraph, nodes: Any) -> Any:
    """All in-edges of nodes, as a DGLGraph."""
    return g.in_subgraph(nodes)


def find_edges(g: DistGraph, edge_ids: Any, etype: Any = None) -> tuple[Any, Any]:
    """Sources and destinations of edges; without a type, in a graph of several, all IDs are
    homogeneous."""
    if etype is None and len(g.etypes) > 1:
        return homogeneous.find_edges(g, edge_ids)
    return g.find_edges(edge_ids, etype)


def in_degrees(g: DistGraph, v: Any) -> Any:
    """In-degrees of nodes, whose IDs are homogeneous in a graph of several types."""
    return g.in_degrees(v)


def out_degrees(g: DistGraph, u: Any) -> Any:
    """Out-degrees of nodes, whose IDs are homogeneous in a graph of several types."""
    return g.out_degrees(u)


def _etype_str_to_tuple(name: str) -> tuple[str, ...]:
    """ "source:relation:destination" as a tuple."""
    return tuple(name.split(":"))


# Of what load_partition() gives: the types of its columns, and which rows are a type's own.
RESERVED_FIELD_DTYPE = graph_parts.ReservedDtypes()


def _get_inner_node_mask(graph: Any, ntype_id: int, gpb: Any = None) -> Any:
    """Nodes of a type that the partition owns."""
    return graph_parts.is_inner(graph.ndata, "inner_node", ntype_id)


def _get_inner_edge_mask(graph: Any, etype_id: int, gpb: Any = None) -> Any:
    """Edges of a type that the partition owns."""
    return graph_parts.is_inner(graph.edata, "inner_edge", etype_id)


def _etype_tuple_to_str(etype: Any) -> str:
    """A canonical edge type as one name."""
    return ":".join(etype)


optim = services.module(
    "optim", "Optimizers of embeddings.", {"SparseAdam": SparseAdam, "SparseAdagrad": SparseAdagrad}
)
nn = services.module("nn", "Embeddings.", {"DistEmbedding": DistEmbedding})

__all__ = [
    "DEFAULT_ETYPE",
    "DEFAULT_NTYPE",
    "DistDataLoader",
    "DistEdgeDataLoader",
    "DistEmbedding",
    "DistGraph",
    "DistGraphServer",
    "DistNodeDataLoader",
    "DistTensor",
    "EdgeCollator",
    "EdgePartitionPolicy",
    "GraphPartitionBook",
    "HeteroDataName",
    "MAX_QUEUE_SIZE",
    "NodeCollator",
    "NodePartitionPolicy",
    "PartitionPolicy",
    "RangePartitionBook",
    "Request",
    "Response",
    "SERVER_EXIT",
    "barrier",
    "client_barrier",
    "dgl_partition_to_graphbolt",
    "edge_split",
    "exit_client",
    "find_edges",
    "get_num_client",
    "get_num_machines",
    "get_num_server",
    "get_num_trainers",
    "get_rank",
    "in_degrees",
    "in_subgraph",
    "initialize",
    "is_initialized",
    "kvstore",
    "load_partition",
    "load_partition_book",
    "load_partition_feats",
    "nn",
    "node_split",
    "optim",
    "out_degrees",
    "parse_hetero_data_name",
    "partition_graph",
    "recv_response",
    "register_service",
    "remote_call",
    "rpc",
    "sample_etype_neighbors",
    "sample_neighbors",
    "send_request",
    "send_request_to_machine",
    "shutdown",
]


def _modules() -> dict[str, ModuleType]:
    """This module and those below it, by the names that DGL has for them ("": itself)."""
    here = sys.modules[__name__]
    # DGL's modules whose names all stand here, too.
    same = (
        "constants",
        "dist_context",
        "dist_dataloader",
        "dist_graph",
        "dist_tensor",
        "graph_partition_book",
        "graph_services",
        "partition",
        "role",
        "rpc_client",
    )
    found = {"": here, "rpc": rpc, "kvstore": kvstore, "optim": optim, "nn": nn}
    names = {k: v for k, v in vars(here).items() if not k.startswith("__")}
    for name in same:
        found[name] = services.module(name, f"dgl.distributed.{name}", names)
    return found


MODULES = _modules()
constants = MODULES["constants"]
dist_context = MODULES["dist_context"]
graph_partition_book = MODULES["graph_partition_book"]
role = MODULES["role"]


def __getattr__(name: str) -> Any:
    if name in MODULES:
        return MODULES[name]
    if name.startswith("_"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    not_yet(f"dgl.distributed.{name}", "troupe.dgl.distributed.__all__ lists what there is")
