# SPDX-License-Identifier: Apache-2.0
"""PyG's NeighborLoader over a partitioned graph."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from torch_geometric.data import Data, HeteroData
from torch_geometric.loader import NeighborLoader as PygNeighborLoader

from .. import errors
from ..arrays import Ids, ids_of
from ..loader import DistNodeDataLoader
from ..pyg_data import to_pyg
from ..sampler import NeighborSampler as TroupeSampler
from ..seeds import NodeSet, node_set
from ..tables import Table
from .data_source import Attribute, Attributes, Source, attributes_of, data_of, selected, source_of
from .own_seeds import OwnSeeds, SeedList
from .pyg_sampler import NeighborSampler, fanouts_of
from .refusals import check_arguments
from .selection import Attrs, Selection

if TYPE_CHECKING:
    from ..batch import Batch
    from ..graph import DistGraph

# Arguments of PyG's that are there to be refused where they are not as they come.
PASSED = (
    "input_time",
    "subgraph_type",
    "disjoint",
    "temporal_strategy",
    "time_attr",
    "weight_attr",
    "transform_sampler_output",
    "directed",
)


class NeighborLoader(PygNeighborLoader):
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
    transform : callable, optional
        Is called with each batch, in the thread of the loop; what it returns is delivered.
    neighbor_sampler : NeighborSampler, optional
        Says what is drawn in the place of `num_neighbors` and `replace`.
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
    input_time, time_attr, temporal_strategy, weight_attr, disjoint, subgraph_type, directed, \
transform_sampler_output, sampler, batch_sampler, generator, worker_init_fn, in_order
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
        **options: Any,
    ) -> None:
        given = {k: v for k, v in locals().items() if k not in ("self", "options")}
        self._made_of = {**given, **options}
        check_arguments("NeighborLoader", {**{k: given[k] for k in PASSED}, **options})
        self._of = source = source_of("NeighborLoader", data)
        self.graph = source.graph
        if attrs is not None or edge_attrs is not None:
            if isinstance(data, (Data, HeteroData)):
                raise errors.InvalidArgument(
                    "attrs, edge_attrs: batches have what the data have; name them to graph_data()"
                )
            self._of = source = source._replace(selection=Selection(self.graph, attrs, edge_attrs))
        selection = source.selection
        self._data = data if isinstance(data, (Data, HeteroData)) else None
        self.transform = transform
        self.num_neighbors, self.replace = num_neighbors, replace
        self.batch_size = 1 if batch_size is None else int(batch_size)
        self._drawn = drawn = _sampler_of(self.graph, num_neighbors, replace, neighbor_sampler)
        self._fill = fill = _Fill(source, custom_cls, pin_memory, isinstance(data, HeteroData))
        self._seeds = seeds = _seeds_of(self.graph, input_nodes, input_id, bool(shuffle))
        self._under_way: _Epoch | None = None
        self._source: DistNodeDataLoader | OwnSeeds
        if isinstance(seeds, NodeSet):
            self._source = DistNodeDataLoader(
                self.graph,
                {seeds.ntype: seeds},
                drawn,
                batch_size=self.batch_size,
                shuffle=bool(shuffle),
                drop_last=drop_last,
                features=selection.features,
                orig_ids=False,
                seed=seed,
                timeout=timeout or None,
                num_workers=num_workers,
                collate_fn=fill,
            )
        else:
            self._source = OwnSeeds(
                self.graph,
                drawn,
                seeds,
                fill,
                batch_size=self.batch_size,
                shuffle=bool(shuffle),
                drop_last=drop_last,
                seed=seed or int(self.graph.session.options["seed"]),
                workers=num_workers,
                timeout=timeout or None,
                features=selection.features,
            )

    def __len__(self) -> int:
        return len(self._source)

    @property
    def data(self) -> Any:
        """What batches are filled from, as PyG's data."""
        if self._data is None:
            self._data = data_of(self.graph, self._of.selection)
        return self._data

    @property
    def dataset(self) -> range:
        """The places of this trainer's seeds."""
        if isinstance(self._seeds, NodeSet):
            return range(-(-len(self._seeds) // self.graph.world))
        return range(len(self._seeds.ids))

    @property
    def node_sampler(self) -> NeighborSampler:
        """What draws."""
        return NeighborSampler(self.graph, self.num_neighbors, self.replace)

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

    def _attributes(self) -> Attributes:
        return selected(self._of) if self._data is None else attributes_of(self._data, self._of)

    @property
    def epoch(self) -> int:
        """The epoch under way, or that the next ``for`` begins; from 0."""
        return self._source.epoch

    def set_epoch(self, epoch: int) -> None:
        """The next ``for`` begins this epoch."""
        self._source.begin(epoch)

    def __iter__(self) -> Iterator[Any]:
        self._fill.attributes = self._attributes()
        iter(self._source)
        self._under_way = _Epoch(self)
        return self._under_way

    def take(self, epoch: _Epoch) -> Any:
        """The next batch of the epoch under way.

        Raises
        ------
        RuntimeError
            Another one was begun since.
        """
        if epoch is not self._under_way:
            raise RuntimeError(
                "another epoch of this loader was begun: each `for` over it ends the one before; "
                "use two loaders"
            )
        data = next(self._source)
        return data if self.transform is None else self.transform(data)

    def state_dict(self) -> dict[str, int]:
        """Where it stands: its epoch, the batches of it that were taken, and all."""
        return self._source.state_dict()

    def load_state_dict(self, state: Mapping[str, int]) -> None:
        """Goes to where `state_dict` was taken; the next ``for`` goes on from there."""
        self._source.load_state_dict(state)

    def close(self) -> None:
        """Ends its threads; batches stay."""
        self._source.close()

    def __enter__(self) -> NeighborLoader:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __reduce__(self) -> tuple[Any, ...]:
        return _loader_of, (self._made_of,)

    def __repr__(self) -> str:
        return f"NeighborLoader({len(self)} batches of {self.batch_size}, {self.graph!r})"


class _Epoch:
    """The batches of an epoch that are left."""

    def __init__(self, loader: NeighborLoader) -> None:
        self._loader = loader

    def __iter__(self) -> _Epoch:
        return self

    def __next__(self) -> Any:
        return self._loader.take(self)


def _loader_of(made_of: dict[str, Any]) -> NeighborLoader:
    return NeighborLoader(**made_of)


def _sampler_of(
    graph: DistGraph, num_neighbors: Any, replace: bool, neighbor_sampler: Any
) -> TroupeSampler:
    if neighbor_sampler is None:
        return TroupeSampler(fanouts_of(graph, num_neighbors), replace=replace)
    if not isinstance(neighbor_sampler, NeighborSampler):
        raise TypeError(
            f"neighbor_sampler: give a troupe.pyg.NeighborSampler, not "
            f"{type(neighbor_sampler).__name__}, which draws from a graph in memory"
        )
    return neighbor_sampler.sampler


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
        ids = ids_of(nodes, count, graph.types.node_name(number))
    if input_id is not None:
        named = np.ascontiguousarray(np.asarray(input_id), dtype=np.int64)
        if named.shape != (len(ids),):
            raise errors.Mismatch(
                f"input_id: of shape {named.shape} for {len(ids)} seeds; one for each is needed"
            )
    return SeedList(name, ids, named)


class _Fill:
    """Makes PyG's data of a batch, on a thread of the loader."""

    def __init__(self, source: Source, cls: Any, pin_memory: bool, is_hetero: bool) -> None:
        self._source, self._cls, self._pin_memory = source, cls, pin_memory
        types = source.graph.types
        self._is_hetero = is_hetero or len(types.ntypes) > 1 or len(types.etypes) > 1
        self.attributes = Attributes([], [])

    def __call__(self, batch: Batch, input_id: Ids | None = None) -> Any:
        import torch

        types, wanted = batch.content.layout.types, self.attributes
        data = to_pyg(batch, self._cls, self._is_hetero)
        for number, ntype in enumerate(types.ntypes):
            store = data[ntype] if self._is_hetero else data
            came = store.x if "x" in store else None
            if came is not None:
                del store.x
            for one in wanted.of_nodes[number]:
                is_here = came is not None and self._comes_along(one, number)
                store[one.name] = came if is_here else _value(one, store.n_id)
            if "batch_size" in store:
                own = None if input_id is None else torch.from_numpy(input_id)
                store.input_id = store.n_id[: store.batch_size] if own is None else own
        for number, etype in enumerate(types.canonical_etypes):
            store = data[etype] if self._is_hetero else data
            for one in wanted.of_edges[number]:
                store[one.name] = _value(one, store.e_id)
            if self._source.edge_numbers is not None:
                store.e_id = self._source.edge_numbers[number][store.e_id]
        for name, value in self._of_the_job(batch, input_id is None).items():
            # A program's own attribute of that name stays.
            if name not in data:
                setattr(data, name, value)
        return data.pin_memory() if self._pin_memory and torch.cuda.is_available() else data

    @staticmethod
    def _of_the_job(batch: Batch, is_shared_out: bool) -> dict[str, Any]:
        return {"padded": batch.padded, "weight": batch.weight if is_shared_out else 1.0}

    def _comes_along(self, one: Attribute, number: int) -> bool:
        """Whether the rows of an attribute are those that came with the draw."""
        if one.feature is None or one.feature.attr != "x":
            return False
        selection = self._source.selection
        return selection.of_nodes[number].get("x") == selection.features


def _value(one: Attribute, ids: Any) -> Any:
    return one.value if one.rows is None else one.rows(ids)
