# SPDX-License-Identifier: Apache-2.0
"""Partitioning graphs that are in memory or on disk, and verifying what came of it."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from . import errors
from .binding import call, encoded, ffi, fields_of, lib, made, text
from .task import OnProgress, Report, report_of, start, wait

AnyPath = str | os.PathLike[str]


def partition(
    raw: AnyPath,
    out: AnyPath,
    parts: int,
    *,
    method: str = "metis",
    name: str | None = None,
    halo_hops: int = 1,
    minimise_volume: bool = False,
    balance_edges: bool = False,
    balance_tables: Sequence[str] = (),
    trainers: int = 0,
    train_mask: str | None = None,
    seed: int = 0,
    drop_edge_ids: bool = False,
    out_edges: bool = False,
    threads: int = 0,
    undirected: bool = False,
    num_nodes: int = 0,
    replace: bool = False,
    progress: OnProgress = None,
) -> Report:
    """Cuts a raw graph on disk into partitions; as ``troupe partition``.

    Parameters
    ----------
    raw : a folder of `troupe.raw`, an edge list, a Matrix Market or METIS file.
    out : the directory to make; it appears whole or not at all.
    parts : how many partitions.
    method : "metis", "random", or a file with a partition for each node.
    name : of the graph and its book; None: the raw graph's.
    halo_hops : neighbours are listed up to so many hops away.
    balance_tables : features whose values part nodes into classes to balance.
    trainers : to whom training nodes are dealt; 0: nobody.
    drop_edge_ids : original IDs of edges are not stored.
    out_edges : out-edges are stored too, for questions and draws along them.

    Returns
    -------
    Report
        ``book`` (the path that `troupe.open` takes), ``cut_share``, balances, bytes and seconds.
    """
    tables = [encoded(table) for table in balance_tables]
    listed = ffi.new("const char *[]", tables) if tables else None
    options = made(
        "tr_partition_options",
        raw=raw,
        out=out,
        replace=replace,
        num_parts=parts,
        halo_hops=halo_hops,
        name=name,
        method=method,
        minimise_volume=minimise_volume,
        balance_edges=balance_edges,
        balance_tables=listed,
        num_balance_tables=len(tables),
        trainers=trainers,
        train_mask=train_mask,
        seed=seed,
        drop_edge_ids=drop_edge_ids,
        out_edges=out_edges,
        threads=threads,
        undirected=undirected,
        num_nodes=num_nodes,
    )
    task = start(lib.tr_partition_start, options)
    wait(task, progress)
    report = made("tr_partition_report")
    call(lib.tr_partition_result, task, report)
    found = report_of(report)
    found.class_balance = found.class_balance[: found.num_classes]
    return found


def verify(
    path: AnyPath,
    raw: AnyPath | None = None,
    *,
    some: bool = False,
    undirected: bool = False,
    num_nodes: int = 0,
    threads: int = 0,
    progress: OnProgress = None,
) -> Report:
    """Proves that partitions hold exactly their raw graph, or that files are those written.

    Parameters
    ----------
    path : ``DIR/NAME.json``; or a checkpoint or a folder of them.
    raw : the graph that the partitions were made of; None: checksums are compared.
    some : partitions that are not here are on other hosts.
    undirected, num_nodes : as `partition` was given them, where raw is an edge list.

    Raises
    ------
    Mismatch, BadFormat
        The first difference: file, position and values.
    """
    options = made(
        "tr_verify_options",
        path=path,
        raw=raw,
        some=some,
        undirected=undirected,
        num_nodes=num_nodes,
        threads=threads,
    )
    task = start(lib.tr_verify_start, options)
    wait(task, progress)
    report = made("tr_verify_report")
    call(lib.tr_verify_result, task, report)
    return report_of(report)


def inspect(path: AnyPath) -> dict[str, Any]:
    """What a partitioned graph holds, from its book: types, tables and partitions.

    Partitions whose files are elsewhere have None in the place of their figures.
    """
    from .book import PartitionBook

    book = PartitionBook(path)
    info = made("tr_book_info")
    call(lib.tr_book_info, book.pointer(), info)
    found = dict(fields_of(info))
    found["ntypes"] = {name: book.num_nodes(name) for name in book.ntypes}
    found["etypes"] = {name: book.num_edges(name) for name in book.canonical_etypes}
    tables = []
    for number in range(info.num_tables):
        table = made("tr_table_info")
        call(lib.tr_book_table, book.pointer(), number, table)
        row = dict(fields_of(table))
        row["dtype"] = text(lib.tr_dtype_name(table.dtype))
        row["shape"] = row["shape"][: table.ndim]
        names: Sequence[Any] = book.canonical_etypes if table.on_edges else book.ntypes
        row["type"] = names[table.type]
        tables.append(row)
    found["tables"] = tables
    found["parts"] = []
    for part in range(book.num_partitions()):
        figures = made("tr_part_info")
        try:
            call(lib.tr_book_part, book.pointer(), part, figures)
        except errors.NotFound:
            found["parts"].append(None)
        else:
            found["parts"].append(dict(fields_of(figures)))
    return found


# Graphs in memory.

Edges = tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]
Tables = dict[str, np.ndarray[Any, Any]]


class _Graph:
    """What all sources of a graph come down to: arrays by type."""

    def __init__(self) -> None:
        self.num_nodes: dict[str, int] = {}
        self.edges: dict[tuple[str, str, str], Edges] = {}
        self.ndata: dict[str, Tables] = {}
        self.edata: dict[tuple[str, str, str], Tables] = {}


HOMOGENEOUS = ("_N", "_E", "_N")


def _array(values: Any) -> np.ndarray[Any, Any]:
    """Rows of an array, a tensor, or a column of a table."""
    for name in ("detach", "to_numpy"):
        method = getattr(values, name, None)
        if method is not None:
            values = method()
    if hasattr(values, "cpu"):
        values = values.cpu().numpy()
    return np.ascontiguousarray(values)


def _ends(values: Any, what: str) -> np.ndarray[Any, Any]:
    ends = _array(values)
    if ends.dtype.kind not in "iu" or ends.ndim != 1:
        raise TypeError(f"{what}: one whole number an edge, not {ends.dtype} of shape {ends.shape}")
    if len(ends) and int(ends.min()) < 0:
        raise errors.OutOfRange(
            f"{what}: edge {int(ends.argmin())} has node {int(ends.min())}; nodes count from 0"
        )
    return ends.astype(np.int64, copy=False)


def _pair(edges: Any, what: str) -> Edges:
    """The two ends of edges: a pair of arrays, or an array of two rows or two columns."""
    if isinstance(edges, tuple) and len(edges) == 2:
        sources, destinations = edges
    else:
        array = _array(edges)
        if array.ndim != 2 or 2 not in array.shape:
            raise TypeError(f"{what}: two arrays, or one of two rows, not of shape {array.shape}")
        sources, destinations = array if array.shape[0] == 2 else array.T
    ends = _ends(sources, f"{what}: sources"), _ends(destinations, f"{what}: destinations")
    if len(ends[0]) != len(ends[1]):
        raise errors.Mismatch(f"{what}: {len(ends[0])} sources and {len(ends[1])} destinations")
    return ends


def _of_dgl(graph: Any, found: _Graph) -> None:
    for ntype in graph.ntypes:
        found.num_nodes[ntype] = int(graph.num_nodes(ntype))
        found.ndata[ntype] = {k: _array(v) for k, v in graph.nodes[ntype].data.items()}
    for etype in graph.canonical_etypes:
        found.edges[etype] = _pair(graph.edges(etype=etype, order="eid"), str(etype))
        found.edata[etype] = {k: _array(v) for k, v in graph.edges[etype].data.items()}


def _of_pyg(data: Any, found: _Graph) -> None:
    hetero = hasattr(data, "edge_types")
    node_stores = {n: data[n] for n in data.node_types} if hetero else {"_N": data}
    edge_stores = {e: data[e] for e in data.edge_types} if hetero else {HOMOGENEOUS: data}
    for etype, store in edge_stores.items():
        found.edges[tuple(etype)] = _pair(store.edge_index, str(etype))
        count = len(found.edges[tuple(etype)][0])
        attributes = getattr(store, "edge_attr", None)
        if attributes is not None and len(attributes) == count:
            found.edata[tuple(etype)] = {"feat": _array(attributes)}
    names = {"x": "feat", "y": "label"}
    for ntype, store in node_stores.items():
        count = found.num_nodes[ntype] = int(store.num_nodes)
        found.ndata[ntype] = {
            names.get(key, key): _array(value)
            for key, value in store.items()
            if hasattr(value, "shape")
            and key not in ("edge_index", "edge_attr")
            and len(value.shape)
            and value.shape[0] == count
        }


def _of_networkx(graph: Any, found: _Graph) -> None:
    numbers = {node: i for i, node in enumerate(graph.nodes)}
    pairs = [(numbers[u], numbers[v]) for u, v in graph.edges()]
    if not graph.is_directed():
        pairs += [(v, u) for u, v in pairs]
    found.num_nodes["_N"] = len(numbers)
    ends = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    found.edges[HOMOGENEOUS] = (ends[:, 0].copy(), ends[:, 1].copy())


def _of_scipy(matrix: Any, found: _Graph) -> None:
    if matrix.shape[0] != matrix.shape[1]:
        raise errors.InvalidArgument(f"an adjacency matrix is square, not of shape {matrix.shape}")
    entries = matrix.tocoo()
    found.num_nodes["_N"] = int(matrix.shape[0])
    found.edges[HOMOGENEOUS] = _pair((entries.row, entries.col), "the matrix")


SOURCE_COLUMNS = ("src", "source", "from", "u")
TARGET_COLUMNS = ("dst", "target", "destination", "to", "v")


def _of_columns(table: Any, names: Sequence[str], found: _Graph) -> None:
    """A table of pandas or Arrow: two columns are the ends, the others features of edges."""
    lower = {str(name).lower(): name for name in names}
    source = next((lower[n] for n in SOURCE_COLUMNS if n in lower), None)
    target = next((lower[n] for n in TARGET_COLUMNS if n in lower), None)
    if source is None or target is None:
        if len(names) < 2:
            raise errors.InvalidArgument("a table of edges has at least two columns")
        source, target = names[0], names[1]
    found.edges[HOMOGENEOUS] = _pair((table[source], table[target]), "the table")
    others = [name for name in names if name not in (source, target)]
    found.edata[HOMOGENEOUS] = {str(name): _array(table[name]) for name in others}


def _graph_of(graph: Any) -> _Graph:
    """The arrays of a graph of any library, told by what it has."""
    found = _Graph()
    if isinstance(graph, Mapping):
        for etype, edges in graph.items():
            found.edges[tuple(etype)] = _pair(edges, str(etype))
    elif hasattr(graph, "canonical_etypes"):
        _of_dgl(graph, found)
    elif hasattr(graph, "edge_types") or hasattr(graph, "edge_index"):
        _of_pyg(graph, found)
    elif hasattr(graph, "is_directed") and hasattr(graph, "nodes"):
        _of_networkx(graph, found)
    elif hasattr(graph, "tocoo"):
        _of_scipy(graph, found)
    elif hasattr(graph, "column_names"):
        _of_columns(graph, list(graph.column_names), found)
    elif hasattr(graph, "columns"):
        _of_columns(graph, list(graph.columns), found)
    else:
        found.edges[HOMOGENEOUS] = _pair(graph, "the edges")
    for (source, _, destination), (froms, intos) in found.edges.items():
        for ntype, ends in ((source, froms), (destination, intos)):
            least = int(ends.max()) + 1 if len(ends) else 0
            found.num_nodes[ntype] = max(found.num_nodes.get(ntype, 0), least)
    return found


def _per_type(data: Any, types: Sequence[Any], what: str) -> dict[Any, Tables]:
    """Tables by type: given so, or those of the only type."""
    if not data:
        return {}
    if all(isinstance(value, Mapping) for value in data.values()):
        return {t: {k: _array(v) for k, v in tables.items()} for t, tables in data.items()}
    if len(types) != 1:
        raise errors.InvalidArgument(f"{what}: there are several types; give tables by type")
    return {types[0]: {k: _array(v) for k, v in data.items()}}


class _Writer:
    """Writes a raw graph in DGL's chunked format."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._count = 0

    def save(self, rows: np.ndarray[Any, Any]) -> dict[str, Any]:
        """A table's file, and its entry in the description; files have numbers, since names of
        features may be no names of files."""
        if rows.dtype == np.bool_:
            rows = rows.view(np.uint8)
        name = f"{self._count}.npy"
        self._count += 1
        np.save(self._folder / name, rows)
        return {"format": {"name": "numpy"}, "data": [name]}

    def tables(self, by_type: Mapping[str, Tables], counts: Mapping[str, int]) -> dict[str, Any]:
        """The entries of all tables."""
        found: dict[str, Any] = {}
        for name, tables in by_type.items():
            for key, rows in tables.items():
                if len(rows) != counts[name]:
                    raise errors.Mismatch(
                        f"{name}/{key} has {len(rows)} rows, but there are {counts[name]}"
                    )
                found.setdefault(name, {})[key] = self.save(rows)
        return found


def write_raw(
    graph: Any,
    out: AnyPath,
    *,
    name: str = "graph",
    num_nodes: int | Mapping[str, int] | None = None,
    ndata: Mapping[str, Any] | None = None,
    edata: Mapping[Any, Any] | None = None,
) -> None:
    """Writes a graph in memory as a raw graph, a folder that must not be there.

    The parameters are those of `partition_graph`.
    """
    found = _graph_of(graph)
    if isinstance(num_nodes, Mapping):
        given = dict(num_nodes)
    else:
        only = next(iter(found.num_nodes), "_N")
        given = {} if num_nodes is None else {only: int(num_nodes)}
    for ntype, count in given.items():
        if count < found.num_nodes.get(ntype, 0):
            raise errors.OutOfRange(
                f"num_nodes: {count} of type {ntype!r}, but an edge has node "
                f"{found.num_nodes[ntype] - 1}"
            )
        found.num_nodes[ntype] = count
    for ntype, tables in _per_type(ndata, list(found.num_nodes), "ndata").items():
        found.ndata.setdefault(ntype, {}).update(tables)
        # Rows say how many nodes there are, also those without an edge.
        if ntype not in given and tables:
            rows = max(len(rows) for rows in tables.values())
            found.num_nodes[ntype] = max(found.num_nodes.get(ntype, 0), rows)
    for etype, tables in _per_type(edata, list(found.edges), "edata").items():
        found.edata.setdefault(tuple(etype), {}).update(tables)
    target = Path(out)
    if target.exists():
        raise errors.AlreadyExists(f"{target} is there already: name another folder")
    target.parent.mkdir(parents=True, exist_ok=True)
    aside = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
    try:
        _write(found, aside, name)
        aside.rename(target)
    except BaseException:
        shutil.rmtree(aside, ignore_errors=True)
        raise


def _write(found: _Graph, folder: Path, name: str) -> None:
    writer = _Writer(folder)
    ntypes = list(found.num_nodes)
    etypes = [":".join(etype) for etype in found.edges]
    counts = {":".join(etype): len(ends[0]) for etype, ends in found.edges.items()}
    edges = {
        ":".join(etype): writer.save(np.stack(ends, axis=1)) for etype, ends in found.edges.items()
    }
    description = {
        "graph_name": name,
        "node_type": ntypes,
        "num_nodes_per_type": [found.num_nodes[t] for t in ntypes],
        "num_nodes_per_chunk": [[found.num_nodes[t]] for t in ntypes],
        "edge_type": etypes,
        "num_edges_per_type": [counts[t] for t in etypes],
        "num_edges_per_chunk": [[counts[t]] for t in etypes],
        "edges": edges,
        "node_data": writer.tables(found.ndata, found.num_nodes),
        "edge_data": writer.tables({":".join(t): v for t, v in found.edata.items()}, counts),
    }
    (folder / "metadata.json").write_text(json.dumps(description))


def estimate_bytes(graph: Any) -> int:
    """Bytes of memory and of disk, each, that `partition_graph` takes at least for a graph."""
    found = _graph_of(graph)
    edges = sum(len(ends[0]) for ends in found.edges.values())
    tables = [*found.ndata.values(), *found.edata.values()]
    rows = sum(values.nbytes for each in tables for values in each.values())
    # Both ends and both directions for METIS, of 4 and 8 bytes, and its vectors a node.
    return 56 * edges + 64 * sum(found.num_nodes.values()) + rows


def partition_graph(
    graph: Any,
    graph_name: str,
    num_parts: int,
    out_path: AnyPath,
    num_hops: int = 1,
    part_method: str | None = "metis",
    *,
    num_nodes: int | Mapping[str, int] | None = None,
    ndata: Mapping[str, Any] | None = None,
    edata: Mapping[Any, Any] | None = None,
    balance_edges: bool = False,
    num_trainers_per_machine: int = 1,
    seed: int = 0,
    replace: bool = False,
    return_mapping: bool = False,
    out_edges: bool = False,
    progress: OnProgress = None,
) -> Any:
    """Partitions a graph that is in memory.

    Parameters
    ----------
    graph : any of
        A pair of arrays (sources, destinations), or one array of two rows; a mapping of (source,
        relation, destination) to such; a square SciPy matrix (row to column); a NetworkX graph
        (nodes in its order, undirected edges both ways); a table of pandas or Arrow with two
        columns of ends; a PyG ``Data`` or ``HeteroData`` ("x" becomes "feat", "y" "label"); a
        ``DGLGraph``.
    graph_name, num_parts, out_path : the book is ``out_path/graph_name.json``.
    num_hops : neighbours are listed up to so many hops away.
    part_method : "metis", "random", or a file with a partition for each node.
    num_nodes : where there are nodes without edges behind the last one.
    ndata, edata : features beside those of the graph, by name, or by type and name: arrays of a row
        a node or edge, in original order.
    return_mapping : also return original IDs of nodes and edges in the order of global IDs.
    out_edges : out-edges are stored too, for questions and draws along them.

    Returns
    -------
    Report
        As `partition`; with `return_mapping` a tuple of two arrays (or mappings by type).
    """
    if part_method in (None, "None"):
        part_method = "random"
    target = Path(out_path)
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{target.name}-raw-", dir=target.parent) as folder:
        raw = Path(folder) / "raw"
        write_raw(graph, raw, name=graph_name, num_nodes=num_nodes, ndata=ndata, edata=edata)
        report = partition(
            raw,
            out_path,
            num_parts,
            method=str(part_method),
            name=graph_name,
            halo_hops=num_hops,
            balance_edges=balance_edges,
            trainers=num_parts * num_trainers_per_machine if num_trainers_per_machine > 1 else 0,
            seed=seed,
            replace=replace,
            out_edges=out_edges,
            progress=progress,
        )
    return _mapping(report.book) if return_mapping else report


def _mapping(path: str) -> tuple[Any, Any]:
    """Original IDs of nodes and of edges in the order of global IDs."""
    from .arrays import id_pointer
    from .book import PartitionBook

    book = PartitionBook(path)

    def read(function: Any, number: int, count: int) -> np.ndarray[Any, Any]:
        ids = np.empty(count, dtype=np.int64)
        call(function, book.pointer(), number, 0, count, id_pointer(ids))
        return ids

    nodes = {
        name: read(lib.tr_book_original_node_ids, i, book.num_nodes(name))
        for i, name in enumerate(book.ntypes)
    }
    edges = {
        name: read(lib.tr_book_original_edge_ids, i, book.num_edges(name))
        for i, name in enumerate(book.canonical_etypes)
    }
    if book.is_homogeneous:
        return next(iter(nodes.values())), next(iter(edges.values()), np.empty(0, np.int64))
    return nodes, edges
