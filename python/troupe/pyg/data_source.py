# SPDX-License-Identifier: Apache-2.0
"""A partitioned graph as PyG's Data or HeteroData, whose attributes are read when asked for.

Scripts of PyG's ask their `data` for masks, labels, sizes and types, put attributes into it and
delete some; the loaders of this package take such data and give batches what it has.

>>> data = troupe.pyg.graph_data(g)
>>> loader = troupe.pyg.NeighborLoader(data, [25, 10], input_nodes=data.train_mask, batch_size=1024)
"""

from __future__ import annotations

import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch
from torch_geometric.data import Data, HeteroData

from .. import errors
from .pyg_stores import FeatureStore, check_graph
from .selection import EDGE_NAMES, NODE_NAMES, Attrs, Selection
from .unread import Unread, UnreadDict

if TYPE_CHECKING:
    from ..graph import DistGraph

# Larger features and edge lists are not read whole because a script names them.
WHOLE_BYTES_MAX = 2 << 30
PIECE = 1 << 22
# Where data keep what they are of: beside PyG's own attributes, which transforms may replace.
SOURCE = "_troupe_source"


class Feature(NamedTuple):
    """A feature of the graph, by its type and its name in batches."""

    of_edges: bool
    number: int
    attr: str


class Source(NamedTuple):
    """The graph that data are of."""

    graph: DistGraph
    selection: Selection
    # Of data in memory: PyG's number of each edge by its ID in the partition, by edge type.
    edge_numbers: list[Any] | None = None
    # Of data in memory: the edge lists that were partitioned, and the weights of their edges, where
    # draws are by weights.
    edge_lists: tuple[Any, ...] = ()
    edge_weights: tuple[Any, ...] = ()


def _every(names: Mapping[str, str], features: Any) -> dict[str, str]:
    """All features of a type, by the names that PyG's data have for them."""
    back = {feature: attr for attr, feature in names.items() if attr not in features}
    return {back.get(name, name): name for name in features}


def graph_data(graph: DistGraph, attrs: Attrs = None, edge_attrs: Attrs = None) -> Any:
    """A graph as PyG's ``Data``, or ``HeteroData`` of several types.

    Parameters
    ----------
    graph : DistGraph
        Opened with ``tensors="torch"``.
    attrs, edge_attrs : sequence or mapping of str, optional
        Which features there are, under which names; see `Selection`. None: all.

    Returns
    -------
    Data or HeteroData
        Nodes and edges are in the order of global IDs. Each feature is a tensor, which is read when
        it is first asked for; features of more than 2 GiB are what `DistGraph.ndata` gives, whose
        rows are read by ID. A feature of uint8 whose name ends in "mask" is one of booleans.
        Loaders read rows where the graph has them; attributes that a script puts in, writes into or
        deletes, batches have so, too.

    Notes
    -----
    ``edge_index``, too, is read when it is asked for: all edges of the graph, 16 bytes each.
    """
    check_graph("graph_data", graph)
    if attrs is None or edge_attrs is None:
        # A type may have what another lacks: names are looked up type by type.
        nodes = [_every(NODE_NAMES, graph.nodes[n].data) for n in graph.types.ntypes]
        edges = [_every(EDGE_NAMES, graph.edges[e].data) for e in graph.types.canonical_etypes]
        selection = Selection(graph, attrs or (), edge_attrs or ())
        selection.of_nodes = nodes if attrs is None else selection.of_nodes
        selection.of_edges = edges if edge_attrs is None else selection.of_edges
    else:
        selection = Selection(graph, attrs, edge_attrs)
    return data_of(graph, selection)


def data_of(graph: DistGraph, selection: Selection) -> Any:
    """Data with the features that a selection names."""
    types = graph.types
    is_homogeneous = types.is_homogeneous and bool(types.etypes)
    data = Data() if is_homogeneous else HeteroData()
    for number, ntype in enumerate(types.ntypes):
        found = UnreadDict(num_nodes=graph.num_nodes(ntype))
        if is_homogeneous:
            _put_edges(found, graph, selection, 0)
        for attr in selection.of_nodes[number]:
            found[attr] = _feature(selection, Feature(False, number, attr))
        store = data._store if is_homogeneous else data[ntype]
        store._mapping = found
    for number, etype in enumerate(() if is_homogeneous else types.canonical_etypes):
        found = data[etype]._mapping = UnreadDict()
        _put_edges(found, graph, selection, number)
    data.__dict__[SOURCE] = Source(graph, selection)
    return data


def _put_edges(into: UnreadDict, graph: DistGraph, selection: Selection, number: int) -> None:
    into["edge_index"] = Unread(partial(_all_edges, graph, number))
    for attr in selection.of_edges[number]:
        # Where nodes have one of that name as well, theirs comes later and stays.
        into[attr] = _feature(selection, Feature(True, number, attr))


def _feature(selection: Selection, feature: Feature) -> Unread:
    return Unread(partial(_whole, selection, feature), feature)


def _whole(selection: Selection, feature: Feature) -> Any:
    table, attr = selection.table(*feature), feature.attr
    width = int(np.prod(table.shape[1:])) * torch.empty(0, dtype=table.dtype).element_size()
    if len(table) * width > WHOLE_BYTES_MAX:
        return table
    return as_pyg(attr, table[:])


def as_pyg(attr: str, rows: Any) -> Any:
    """Rows of a feature as PyG's data have them: partitions keep masks as uint8."""
    return rows.bool() if attr.endswith("mask") and rows.dtype == torch.uint8 else rows


def _all_edges(graph: DistGraph, number: int) -> Any:
    etype = graph.types.canonical_etypes[number]
    count = graph.num_edges(etype)
    if 16 * count > WHOLE_BYTES_MAX:
        raise errors.Unsupported(
            f"edge_index: {count} edges of {etype} are {16 * count / 2**30:.1f} GiB; loaders draw "
            "from them where they are, and graph.find_edges() reads some"
        )
    pieces = [
        torch.stack(
            graph.find_edges(np.arange(first, min(first + PIECE, count), dtype=np.int64), etype)
        )
        for first in range(0, count, PIECE)
    ]
    return torch.cat(pieces, dim=1) if pieces else torch.empty((2, 0), dtype=torch.int64)


def source_of(what: str, data: Any, weight_attr: str | None = None) -> Source:
    """The graph of a loader's `data`: a DistGraph, its stores, or data of PyG's.

    Data that are in memory are written as one partition to a folder of their own, and that is
    drawn from; nodes keep their IDs.

    Parameters
    ----------
    weight_attr : an attribute of edges that draws are by, which is partitioned along with these.

    Raises
    ------
    TypeError
        It is none of these.
    InvalidArgument
        A script put another edge list into data of a graph.
    """
    if isinstance(data, (tuple, list)) and len(data) == 2 and isinstance(data[0], FeatureStore):
        return Source(data[0].graph, data[0].selection)
    if not isinstance(data, (Data, HeteroData)):
        graph = check_graph(what, data)
        return Source(graph, Selection(graph))
    source: Source | None = data.__dict__.get(SOURCE)
    if source is not None and _has_own_edges(data, source):
        if source.edge_numbers is None or weight_attr is None:
            return source
        if _are_same(_weights_of(data, weight_attr), source.edge_weights):
            return source
    return _in_memory(data, weight_attr)


def weight_of(source: Source, weight_attr: str | None) -> str | None:
    """The feature of edges that an attribute is, by which neighbours are drawn; None: evenly.

    Raises
    ------
    NotFound
        Edges of some type have no such feature.
    """
    if weight_attr is None:
        return None
    graph, found = source.graph, set()
    for number, etype in enumerate(graph.types.canonical_etypes):
        name = source.selection.of_edges[number].get(weight_attr, weight_attr)
        if name not in graph.tables_of(True, number):
            raise errors.NotFound(f"weight_attr={weight_attr!r}: edges of {etype} have none")
        found.add(name)
    if len(found) != 1:
        raise errors.InvalidArgument(
            f"weight_attr={weight_attr!r}: edge types have it under several names: {sorted(found)}"
        )
    return found.pop()


def _edge_stores(data: Any) -> dict[Any, Any]:
    if isinstance(data, HeteroData):
        return {tuple(name): data[name] for name in data.edge_types}
    return {("_N", "_E", "_N"): data._store}


def _has_own_edges(data: Any, source: Source) -> bool:
    """Whether the edge lists of data are still those that were partitioned."""
    stores = _edge_stores(data)
    if source.edge_numbers is not None:
        lists = [store.get("edge_index") for store in stores.values()]
        return _are_same(lists, source.edge_lists)
    names = source.graph.types.canonical_etypes
    if len(stores) != len(names):
        return False
    for store in stores.values():
        held = store._mapping
        if not isinstance(held, UnreadDict) or "edge_index" not in held:
            return False
        edges = held.held("edge_index")
        if not isinstance(edges, Unread) or not edges.is_as_read():
            return False
    return True


def _are_same(these: Sequence[Any], those: Sequence[Any]) -> bool:
    """Whether they are the same tensors: what a script writes into one is not looked for."""
    return len(these) == len(those) and all(
        one is two for one, two in zip(these, those, strict=True)
    )


def _weights_of(data: Any, weight_attr: str) -> list[Any]:
    """The weights of the edges of each type."""
    weights = [store.get(weight_attr) for store in _edge_stores(data).values()]
    for name, given in zip(_edge_stores(data), weights, strict=True):
        if given is None:
            raise errors.NotFound(f"weight_attr={weight_attr!r}: edges of {name} have none")
    return weights


def _in_memory(data: Any, weight_attr: str | None = None) -> Source:
    """Partitions data of PyG's that are in memory."""
    import troupe

    stores = _edge_stores(data)
    lists = {}
    for name, store in stores.items():
        if "edge_index" not in store:
            raise errors.Unsupported(
                f"{name}: the data have no edge_index; a sparse adjacency (adj_t) is not read: "
                "leave ToSparseTensor() out of the data and give it to the loader as transform="
            )
        lists[name] = store["edge_index"]
    counts = (
        {name: int(data[name].num_nodes) for name in data.node_types}
        if isinstance(data, HeteroData)
        else {"_N": int(data.num_nodes)}
    )
    weights = [] if weight_attr is None else _weights_of(data, weight_attr)
    # A weight may be of any width of floats, as (m,) or (m, 1).
    edata = {
        name: {weight_attr: given.detach().cpu().float().reshape(-1).numpy()}
        for name, given in zip(lists, weights, strict=False)
    }
    folder = Path(tempfile.mkdtemp(prefix="troupe-pyg-"))
    try:
        _, numbers = troupe.partition_graph(
            {name: tuple(ends.cpu().numpy()) for name, ends in lists.items()},
            "graph",
            1,
            folder / "parts",
            part_method="random",
            num_nodes=counts,
            edata=edata or None,
            return_mapping=True,
        )
        seed = torch.initial_seed() & (2**63 - 1) or 1
        graph = troupe.open(folder / "parts/graph.json", seed=seed, tensors="torch")
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    weakref.finalize(graph, shutil.rmtree, folder, ignore_errors=True)
    by_type = numbers if isinstance(numbers, Mapping) else dict.fromkeys(lists, numbers)
    source = Source(
        graph,
        Selection(graph, (), ()),
        [torch.from_numpy(by_type[name]) for name in graph.types.canonical_etypes],
        tuple(lists.values()),
        tuple(weights),
    )
    data.__dict__[SOURCE] = source
    return source


class Attribute(NamedTuple):
    """What batches have of one attribute."""

    name: str
    # Rows by ID: int64, shape (n,), of the batch's nodes or edges; None: `value` as it is.
    rows: Callable[[Any], Any] | None
    value: Any = None
    # Where it is the graph's.
    feature: Feature | None = None


class Attributes(NamedTuple):
    """What batches have of all, by the numbers of node and of edge types."""

    of_nodes: list[list[Attribute]]
    of_edges: list[list[Attribute]]


def attributes_of(data: Any, source: Source) -> Attributes:
    """What batches of data have beside what is drawn.

    An attribute that a script put in is one of nodes if it has a row for each node, and one of
    edges if it has a row for each edge; where both are as many, if its name says so. Others are as
    they are.
    """
    graph, types = source.graph, source.graph.types
    of_nodes: list[list[Attribute]] = [[] for _ in types.ntypes]
    of_edges: list[list[Attribute]] = [[] for _ in types.etypes]
    if not isinstance(data, HeteroData):
        for is_of_edges, found in _attributes(data._store, source, 0, 0):
            (of_edges if is_of_edges else of_nodes)[0].append(found)
        return Attributes(of_nodes, of_edges)
    for number, ntype in enumerate(types.ntypes):
        of_nodes[number] += [a for _, a in _attributes(data[ntype], source, number, None)]
    for number, etype in enumerate(graph.canonical_etypes):
        of_edges[number] += [a for _, a in _attributes(data[etype], source, None, number)]
    return Attributes(of_nodes, of_edges)


def _attributes(
    store: Any, source: Source, ntype: int | None, etype: int | None
) -> Iterator[tuple[bool, Attribute]]:
    """Those of one of PyG's stores, and whether each is one of edges."""
    graph, mapping = source.graph, store._mapping
    num_nodes = None if ntype is None else graph.num_nodes(graph.ntypes[ntype])
    num_edges = None if etype is None else graph.num_edges(graph.canonical_etypes[etype])
    for name in mapping:
        held = mapping.held(name) if isinstance(mapping, UnreadDict) else mapping[name]
        if name in ("num_nodes", "edge_index"):
            continue
        if isinstance(held, Unread) and held.is_as_read():
            feature: Feature = held.what
            yield feature.of_edges, _of_graph(source, feature, name)
            continue
        value = held.value() if isinstance(held, Unread) else held
        rows = len(value) if getattr(value, "ndim", 0) else None
        is_of_nodes, is_of_edges = rows == num_nodes, rows == num_edges
        if rows is None or not (is_of_nodes or is_of_edges):
            yield ntype is None, Attribute(name, None, value)
        elif is_of_edges and not (is_of_nodes and "edge" not in name):
            numbers = None if source.edge_numbers is None else source.edge_numbers[etype or 0]
            yield True, Attribute(name, partial(_rows_of, value, numbers))
        else:
            yield False, Attribute(name, partial(_rows_of, value, None))


def _of_graph(source: Source, feature: Feature, name: str) -> Attribute:
    return Attribute(name, partial(_rows_in_graph, source.selection, feature), None, feature)


def _rows_in_graph(selection: Selection, feature: Feature, ids: Any) -> Any:
    return as_pyg(feature.attr, selection.rows(*feature, ids))


def _rows_of(value: Any, numbers: Any, ids: Any) -> Any:
    ids = ids if numbers is None else numbers[ids]
    if isinstance(value, np.ndarray):
        # Also mapped files: batches have tensors.
        return torch.from_numpy(np.asarray(value[np.asarray(ids)]))
    return value[ids.to(value.device)] if hasattr(value, "device") else value[np.asarray(ids)]


def selected(source: Source) -> Attributes:
    """What batches have of a graph, where no data of PyG's say so."""
    selection = source.selection

    def rows(feature: Feature) -> Attribute:
        return Attribute(feature.attr, partial(selection.rows, *feature), None, feature)

    return Attributes(
        [[rows(Feature(False, n, a)) for a in of] for n, of in enumerate(selection.of_nodes)],
        [[rows(Feature(True, n, a)) for a in of] for n, of in enumerate(selection.of_edges)],
    )
