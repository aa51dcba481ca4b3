# SPDX-License-Identifier: Apache-2.0
"""Tensors with a row for each node or edge of a type, by the names that DGL has for them.

Features of a graph are such tensors, which do not change. A program makes others, by name and
policy: in a job of one process these lie in it, in one of several they are `troupe.DistTensor`.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import errors, tensors
from ..arrays import ids_of
from ..tables import Table, TableInfo
from . import context, rows_ahead
from .later import not_yet
from .policy import PartitionPolicy

if TYPE_CHECKING:
    from .dist_graph import DistGraph


def _policy_of(rows: int) -> tuple[DistGraph, PartitionPolicy]:
    """The policy that a number of rows means, in the newest open graph that has one."""
    for graph in context.graphs():
        book = graph.get_partition_book()
        found = [book.node_policy(n) for n in book.ntypes if book.num_nodes(n) == rows]
        found += [book.edge_policy(e) for e in book.canonical_etypes if book.num_edges(e) == rows]
        if len(found) == 1:
            return graph, found[0]
        if found:
            names = ", ".join(policy.policy_str for policy in found)
            raise errors.InvalidArgument(
                f"a tensor of {rows} rows may be of {names}: give part_policy="
            )
    raise errors.InvalidArgument(
        f"a tensor of {rows} rows: no type of an open graph has so many; give part_policy="
    )


def _line(frame: Any) -> tuple[str, int]:
    """The line of a program that a frame is at."""
    return frame.f_code.co_filename, frame.f_lineno


def _another(name: Any, policy: PartitionPolicy, rows: Any) -> errors.Mismatch:
    return errors.Mismatch(
        f"DistTensor {name!r} of {policy.policy_str} is there already, of shape "
        f"{tuple(rows.shape)} and {rows.dtype}: name another one"
    )


class DistTensor:
    """A tensor with a row for each node or edge of a type.

    ``t[ids]`` gives rows as a tensor in the CPU's memory, ``t[ids] = rows`` writes them. The same
    name and policy is the same tensor again: one of another shape or dtype is refused, and a second
    one while the first is in use gives a warning.

    A loop over layers that makes the same name anew on one line, reads what that line made before
    and writes this one, would read its own writes. So a persistent tensor that the same line makes
    again, by name alone, while the former one is in use, begins as a copy of it, takes the name
    over, and leaves the former one as it is. All trainers run such a loop.

    Parameters
    ----------
    shape : tuple
        Rows first.
    dtype : torch.dtype
    name : str, optional
    init_func : callable, optional
        ``init_func(shape, dtype)`` gives the first rows; None: zeros.
    part_policy : PartitionPolicy, optional
        None: the type of an open graph that has so many nodes or edges.
    persistent : bool
        The tensor outlives this object; it needs a name. One that does not is freed, in a job of
        several processes, by the first barrier after it was dropped by the process that made it.
    is_gdata, attach : accepted as DGL has them.
    """

    def __init__(
        self,
        shape: Any,
        dtype: Any,
        name: str | None = None,
        init_func: Callable[[Any, Any], Any] | None = None,
        part_policy: PartitionPolicy | None = None,
        persistent: bool = False,
        is_gdata: bool = True,
        attach: bool = True,
    ) -> None:
        import torch

        shape = tuple(int(n) for n in shape)
        if persistent and name is None:
            raise ValueError("DistTensor(persistent=True): give it a name")
        by_name = persistent and part_policy is None
        graph: Any = None if part_policy is None else part_policy.partition_book.graph
        if part_policy is None or graph is None:
            graph, guessed = _policy_of(shape[0])
            part_policy = part_policy or guessed
        if graph.world > 1 and not part_policy.is_node:
            not_yet(
                "a DistTensor of edges in a job of several processes",
                "run in one process, or make one of nodes",
            )
        if shape[0] != part_policy.get_size():
            raise errors.Mismatch(
                f"DistTensor {name!r}: {shape[0]} rows, but {part_policy.policy_str} has "
                f"{part_policy.get_size()}"
            )
        key, named = (part_policy.policy_str, name), name is not None
        origin = _line(sys._getframe(1))
        former: Any = graph.handles.get(key) if named else None
        is_next = former is not None and by_name and former._origin == origin
        rows = None if name is None else graph.written.get(key, graph.attached.get(key))
        if is_next:
            former._hand_over(shape, dtype)
            rows, init_func = None, former._copy_of_rows()
        if graph.world > 1:
            stored = graph.stored_name(key) if named else None
            rows = shared = tensors.DistTensor(
                shape, dtype, stored, part_policy, init_func, persistent, graph=graph
            )
            name = name or shared.name
        elif rows is None:
            rows = torch.zeros(shape, dtype=dtype) if init_func is None else init_func(shape, dtype)
            if tuple(rows.shape) != shape or rows.dtype != dtype:
                raise errors.Mismatch(
                    f"DistTensor {name!r}: init_func gave {tuple(rows.shape)} of {rows.dtype}"
                )
            if name is not None:
                (graph.written if persistent else graph.attached)[key] = rows
        elif tuple(rows.shape) != shape or rows.dtype != dtype:
            raise _another(name, part_policy, rows)
        self._rows: Any = rows
        self._name = name or f"anonymous-{id(rows)}"
        self._policy = part_policy
        self._graph_of_rows = graph
        self._key: tuple[str, str | None] = (part_policy.policy_str, self._name)
        self._is_passing = graph.world > 1 and not persistent
        self._origin = origin
        if former is not None and not is_next:
            warnings.warn(
                f"DistTensor {name!r} of {part_policy.policy_str} is in use already, and this is "
                "the same tensor: what is written to one is read from the other. A loop that reads "
                "one and writes the other needs another name a layer",
                stacklevel=2,
            )
        if named:
            graph.handles[key] = self

    def _hand_over(self, shape: tuple[int, ...], dtype: Any) -> None:
        """Leaves the name to a tensor that the same line makes next; see the class."""
        if self.shape != shape or self.dtype != dtype:
            raise _another(self._name, self._policy, self)
        graph, key = self._graph_of_rows, self._key
        # Its rows are its own from here on, and in a job are freed with it, by a barrier.
        self._key = (key[0], None)
        self._is_passing = self._is_former = graph.world > 1
        graph.written.pop(key, None)
        graph.attached.pop(key, None)
        graph.hand_over_name(key)

    def _copy_of_rows(self) -> Callable[[Any, Any], Any]:
        """An init_func that gives these rows: all of them, or one partition's after the other's."""
        first = 0

        def init(shape: Any, _: Any) -> Any:
            nonlocal first
            first += shape[0]
            return self[slice(first - shape[0], first)]

        return init

    _is_former = False
    _is_passing = False

    def __del__(self) -> None:
        # Other trainers may read it until they come to the next barrier.
        if self._is_passing and self._graph_of_rows.is_open:
            self._graph_of_rows.dropped.append((self._key, self._rows, self._is_former))

    @property
    def name(self) -> str:
        """Its name."""
        return self._name

    tensor_name = kvstore_key = name

    @property
    def part_policy(self) -> PartitionPolicy:
        """How its rows lie in partitions."""
        return self._policy

    @property
    def shape(self) -> tuple[int, ...]:
        """Rows first."""
        return tuple(self._rows.shape)

    @property
    def dtype(self) -> Any:
        """PyTorch's."""
        return self._rows.dtype

    @property
    def ndim(self) -> int:
        """Dimensions."""
        return len(self.shape)

    @property
    def device(self) -> Any:
        """The CPU's."""
        import torch

        return torch.device("cpu")

    def __len__(self) -> int:
        return self.shape[0]

    def _ids(self, index: Any) -> Any:
        import torch

        return torch.from_numpy(ids_of(index, len(self), f"row of {self.name!r}"))

    def __getitem__(self, index: Any) -> Any:
        return self._rows[self._ids(index)]

    def __setitem__(self, index: Any, rows: Any) -> None:
        import torch

        self._rows[self._ids(index)] = torch.as_tensor(rows).to(self.dtype)

    @property
    def local_partition(self) -> Any:
        """The rows of this process's partition."""
        policy = self.part_policy
        book, part = policy.partition_book, policy.part_id
        if policy.is_node:
            found = book.node_range(part, policy.type_name)
        else:
            found = book.edge_range(part, policy.type_name)
        return self[slice(found.start, found.stop)]

    def count_nonzero(self) -> int:
        """Elements that are not 0."""
        return int((self[slice(None)] != 0).sum())

    def __or__(self, other: DistTensor) -> DistTensor:
        rows = self[slice(None)] | other[slice(None)]
        first = 0

        def init(shape: Any, _: Any) -> Any:
            nonlocal first  # of all rows, or of one partition's after the other's
            first += shape[0]
            return rows[first - shape[0] : first]

        return DistTensor(rows.shape, rows.dtype, None, init, self.part_policy)

    def __repr__(self) -> str:
        return f"DistTensor({self.name!r}, {self.part_policy.policy_str}, {self.shape})"


class GraphTensor(DistTensor, Table):
    """A feature of the partitions. Booleans come as uint8, as DGL's partitions have them."""

    def __init__(self, graph: DistGraph, of_edges: bool, number: int, info: TableInfo) -> None:
        Table.__init__(self, graph, of_edges, number, info)

    name = Table.name
    tensor_name = kvstore_key = name
    shape = Table.shape
    ndim = Table.ndim
    __len__ = Table.__len__
    __setitem__ = Table.__setitem__

    @property
    def part_policy(self) -> PartitionPolicy:
        """How its rows lie in partitions."""
        graph: Any = self._graph
        book = graph.get_partition_book()
        policy: PartitionPolicy
        policy = (book.edge_policy if self._of_edges else book.node_policy)(self.type_name)
        return policy

    @property
    def dtype(self) -> Any:
        """PyTorch's."""
        import torch

        return torch.uint8 if self._info.dtype == "bool" else getattr(torch, self._info.dtype)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, (int, np.integer)) and not isinstance(index, (bool, np.bool_)):
            index = [index]  # DGL gives one row as [1, width]
        feature = rows_ahead.Feature(self._graph, self._of_edges, self._type, self._info.name)
        rows = rows_ahead.take(feature, index)
        if rows is None:
            rows = Table.__getitem__(self, index)
        return rows.view(self.dtype) if self._info.dtype == "bool" else rows

    def __repr__(self) -> str:
        return f"DistTensor({self.name!r}, {self.part_policy.policy_str}, {self.shape})"
