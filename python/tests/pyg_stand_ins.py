# SPDX-License-Identifier: Apache-2.0
"""Stand-ins for the classes of PyG, which need not be installed where the tests run."""

from __future__ import annotations

import gc
import sys
import threading
import types
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from typing import Any, NamedTuple

import pytest

import troupe


class Data(dict):
    """What the data of PyG are to those who fill them."""

    def __missing__(self, name: object) -> Data:
        return self.setdefault(name, Data())

    __getattr__ = dict.__getitem__
    __setattr__ = dict.__setitem__
    __delattr__ = dict.__delitem__


class HeteroData(Data):
    """Data of several types."""


class Base:
    """A class of PyG's that ours derives from."""


class Attr:
    """A description of a tensor or of edges, by its fields."""

    def __init__(self, *fields: Any, **named: Any) -> None:
        self.group_name, self.attr_name = self.edge_type, self.layout = fields[:2]
        self.index = fields[2] if len(fields) > 2 else None
        self.__dict__.update(named)


class Output:
    """What a sampler gives."""

    def __init__(self, node: Any, row: Any, col: Any, edge: Any, **named: Any) -> None:
        self.node, self.row, self.col, self.edge = node, row, col, edge
        self.__dict__.update(named)


class Input(NamedTuple):
    """Seeds as PyG's loaders give them to samplers."""

    input_id: Any
    node: Any
    time: Any = None
    input_type: Any = None


def forget() -> None:
    for name in [n for n in sys.modules if n.startswith("troupe.pyg.") or n == "troupe.pyg"]:
        del sys.modules[name]
    vars(troupe).pop("pyg", None)


def end_draws() -> None:
    """Ends the threads of loaders, and waits for what those that were left early still make.

    They take these classes: where they looked for them later, they would import PyG's own into the
    next test.
    """
    pools = [one for one in gc.get_objects() if type(one) is ThreadPoolExecutor]
    for pool in pools:
        if pool._thread_name_prefix in ("troupe-draws", "troupe-pyg"):
            pool.shutdown(cancel_futures=True)
    for thread in threading.enumerate():
        if thread.name.startswith(("troupe-draws", "troupe-pyg")):
            thread.join(60)


def installed(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """troupe.pyg over these classes."""
    from torch.utils.data import DataLoader

    # PyG's loaders are PyTorch's.
    links = type("LinkLoader", (DataLoader,), {})
    parts = {
        "torch_geometric": {},
        "torch_geometric.data": {
            "Data": Data,
            "HeteroData": HeteroData,
            "FeatureStore": Base,
            "GraphStore": Base,
            "TensorAttr": Attr,
        },
        "torch_geometric.data.graph_store": {
            "EdgeAttr": Attr,
            "EdgeLayout": types.SimpleNamespace(CSC="csc"),
        },
        "torch_geometric.loader": {
            "NeighborLoader": type("NeighborLoader", (DataLoader,), {}),
            "LinkLoader": links,
            "LinkNeighborLoader": type("LinkNeighborLoader", (links,), {}),
        },
        "torch_geometric.sampler": {
            "BaseSampler": Base,
            "SamplerOutput": Output,
            "HeteroSamplerOutput": Output,
        },
    }
    for name, values in parts.items():
        module = types.ModuleType(name)
        vars(module).update(values)
        monkeypatch.setitem(sys.modules, name, module)
    forget()
    yield import_module("troupe.pyg")
    end_draws()
    forget()


def same(one: Any, two: Any) -> bool:
    """Whether two batches are equal, array by array."""
    import torch

    keys = one.keys() == two.keys()
    return keys and all(
        torch.equal(one[k], two[k]) if isinstance(one[k], torch.Tensor) else one[k] == two[k]
        for k in one
    )
