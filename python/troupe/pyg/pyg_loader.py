# SPDX-License-Identifier: Apache-2.0
"""PyG's NeighborLoader over a partitioned graph."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from torch_geometric.loader import NeighborLoader as PygNeighborLoader

from .. import errors
from ..arrays import Ids
from ..loader import DistNodeDataLoader
from ..sampler import NeighborSampler as TroupeSampler
from ..seeds import NodeSet, node_set
from ..tables import Table
from .batch_fill import BatchFill
from .data_source import weight_of
from .epochs import EpochLoader
from .own_seeds import OwnSeeds
from .pyg_sampler import NeighborSampler, check_sampler
from .refusals import check_arguments, check_no_sampler
from .selection import Attrs

if TYPE_CHECKING:
    from ..graph import DistGraph

# Arguments of PyG's that are there to be refused where they are not as they come.
PASSED = (
    "input_time",
    "subgraph_type",
    "disjoint",
    "temporal_strategy",
    "time_attr",
    "transform_sampler_output",
    "directed",
)


class NeighborLoader(EpochLoader, PygNeighborLoader):
    """Mini-batches of nodes and their drawn neighbourhoods, as PyG's NeighborLoader gives them.

    Each ``for`` over it is an epoch. Draws, rows and batches are made ahead of the loop, by the
    library's threads and by `num_workers` of Python's; there are no worker processes.

    Parameters
    ----------
    data : DistGraph, or what `graph_data` or `stores` gives, or PyG's Data or HeteroData
        A graph is opened with ``tensors="torch"``. Of `graph_data`, batches have all attributes,
        and those that the program put into it. Data in memory are partitioned, in one part, into a
        folder of their own that lasts as long as they do; IDs are those of the data.
    num_neighbors : list of int, mapping of edge types to lists, or PyG's NumNeighbors
        Of each edge type so many in-edges of a node are drawn, a number a hop, the seeds' first;
        -1: all.
    input_nodes : optional
        The seeds; in a graph of several node types a node type, or a pair of it and these:

        - A mask of the graph (``g.ndata["train_mask"]``) or a `NodeSet`: the job's seeds. The
          library shares them out among its trainers; without `shuffle` they come in the order of
          original IDs. These batches are those of `DistNodeDataLoader`.
        - None: all nodes. Shuffled, or in a job of several trainers, likewise; else in the order of
          global IDs, so that results put one behind another are rows by ID.
        - Global IDs or a mask of booleans: this trainer's own seeds, as PyG takes them. Order and
          repeats are kept.
    replace : bool
        Draw with replacement.
    weight_attr : str, optional
        An attribute of edges, in proportion to which they are drawn; those of 0 never are.
    transform : callable, optional
        Is called with each batch, in the thread of the loop; what it returns is delivered.
    neighbor_sampler : NeighborSampler, optional
        Says what is drawn in the place of `num_neighbors`, `replace` and `weight_attr`.
    batch_size, shuffle, drop_last : as of PyTorch's DataLoader
        `batch_size` is that of each trainer.
    num_workers : int
        Threads that fill batches; 0: 2.
    pin_memory : bool
        Tensors are put into pinned memory where there is a GPU.
    timeout : float
        Seconds to wait for a batch; 0: until it is there.
    custom_cls : type, optional
        What to make in the place of ``Data`` or ``HeteroData``.
    input_id : optional
        What seeds that are this trainer's own are called: int64, one for each.
    attrs, edge_attrs : sequence or mapping of str, optional
        Features that batches have, of nodes and of edges; see `Selection`. None: "x" and "y", and
        none of edges; of data of PyG's, what these have.
    seed : int
        Of the random choices; 0: the session's.
    sampler : iterable of int with a length, optional
        Of PyTorch's and PyG's, as ``ImbalancedSampler`` or ``DistributedSampler``: each epoch it
        gives positions in a list of seeds that is this trainer's own, in their order.
    input_time, time_attr, temporal_strategy, disjoint, subgraph_type, directed, \
transform_sampler_output, batch_sampler, generator, worker_init_fn, in_order
        Are there for their names: what Troupe does not do is refused with the reason.
    is_sorted, filter_per_worker, persistent_workers, prefetch_factor, multiprocessing_context, \
pin_memory_device, collate_fn, dataset
        Accepted without effect: there is no edge list to sort and there are no worker processes.
        PyG, too, ignores the last two.

    Yields
    ------
    Data or HeteroData
        Of n nodes, m edges and b seeds: ``n_id`` int64 ``(n,)`` global IDs, the seeds first;
        ``edge_index`` int64 ``(2, m)``, positions of sources above destinations in ``n_id``;
        ``e_id`` int64 ``(m,)`` global IDs; ``x``, ``y`` and the other `attrs`: ``(n,)`` or
        ``(n, width)``, of the features' own types; ``input_id`` int64 ``(b,)``: positions in
        `input_nodes`, or IDs where that is a mask or None; ``batch_size`` b; ``num_sampled_nodes``
        and ``num_sampled_edges``: lists with a number a hop. Beside PyG's: ``weight``, by which a
        mean loss is multiplied in a job of several trainers, and ``padded``; see `Batch`.

    Attributes
    ----------
    data : Data or HeteroData
        Of PyG's: what batches are filled from, as `graph_data` gives it. What a program puts in,
        deletes or writes into, batches have so from the next ``for`` on.
    dataset : range
        As long as there are seeds of this trainer's.
    node_sampler : NeighborSampler

    Raises
    ------
    Unsupported
        A NotImplementedError: an argument that cannot be honoured, with the reason.
    OutOfRange
        A seed is none of the graph; the message names it.
    TimedOut
        A batch took longer than `timeout`.
    """

    def __init__(
        self,
        data: Any,
        num_neighbors: Any,
        input_nodes: Any = None,
        input_time: Any = None,
        replace: bool = False,
        subgraph_type: Any = "directional",
        disjoint: bool = False,
        temporal_strategy: str = "uniform",
        time_attr: str | None = None,
        weight_attr: str | None = None,
        transform: Callable[[Any], Any] | None = None,
        transform_sampler_output: Any = None,
        is_sorted: bool = False,
        filter_per_worker: bool | None = None,
        neighbor_sampler: NeighborSampler | None = None,
        directed: bool = True,
        *,
        batch_size: int | None = 1,
        shuffle: bool | None = False,
        drop_last: bool = False,
        num_workers: int = 0,
        pin_memory: bool = False,
        timeout: float = 0,
        custom_cls: Any = None,
        input_id: Any = None,
        attrs: Attrs = None,
        edge_attrs: Attrs = None,
        seed: int = 0,
        sampler: Any = None,
        **options: Any,
    ) -> None:
        given = {k: v for k, v in locals().items() if k not in ("self", "options")}
        check_arguments("NeighborLoader", {**{k: given[k] for k in PASSED}, **options})
        self._take_data(data, attrs, edge_attrs, custom_cls, pin_memory, weight_attr)
        self._made_of = {**given, **options}
        features = self._of.selection.features
        self.transform = transform
        self.num_neighbors, self.replace = num_neighbors, replace
        self.weight_attr = weight_attr
        self.batch_size = 1 if batch_size is None else int(batch_size)
        usual = neighbor_sampler is None
        self._drawn = drawn = (
            self.node_sampler if usual else check_sampler("neighbor_sampler", neighbor_sampler)
        ).sampler
        self._seeds = seeds = _seeds_of(self.graph, input_nodes, input_id, bool(shuffle))
        if isinstance(seeds, NodeSet):
            check_no_sampler("input_nodes", sampler)
            self._source = DistNodeDataLoader(
                self.graph,
                {seeds.ntype: seeds},
                drawn,
                batch_size=self.batch_size,
                shuffle=bool(shuffle),
                drop_last=drop_last,
                features=features,
                orig_ids=False,
                seed=seed,
                timeout=timeout or None,
                num_workers=num_workers,
                collate_fn=self._fill,
            )
        else:
            brings = {"features": features, "orig_ids": False, "timeout": timeout or None}
            self._source = OwnSeeds(
                self.graph,
                len(seeds.ids),
                partial(_made, self.graph, drawn, seeds, self._fill, brings),
                batch_size=self.batch_size,
                shuffle=bool(shuffle),
                drop_last=drop_last,
                seed=seed,
                workers=num_workers,
                sampler=sampler,
            )
        of_job = isinstance(seeds, NodeSet)
        self._look_like_pytorchs(
            -(-len(seeds) // self.graph.world) if of_job else len(seeds.ids),  # type: ignore[union-attr]
            shuffle=bool(shuffle),
            drop_last=drop_last,
            num_workers=num_workers,
            pin_memory=pin_memory,
            sampler=sampler,
            options=options,
        )

    @property
    def node_sampler(self) -> NeighborSampler:
        """What draws."""
        weight = weight_of(self._of, self.weight_attr)
        return NeighborSampler(self.graph, self.num_neighbors, self.replace, weight)

    def __call__(self, index: Any) -> Any:
        """A batch of these seeds: positions in `dataset`."""
        places = np.asarray(index, dtype=np.int64)
        self._fill.attributes = self._attributes()
        if isinstance(self._seeds, NodeSet):
            ids, named = np.asarray(self._seeds)[places], None
            ntype = self._seeds.ntype
        else:
            ntype, every, named = self._seeds
            ids = places if isinstance(every, range) else every[places]
            named = places if named is None else named[places]
        features = self._of.selection.features
        batch = self._drawn.draw(self.graph, {ntype: ids}, orig_ids=False, features=features)
        data = self._fill(batch, named)
        return data if self.transform is None else self.transform(data)


class SeedList(NamedTuple):
    """Seeds of one node type, and what PyG calls each."""

    ntype: str
    # A range where all nodes are meant, so that it takes no memory.
    ids: Ids | range
    # None: their positions in the list.
    input_id: Ids | None


def _made(
    graph: DistGraph,
    sampler: TroupeSampler,
    seeds: SeedList,
    fill: BatchFill,
    brings: dict[str, Any],
    places: Ids,
    seed: int,
) -> Any:
    """The batch of the seeds at these places."""
    ids = places if isinstance(seeds.ids, range) else seeds.ids[places]
    batch = sampler.draw(graph, {seeds.ntype: ids}, seed=seed, **brings)
    return fill(batch, places if seeds.input_id is None else seeds.input_id[places])


def _seeds_of(
    graph: DistGraph, input_nodes: Any, input_id: Any, shuffle: bool
) -> NodeSet | SeedList:
    """The job's seeds, or this trainer's own."""
    ntype, nodes = None, input_nodes
    if isinstance(nodes, str):
        ntype, nodes = nodes, None
    elif isinstance(nodes, (tuple, list)) and len(nodes) == 2 and isinstance(nodes[0], str):
        ntype, nodes = nodes
    if ntype is None and isinstance(nodes, Table):
        ntype = str(nodes.type_name)
    elif ntype is None and isinstance(nodes, NodeSet):
        ntype = nodes.ntype
    number = graph.types.ntype(ntype)
    name = graph.types.ntypes[number]
    if isinstance(nodes, (NodeSet, Table)) or (nodes is None and (shuffle or graph.world > 1)):
        if input_id is not None:
            raise errors.InvalidArgument(
                "input_id: the job's seeds are called by their IDs; give a list of IDs as "
                "input_nodes"
            )
        return node_set(graph, nodes, number)
    count = graph.num_nodes(name)
    ids: Ids | range
    named: Ids | None = None
    if nodes is None:
        ids = range(count)
    elif str(getattr(nodes, "dtype", "")) in ("bool", "torch.bool"):
        if len(nodes) != count:
            raise errors.Mismatch(
                f"input_nodes: a mask of {len(nodes)} for {count} nodes of type {name!r}"
            )
        ids = named = np.flatnonzero(np.asarray(nodes)).astype(np.int64)
    elif "uint8" in str(getattr(nodes, "dtype", "")):
        raise TypeError(
            "input_nodes: rows of uint8 may be a mask or IDs; give the mask itself "
            '(g.ndata["train_mask"]), mask.bool(), or IDs as int64'
        )
    else:
        ids = graph.checked_ids(nodes, False, number)
    if input_id is not None:
        named = np.ascontiguousarray(np.asarray(input_id), dtype=np.int64)
        if named.shape != (len(ids),):
            raise errors.Mismatch(
                f"input_id: of shape {named.shape} for {len(ids)} seeds; one for each is needed"
            )
    return SeedList(name, ids, named)
