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
INT64 = np.dtype("int64")


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


class TypedIds:
    """The types of nodes, or of edges, and homogeneous IDs as IDs of each.

    A partition's IDs of a type follow each other; IDs of a type count over partitions.
    """

    def __init__(self, names: list[str], ranges: list[Array] | None, count: int) -> None:
        self.names = names
        self._count = count
        # None: one type, whose IDs are the homogeneous ones.
        self.ranges = ranges if len(names) > 1 else None
        if self.ranges is None:
            self.counts = [count]
            return
        lengths = [found[:, 1] - found[:, 0] for found in self.ranges]
        self.counts = [int(length.sum()) for length in lengths]
        begins = np.concatenate([found[:, 0] for found in self.ranges])
        order = np.argsort(begins + 0.5 * (np.concatenate(lengths) > 0), kind="stable")
        self._begins = begins[order]
        self._kinds = np.repeat(np.arange(len(names)), [len(n) for n in lengths])[order]
        firsts = np.concatenate([np.cumsum(n) - n for n in lengths])
        self._firsts = firsts[order]

    def split(self, ids: Array) -> tuple[Array, Array]:
        """The type and the ID in it of each homogeneous ID."""
        if self.ranges is None:
            return np.zeros(len(ids), INT64), ids
        place = np.searchsorted(self._begins, ids, side="right") - 1
        return self._kinds[place], ids - self._begins[place] + self._firsts[place]


def _by_number(path: Path, key: str, found: Any) -> list[str]:
    """Names of types in the order of their numbers; none: old folders do not name them."""
    if found is None:
        return []
    numbers = list(found.values()) if isinstance(found, dict) else None
    if numbers is None or sorted(map(str, numbers)) != sorted(map(str, range(len(numbers)))):
        raise errors.BadFormat(f"{path}: {key}: {found!r} does not number each name")
    return sorted(map(str, found), key=lambda name: int(found[name]))


class Folder:
    """A partition folder of DGL's."""

    def __init__(self, path: Path, config: dict[str, Any]) -> None:
        self.path = path
        self.config = config
        self.name = str(config.get("graph_name") or path.stem)
        self.num_parts = self._number("num_parts", PARTS_MAX)
        self.num_nodes = self._number("num_nodes", 1 << 48)
        self.num_edges = self._number("num_edges", 1 << 48)
        ntypes = _by_number(path, "ntypes", config.get("ntypes"))
        etypes = _by_number(path, "etypes", config.get("etypes"))
        if len(etypes) == 1 and etypes[0].count(":") != 2:
            etypes = []  # an old folder's "_E"
        is_typed = len(ntypes) > 1 or len(etypes) > 1
        if not is_typed and (len(ntypes) != 1 or len(etypes) != 1):
            ntypes, etypes = [DEFAULT_NTYPE], [EDGES]
        for name in etypes:
            ends = name.split(":")
            if len(ends) != 3 or ends[0] not in ntypes or ends[2] not in ntypes:
                raise errors.Unsupported(
                    f"{path}: etypes: {name!r} is not source:relation:destination with node types "
                    "of the graph; partition the graph again"
                )
        self.nodes = self._typed("node_map", ntypes, self.num_nodes)
        self.edges = self._typed("edge_map", etypes, self.num_edges)

    def _typed(self, key: str, names: list[str], count: int) -> TypedIds:
        if len(names) == 1:
            return TypedIds(names, None, count)
        found = self.config.get(key)
        ranges = []
        for name in names:
            given = found.get(name) if isinstance(found, dict) else None
            try:
                of_type = np.asarray(given, INT64)
            except (TypeError, ValueError, OverflowError):
                of_type = np.empty(0, INT64)
            is_whole = of_type.shape == (self.num_parts, 2)
            if not is_whole or (of_type < 0).any() or (of_type[:, 0] > of_type[:, 1]).any():
                raise errors.BadFormat(
                    f"{self.path}: {key}/{name}: {given!r} is not a list of ranges"
                )
            ranges.append(of_type)
        every = np.concatenate(ranges)
        every = every[every[:, 0] < every[:, 1]]
        every = every[np.argsort(every[:, 0])]
        if not np.array_equal(every[:, 0], [0, *every[:-1, 1]]) or int(every[-1, 1]) != count:
            raise errors.BadFormat(
                f"{self.path}: {key}: the ranges are not each of 0 .. {count - 1} once"
            )
        return TypedIds(names, ranges, count)

    def _number(self, key: str, most: int) -> int:
        found = self.config.get(key)
        if not isinstance(found, int) or not 0 <= found <= most:
            raise errors.BadFormat(f"{self.path}: {key}: {found!r} is not a count")
        return found

    def _file(self, part: int, key: str) -> Path | None:
        """A file of a partition; None: it has none."""
        entry = self.config.get(f"part-{part}")
        found = entry.get(key) if isinstance(entry, dict) else None
        if found is None:
            return None
        if not isinstance(found, str):
            raise errors.BadFormat(f"{self.path}: part-{part}/{key}: {found!r} is not a path")
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
        raw = RawFiles(aside / "raw", self.nodes, self.edges)
        for part in range(self.num_parts):
            self._read_part(raw, part)
        owners = raw.finish(self.name)
        parts = aside / "parts"
        halo = self.config.get("halo_hops")
        partition(
            aside / "raw",
            parts,
            self.num_parts,
            method=str(owners),
            name=self.name,
            halo_hops=halo if isinstance(halo, int) and 1 <= halo <= 8 else 1,
        )
        self._compare(parts / f"{self.name}.json")

    def _read_part(self, raw: RawFiles, part: int) -> None:
        file = PartFile(self._path(part, "part_graph"))
        ids = _column(file, "node data", file.ndata, NID, self.num_nodes)
        kinds, typed = self.nodes.split(ids)
        own = np.flatnonzero(_flags(file, file.ndata, "inner_node", file.num_nodes))
        own_ids = [typed[own[kinds[own] == kind]] for kind in range(len(self.nodes.names))]
        for kind, of_type in enumerate(own_ids):
            raw.own_nodes(file.path, part, kind, of_type)
        edge_ids = _column(file, "edge data", file.edata, EID, self.num_edges)
        inner = np.flatnonzero(_flags(file, file.edata, "inner_edge", len(file.sources)))
        edge_kinds, typed_edges = self.edges.split(edge_ids[inner])
        own_edges = []
        for kind, name in enumerate(self.edges.names):
            chosen = np.flatnonzero(edge_kinds == kind)
            own_edges.append(typed_edges[chosen])
            ends = [self.nodes.names.index(end) for end in name.split(":")[::2]]
            for piece in _pieces(len(chosen)):
                places = inner[chosen[piece]]
                found = file.sources[places], file.destinations[places]
                if any((kinds[at] != of).any() for at, of in zip(found, ends, strict=True)):
                    raise errors.Mismatch(
                        f"{file.path}: an edge of {name!r} has ends of other types"
                    )
                sources, destinations = (typed[at] for at in found)
                raw.add_edges(file.path, kind, typed_edges[chosen[piece]], sources, destinations)
        del file
        for of_edges, key, wanted in (
            (False, "node_feats", own_ids),
            (True, "edge_feats", own_edges),
        ):
            feats = self._file(part, key)
            if feats is None:
                continue
            names = (self.edges if of_edges else self.nodes).names
            for name, rows in read_tensors(feats).items():
                kind_name, _, table = name.rpartition("/")
                if len(names) > 1 and kind_name not in names:
                    raise errors.Mismatch(f"{feats}: {name!r} is of a type that is not listed")
                kind = names.index(kind_name) if len(names) > 1 else 0
                raw.add_rows(feats, of_edges, kind, table, wanted[kind], rows)

    def _path(self, part: int, key: str) -> Path:
        found = self._file(part, key)
        assert found is not None
        return found

    def _compare(self, book_path: Path) -> None:
        """Refuses a folder whose book says something else than its files."""
        book = PartitionBook(book_path)
        node_map = self.config.get("node_map")
        if self.nodes.ranges is not None:
            # Ranges of a type, as IDs in it.
            listed = [np.cumsum(found[:, 1] - found[:, 0]).tolist() for found in self.nodes.ranges]
        else:
            listed = [
                next(iter(node_map.values()), None) if isinstance(node_map, dict) else node_map
            ]
        for name, ranges in zip(self.nodes.names, listed, strict=True):
            if not isinstance(ranges, list) or len(ranges) != self.num_parts:
                continue  # a file of numbers, of partitions whose IDs were not given anew
            begin = 0
            for part, given in enumerate(ranges):
                first, end = (
                    given if isinstance(given, list) and len(given) == 2 else (begin, given)
                )
                owned = book.node_range(part, name)
                if (first, end) != (owned.start, owned.stop) and first != end:
                    raise errors.Mismatch(
                        f"{self.path}: node_map gives part-{part} the nodes {first} .. {end}, but "
                        f"its files have {owned.start} .. {owned.stop}"
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

    def __init__(self, folder: Path, nodes: TypedIds, edges: TypedIds) -> None:
        folder.mkdir()
        self._folder = folder
        self._types = {False: nodes, True: edges}
        self._files = 0
        byte = np.dtype("uint8")
        self._edges = [self._new((count, 2), INT64) for count in edges.counts]
        self._seen = [self._new((count,), byte)[1] for count in edges.counts]
        self._owners = [self._new((count,), INT64) for count in nodes.counts]
        for _, rows in self._owners:
            rows[:] = -1
        self._tables: dict[tuple[bool, int, str], tuple[str, Array]] = {}

    def _new(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> tuple[str, Array]:
        name = f"{self._files}.npy"
        self._files += 1
        if 0 in shape:
            np.save(self._folder / name, np.empty(shape, dtype))
            return name, np.empty(shape, dtype)
        rows = _mapped(self._folder / name, mode="w+", dtype=dtype, shape=shape)
        return name, rows

    def own_nodes(self, path: str, part: int, kind: int, ids: Array) -> None:
        """Notes the nodes of a type that a partition owns."""
        owners = self._owners[kind][1]
        if len(ids) and owners[ids].max() >= 0:
            raise errors.Mismatch(f"{path}: a node is owned by another partition, too")
        owners[ids] = part

    def add_edges(
        self, path: str, kind: int, ids: Array, sources: Array, destinations: Array
    ) -> None:
        """Edges of a type by their IDs."""
        if len(ids) and self._seen[kind][ids].max():
            raise errors.Mismatch(f"{path}: an edge is in another partition, too")
        self._seen[kind][ids] = 1
        self._edges[kind][1][ids, 0] = sources
        self._edges[kind][1][ids, 1] = destinations

    def add_rows(
        self, path: Path, of_edges: bool, kind: int, name: str, ids: Array, rows: Array
    ) -> None:
        """Rows of a feature by the IDs of their nodes or edges."""
        if rows.ndim == 0 or len(rows) != len(ids):
            raise errors.Mismatch(f"{path}: {name!r} has {rows.shape}, but {len(ids)} own it")
        entry = self._tables.get((of_edges, kind, name))
        shape = (self._types[of_edges].counts[kind], *rows.shape[1:])
        if entry is None:
            entry = self._tables[of_edges, kind, name] = self._new(shape, rows.dtype)
        if entry[1].shape != shape or entry[1].dtype != rows.dtype:
            raise errors.Mismatch(
                f"{path}: {name!r} is {rows.dtype} of shape {rows.shape}; another partition's is "
                f"{entry[1].dtype} of {entry[1].shape[1:]} a row"
            )
        for piece in _pieces(len(ids)):
            entry[1][ids[piece]] = rows[piece]

    def finish(self, name: str) -> Path:
        """Writes what describes the files; everything must have come. Returns who owns nodes."""
        nodes, edges = self._types[False], self._types[True]
        for what, types, columns in (
            ("node", nodes, [np.asarray(rows) < 0 for _, rows in self._owners]),
            ("edge", edges, [np.asarray(seen) == 0 for seen in self._seen]),
        ):
            for kind, column in enumerate(columns):
                if column.any():
                    of = f" of {types.names[kind]!r}" if len(types.names) > 1 else ""
                    missing = int(np.flatnonzero(column)[0])
                    raise errors.Mismatch(f"{name}: {what} {missing}{of} is in no partition")

        def entry(file: str) -> dict[str, Any]:
            return {"format": {"name": "numpy"}, "data": [file]}

        data: dict[bool, dict[str, dict[str, Any]]] = {False: {}, True: {}}
        for (of_edges, kind, table), (file, rows) in self._tables.items():
            if isinstance(rows, np.memmap):
                rows.flush()
            of_type = data[of_edges].setdefault(self._types[of_edges].names[kind], {})
            of_type[table] = entry(file)
        description = {
            "graph_name": name,
            "node_type": nodes.names,
            "num_nodes_per_type": nodes.counts,
            "num_nodes_per_chunk": [[count] for count in nodes.counts],
            "edge_type": edges.names,
            "num_edges_per_type": edges.counts,
            "num_edges_per_chunk": [[count] for count in edges.counts],
            "edges": {
                of: entry(file) for of, (file, _) in zip(edges.names, self._edges, strict=True)
            },
            "node_data": data[False],
            "edge_data": data[True],
        }
        (self._folder / "metadata.json").write_text(json.dumps(description))
        if len(nodes.names) == 1:
            return self._folder / self._owners[0][0]
        owners = self._folder / "owners"
        owners.mkdir()
        for of, (_, rows) in zip(nodes.names, self._owners, strict=True):
            with (owners / f"{of}.txt").open("w") as out:
                for piece in _pieces(len(rows)):
                    out.writelines(f"{part}\n" for part in rows[piece].tolist())
        return owners
