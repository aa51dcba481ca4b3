# SPDX-License-Identifier: Apache-2.0
"""Features that a loop reads of each batch, read by its loader's threads before it asks for them.

A loop reads ``g.ndata["feat"][input_nodes]``, which would wait for each batch's rows anew. So a
loader notes which features its loop reads for which IDs of a batch, and brings those along with
the next ones: where the library draws the blocks, with them, straight into the batch's memory.

Only features of the partitions are read ahead, which nobody can change: tensors that a program
writes are read when they are asked for. Rows are given to the read whose IDs equal theirs, and
once: whatever a program does to IDs or rows, it gets what a read at that moment gives.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .. import errors
from ..arrays import Ids
from ..sampler import FOR_ALL, FOR_SEEDS, TableWanted, batch_table
from ..tables import Table
from ..types import EID

if TYPE_CHECKING:
    from ..batch import Batch
    from ..graph import DistGraph


class Feature(NamedTuple):
    """A table of a graph's partitions."""

    graph: DistGraph
    of_edges: bool
    number: int
    name: str

    @property
    def type_name(self) -> Any:
        """The node type or edge type of its rows."""
        types = self.graph.types
        return (types.canonical_etypes if self.of_edges else types.ntypes)[self.number]

    def fetch(self, ids: Any) -> Any:
        """Its rows, as the partitions have them."""
        info = self.graph.tables_of(self.of_edges, self.number)[self.name]
        table = Table(self.graph, self.of_edges, self.number, info)
        return table.fetch(self.graph.checked_ids(ids, self.of_edges, self.number, "row"))


class Place(NamedTuple):
    """Where IDs stand in a batch."""

    kind: str  # "input", "output", "edges" of a block, or "pairs"
    layer: int
    type_name: Any  # None: the only one

    @property
    def of_edges(self) -> bool:
        """Whether they are those of edges."""
        return self.kind in ("edges", "pairs")

    def has(self, feature: Feature) -> bool:
        """Whether they are IDs of what the feature has rows of."""
        if self.of_edges != feature.of_edges:
            return False
        types = feature.graph.types
        names = types.canonical_etypes if self.of_edges else types.ntypes
        only = self.type_name is None and len(names) == 1
        return only or self.type_name == names[feature.number]


# What is read: a feature for IDs of a batch.
Read = tuple[Feature, Place]
# Rows that wait for their read, with the IDs that they are of.
Waiting = dict[Read, tuple[Ids, Any]]


def _id_lists(result: Any, of_edges: bool) -> Iterator[tuple[Place, Any]]:
    """The IDs in a batch: (input nodes, output nodes or graphs of pairs, ..., blocks)."""
    if not isinstance(result, tuple) or len(result) < 3 or not isinstance(result[-1], list):
        return
    if of_edges:
        graphs = [("pairs", 0, result[1])]
        graphs += [("edges", layer, block) for layer, block in enumerate(result[-1])]
        for kind, layer, graph in graphs:
            for name in getattr(graph, "canonical_etypes", ()):
                rows = graph.edges[name].data
                if EID in rows:
                    yield Place(kind, layer, tuple(name)), rows[EID]
        return
    for kind, ids in zip(("input", "output"), result, strict=False):
        if isinstance(ids, Mapping):
            yield from ((Place(kind, 0, name), of_type) for name, of_type in ids.items())
        else:
            yield Place(kind, 0, None), ids


def _as_ids(index: Any) -> Ids | None:
    """A list of IDs as rows are read for it, as an array; None: another kind of index."""
    if isinstance(index, np.ndarray):
        array = index
    elif hasattr(index, "numpy") and str(index.device) == "cpu":
        array = index.detach().numpy()
    else:
        return None
    return array if array.dtype == np.int64 and array.ndim == 1 else None


class ReadAhead:
    """What a loader's loop reads of each batch.

    The loop calls `deliver` and, by its reads, `take`; the loader's threads call the others.
    """

    def __init__(self) -> None:
        # 1: read ahead. A read that a batch went without is -1: two in a row bring it back.
        self._scores: dict[Read, int] = {}
        self._seen: set[Read] = set()
        self._batch: Any = None
        self._waiting: Waiting = {}
        _register(self)

    def wanted(self) -> list[Read]:
        """What is read ahead."""
        return [read for read, score in self._scores.copy().items() if score > 0]

    def deliver(self, batch: Any, waiting: Waiting) -> None:
        """The loop gets a batch; None: there is no more."""
        if self._batch is not None:
            # Of a copy: other threads that read may add to it meanwhile.
            unread = [read for read in self._scores.copy() if read not in self._seen]
            self._scores.update(dict.fromkeys(unread, -1))
        self._seen = set()
        self._batch, self._waiting = batch, waiting

    def rows_of(self, batch: Any, waiting: Waiting) -> Waiting:
        """Adds to the rows that were drawn with a batch those that are wanted beside them."""
        wanted = self.wanted()
        lists: dict[Place, Any] = {}
        for of_edges in {place.of_edges for _, place in wanted}:
            lists.update(_id_lists(batch, of_edges))
        for read in wanted:
            feature, place = read
            ids = _as_ids(lists.get(place))
            if ids is None or (read in waiting and np.array_equal(waiting[read][0], ids)):
                continue
            known = ids.copy()
            try:
                waiting[read] = known, feature.fetch(known)
            except errors.Error:
                # What is wrong, the loop's own read says, if there is one.
                continue
        return waiting

    def take(self, feature: Feature, ids: Ids) -> Any:
        """Rows that wait for this read; None: none do."""
        for read, (known, _) in list(self._waiting.items()):
            if read[0] == feature and np.array_equal(known, ids):
                self._note(read)
                taken = self._waiting.pop(read, None)
                return None if taken is None else taken[1]
        if self._batch is not None:
            for place, here in _id_lists(self._batch, feature.of_edges):
                read = (feature, place)
                if read not in self._seen and place.has(feature):
                    found = _as_ids(here)
                    if found is not None and np.array_equal(found, ids):
                        self._note(read)
                        break
        return None

    def _note(self, read: Read) -> None:
        """The loop reads this of the batch that it has."""
        if read not in self._seen:
            self._seen.add(read)
            self._scores[read] = min(self._scores.get(read, 0) + 1, 1)


# The loaders' ones, newest last; replaced as a whole, so that any thread may go through them.
_readers: tuple[weakref.ref[ReadAhead], ...] = ()
_lock = threading.Lock()


def _register(reader: ReadAhead) -> None:
    global _readers
    with _lock:
        alive = [ref for ref in _readers if ref() is not None]
        _readers = (*alive, weakref.ref(reader))


def take(feature: Feature, index: Any) -> Any:
    """Rows that a loader has read ahead for this index; None: the caller reads them."""
    ids = _as_ids(index) if _readers else None
    if ids is None:
        return None
    for ref in _readers:
        reader = ref()
        rows = None if reader is None else reader.take(feature, ids)
        if rows is not None:
            return rows
    return None


# What the batch that this thread makes has drawn with its blocks.
_drawing = threading.local()


@contextmanager
def drawn_with(reader: ReadAhead) -> Iterator[Waiting]:
    """In the block, draws of this thread bring along what the reader wants; their rows."""
    before = getattr(_drawing, "of", None)
    _drawing.of = reader, {}
    try:
        yield _drawing.of[1]
    finally:
        _drawing.of = before


def tables_to_draw(g: DistGraph, ntypes: Collection[str], layers: int) -> dict[Read, TableWanted]:
    """Features that come along with a batch of seeds of node types, drawn in so many layers."""
    of = getattr(_drawing, "of", None)
    found: dict[Read, TableWanted] = {}
    for read in of[0].wanted() if of is not None else ():
        feature, place = read
        # The loop may read of what other samplers drew, of seeds of other types, in more layers.
        has = place.layer < layers if place.kind == "edges" else place.kind != "pairs"
        has = has and not (place.kind == "output" and feature.type_name not in ntypes)
        if feature.graph is g and has:
            where = {"input": FOR_ALL, "output": FOR_SEEDS}.get(place.kind, place.layer)
            found[read] = TableWanted(feature.of_edges, feature.number, feature.name, where)
    return found


def keep_rows(g: DistGraph, batch: Batch, tables: dict[Read, TableWanted]) -> None:
    """Keeps rows that came along with a batch until the loop asks for them."""
    for number, (read, table) in enumerate(tables.items()):
        ids, rows = batch_table(g, batch, number, table)
        # IDs of their own: a program may change those that it gets.
        _drawing.of[1][read] = np.array(ids, np.int64), rows
