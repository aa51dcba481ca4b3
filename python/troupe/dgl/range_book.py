# SPDX-License-Identifier: Apache-2.0
"""A partition book made of ranges of IDs, as a program has them or a book of DGL's lists them."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ..arrays import Ids, id_tensor
from ..book import ALL_TYPES
from ..types import Types
from .partition_book import GraphPartitionBook
from .type_names import DGLTypes

AnyPath = str | os.PathLike[str]
Array = np.ndarray[Any, Any]


class _EveryBook(type):
    """Every book is one of ranges."""

    def __instancecheck__(cls, book: object) -> bool:
        return isinstance(book, GraphPartitionBook)


class RangePartitionBook(GraphPartitionBook, metaclass=_EveryBook):
    """A partition book without a file.

    Parameters
    ----------
    part_id, num_parts : the partition that local IDs count in, and how many there are.
    node_map, edge_map : homogeneous IDs that partitions own, by type: shape ``(num_parts, 2)``, the
        first one and the one behind the last. Edge types are canonical.
    ntypes, etypes : the numbers of types.
    path : the file that it was read from, for graphs that are opened by it.
    """

    def __init__(
        self,
        part_id: int,
        num_parts: int,
        node_map: Mapping[str, Any],
        edge_map: Mapping[Any, Any],
        ntypes: Mapping[str, int],
        etypes: Mapping[Any, int],
        *,
        path: AnyPath = "",
        graph_name: str = "",
    ) -> None:
        # As DGL's raises it.
        for name in etypes:
            if not isinstance(name, tuple) or len(name) != 3:
                raise AssertionError(f"{name!r}: an edge type is (source, relation, destination)")
        if not 0 <= part_id < num_parts:
            raise AssertionError(f"part_id={part_id}: there are {num_parts} partitions")
        self.path, self.partid, self.graph = os.fspath(path), part_id, None
        self.graph_name, self.method = graph_name, ""
        self._book, self._tensors, self._num_parts = None, "torch", num_parts
        self._made_of = (dict(node_map), dict(edge_map), dict(ntypes), dict(etypes))
        nodes = sorted(ntypes, key=lambda name: ntypes[name])
        edges = sorted(etypes, key=lambda name: etypes[name])
        self.types = DGLTypes(Types(nodes, [":".join(name) for name in edges]))
        self._ranges = (_ranges(node_map, nodes, num_parts), _ranges(edge_map, edges, num_parts))
        self._id_dtypes = tuple(str(found[0].dtype) if found else "int64" for found in self._ranges)
        sizes = [[r[:, 1] - r[:, 0] for r in found] for found in self._ranges]
        # Where the IDs of a type begin in each partition, and their end.
        self._starts = [[np.cumsum([0, *one]).astype(np.int64) for one in of] for of in sizes]
        self._node_counts = [int(one[-1]) for one in self._starts[0]]
        self._edge_counts = [int(one[-1]) for one in self._starts[1]]
        self._first_ids = [0] * len(nodes)

    def _range(self, of_edges: bool, number: int, part: int) -> range:
        starts = self._starts[of_edges][number]
        return range(int(starts[part]), int(starts[part + 1]))

    def _owners(self, of_edges: bool, ids: Any, name: Any) -> Any:
        number = self._type(of_edges, name)
        wanted = self.checked_ids(ids, of_edges, number)
        if number == ALL_TYPES:
            ends = np.max([found[:, 1] for found in self._ranges[of_edges]], axis=0)
        else:
            ends = self._starts[of_edges][number][1:]
        parts = np.searchsorted(ends, wanted, side="right").astype(np.int64)
        return id_tensor(parts, self._tensors)

    def _homogeneous(self, of_edges: bool, number: int, ids: Ids) -> Ids:
        starts, found = self._starts[of_edges][number], self._ranges[of_edges][number]
        parts = np.searchsorted(starts[1:], ids, side="right")
        moved: Ids = found[parts, 0].astype(np.int64) + ids - starts[parts]
        return moved

    def _typed(self, of_edges: bool, ids: Any) -> tuple[Any, Any]:
        wanted = self.checked_ids(ids, of_edges, ALL_TYPES)
        kinds = np.full(len(wanted), -1, np.int64)
        typed = np.zeros(len(wanted), np.int64)
        for number, found in enumerate(self._ranges[of_edges]):
            # Partitions follow each other, so that the last one that begins before an ID has it.
            parts = np.searchsorted(found[:, 0], wanted, side="right") - 1
            inside = (parts >= 0) & (wanted < found[parts, 1]) & (kinds < 0)
            at = parts[inside]
            kinds[inside] = number
            typed[inside] = wanted[inside] - found[at, 0] + self._starts[of_edges][number][at]
        dtype = self._id_dtype(of_edges)
        return tuple(id_tensor(each.astype(dtype), self._tensors) for each in (kinds, typed))

    def _id_dtype(self, of_edges: bool) -> str:
        return self._id_dtypes[of_edges]

    def row_shapes(self) -> dict[tuple[bool, int, str], tuple[int, ...]]:
        """None are known: it has no partitions."""
        return {}

    def __reduce__(self) -> tuple[Any, ...]:
        names = (self.path, self.graph_name)
        return _made_again, (self.partid, self._num_parts, self._made_of, *names)


def _made_again(
    part_id: int, num_parts: int, made_of: Any, path: str, graph_name: str
) -> RangePartitionBook:
    return RangePartitionBook(part_id, num_parts, *made_of, path=path, graph_name=graph_name)


def _ranges(id_map: Mapping[Any, Any], names: list[Any], num_parts: int) -> list[Array]:
    """Ranges of each type in the order of their numbers."""
    found = []
    for name in names:
        ranges = np.asarray(id_map[name])
        if ranges.shape != (num_parts, 2):
            raise AssertionError(
                f"{name!r}: ranges of shape {ranges.shape}; give {(num_parts, 2)}, the first ID of "
                "each partition and the one behind its last"
            )
        found.append(ranges)
    return found


def book_of_ranges(part_config: AnyPath, part_id: int) -> RangePartitionBook | None:
    """The book of a ``NAME.json`` of DGL's whose partitions are not beside it; None: it is none."""
    path = Path(part_config)
    try:
        config = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return None
    if not isinstance(config, dict) or "troupe" in config or "node_map" not in config:
        return None
    first = config.get("part-0")
    if isinstance(first, dict) and (path.parent / str(first.get("part_graph", ""))).exists():
        return None
    maps = []
    for name in ("node_map", "edge_map"):
        of_types = config.get(name)
        if not isinstance(of_types, dict) or not all(
            isinstance(ranges, list) for ranges in of_types.values()
        ):
            raise TypeError(f"{path}: {name} lists no ranges of IDs, which every book has")
        maps.append(of_types)
    node_map, edge_map = maps
    ntypes, etypes = config.get("ntypes", {"_N": 0}), config.get("etypes", {"_N:_E:_N": 0})
    return RangePartitionBook(
        part_id,
        int(config["num_parts"]),
        node_map,
        {tuple(name.split(":")): ranges for name, ranges in edge_map.items()},
        ntypes,
        {tuple(name.split(":")): number for name, number in etypes.items()},
        path=path,
        graph_name=str(config.get("graph_name", "")),
    )
