# SPDX-License-Identifier: Apache-2.0
"""Reads the binary files of DGL's partition folders: ``graph.dgl`` and dictionaries of tensors.

Files are mapped, and arrays are views of the mapping: what is read of a file is what is used of it.
Files come from outside, so each length is compared with what is left of the file before it is used,
and each magic number with what should stand there.

The formats are those of DGL 0.5 to 2.x: little-endian; a string or a list is a count of 64 bits and
its elements; an array has a head of 24 bytes, its type and shape, and its bytes.
"""

from __future__ import annotations

import math
import os
import struct
from typing import Any

import numpy as np

from .. import errors

Array = np.ndarray[Any, Any]

TENSORS = 0xDD5A9FBE3FA2443F
ARRAY = 0xDD5E40F096B4A13F
GRAPHS = 0xDD2E4FF046B4A13F
HETEROGRAPH = 0xDD589FBE35224ABF
IMMUTABLE = 0xDD3C5FFE20046ABF
UNIT = 0xDD2E60F0F6B4A127
COO = 0xDD61FFD305DFF127
CSR = 0xDD6CD31205DFF127

# Where the head of a file of graphs ends.
GRAPHS_BODY = 4096
DIMENSIONS_MAX = 8
NAME_MAX = 4096
KINDS = {0: "i", 1: "u", 2: "f"}


class Cursor:
    """A place in a mapped file, from which its parts are taken one after the other."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = os.fspath(path)
        if os.path.getsize(self.path) == 0:
            raise errors.BadFormat(f"{self.path}: the file is empty")
        self._bytes = np.memmap(self.path, np.uint8, "r")
        self.at = 0

    def __len__(self) -> int:
        return len(self._bytes)

    def refuse(self, what: str) -> errors.BadFormat:
        """The error that the file is none of DGL's, at this place."""
        return errors.BadFormat(f"{self.path}: byte {self.at}: {what}")

    def take(self, count: int, what: str) -> Array:
        """The next bytes."""
        if not 0 <= count <= len(self) - self.at:
            raise self.refuse(f"{what} takes {count} bytes, but the file ends after {len(self)}")
        found = self._bytes[self.at : self.at + count]
        self.at += count
        return found

    def numbers(self, form: str, what: str) -> tuple[Any, ...]:
        """The next numbers, in a format of `struct`."""
        form = f"<{form}"
        return struct.unpack(form, self.take(struct.calcsize(form), what).tobytes())

    def number(self, what: str, form: str = "Q") -> int:
        """The next number, of 64 bits."""
        return int(self.numbers(form, what)[0])

    def count(self, what: str, least_bytes: int) -> int:
        """The number of elements of a list, each of which takes so many bytes at least."""
        found = self.number(f"the count of {what}")
        if found > (len(self) - self.at) // least_bytes:
            raise self.refuse(f"{found} {what}, which the rest of the file has no room for")
        return found

    def magic(self, number: int, what: str) -> None:
        """Compares the next number with what begins an object."""
        found = self.number(what)
        if found != number:
            self.at -= 8
            raise self.refuse(f"{what} begins with {number:#x}, not {found:#x}")

    def name(self, what: str) -> str:
        """The next string."""
        count = self.count(f"characters of {what}", 1)
        if count > NAME_MAX:
            raise self.refuse(f"{what} is of {count} characters")
        try:
            return self.take(count, what).tobytes().decode()
        except UnicodeDecodeError:
            raise self.refuse(f"{what} is not text") from None

    def array(self, what: str) -> Array:
        """The next array."""
        self.magic(ARRAY, what)
        _, _, _, ndim = self.numbers("Qiii", what)
        code, bits, lanes = self.numbers("BBH", what)
        if not 0 <= ndim <= DIMENSIONS_MAX:
            raise self.refuse(f"{what} has {ndim} dimensions")
        shape = self.numbers(f"{ndim}q", what)
        if min(shape, default=0) < 0:
            raise self.refuse(f"{what} has the shape {shape}")
        if code == 4:
            raise errors.Unsupported(
                f"{self.path}: {what} is of bfloat16: convert it to float16 or float32 with DGL"
            )
        if code not in KINDS or bits not in (8, 16, 32, 64) or lanes != 1:
            raise self.refuse(f"{what} is of elements of type {code}, {bits} bits, {lanes} lanes")
        if KINDS[code] == "f" and bits == 8:
            raise self.refuse(f"{what} is of floats of 8 bits")
        dtype = np.dtype(f"<{KINDS[code]}{bits // 8}")
        size = math.prod(shape) * dtype.itemsize
        said = self.number(what, "q")
        if said != size:
            raise self.refuse(f"{what} of shape {shape} takes {size} bytes, not {said}")
        return np.frombuffer(self.take(size, what), dtype).reshape(shape)

    def tensors(self, what: str) -> dict[str, Array]:
        """The next list of names and arrays."""
        found: dict[str, Array] = {}
        for _ in range(self.count(what, 40)):
            name = self.name(f"a name of {what}")
            if name in found:
                raise self.refuse(f"{what} has {name!r} twice")
            found[name] = self.array(f"{what}/{name}")
        return found


def read_tensors(path: str | os.PathLike[str]) -> dict[str, Array]:
    """The arrays of a dictionary of tensors, such as ``node_feat.dgl``, by name."""
    cursor = Cursor(path)
    cursor.magic(TENSORS, "a dictionary of tensors")
    count = cursor.count("tensors", 1)
    found = cursor.tensors("tensors")
    if len(found) != count:
        raise cursor.refuse(f"{len(found)} tensors, not {count} as its head says")
    return found


class PartFile:
    """The graph of a partition, as ``graph.dgl`` has it.

    Attributes
    ----------
    num_nodes : int
    sources, destinations : arrays, of local nodes, by the number of the edge.
    ndata, edata : arrays by name.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        cursor = Cursor(path)
        self.path = cursor.path
        cursor.magic(GRAPHS, "a file of graphs")
        version, kind, graphs = cursor.numbers("QQQ", "the head of the file")
        if version != 2 or kind != 2:
            raise errors.Unsupported(
                f"{self.path}: a file of version {version} and graphs of kind {kind}; those of "
                "DGL 0.5 and newer have 2 and 2: write it again with DGL"
            )
        if graphs < 1:
            raise cursor.refuse("no graph")
        cursor.take(GRAPHS_BODY - cursor.at, "the head of the file")
        begin = cursor.number("the place of the first graph")
        if not cursor.at <= begin <= len(cursor):
            raise cursor.refuse(f"the first graph is at byte {begin}")
        cursor.at = begin
        self._read_structure(cursor)
        self.ndata = self._read_frame(cursor, "node data", self.num_nodes)
        self.edata = self._read_frame(cursor, "edge data", len(self.sources))

    def _read_structure(self, cursor: Cursor) -> None:
        cursor.magic(HETEROGRAPH, "a graph")
        _skip_metagraph(cursor)
        if (relations := cursor.number("the count of relations")) != 1:
            raise cursor.refuse(f"{relations} relations; a partition has one")
        cursor.magic(UNIT, "a relation")
        saved, _ = cursor.numbers("qq", "the formats of a relation")
        if saved >> 32 == 0:
            # The version before had one matrix, by number.
            saved = {1: 1, 2: 2, 3: 4}.get(saved, 0)
        matrices = [_read_matrix(cursor, bit) for bit in (1, 2, 4) if saved & bit]
        if not matrices:
            raise cursor.refuse("the relation has no edges in any format")
        if (types := cursor.number("the count of node types")) != 1:
            raise cursor.refuse(f"{types} node types; a partition has one")
        self.num_nodes = cursor.number("the number of nodes", "q")
        self.sources, self.destinations, sides = matrices[0]
        if sides != (self.num_nodes, self.num_nodes):
            raise cursor.refuse(f"a matrix of {sides}, but {self.num_nodes} nodes")
        for ends in (self.sources, self.destinations):
            if len(ends) and not (ends.min() >= 0 and ends.max() < self.num_nodes):
                raise cursor.refuse(f"an edge of a node beyond the {self.num_nodes} that there are")

    def _read_frame(self, cursor: Cursor, what: str, rows: int) -> dict[str, Array]:
        if (types := cursor.number(f"the types of {what}")) != 1:
            raise cursor.refuse(f"{what} of {types} types; a partition has one")
        found = cursor.tensors(what)
        for name, values in found.items():
            if values.ndim == 0 or len(values) != rows:
                raise cursor.refuse(f"{what}/{name} is of shape {values.shape}, not {rows} rows")
        return found


def _skip_metagraph(cursor: Cursor) -> None:
    cursor.magic(IMMUTABLE, "a metagraph")
    _read_csr(cursor)


def _read_matrix(cursor: Cursor, bit: int) -> tuple[Array, Array, tuple[int, int]]:
    """Sources and destinations of edges by number, and how many of each side there are."""
    _skip_metagraph(cursor)
    if bit == 1:
        cursor.magic(COO, "the list of edges")
        columns, rows = cursor.numbers("qq", "the list of edges")
        sources, destinations = cursor.array("sources"), cursor.array("destinations")
        places = cursor.array("numbers of edges")
        cursor.take(2, "the list of edges")
        sides = rows, columns
    else:
        index, others, places, (rows, columns) = _read_csr(cursor)
        own = np.repeat(np.arange(rows, dtype=np.int64), np.diff(index))
        sources, destinations = (own, others) if bit == 2 else (others, own)
        sides = (rows, columns) if bit == 2 else (columns, rows)
    if sources.ndim != 1 or sources.shape != destinations.shape:
        raise cursor.refuse(f"sources {sources.shape} and destinations {destinations.shape}")
    if sources.dtype.kind != "i" or destinations.dtype.kind != "i":
        raise cursor.refuse("ends of edges are not whole numbers")
    if len(places):
        if places.shape != sources.shape or places.dtype.kind != "i":
            raise cursor.refuse(f"{places.shape} numbers of {len(sources)} edges")
        order = np.full(len(places), -1, np.int64)
        if places.min() < 0 or places.max() >= len(places):
            raise cursor.refuse("a number of an edge is out of range")
        order[places] = np.arange(len(places))
        if len(order) and order.min() < 0:
            raise cursor.refuse("a number of an edge comes twice")
        sources, destinations = sources[order], destinations[order]
    return sources, destinations, sides


def _read_csr(cursor: Cursor) -> tuple[Array, Array, Array, tuple[int, int]]:
    """Index, columns and numbers of edges, and rows and columns of a compressed matrix."""
    cursor.magic(CSR, "a compressed matrix")
    columns, rows = cursor.numbers("qq", "a compressed matrix")
    index, others = cursor.array("the index"), cursor.array("columns")
    places = cursor.array("numbers of edges")
    cursor.take(1, "a compressed matrix")
    steady = index.ndim == 1 and others.ndim == 1 and index.dtype.kind == "i" and len(index) > 0
    if not steady or len(index) != rows + 1 or index[0] != 0 or index[-1] != len(others):
        raise cursor.refuse(f"an index of shape {index.shape} for {rows} rows")
    if len(index) > 1 and bool((index[1:] < index[:-1]).any()):
        raise cursor.refuse("the index decreases")
    return index, others, places, (rows, columns)
