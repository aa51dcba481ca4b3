# SPDX-License-Identifier: Apache-2.0
"""Tensors that a program makes while a job runs, and all of its processes read and write."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from . import errors
from .arrays import DTYPES, Ids, id_pointer, numpy_dtype, pointer_to, rows_into
from .binding import deadline, error_struct, ffi, lib, made, opened, owned

if TYPE_CHECKING:
    from .graph import DistGraph

# Rows that are read or written at once where all of them are: about so many bytes.
WINDOW_BYTES = 1 << 24
# A tensor that is collected is deleted at its owners in this time, or stays until its era ends.
DELETE_SECONDS = 1.0


def dtype_name(dtype: Any) -> str:
    """The library's name of an element type of NumPy or PyTorch; booleans are kept as uint8."""
    name = str(dtype)
    name = name.removeprefix("torch.") if name.startswith("torch.") else np.dtype(dtype).name
    if name == "bool":
        return "uint8"
    if name not in DTYPES:
        raise TypeError(f"dtype {name}: a DistTensor has one of {', '.join(DTYPES)}")
    return name


def type_of_policy(graph: DistGraph, policy: Any, rows: int) -> int:
    """The number of the node type that a policy names, or that has so many nodes."""
    if policy is None:
        found = [n for n in graph.ntypes if graph.num_nodes(n) == rows]
        found += [":".join(e) for e in graph.canonical_etypes if graph.num_edges(e) == rows]
        if len(found) > 1:
            raise errors.InvalidArgument(
                f"{rows} rows are those of {', '.join(found)}: name one by part_policy="
            )
        if not found:
            counts = ", ".join(f"{n} {graph.num_nodes(n)}" for n in graph.ntypes)
            raise errors.InvalidArgument(
                f"{rows} rows: no type of the graph has so many; nodes: {counts}"
            )
        policy = found[0] if found[0] in graph.ntypes else f"edge~{found[0]}"
    name = str(getattr(policy, "policy_str", policy))
    kind, _, rest = name.rpartition("~")
    if kind == "edge":
        raise NotImplementedError(
            f"part_policy {name!r}: a DistTensor has a row for each node of a type; "
            "rows of edges are not there yet"
        )
    return graph.types.ntype(rest)


class DistTensor:
    """A tensor with a row for each node of a type, which every process of the job reads and writes.

    Each row lies once, with the process that owns its node's partition. ``t[ids]`` gives rows in
    the order of the IDs, repeats and none included; ``t[ids] = rows`` returns when all owners have
    them, and whoever reads after that sees them. Of a row that is given twice the last one counts;
    of one that several write at once, one. A write that fails may have written some of its rows,
    and may be made again.

    A tensor is known by its node type and its name: where it is there already it is the same one
    again. When ranks make it at once, one of them does, and the others wait for its first rows. It
    is gone when its era ends, or when a process ends that owns some of its rows; no checkpoint has
    it. Any threads may use it at once, and none holds the interpreter while it waits.

    Parameters
    ----------
    shape : tuple of int
        Rows, as many as the type has nodes, then the shape of a row.
    dtype : NumPy's or PyTorch's, or its name
        Booleans are kept as uint8.
    name : str, optional
        1 to 255 bytes; None: ``"anonymous-N"``, where N counts the unnamed tensors of this graph,
        so that ranks which make them in the same order have the same ones.
    part_policy : str, optional
        ``"node~TYPE"`` or ``"TYPE"``, or an object with such a `policy_str`; None: the only type of
        the graph that has so many rows.
    init_func : callable or number, optional
        ``init_func(shape, dtype)`` gives the first rows of a partition, or the number is each of
        their elements; only where this call makes the tensor. None: zeros.
    persistent : bool
        The tensor stays when the object that made it goes; else its rows are freed then. Objects
        that found it there never free it.
    graph : DistGraph
        The graph whose nodes they are; its `tensors` says what rows come as.
    attach : bool
        The tensor must be there already.
    timeout : float, optional
        Seconds; None: the session's recovery deadline.

    Raises
    ------
    Mismatch
        There is one of that name with another shape or dtype; the message has both.
    TooBig
        The tensors of a process would take more than its session's `tensor_bytes_max`.
    NotFound
        It is to be attached and not there; in reads and writes: it has been deleted, or is lost.
    InvalidArgument
        The rows are those of no type, or of several; a name that cannot be.
    """

    def __init__(
        self,
        shape: Any,
        dtype: Any,
        name: str | None = None,
        part_policy: Any = None,
        init_func: Callable[[Any, Any], Any] | complex | None = None,
        persistent: bool = False,
        *,
        graph: DistGraph,
        attach: bool = False,
        timeout: float | None = None,
    ) -> None:
        rows, *row = (int(n) for n in (shape if hasattr(shape, "__iter__") else (shape,)))
        if persistent and name is None:
            raise ValueError("DistTensor(persistent=True): give it a name")
        if name is None:
            name = f"anonymous-{graph.next_unnamed()}"
        number = type_of_policy(graph, part_policy, rows)
        ntype = graph.ntypes[number]
        if rows != graph.num_nodes(ntype):
            raise errors.Mismatch(
                f"tensor {name!r}: {rows} rows, but there are {graph.num_nodes(ntype)} nodes of "
                f"type {ntype!r}"
            )
        if min(row, default=0) < 0:
            raise errors.InvalidArgument(
                f"tensor {name!r}: a row cannot have the shape {tuple(row)}"
            )
        self._graph = graph
        self._ntype = number
        self._name = name
        self._row = tuple(row)
        self._dtype = dtype_name(dtype)
        self._persistent = persistent
        self._pointer: Any = None
        self._open(attach, init_func, timeout)

    def _open(self, attach: bool, init_func: Any, timeout: float | None) -> None:
        dims = ffi.new("uint64_t[]", list(self._row))
        options = made(
            "tr_dist_tensor_options",
            name=self._name,
            dims=dims,
            num_dims=len(self._row),
            ntype=self._ntype,
            dtype=DTYPES.index(self._dtype),
            attach=attach,
            hold=init_func is not None,
        )
        box = ffi.new("struct tr_dist_tensor **")
        until = deadline(timeout)
        waiter = self._graph.session.waiter
        try:
            waiter.call(lib.tr_dist_tensor_open, self._graph.pointer(), options, until, box)
        finally:
            if box[0] != ffi.NULL:
                self._pointer = owned(box[0], lib.tr_dist_tensor_close)
        info = made("tr_dist_tensor_info")
        waiter.call(lib.tr_dist_tensor_info, self._pointer, info)
        self._made = bool(info.made)
        if not self._made:
            return
        if init_func is not None:
            try:
                self._init(init_func, timeout)
            except BaseException:
                # The others that wait for it then find none, and make it.
                self.delete(timeout)
                raise
        if not self._persistent:
            ffi.gc(self._pointer, None)
            self._pointer = owned(box[0], _delete_and_close)

    def _init(self, init_func: Any, timeout: float | None) -> None:
        book = self._graph.get_partition_book()
        for part in range(book.num_partitions()):
            ids = book.node_range(part, self.ntype)
            shape = (len(ids), *self._row)
            rows = init_func(shape, self.dtype) if callable(init_func) else init_func
            if callable(init_func) and tuple(np.shape(rows)) != shape:
                raise errors.Mismatch(
                    f"tensor {self._name!r}: init_func gave rows of shape {tuple(np.shape(rows))} "
                    f"for {shape}"
                )
            for first in range(0, len(ids), self._window):
                some = ids[first : first + self._window]
                value = rows[first : first + len(some)] if callable(init_func) else rows
                self.store(np.arange(some.start, some.stop, dtype=np.int64), value, timeout)
        self._graph.session.waiter.call(
            lib.tr_dist_tensor_publish, self._pointer, deadline(timeout)
        )

    # What it is.

    @property
    def name(self) -> str:
        """Its name in its node type."""
        return self._name

    @property
    def graph(self) -> DistGraph:
        """The graph that it belongs to."""
        return self._graph

    @property
    def ntype(self) -> str:
        """The node type whose rows these are."""
        return self._graph.ntypes[self._ntype]

    @property
    def part_policy(self) -> str:
        """``"node~TYPE"``: its rows lie as the nodes of that type do."""
        return f"node~{self.ntype}"

    @property
    def made(self) -> bool:
        """Whether this object made the tensor, which others then found."""
        return self._made

    @property
    def dtype(self) -> Any:
        """The element type, of NumPy or PyTorch."""
        if self._graph.tensors == "torch":
            import torch

            return getattr(torch, self._dtype)
        return numpy_dtype(self._dtype)

    @property
    def shape(self) -> tuple[int, ...]:
        """Rows, then the shape of a row."""
        return (len(self), *self._row)

    @property
    def ndim(self) -> int:
        """Dimensions, rows included."""
        return 1 + len(self._row)

    def __len__(self) -> int:
        return self._graph.num_nodes(self.ntype)

    # Rows.

    def _ids(self, index: Any) -> Ids:
        what = f"tensor {self._name!r}, {self._what}"
        return self._graph.checked_ids(index, False, self._ntype, what)

    @property
    def _what(self) -> str:
        return self._graph.types.node_name(self._ntype)

    @property
    def _window(self) -> int:
        bytes_of_row = numpy_dtype(self._dtype).itemsize * math.prod(self._row)
        return max(1, min(1 << 20, WINDOW_BYTES // max(1, bytes_of_row)))

    def __getitem__(self, index: Any) -> Any:
        single = isinstance(index, (int, np.integer)) and not isinstance(index, (bool, np.bool_))
        rows = self.fetch(self._ids(index))
        return rows[0] if single else rows

    def fetch(self, ids: Ids, timeout: float | None = None) -> Any:
        """Rows of IDs that are checked already, within a timeout in seconds."""
        rows, address = rows_into(len(ids), self._dtype, self._row, self._graph.tensors)
        pointer = opened(self._pointer, f"tensor {self._name!r}")
        if len(ids):
            self._graph.session.waiter.call(
                lib.tr_dist_tensor_read,
                pointer,
                id_pointer(ids),
                len(ids),
                deadline(timeout),
                pointer_to(address),
            )
        return rows

    def __setitem__(self, index: Any, value: Any) -> None:
        self.store(self._ids(index), value)

    def store(self, ids: Ids, value: Any, timeout: float | None = None) -> None:
        """Writes rows of IDs that are checked already, within a timeout in seconds.

        A number, or one row, is written to all of them.
        """
        rows = self._rows_of(value, len(ids))
        pointer = opened(self._pointer, f"tensor {self._name!r}")
        if len(ids):
            self._graph.session.waiter.call(
                lib.tr_dist_tensor_write,
                pointer,
                id_pointer(ids),
                len(ids),
                pointer_to(int(rows.ctypes.data)),
                deadline(timeout),
            )

    def _rows_of(self, value: Any, count: int) -> np.ndarray[Any, Any]:
        """The rows of a value, as the library reads them."""
        wanted = numpy_dtype(self._dtype)
        if hasattr(value, "detach"):
            value = value.detach().cpu()
            if self._dtype == "bfloat16":
                import torch

                value = value.to(torch.bfloat16).view(torch.int16)
            array = np.asarray(value.numpy())
            array = array.view(np.uint16) if self._dtype == "bfloat16" else array
        else:
            array = np.asarray(value)
        # Python's own whole numbers have no type: what they are worth says whether they fit.
        if not hasattr(value, "dtype") and array.dtype.kind in "biu" and wanted.kind in "iu":
            fits = array.astype(wanted)
            if not np.array_equal(fits, array):
                raise TypeError(f"tensor {self._name!r}: a value does not fit {wanted}")
            array = fits
        elif array.size and not np.can_cast(array.dtype, wanted, "same_kind"):
            raise TypeError(f"tensor {self._name!r}: rows of {array.dtype} do not fit {wanted}")
        try:
            array = np.broadcast_to(array, (count, *self._row))
        except ValueError:
            raise errors.Mismatch(
                f"tensor {self._name!r}: rows of shape {array.shape} for {(count, *self._row)}"
            ) from None
        return np.ascontiguousarray(array, dtype=wanted)

    def count_nonzero(self) -> int:
        """Elements that are not 0, in all rows."""
        count = 0
        for first in range(0, len(self), self._window):
            ids = np.arange(first, min(first + self._window, len(self)), dtype=np.int64)
            count += int((self.fetch(ids) != 0).sum())
        return count

    def __or__(self, other: DistTensor) -> DistTensor:
        """A tensor without a name of all elements' bits or truths of two; all ranks make it."""
        starts = iter(itertools.accumulate(self._part_sizes(), initial=0))

        def init(shape: tuple[int, ...], _: Any) -> Any:
            first = next(starts)
            ids = np.arange(first, first + shape[0], dtype=np.int64)
            return self.fetch(ids) | other.fetch(ids)

        return DistTensor(self.shape, self.dtype, None, self.part_policy, init, graph=self._graph)

    def _part_sizes(self) -> list[int]:
        book = self._graph.get_partition_book()
        return [len(book.node_range(p, self.ntype)) for p in range(book.num_partitions())]

    def delete(self, timeout: float | None = None) -> None:
        """Frees the rows at their owners, whoever else uses the tensor."""
        pointer = opened(self._pointer, f"tensor {self._name!r}")
        self._graph.session.waiter.call(lib.tr_dist_tensor_drop, pointer, deadline(timeout))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        rows = np.asarray(self[:])
        return rows if dtype is None else rows.astype(dtype)

    def __reduce__(self) -> tuple[Any, ...]:
        policy = self.part_policy
        return _attached, (self.shape, self._dtype, self._name, policy, self._graph)

    def __repr__(self) -> str:
        return f"DistTensor({self.ntype}/{self._name}, shape={self.shape}, dtype={self._dtype})"


def _delete_and_close(pointer: Any) -> None:
    """The end of a tensor that is not to stay: it may come on any thread, and raises nothing."""
    lib.tr_dist_tensor_drop(pointer, deadline(DELETE_SECONDS), error_struct())
    lib.tr_dist_tensor_close(pointer)


def _attached(shape: Any, dtype: str, name: str, policy: str, graph: DistGraph) -> DistTensor:
    return DistTensor(shape, dtype, name, policy, graph=graph, attach=True)
