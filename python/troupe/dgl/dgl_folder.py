# SPDX-License-Identifier: Apache-2.0
"""Opens partition folders that DGL wrote, by converting them once.

What comes of it lies in a folder beside DGL's, or below the user's cache where that one cannot be
written, named after the sizes and times of DGL's files: a change of these converts again. Nodes and
partitions keep the IDs that DGL gave; edges are numbered anew within their partition, by their
destinations, and DGL's numbers are their original IDs. Rows are copied in pieces between mapped
files, so that memory is bounded by a piece and, of each partition in turn, its structure.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from .. import errors
from ..book import PartitionBook
from ..partitioning import partition
from ..types import DEFAULT_ETYPE, DEFAULT_NTYPE, EID, NID
from .dgl_file import PartFile, read_tensors

Array = np.ndarray[Any, Any]
AnyPath = str | os.PathLike[str]

# NumPy declares no types for it.
_mapped: Any = np.lib.format.open_memmap
# Rows that are copied at once.
PIECE = 1 << 18
PARTS_MAX = 1 << 16
EDGES = ":".join(DEFAULT_ETYPE)


def opened_as(part_config: AnyPath) -> str:
    """The path of Troupe's partitions that stand for those of a ``NAME.json``.

    Troupe's own stand for themselves; DGL's are converted, if that was not done.
    """
    path = os.fspath(part_config)
    try:
        text = Path(path).read_bytes()
        config = json.loads(text)
    except (OSError, ValueError):
        return path  # which the library says in its own words
    if not isinstance(config, dict) or "troupe" in config or "part-0" not in config:
        return path
    folder = Folder(Path(path), config)
    return str(folder.converted(text))


class Folder:
    """A partition folder of DGL's, of one node type and one edge type."""

    def __init__(self, path: Path, config: dict[str, Any]) -> None:
        self.path = path
        self.config = config
        self.name = str(config.get("graph_name") or path.stem)
        self.num_parts = self._number("num_parts", PARTS_MAX)
        self.num_nodes = self._number("num_nodes", 1 << 48)
        self.num_edges = self._number("num_edges", 1 << 48)
        for key, of in (("ntypes", "node_map"), ("etypes", "edge_map")):
            for field in (config.get(key), config.get(of)):
                if isinstance(field, dict) and len(field) > 1:
                    raise errors.Unsupported(
                        f"{path}: {key} are {', '.join(map(repr, field))}; partitions of several "
                        "types are not opened yet: partition the graph again"
                    )

    def _number(self, key: str, most: int) -> int:
        found = self.config.get(key)
        if not isinstance(found, int) or not 0 <= found <= most:
            raise errors.BadFormat(f"{self.path}: {key}: {found!r} is no count")
        return found

    def _file(self, part: int, key: str) -> Path | None:
        """A file of a partition; None: it has none."""
        entry = self.config.get(f"part-{part}")
        found = entry.get(key) if isinstance(entry, dict) else None
        if found is None:
            return None
        if not isinstance(found, str):
            raise errors.BadFormat(f"{self.path}: part-{part}/{key}: {found!r} is no path")
        return self.path.parent / found

    def files(self) -> list[Path]:
        """Its files, which must be there."""
        keys = ("part_graph", "node_feats", "edge_feats")
        found = []
        for part in range(self.num_parts):
            if self._file(part, "part_graph") is None:
                hint = "" if f"part-{part}" in self.config else " (the partition is not listed)"
                raise errors.Unsupported(
                    f"{self.path}: part-{part} has no part_graph{hint}; partitions for GraphBolt "
                    "alone are not opened: partition with use_graphbolt=False"
                )
            found += [f for f in (self._file(part, key) for key in keys) if f is not None]
        for file in found:
            if not file.is_file():
                raise errors.NotFound(f"{file} is not there, which {self.path} lists")
        return found

    # Converting.

    def converted(self, text: bytes) -> Path:
        """The path of the book of Troupe's partitions; they are made where they are not there."""
        seen = hashlib.sha256(text)
        for file in self.files():
            known = file.stat()
            seen.update(f"{file.name} {known.st_size} {known.st_mtime_ns}\n".encode())
        name = f".troupe-{self.path.stem}-{seen.hexdigest()[:16]}"
        places = [self.path.resolve().parent / name, _cache() / name]
        for place in places:
            if (place / f"{self.name}.json").is_file():
                return place / f"{self.name}.json"
        place = places[0] if os.access(places[0].parent, os.W_OK) else places[1]
        place.parent.mkdir(parents=True, exist_ok=True)
        aside = Path(tempfile.mkdtemp(prefix=f"{name}.", dir=place.parent))
        try:
            self._convert(aside)
            try:
                (aside / "parts").rename(place)
            except OSError:
                # Another process was faster; what it made is the same.
                if not (place / f"{self.name}.json").is_file():
                    raise
        finally:
            shutil.rmtree(aside, ignore_errors=True)
        return place / f"{self.name}.json"

    def _convert(self, aside: Path) -> None:
        raw = RawFiles(aside / "raw", self.num_nodes, self.num_edges)
        for part in range(self.num_parts):
            self._read_part(raw, part)
        raw.finish(self.name)
        parts = aside / "parts"
        halo = self.config.get("halo_hops")
        partition(
            aside / "raw",
            parts,
            self.num_parts,
            method=str(aside / "raw" / "owners.npy"),
            name=self.name,
            halo_hops=halo if isinstance(halo, int) and 1 <= halo <= 8 else 1,
        )
        self._compare(parts / f"{self.name}.json")

    def _read_part(self, raw: RawFiles, part: int) -> None:
        file = PartFile(self._path(part, "part_graph"))
        ids = _column(file, "node data", file.ndata, NID, self.num_nodes)
        own = np.flatnonzero(_flags(file, file.ndata, "inner_node", file.num_nodes))
        own_ids = ids[own]
        raw.own_nodes(file.path, part, own_ids)
        edge_ids = _column(file, "edge data", file.edata, EID, self.num_edges)
        inner = np.flatnonzero(_flags(file, file.edata, "inner_edge", len(file.sources)))
        for piece in _pieces(len(inner)):
            places = inner[piece]
            ends = ids[file.sources[places]], ids[file.destinations[places]]
            raw.add_edges(file.path, edge_ids[places], *ends)
        del file
        for of_edges, key in ((False, "node_feats"), (True, "edge_feats")):
            feats = self._file(part, key)
            if feats is None:
                continue
            wanted = edge_ids[inner] if of_edges else own_ids
            for name, rows in read_tensors(feats).items():
                raw.add_rows(feats, of_edges, name.rpartition("/")[2], wanted, rows)

    def _path(self, part: int, key: str) -> Path:
        found = self._file(part, key)
        assert found is not None
        return found

    def _compare(self, book_path: Path) -> None:
        """Refuses a folder whose book says something else than its files."""
        node_map = self.config.get("node_map")
        ranges = next(iter(node_map.values()), None) if isinstance(node_map, dict) else node_map
        if not isinstance(ranges, list) or len(ranges) != self.num_parts:
            return  # a file of numbers, of partitions whose IDs were not given anew
        book = PartitionBook(book_path)
        begin = 0
        for part, given in enumerate(ranges):
            first, end = given if isinstance(given, list) and len(given) == 2 else (begin, given)
            owned = book.node_range(part)
            if (first, end) != (owned.start, owned.stop) and first != end:
                raise errors.Mismatch(
                    f"{self.path}: node_map gives part-{part} the nodes {first} .. {end}, but its "
                    f"files have {owned.start} .. {owned.stop}"
                )
            begin = end


def _cache() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return Path(base) / "troupe"


def _pieces(count: int) -> list[slice]:
    return [slice(first, min(first + PIECE, count)) for first in range(0, count, PIECE)]


def _column(file: PartFile, what: str, data: dict[str, Array], name: str, count: int) -> Array:
    """Global IDs of a partition's nodes or edges."""
    found = data.get(name)
    if found is None or found.ndim != 1 or found.dtype.kind != "i":
        raise errors.BadFormat(f"{file.path}: {what} has no {name!r}, the global IDs")
    if len(found) and not (found.min() >= 0 and found.max() < count):
        raise errors.BadFormat(f"{file.path}: {what}/{name}: an ID is not in 0 .. {count - 1}")
    return found


def _flags(file: PartFile, data: dict[str, Array], name: str, count: int) -> Array:
    """Which nodes or edges are the partition's own."""
    found = data.get(name)
    if found is None or found.shape != (count,):
        raise errors.BadFormat(f"{file.path}: {name!r} is not there, a number each")
    return found


class RawFiles:
    """A raw graph that is filled partition by partition, in mapped files."""

    def __init__(self, folder: Path, num_nodes: int, num_edges: int) -> None:
        folder.mkdir()
        self._folder = folder
        self._counts = {False: num_nodes, True: num_edges}
        self._files = 0
        self._edges = self._new((num_edges, 2), np.dtype("int64"))
        self._seen = self._new((num_edges,), np.dtype("uint8"))
        self._owners = _mapped(folder / "owners.npy", mode="w+", dtype=np.int64, shape=(num_nodes,))
        self._owners[:] = -1
        self._tables: dict[tuple[bool, str], tuple[str, Array]] = {}

    def _new(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> tuple[str, Array]:
        name = f"{self._files}.npy"
        self._files += 1
        if 0 in shape:
            np.save(self._folder / name, np.empty(shape, dtype))
            return name, np.empty(shape, dtype)
        rows = _mapped(self._folder / name, mode="w+", dtype=dtype, shape=shape)
        return name, rows

    def own_nodes(self, path: str, part: int, ids: Array) -> None:
        """Notes the nodes that a partition owns."""
        if len(ids) and self._owners[ids].max() >= 0:
            raise errors.Mismatch(f"{path}: a node is owned by another partition, too")
        self._owners[ids] = part

    def add_edges(self, path: str, ids: Array, sources: Array, destinations: Array) -> None:
        """Edges by their IDs."""
        if len(ids) and self._seen[1][ids].max():
            raise errors.Mismatch(f"{path}: an edge is in another partition, too")
        self._seen[1][ids] = 1
        self._edges[1][ids, 0] = sources
        self._edges[1][ids, 1] = destinations

    def add_rows(self, path: Path, of_edges: bool, name: str, ids: Array, rows: Array) -> None:
        """Rows of a feature by the IDs of their nodes or edges."""
        if rows.ndim == 0 or len(rows) != len(ids):
            raise errors.Mismatch(f"{path}: {name!r} has {rows.shape}, but {len(ids)} own it")
        entry = self._tables.get((of_edges, name))
        shape = (self._counts[of_edges], *rows.shape[1:])
        if entry is None:
            entry = self._tables[of_edges, name] = self._new(shape, rows.dtype)
        if entry[1].shape != shape or entry[1].dtype != rows.dtype:
            raise errors.Mismatch(
                f"{path}: {name!r} is {rows.dtype} of shape {rows.shape}; another partition's is "
                f"{entry[1].dtype} of {entry[1].shape[1:]} a row"
            )
        for piece in _pieces(len(ids)):
            entry[1][ids[piece]] = rows[piece]

    def finish(self, name: str) -> None:
        """Writes what describes the files; everything must have come."""
        if len(self._owners) and self._owners.min() < 0:
            missing = int(np.flatnonzero(np.asarray(self._owners) < 0)[0])
            raise errors.Mismatch(f"{name}: node {missing} is in no partition")
        if len(self._seen[1]) and not self._seen[1].min():
            missing = int(np.flatnonzero(np.asarray(self._seen[1]) == 0)[0])
            raise errors.Mismatch(f"{name}: edge {missing} is in no partition")

        def entry(file: str) -> dict[str, Any]:
            return {"format": {"name": "numpy"}, "data": [file]}

        data: dict[bool, dict[str, Any]] = {False: {}, True: {}}
        for (of_edges, table), (file, rows) in self._tables.items():
            if isinstance(rows, np.memmap):
                rows.flush()
            data[of_edges][table] = entry(file)
        nodes, edges = self._counts[False], self._counts[True]
        description = {
            "graph_name": name,
            "node_type": [DEFAULT_NTYPE],
            "num_nodes_per_type": [nodes],
            "num_nodes_per_chunk": [[nodes]],
            "edge_type": [EDGES],
            "num_edges_per_type": [edges],
            "num_edges_per_chunk": [[edges]],
            "edges": {EDGES: entry(self._edges[0])},
            "node_data": {DEFAULT_NTYPE: data[False]} if data[False] else {},
            "edge_data": {EDGES: data[True]} if data[True] else {},
        }
        (self._folder / "metadata.json").write_text(json.dumps(description))
