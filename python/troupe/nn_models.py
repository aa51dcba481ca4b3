# SPDX-License-Identifier: Apache-2.0
"""The models of ``troupe train`` as modules, read from the folders of runs and written to them."""

from __future__ import annotations

import json
import os
import shutil
import struct
import tempfile
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from . import errors
from .activation import relu_dropout
from .batch import Block
from .nn_columns import FeatureColumns
from .nn_layers import GraphConv, SAGEConv
from .nn_typed_models import EPS, TypedModel, check_shape, typed_shape

AnyPath = str | os.PathLike[str]
# Where each array of a layer lies in a run's file and in the module, of each kind and norm.
_SAGE = {"self.weight": "conv.fc_self.weight", "neigh.weight": "conv.fc_neigh.weight"}
_BIAS = {"sage": "conv.fc_self.bias", "gcn": "conv.bias"}
_RUNNING = {
    "norm.running_mean": "norm.running_mean",
    "norm.running_var": "norm.running_var",
    "norm.steps": "norm.num_batches_tracked",
}
# What config.json of a run has, where a program gives nothing else; as `troupe train` by default.
_MODEL_DEFAULTS: dict[str, Any] = {
    "seed": 0,
    "loss": "softmax",
    "metric": "accuracy",
    "optimiser": "adam",
    "lr": 0.01,
    "l2": 0.0,
    "weight_decay": 0.0,
    "momentum": 0.0,
    "beta1": 0.9,
    "beta2": 0.999,
    "eps": 1e-8,
    "schedule": "constant",
    "warmup_epochs": 0,
    "step_epochs": 1,
    "step_gamma": 1.0,
    "cosine_floor": 0.0,
    "epochs": 0,
}
_RUN_DEFAULTS: dict[str, Any] = {
    "batch_size": 1024,
    "replace": False,
    "drop_last": False,
    "balanced_weights": False,
    "evaluation": "exact",
    "evaluate_every": 1,
    "patience": 0,
    "features": "feat",
    "labels": "label",
    "train_mask": "train_mask",
    "val_mask": "val_mask",
    "test_mask": "test_mask",
}


class ModelLayer(nn.Module):
    """A layer of a `Model`: the convolution, what is added and done to its rows, and dropout."""

    def __init__(
        self, kind: str, width: int, out: int, last: bool, norm: str, residual: bool, dropout: float
    ) -> None:
        super().__init__()
        norm = "none" if last else norm
        bias = norm == "none"  # else it stands behind the normalisation
        self.conv: nn.Module = (
            SAGEConv(width, out, bias=bias)
            if kind == "sage"
            else GraphConv(width, out, norm="graph", bias=bias)
        )
        self.norm: nn.Module | None = None
        if not bias:
            self.norm = (nn.LayerNorm if norm == "layer" else nn.BatchNorm1d)(out, eps=EPS)
        self.residual, self.last, self.dropout = residual and not last, last, dropout

    def forward(self, block: Block, rows: torch.Tensor) -> torch.Tensor:
        """The destinations' new rows."""
        # Of edges that were drawn by weights the mean is of what they stand for; GraphConv knows.
        drawn = (block.edge_counts(),) if isinstance(self.conv, SAGEConv) else ()
        out: torch.Tensor = self.conv(block, rows, *drawn)
        if self.residual:
            out = out + rows[: len(out)]
        if self.norm is not None:
            out = self.norm(out)
        if self.last:
            return out
        return relu_dropout(out, self.dropout, self.training)


class Model(FeatureColumns):
    """GraphSAGE or GCN as ``troupe train`` has them.

    Parameters
    ----------
    kind : "sage" or "gcn"
        The second needs batches with degrees (``degrees=True``).
    inputs, hidden, classes : int
        Widths of features, of hidden layers and of what comes out.
    layers : int
    dropout, input_dropout : float
        Behind hidden layers, and of features.
    norm : "none", "layer" or "batch"
        Of hidden layers, before relu.
    residual : bool
        Hidden layers behind the first add their input.
    normalise : bool
        Divide each row of features by the sum of its magnitudes.
    standardise : bool
        Shift and scale the columns of features as the buffers ``mean`` and ``factor`` say.
    logarithms : bool
        Before, with ``standardise``, take ``sign(u) log(1 + |u|)`` of ``u = (x - centre) / unit``
        of the columns whose ``unit`` is not 0, as the buffers ``log_centre`` and ``log_unit`` say.

    Attributes
    ----------
    config : dict
        What config.json says of the run that it came from; else empty.
    """

    def __init__(
        self,
        kind: str,
        inputs: int,
        hidden: int,
        classes: int,
        layers: int,
        *,
        dropout: float = 0.5,
        input_dropout: float = 0.0,
        norm: str = "none",
        residual: bool = False,
        normalise: bool = False,
        standardise: bool = False,
        logarithms: bool = False,
    ) -> None:
        super().__init__(
            inputs,
            input_dropout=input_dropout,
            normalise=normalise,
            standardise=standardise,
            logarithms=logarithms,
        )
        check_shape(kind, ("sage", "gcn"), norm, layers)
        self.kind, self.inputs, self.hidden, self.classes = kind, inputs, hidden, classes
        self.norm, self.residual = norm, residual
        self.dropout = dropout
        self.config: dict[str, Any] = {}
        widths = [inputs, *[hidden] * (layers - 1), classes]
        self.layers = nn.ModuleList(
            ModelLayer(
                kind, width, out, i + 1 == layers, norm, residual and 0 < i < layers - 1, dropout
            )
            for i, (width, out) in enumerate(pairwise(widths))
        )

    def forward(self, blocks: Sequence[Block], features: torch.Tensor) -> torch.Tensor:
        """What comes out for the seeds, before softmax or sigmoid: ``(num_seeds, classes)``.

        Parameters
        ----------
        blocks : a block a layer.
        features : tensor of shape ``(num_input_nodes, inputs)``
        """
        if len(blocks) != len(self.layers):
            raise ValueError(f"{len(blocks)} blocks for a model of {len(self.layers)} layers")
        rows = self.prepare(features)
        for block, layer in zip(blocks, self.layers, strict=True):
            rows = layer(block, rows)
        return rows


def _places(model: Model | TypedModel) -> dict[str, tuple[tuple[str, ...], bool]]:
    """The arrays of a run's file by their name there: the names in the module of what is stacked in
    it, or of the one that it is, and whether it is the transpose."""
    if isinstance(model, TypedModel):
        return {theirs: (ours, False) for theirs, ours in model.places()}
    found: dict[str, tuple[tuple[str, ...], bool]] = {
        theirs: ((ours,), False) for theirs, ours in model.column_places()
    }
    for i, layer in enumerate(model.layers):
        assert isinstance(layer, ModelLayer)
        into = {**_SAGE} if model.kind == "sage" else {"weight": "conv.weight"}
        into["bias"] = _BIAS[model.kind] if layer.norm is None else "norm.bias"
        if layer.norm is not None:
            into["norm.weight"] = "norm.weight"
        if isinstance(layer.norm, nn.BatchNorm1d):
            into.update(_RUNNING)
        for theirs, ours in into.items():
            turned = theirs == "weight"  # GraphConv's lies as DGL has it
            found[f"layers.{i}.{theirs}"] = ((f"layers.{i}.{ours}",), turned)
    return found


def _read_arrays(model: Model | TypedModel, arrays: dict[str, torch.Tensor]) -> None:
    """Takes over the arrays of a run's file."""
    state = model.state_dict()
    for theirs, (ours, turned) in _places(model).items():
        rows = arrays[theirs].t() if turned else arrays[theirs]
        for name, part in zip(ours, rows if len(ours) > 1 else [rows], strict=True):
            state[name] = part.reshape(state[name].shape).to(state[name].dtype)
    model.load_state_dict(state)


def load(run: Any) -> Model | TypedModel:
    """The model of a run's folder, as ``troupe train`` or `save` left it; to infer, as it is.

    Parameters
    ----------
    run : path of the folder, or a `troupe.training.Run`.

    Returns
    -------
    Model or TypedModel
        The second of rgcn and gat. Not training: call ``train()`` to go on. Its outputs are those
        of ``troupe infer`` but for the rounding of other matrix products: within 1e-5 of the
        largest.
    """
    from .training import SavedModel

    path = os.fspath(getattr(run, "path", run))
    saved = SavedModel(path, tensors="torch")
    info = saved.info
    if info.edge_weight:
        raise errors.Unsupported(
            f"{path}: the model weighs edges by {info.edge_weight!r}, which batches in Python do "
            "not have yet"
        )
    config = json.loads((Path(path) / "config.json").read_text())["run"]
    arrays = saved.state_dict()
    options: dict[str, Any] = {
        "dropout": config["model"]["dropout"],
        "input_dropout": config["model"]["input_dropout"],
        "norm": info.norm,
        "residual": info.residual,
        "normalise": info.normalise,
        "standardise": info.standardise,
        "logarithms": info.logarithms,
    }
    sizes = {"hidden": info.hidden, "classes": info.classes, "layers": info.layers}
    model: Model | TypedModel
    if info.kind in ("rgcn", "gat"):
        shape = typed_shape(arrays, config.get("label_type"))
        # config.json has the heads where there are several.
        shape.update(bases=info.bases, heads=max(info.heads, 1))
        model = TypedModel(info.kind, **shape, **sizes, **options)
    else:
        model = Model(info.kind, info.inputs, **sizes, **options)
    model.config = config
    _read_arrays(model, arrays)
    return model.eval()


def save(model: Model | TypedModel, run: AnyPath, *, replace: bool = False, **config: Any) -> None:
    """Writes a model as the folder of a run, which ``troupe infer`` reads; whole or not at all.

    Parameters
    ----------
    model : Model or TypedModel
    run : path of the folder.
    replace : bool
        The folder that is there; else `errors.AlreadyExists`.
    **config : fields of config.json, over those that the model was loaded with:
        ``fanout=`` (a list; else 10 a layer), ``features=``, ``labels=``, ``train_mask=``,
        ``val_mask=``, ``test_mask=``, ``loss=`` ("softmax" or "sigmoid"), ``metric=``, ...
    """
    path = Path(run)
    if path.exists() and not replace:
        raise errors.AlreadyExists(f"{path} is there already; give replace=True, or another folder")
    path.parent.mkdir(parents=True, exist_ok=True)
    aside = Path(tempfile.mkdtemp(prefix=f".{path.name}.", dir=path.parent))
    try:
        text = json.dumps({"run": _config_of(model, config)}, indent=2)
        _write(aside / "config.json", text.encode() + b"\n")
        _write(aside / "metrics.jsonl", b"")
        _write(aside / "model.safetensors", _safetensors(model))
        aside.chmod(0o755)
        if path.exists():
            shutil.rmtree(path)
        aside.rename(path)
    except BaseException:
        shutil.rmtree(aside, ignore_errors=True)
        raise


def _write(path: Path, content: bytes) -> None:
    with path.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _config_of(model: Model | TypedModel, given: dict[str, Any]) -> dict[str, Any]:
    whole = {**_RUN_DEFAULTS, **model.config}
    inside = {**_MODEL_DEFAULTS, **whole.get("model", {})}
    layers = len(model.layers)
    whole.setdefault("fanout", [10] * layers)
    for name, value in given.items():
        (inside if name in _MODEL_DEFAULTS else whole)[name] = value
    unknown = [n for n in given if n not in {*_RUN_DEFAULTS, *_MODEL_DEFAULTS, "fanout"}]
    if unknown:
        raise TypeError(f"config.json of a run has no {', '.join(map(repr, unknown))}")
    inside.update(
        kind=model.kind,
        layers=layers,
        inputs=model.inputs,
        hidden=model.hidden,
        classes=model.classes,
        dropout=float(model.dropout),
        input_dropout=float(model.input_dropout),
        normalise=model.normalise,
    )
    extra: dict[str, Any] = {
        "residual": model.residual,
        "standardise": model.standardise,
        "logarithms": model.logarithms,
    }
    if isinstance(model, TypedModel):
        extra.update(bases=model.bases, heads=model.heads if model.heads > 1 else 0)
        whole["label_type"] = model.target
    inside = {k: v for k, v in inside.items() if k not in (*extra, "norm")}
    inside.update({name: value for name, value in extra.items() if value})
    if model.norm != "none":
        inside["norm"] = model.norm
    whole["model"] = inside
    return whole


def _safetensors(model: Model | TypedModel) -> bytes:
    """A header of JSON behind its length, then the arrays, float32 each, in the header's order; the
    bytes that the library writes."""
    state, rows = model.state_dict(), []
    header: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    begin = 0
    for theirs, (ours, turned) in sorted(_places(model).items()):
        parts = [state[name].detach().cpu().float() for name in ours]
        tensor = torch.cat(parts) if len(parts) > 1 else parts[0]
        array = np.ascontiguousarray((tensor.t() if turned else tensor).numpy())
        shape = array.shape or (1,)
        header[theirs] = {
            "dtype": "F32",
            "shape": list(shape),
            "data_offsets": [begin, begin + array.nbytes],
        }
        begin += array.nbytes
        rows.append(array.tobytes())
    text = json.dumps(header, separators=(",", ":"), sort_keys=True).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + b"".join(rows)
