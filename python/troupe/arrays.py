# SPDX-License-Identifier: Apache-2.0
"""IDs as users write them, and memory of the library as arrays of NumPy or PyTorch.

IDs are int64 and positions in a block int32 everywhere in Python, since PyTorch computes with no
unsigned ones; the library's own are unsigned, and stay below those bounds.

PyTorch is imported by the first tensor that is asked for, and never linked.
"""

from __future__ import annotations

import operator
from typing import Any, Literal

import numpy as np

from . import _core, errors
from .binding import ffi

Tensors = Literal["numpy", "torch"]
Ids = np.ndarray[Any, np.dtype[np.int64]]

# Names of element types by the library's numbers (TR_DTYPES of troupe/types.h).
DTYPES = (
    "float32",
    "float16",
    "bfloat16",
    "float64",
    "int8",
    "uint8",
    "int16",
    "int32",
    "int64",
    "bool",
)


def numpy_dtype(name: str) -> np.dtype[Any]:
    """NumPy's type of that name; bfloat16, which it has not, comes as its 16 bits."""
    return np.dtype("uint16" if name == "bfloat16" else name)


def check_tensors(tensors: str) -> Tensors:
    """Refuses what is neither "numpy" nor "torch"."""
    if tensors not in ("numpy", "torch"):
        raise ValueError(f'tensors={tensors!r}: give "numpy" or "torch"')
    return "torch" if tensors == "torch" else "numpy"


def tensor_of(view: _core.View, tensors: Tensors) -> Any:
    """A view's memory as an array or a tensor, without a copy; it keeps the memory alive."""
    if tensors == "numpy":
        return np.asarray(view)
    import torch

    shape = view.shape
    if 0 in shape:
        return torch.empty(shape, dtype=getattr(torch, view.dtype))
    # The capsule without a version, which every PyTorch takes, whatever it thinks of read-only
    # memory.
    tensor = torch.utils.dlpack.from_dlpack(view.__dlpack__())
    return tensor.view(torch.bool) if view.dtype == "bool" else tensor


def rows_into(count: int, dtype: str, shape: tuple[int, ...], tensors: Tensors) -> tuple[Any, int]:
    """New rows for the library to fill: the array or tensor, and its address."""
    if tensors == "numpy":
        rows = np.empty((count, *shape), dtype=numpy_dtype(dtype))
        return rows, int(rows.ctypes.data)
    import torch

    made = torch.empty((count, *shape), dtype=getattr(torch, dtype))
    return made, int(made.data_ptr())


def id_tensor(ids: Ids, tensors: Tensors) -> Any:
    """IDs that Python made, as an array or a tensor over the same memory."""
    if tensors == "numpy":
        return ids
    import torch

    return torch.from_numpy(ids)


def _as_numpy(index: Any) -> np.ndarray[Any, Any]:
    """A list, an array or a tensor as NumPy sees it, without a copy where there is one."""
    if isinstance(index, np.ndarray):
        return index
    detached = getattr(index, "detach", None)
    if detached is not None:  # a tensor, maybe of another device
        return np.asarray(detached().cpu().numpy())
    if hasattr(index, "__array__"):
        return np.asarray(index)
    if hasattr(index, "__dlpack__"):
        return np.from_dlpack(index)
    return np.asarray(index if isinstance(index, (list, tuple)) else list(index))


def ids_of(index: Any, count: int, what: str) -> Ids:
    """The IDs that an index names, as a contiguous array of int64.

    Parameters
    ----------
    index : array, tensor, list, range, slice or int
        Whole numbers in [0, count), in any order, repeats allowed; may be empty.
    count : int
        How many there are.
    what : str
        What they name, for messages: "node of type 'paper'".

    Raises
    ------
    TypeError
        The index is of booleans, or of numbers with fractions.
    OutOfRange
        An ID is negative or too large; the message names it.
    """
    if isinstance(index, slice):
        return np.arange(*index.indices(count), dtype=np.int64)
    if isinstance(index, range):
        if len(index):
            _check_bounds(min(index[0], index[-1]), max(index[0], index[-1]), count, what)
        return np.arange(index.start, index.stop, index.step, dtype=np.int64)
    if not hasattr(index, "__len__") and not hasattr(index, "shape"):
        try:
            index = [operator.index(index)]
        except TypeError:
            index = list(index)
    array = _as_numpy(index)
    if array.dtype.kind == "b":
        raise TypeError(
            f"{what}: the index is an array of booleans, which are a mask, not a list of IDs; "
            "give numpy.flatnonzero(mask), or use node_split()"
        )
    if array.size == 0:
        return np.empty(0, dtype=np.int64)
    if array.dtype.kind not in "iu":
        raise TypeError(f"{what}: IDs are whole numbers, not {array.dtype}")
    if array.ndim > 1:
        raise TypeError(f"{what}: IDs are a list, not an array of {array.ndim} dimensions")
    array = array.reshape(-1)
    _check_bounds(int(array.min()), int(array.max()), count, what)
    return np.ascontiguousarray(array, dtype=np.int64)


def _check_bounds(least: int, most: int, count: int, what: str) -> None:
    if least < 0:
        raise errors.OutOfRange(f"{what}: {least} is negative; IDs are 0 .. {count - 1}")
    if most >= count:
        raise errors.OutOfRange(f"{what}: there is no {most}; there are {count}, from 0")


def id_pointer(ids: Ids) -> Any:
    """The library's pointer to IDs, as long as the array lives."""
    return ffi.cast("uint64_t *", ids.ctypes.data)


def pointer_to(number: int, kind: str = "void *") -> Any:
    """The library's pointer to an address."""
    return ffi.cast(kind, number)
