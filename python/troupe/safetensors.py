# SPDX-License-Identifier: Apache-2.0
"""The safetensors format, of tensors of PyTorch, written down from its description.

A file is the length of its head (8 bytes, little-endian), the head (JSON: for each tensor its
dtype, shape and place, and a mapping of texts as ``__metadata__``), and the tensors' bytes one
after the other. Nothing in it is run when it is read.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from typing import Any

from . import errors

# The head of more tensors than any model has.
HEAD_BYTES_MAX = 100_000_000
ALIGNMENT = 8
DTYPES = {
    "F64": "float64",
    "F32": "float32",
    "F16": "float16",
    "BF16": "bfloat16",
    "I64": "int64",
    "I32": "int32",
    "I16": "int16",
    "I8": "int8",
    "U8": "uint8",
    "BOOL": "bool",
}


def _bytes_of(name: str, tensor: Any) -> tuple[str, bytes]:
    import torch

    names = {getattr(torch, ours): theirs for theirs, ours in DTYPES.items()}
    if tensor.layout is not torch.strided or tensor.dtype not in names:
        raise errors.Unsupported(
            f"{name}: a tensor of {tensor.dtype}, {tensor.layout} cannot be stored"
        )
    flat = tensor.detach().cpu().contiguous().reshape(-1)
    content = flat.view(torch.uint8).numpy().tobytes() if flat.numel() else b""
    return names[tensor.dtype], content


def dump(tensors: Mapping[str, Any], metadata: Mapping[str, str]) -> bytes:
    """The bytes of a file with these tensors (of any device) and texts."""
    head: dict[str, Any] = {"__metadata__": dict(metadata)}
    pieces, at = [], 0
    for name, tensor in tensors.items():
        dtype, content = _bytes_of(name, tensor)
        places = [at, at + len(content)]
        head[name] = {"dtype": dtype, "shape": list(tensor.shape), "data_offsets": places}
        pieces.append(content)
        at += len(content)
    text = json.dumps(head, separators=(",", ":")).encode()
    text += b" " * (-len(text) % ALIGNMENT)
    return b"".join((struct.pack("<Q", len(text)), text, *pieces))


def _read_head(content: bytes, what: str) -> tuple[dict[str, Any], int]:
    if len(content) < 8:
        raise errors.BadFormat(f"{what}: {len(content)} bytes are not a safetensors file")
    (length,) = struct.unpack_from("<Q", content)
    if length > min(HEAD_BYTES_MAX, len(content) - 8):
        raise errors.BadFormat(f"{what}: its head has {length} bytes, which are not there")
    try:
        head = json.loads(content[8 : 8 + length])
    except (ValueError, RecursionError) as error:
        raise errors.BadFormat(f"{what}: its head is not JSON: {error}") from None
    if not isinstance(head, dict):
        raise errors.BadFormat(f"{what}: its head is not a JSON object")
    return head, 8 + length


def _read_tensor(content: bytearray, begin: int, name: str, entry: Any, what: str) -> Any:
    import torch

    bad = errors.BadFormat(f"{what}: tensor {name!r}: its dtype, shape or place is none")
    try:
        dtype = getattr(torch, DTYPES[entry["dtype"]])
        shape = entry["shape"]
        first, end = entry["data_offsets"]
    except (KeyError, TypeError, ValueError):
        raise bad from None
    numbers = [*shape, first, end] if isinstance(shape, list) else [-1]
    if any(type(number) is not int or number < 0 for number in numbers):
        raise bad
    count = 1
    for size in shape:
        count *= size
    width = torch.empty(0, dtype=dtype).element_size()
    if end - first != count * width or begin + end > len(content):
        raise bad
    if count == 0:
        return torch.empty(shape, dtype=dtype)
    # A copy, so that it is aligned and no tensor keeps the bytes of all.
    flat = torch.frombuffer(content, dtype=torch.uint8, count=end - first, offset=begin + first)
    return flat.clone().view(dtype).reshape(shape)


def load(content: bytes, what: str) -> tuple[dict[str, Any], dict[str, str]]:
    """The tensors and texts of a file's bytes.

    Raises
    ------
    BadFormat
        Names `what` and the tensor.
    """
    head, begin = _read_head(content, what)
    metadata = head.pop("__metadata__", {})
    if not isinstance(metadata, dict) or any(type(v) is not str for v in metadata.values()):
        raise errors.BadFormat(f"{what}: its __metadata__ is not a mapping of texts")
    buffer = bytearray(content)
    tensors = {n: _read_tensor(buffer, begin, n, entry, what) for n, entry in head.items()}
    return tensors, metadata
