# SPDX-License-Identifier: Apache-2.0
"""States as safetensors files, and what is none."""

from __future__ import annotations

import json
import struct
from collections import OrderedDict
from typing import Any

import numpy as np
import pytest

from troupe import errors

torch = pytest.importorskip("torch")

from troupe import safetensors, state_tree  # noqa: E402


def packed(tree: Any) -> bytes:
    tensors: dict[str, Any] = {}
    structure = state_tree.flatten(tree, "x", tensors)
    return safetensors.dump(tensors, {"structure": json.dumps(structure)})


def unpacked(content: bytes) -> Any:
    tensors, metadata = safetensors.load(content, "the file")
    return state_tree.unflatten(json.loads(metadata["structure"]), tensors, "the file")


def test_tensors_of_every_kind_come_back() -> None:
    made = torch.arange(12).reshape(3, 4)
    for name in safetensors.DTYPES.values():
        tensor = made.to(getattr(torch, name))
        for shape in (tensor, tensor.t(), tensor[0, 0], tensor[:0], tensor[:, 1:3]):
            (back,) = safetensors.load(safetensors.dump({"a": shape}, {}), "f")[0].values()
            assert back.dtype == shape.dtype and back.shape == shape.shape
            assert torch.equal(back, shape)


def test_a_tree_comes_back_as_it_was() -> None:
    tree = {
        "lr": 0.1 + 0.2,
        "big": 1 << 70,
        "inf": float("inf"),
        "name": "ünï",
        "none": None,
        "flags": [True, False],
        "betas": (0.9, 0.999),
        "numpy": np.float64(0.5),
        "state": {0: {"exp": torch.ones(2)}, "0": {"exp": torch.zeros(2)}},
        "empty": {},
    }
    back = unpacked(packed(tree))
    assert torch.equal(back["state"][0]["exp"], torch.ones(2))
    assert torch.equal(back["state"]["0"]["exp"], torch.zeros(2))
    for plain in (tree, back):
        del plain["state"]
    assert back == tree and type(back["betas"]) is tuple and back["flags"][0] is True
    assert unpacked(packed(OrderedDict(a=1))) == {"a": 1}


def test_an_optimiser_comes_back() -> None:
    layer = torch.nn.Linear(3, 2)
    optimizer = torch.optim.Adam(layer.parameters(), lr=0.1)
    layer(torch.ones(1, 3)).sum().backward()
    optimizer.step()
    other = torch.optim.Adam(layer.parameters(), lr=0.5)
    other.load_state_dict(unpacked(packed(optimizer.state_dict())))
    assert other.param_groups[0]["lr"] == 0.1 and other.param_groups[0]["betas"] == (0.9, 0.999)
    for one, two in zip(optimizer.state.values(), other.state.values(), strict=True):
        assert all(torch.equal(one[name], two[name]) for name in one)


def test_what_cannot_be_stored_is_refused_by_its_path() -> None:
    with pytest.raises(errors.Unsupported, match=r"x\.a\.1: a object"):
        packed({"a": [1, object()]})
    with pytest.raises(errors.Unsupported, match=r"x\.a: a tensor of torch\.complex64"):
        packed({"a": torch.ones(1, dtype=torch.complex64)})
    with pytest.raises(errors.Unsupported, match="x: a key of type tuple"):
        packed({(1, 2): 3})


def with_head(head: Any, data: bytes = b"") -> bytes:
    text = head if isinstance(head, bytes) else json.dumps(head).encode()
    return struct.pack("<Q", len(text)) + text + data


ONE = {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"1234567",
        struct.pack("<Q", 1 << 63),
        struct.pack("<Q", 100) + b"{}",
        with_head(b"{"),
        with_head(b"[" * 100000),
        with_head([]),
        with_head({"__metadata__": {"a": 1}}),
        with_head({"a": 1}),
        with_head({"a": {}}),
        with_head({"a": ONE}),
        with_head({"a": {**ONE, "dtype": "F33"}}, bytes(4)),
        with_head({"a": {**ONE, "dtype": ["F32"]}}, bytes(4)),
        with_head({"a": {**ONE, "shape": 1}}, bytes(4)),
        with_head({"a": {**ONE, "shape": [2]}}, bytes(4)),
        with_head({"a": {**ONE, "shape": [-1, -1]}}, bytes(4)),
        with_head({"a": {**ONE, "shape": [True]}}, bytes(4)),
        with_head({"a": {**ONE, "shape": [1 << 62, 4]}}, bytes(4)),
        with_head({"a": {**ONE, "data_offsets": [4, 0]}}, bytes(4)),
        with_head({"a": {**ONE, "data_offsets": [-4, 0]}}, bytes(4)),
        with_head({"a": {**ONE, "data_offsets": [0]}}, bytes(4)),
    ],
)
def test_garbage_is_refused(content: bytes) -> None:
    with pytest.raises(errors.BadFormat, match="the file"):
        safetensors.load(content, "the file")


@pytest.mark.parametrize(
    "tree",
    [[], {"d": 1}, {"d": [[1]]}, {"d": [[[], 1]]}, {"x": "b"}, {"x": []}, {"q": []}, {"l": [{}]}],
)
def test_a_structure_that_is_none_is_refused(tree: Any) -> None:
    with pytest.raises(errors.BadFormat, match="the file"):
        state_tree.unflatten(tree, {"a": 1}, "the file")
