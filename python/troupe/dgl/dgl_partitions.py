# SPDX-License-Identifier: Apache-2.0
"""Partitioning a DGLGraph, and partitions as DGL's functions give them."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from .. import errors
from ..partitioning import _mapping, partition, write_raw
from ..types import EID, NID
from . import dgl_folder
from .graph_frames import HIDDEN
from .partition_book import GraphPartitionBook
from .range_book import book_of_ranges

RESERVED = (NID, EID, "inner_node", "inner_edge", "part_id")
CLASSES = f"{HIDDEN}class"

AnyPath = str | os.PathLike[str]


def _tables(graph: Any, balance: Any) -> tuple[dict[str, Any], dict[Any, Any]]:
    """Features by type, without the names that partitions have themselves."""

    def kept(data: Any) -> dict[str, Any]:
        return {k: v for k, v in data.items() if k not in RESERVED}

    ndata = {n: kept(graph.nodes[n].data) for n in graph.ntypes}
    edata = {e: kept(graph.edges[e].data) for e in graph.canonical_etypes}
    if balance is not None:
        if not isinstance(balance, Mapping):
            balance = {graph.ntypes[0]: balance}
        for name in graph.ntypes:
            classes = balance.get(name, np.zeros(graph.num_nodes(name), np.int64))
            ndata[name][CLASSES] = np.asarray(classes).astype(np.int64)
    return ndata, edata


def partition_graph(
    g: Any,
    graph_name: str,
    num_parts: int,
    out_path: AnyPath,
    num_hops: int = 1,
    part_method: str | None = "metis",
    balance_ntypes: Any = None,
    balance_edges: bool = False,
    return_mapping: bool = False,
    num_trainers_per_machine: int = 1,
    objtype: str = "cut",
    graph_formats: Any = None,
    use_graphbolt: bool = False,
    seed: int = 0,
    **options: Any,
) -> Any:
    """Partitions a DGLGraph, with its features.

    Parameters
    ----------
    g : DGLGraph
    graph_name, num_parts, out_path : the book is ``out_path/graph_name.json``. `out_path` is made
        where it is not there. Partitions of that name in it are replaced, and other files stay;
        another graph's partitions there are a reason to refuse.
    num_hops : neighbours are listed up to so many hops away.
    part_method : "metis", "random", or a file with a partition for each node. One part needs none.
    balance_ntypes : a class for each node, or a mapping of node types to such: each is spread
        evenly over partitions.
    balance_edges : spread edges evenly, too.
    return_mapping : also return original IDs of nodes and edges in the order of global IDs.
    num_trainers_per_machine : trainers that training nodes are dealt to, a partition.
    objtype : "cut" or "vol": what METIS makes small.
    graph_formats : "coo", "csr", "csc" or a list of them: what `load_partition` gives DGLGraphs in;
        None: "coo". With "csr" Troupe's own partitions have out-edges, by which ``edge_dir="out"``
        draws.
    use_graphbolt, **options
        Accepted as DGL has them.
    seed : of the partitioning.

    Returns
    -------
    None; with `return_mapping` two tensors, or mappings by type.
    """
    import torch

    formats = {*([graph_formats] if isinstance(graph_formats, str) else graph_formats or [])}
    if not formats <= {"coo", "csr", "csc"}:
        raise ValueError(f'graph_formats={graph_formats!r}: give some of "coo", "csr", "csc"')
    if objtype not in ("cut", "vol"):
        raise ValueError(f'objtype={objtype!r}: give "cut" or "vol"')
    if part_method in (None, "None"):
        part_method = "random"
    target = Path(out_path)
    if target.is_dir() and not any(target.iterdir()):
        target.rmdir()
    target.parent.mkdir(parents=True, exist_ok=True)
    ndata, edata = _tables(g, balance_ntypes)
    structure = g.local_var()
    for frames, names in ((structure.nodes, g.ntypes), (structure.edges, g.canonical_etypes)):
        for name in names:
            for key in list(frames[name].data):
                del frames[name].data[key]
    with tempfile.TemporaryDirectory(prefix=f".{target.name}-raw-", dir=target.parent) as folder:
        raw = Path(folder) / "raw"
        write_raw(structure, raw, name=graph_name, ndata=ndata, edata=edata)
        trainers = num_parts * num_trainers_per_machine if num_trainers_per_machine > 1 else 0
        made = Path(folder) / "parts" if target.exists() else target
        report = partition(
            raw,
            made,
            num_parts,
            method=str(part_method),
            name=graph_name,
            halo_hops=num_hops,
            minimise_volume=objtype == "vol",
            balance_edges=balance_edges,
            balance_tables=[] if balance_ntypes is None else [CLASSES],
            trainers=trainers,
            seed=seed,
            out_edges="csr" in formats,
        )
        if made != target:
            _move_into(target, made, graph_name)
    _write_formats(target / f"{graph_name}.formats", graph_formats)
    if not return_mapping:
        return None
    return tuple(
        {name: torch.from_numpy(ids) for name, ids in each.items()}
        if isinstance(each, Mapping)
        else torch.from_numpy(each)
        for each in _mapping(str(target / Path(report.book).name))
    )


def _write_formats(path: Path, formats: Any) -> None:
    """Notes beside a book which formats of DGL's its partitions are asked for in."""
    if formats is None:
        path.unlink(missing_ok=True)
        return
    names = [formats] if isinstance(formats, str) else list(formats)
    path.write_text(" ".join(names) + "\n")


def _read_formats(part_config: AnyPath) -> list[str]:
    try:
        return Path(part_config).with_suffix(".formats").read_text().split() or ["coo"]
    except OSError:
        return ["coo"]


def _part_folders(book: Path) -> list[str]:
    """The folders of partitions that a book names; none where the file is no book."""
    try:
        config = json.loads(book.read_bytes())
        entries = [v for k, v in config.items() if k.startswith("part-") and isinstance(v, dict)]
        # DGL's books name files in them.
        return [str(entry["part_graph"]).split("/")[0] for entry in entries]
    except (OSError, ValueError, AttributeError, KeyError):
        return []


def _move_into(target: Path, made: Path, name: str) -> None:
    """Moves partitions that were made into a folder with other files, in the place of older ones.

    There is no book while the partitions are exchanged, so that none names those of two graphs.
    """
    book = target / f"{name}.json"
    own = set(_part_folders(book))
    others = [set(_part_folders(other)) for other in target.glob("*.json") if other != book]
    if own and not any(others):
        # Deals to trainers and lists of names, which the library writes beside its partitions.
        own |= {found.name for of in ("deal~*", "dict~*") for found in target.glob(of)}
    own.difference_update(*others)
    names = [entry.name for entry in made.iterdir() if entry.name != book.name]
    for entry in names:
        if entry not in own and os.path.lexists(target / entry):
            raise errors.AlreadyExists(
                f"{target / entry} is there already, and is not of {book.name}: name another "
                f"folder for {name!r}, or remove it"
            )
    book.unlink(missing_ok=True)
    for entry in own:
        if (target / entry).is_dir():
            shutil.rmtree(target / entry)
        else:
            (target / entry).unlink(missing_ok=True)
    for entry in names:
        (made / entry).rename(target / entry)
    (made / book.name).rename(book)


def load_partition_book(
    part_config: AnyPath, part_id: int, part_metadata: Any = None
) -> tuple[GraphPartitionBook, str, dict[str, int], dict[tuple[str, str, str], int]]:
    """The book of a partition, the graph's name, and the numbers of node and edge types."""
    book: GraphPartitionBook | None = book_of_ranges(part_config, part_id)
    if book is None:
        book = GraphPartitionBook(dgl_folder.opened_as(part_config), part_id)
    ntypes = {name: number for number, name in enumerate(book.ntypes)}
    etypes = {name: number for number, name in enumerate(book.canonical_etypes)}
    return book, book.graph_name, ntypes, etypes


def _opened(part_config: AnyPath) -> Any:
    """The graph, to read one partition of."""
    from .dist_graph import DistGraph

    return DistGraph(part_config=part_config, standalone=True, map_files=True)


def _feats(graph: Any, book: GraphPartitionBook, of_edges: bool) -> dict[str, Any]:
    found = {}
    names: Any = book.canonical_etypes if of_edges else book.ntypes
    for name in names:
        frame = (graph.edges if of_edges else graph.nodes)[name].data
        owned = (book.edge_range if of_edges else book.node_range)(book.partid, name)
        prefix = ":".join(name) if of_edges else name
        for key, rows in frame.items():
            found[f"{prefix}/{key}"] = rows[slice(owned.start, owned.stop)]
    return found


def load_partition_feats(
    part_config: AnyPath, part_id: int, load_nodes: bool = True, load_edges: bool = True
) -> tuple[dict[str, Any] | None, dict[str, Any] | None]:
    """Features of the nodes and edges that a partition owns, as "type/name"; None: not asked."""
    book = load_partition_book(part_config, part_id)[0]
    with _opened(part_config) as graph:
        return (
            _feats(graph, book, False) if load_nodes else None,
            _feats(graph, book, True) if load_edges else None,
        )


def load_partition(
    part_config: AnyPath, part_id: int, load_feats: bool = True, use_graphbolt: bool = False
) -> tuple[Any, dict[str, Any], dict[str, Any], GraphPartitionBook, str, list[str], list[Any]]:
    """A partition: its DGLGraph, features of nodes and edges, the book, the name and the types.

    The graph has the partition's own nodes, then halo nodes, and the in-edges of its own nodes;
    ``ndata``: ``_ID``, ``inner_node``, ``part_id``; ``edata``: ``_ID``, ``inner_edge``.
    """
    from . import graph_parts

    if use_graphbolt:
        raise errors.Unsupported("load_partition(use_graphbolt=True): there are no such partitions")
    book, name, ntypes, etypes = load_partition_book(part_config, part_id)
    with _opened(part_config) as graph:
        local = graph_parts.local_graph(graph, book)
        for form in _read_formats(part_config):
            # What asks for edges in a format, makes it.
            local.adj_tensors(form)
        ndata = _feats(graph, book, False) if load_feats else {}
        edata = _feats(graph, book, True) if load_feats else {}
    return local, ndata, edata, book, name, list(ntypes), list(etypes)
