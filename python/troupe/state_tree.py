# SPDX-License-Identifier: Apache-2.0
"""State dicts (of models, optimisers, loaders) as tensors by name and JSON for all else.

A mapping becomes ``{"d": [[key, value], ...]}``, a list ``{"l": [...]}``, a tuple ``{"t": [...]}``,
a tensor ``{"x": name}``; texts, numbers, truth values and None stand for themselves. What is none
of these is refused by its path: nothing is ever pickled.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from . import errors

SCALARS = (bool, int, float, str, type(None))


def flatten(tree: Any, path: str, tensors: dict[str, Any]) -> Any:
    """The JSON of a tree; its tensors are added to `tensors`, by their paths."""
    if isinstance(tree, SCALARS):
        return tree
    if isinstance(tree, Mapping):
        for key in tree:
            if not isinstance(key, SCALARS):
                raise errors.Unsupported(
                    f"{path}: a key of type {type(key).__name__} cannot be stored"
                )
        pairs = [[key, flatten(tree[key], f"{path}.{key}", tensors)] for key in tree]
        return {"d": pairs}
    if isinstance(tree, (list, tuple)):
        values = [flatten(value, f"{path}.{i}", tensors) for i, value in enumerate(tree)]
        return {"l" if isinstance(tree, list) else "t": values}
    if hasattr(tree, "detach") and hasattr(tree, "layout"):
        name = path
        while name in tensors:  # keys 0 and "0" have one path
            name += "'"
        tensors[name] = tree
        return {"x": name}
    if hasattr(tree, "item") and getattr(tree, "shape", None) == ():
        return flatten(tree.item(), path, tensors)  # a number of NumPy
    raise errors.Unsupported(
        f"{path}: a {type(tree).__name__} cannot be stored; tensors, texts, numbers, lists and "
        "mappings can"
    )


def unflatten(tree: Any, tensors: Mapping[str, Any], what: str) -> Any:
    """The inverse of `flatten`."""
    if isinstance(tree, SCALARS):
        return tree
    bad = errors.BadFormat(f"{what}: its structure is none of a state")
    if not isinstance(tree, dict) or len(tree) != 1:
        raise bad
    ((kind, content),) = tree.items()
    if kind == "x" and isinstance(content, str) and content in tensors:
        return tensors[content]
    if kind not in ("d", "l", "t") or not isinstance(content, list):
        raise bad
    if kind == "d":
        if any(not isinstance(p, list) or len(p) != 2 for p in content):
            raise bad
        if any(not isinstance(key, SCALARS) for key, _ in content):
            raise bad
        return {key: unflatten(value, tensors, what) for key, value in content}
    values = [unflatten(value, tensors, what) for value in content]
    return values if kind == "l" else tuple(values)
