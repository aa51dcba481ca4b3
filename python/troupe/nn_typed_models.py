# SPDX-License-Identifier: Apache-2.0
"""R-GCN and graph attention over several node types, as ``troupe train`` has them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import torch
from torch import nn
from torch.nn import functional

from . import errors
from .activation import relu_dropout
from .batch import Block
from .nn_columns import FeatureColumns
from .nn_hetero import HeteroGraphConv, module_key
from .nn_layers import GATConv, _glorot
from .nn_relations import CanonicalEtype, RelGraphConv, etype_key

NORMS = ("none", "layer", "batch")
EPS = 1e-5
TypedRows = Mapping[str, torch.Tensor]


def check_shape(kind: str, kinds: tuple[str, str], norm: str, layers: int) -> None:
    """Whether there are models of that shape, which are of one of two kinds."""
    if kind in kinds and norm in NORMS and layers >= 1:
        return
    raise ValueError(
        f"kind={kind!r}, norm={norm!r}, layers={layers}: the kind is {kinds[0]!r} or {kinds[1]!r}, "
        f"the norm one of {', '.join(map(repr, NORMS))}, and there is a layer at least"
    )


class RelationAttention(nn.Module):
    """A node's own row times a matrix, and attention along each edge type: the layer of gat.

    Where nodes attend to themselves, in a graph of one edge type, they have no such matrix.
    """

    def __init__(
        self,
        widths: Mapping[str, int],
        out_feat: int,
        etypes: Sequence[CanonicalEtype],
        ntypes: Sequence[str],
        heads: int,
        last: bool,
        bias: bool,
        to_self: bool,
    ) -> None:
        super().__init__()
        self.ntypes, self.etypes, self.last = list(ntypes), list(etypes), last
        width = out_feat if last else out_feat // heads
        self.conv = HeteroGraphConv(
            {
                etype: GATConv(
                    _widths_of_ends(widths, etype), width, heads, bias=False, self_loop=to_self
                )
                for etype in etypes
            }
        )
        self.loop_weight, self.bias = nn.ParameterDict(), nn.ParameterDict()
        for ntype in self.ntypes:
            if not to_self:
                weight = nn.Parameter(torch.empty(out_feat, widths[ntype]))
                _glorot(weight)
                self.loop_weight[module_key(ntype)] = weight
            if bias:
                self.bias[module_key(ntype)] = nn.Parameter(torch.zeros(out_feat))

    def forward(self, block: Block, rows: TypedRows) -> dict[str, torch.Tensor]:
        """The destinations' new rows, by node type."""
        counts = {etype: {"counts": block.edge_counts(etype)} for etype in self.etypes}
        heads = self.conv(block, rows, mod_kwargs=counts)
        found = {}
        for ntype in self.ntypes:
            own = rows[ntype][: block.num_dst_nodes(ntype)]
            out: Any = 0
            if len(self.loop_weight) > 0:
                out = functional.linear(own, self.loop_weight[module_key(ntype)])
            if ntype in heads:
                out = out + (heads[ntype].mean(1) if self.last else heads[ntype].flatten(1))
            found[ntype] = out + self.bias[module_key(ntype)] if len(self.bias) > 0 else out
        return found


def _widths_of_ends(widths: Mapping[str, int], etype: CanonicalEtype) -> int | tuple[int, int]:
    source, _, into = etype
    return widths[source] if source == into else (widths[source], widths[into])


class TypedModelLayer(nn.Module):
    """A layer of a `TypedModel`: what is gathered, what is added and done to it, and dropout."""

    def __init__(
        self,
        conv: RelGraphConv | RelationAttention,
        ntypes: Sequence[str],
        out: int,
        norm: str,
        dropout: float,
    ) -> None:
        super().__init__()
        self.conv: RelGraphConv | RelationAttention = conv
        self.ntypes, self.dropout = list(ntypes), dropout
        kinds = {"layer": nn.LayerNorm, "batch": nn.BatchNorm1d}
        self.norms = nn.ModuleDict(
            {module_key(n): kinds[norm](out, eps=EPS) for n in ntypes if norm != "none"}
        )
        self.residual, self.last = False, False

    def forward(self, block: Block, rows: TypedRows) -> dict[str, torch.Tensor]:
        """The destinations' new rows, by node type."""
        found = {}
        if isinstance(self.conv, RelGraphConv):
            counts = {etype: block.edge_counts(etype) for etype in block.canonical_etypes}
            made = self.conv(block, rows, counts)
        else:
            made = self.conv(block, rows)
        for ntype, out in made.items():
            if self.residual:
                out = out + rows[ntype][: len(out)]
            if len(self.norms) > 0:
                out = self.norms[module_key(ntype)](out)
            found[ntype] = out if self.last else relu_dropout(out, self.dropout, self.training)
        return found


class TypedModel(FeatureColumns):
    """R-GCN or graph attention as ``troupe train`` has them, over any number of types.

    Parameters
    ----------
    kind : "rgcn" or "gat"
    inputs : dict of node types to int
        The widths of features of the types that have some.
    etypes : sequence of ``(source type, relation, destination type)``
        The graph's edge types; those that do not lead to the target are not used.
    target : str
        The node type that is learned.
    hidden, classes, layers : int
        Widths of hidden layers and of what comes out, and the number of layers.
    num_nodes : dict of node types to int, optional
        Of the types without features, whose rows are learned.
    bases : int
        Of "rgcn": matrices that edge types share; 0: each has its own.
    heads : int
        Of "gat": of attention.
    dropout, input_dropout, norm, residual, normalise, standardise, logarithms
        As of `Model`; features are standardised in graphs of one node type alone.

    Attributes
    ----------
    config : dict
        What config.json says of the run that it came from; else empty.
    """

    def __init__(
        self,
        kind: str,
        inputs: Mapping[str, int],
        etypes: Sequence[CanonicalEtype],
        target: str,
        hidden: int,
        classes: int,
        layers: int,
        *,
        num_nodes: Mapping[str, int] | None = None,
        bases: int = 0,
        heads: int = 1,
        dropout: float = 0.5,
        input_dropout: float = 0.0,
        norm: str = "none",
        residual: bool = False,
        normalise: bool = False,
        standardise: bool = False,
        logarithms: bool = False,
    ) -> None:
        super().__init__(
            inputs.get(target, 0),
            input_dropout=input_dropout,
            normalise=normalise,
            standardise=standardise,
            logarithms=logarithms,
        )
        check_shape(kind, ("rgcn", "gat"), norm, layers)
        if kind == "gat" and hidden % heads != 0:
            raise ValueError(f"heads={heads} do not divide hidden={hidden}")
        self.kind, self.target, self.hidden, self.classes = kind, target, hidden, classes
        self.bases, self.heads, self.norm, self.residual = bases, heads, norm, residual
        self.features, self.num_nodes = dict(inputs), dict(num_nodes or {})
        self.inputs, self.dropout = inputs.get(target, 0), dropout
        self.etypes = [(source, relation, into) for source, relation, into in etypes]
        self.config: dict[str, Any] = {}
        needed = _needed(self.etypes, target, layers)
        self.read = needed[0]
        for ntype in self.read:
            if ntype not in self.features and ntype not in self.num_nodes:
                raise ValueError(f"{ntype!r} has neither a width in inputs nor a number of nodes")
        self.one_hot = {
            n: self.num_nodes[n] for n in self.read if kind == "rgcn" and n not in self.features
        }
        self.embeddings = nn.ParameterDict()
        for ntype in self.read:
            if ntype not in self.features and kind == "gat":
                rows = nn.Parameter(torch.empty(self.num_nodes[ntype], hidden))
                nn.init.uniform_(rows, -0.05, 0.05)
                self.embeddings[module_key(ntype)] = rows
        self.layers = nn.ModuleList(
            self._layer(i, needed[i + 1], i + 1 == layers) for i in range(layers)
        )

    def _layer(self, number: int, ntypes: list[str], last: bool) -> TypedModelLayer:
        out = self.classes if last else self.hidden
        norm = "none" if last else self.norm
        etypes = [etype for etype in self.etypes if etype[2] in ntypes]
        first = self.features if number == 0 else {}
        widths = {n: first.get(n, self.hidden) for etype in etypes for n in (etype[0], etype[2])}
        widths.update({n: first.get(n, self.hidden) for n in ntypes})
        conv: RelGraphConv | RelationAttention
        if self.kind == "rgcn":
            conv = RelGraphConv(
                widths,
                out,
                etypes,
                "basis" if self.bases > 0 else None,
                self.bases or None,
                bias=norm == "none",
                ntypes=ntypes,
                one_hot=self.one_hot if number == 0 else {},
            )
        else:
            plain = norm == "none"
            to_self = self.attends_to_self()
            conv = RelationAttention(widths, out, etypes, ntypes, self.heads, last, plain, to_self)
        layer = TypedModelLayer(conv, ntypes, out, norm, self.dropout)
        layer.last, layer.residual = last, self.residual and number > 0 and not last
        return layer

    def attends_to_self(self) -> bool:
        """Whether nodes attend to themselves: with one edge type, from a node type to itself."""
        ends = {end for source, _, into in self.etypes for end in (source, into)}
        return self.kind == "gat" and len(self.etypes) == 1 and len(ends) == 1

    def forward(
        self,
        blocks: Sequence[Block],
        features: TypedRows | torch.Tensor,
        orig_nodes: TypedRows | torch.Tensor | None = None,
    ) -> torch.Tensor:
        """What comes out for the seeds, before softmax or sigmoid: ``(num_seeds, classes)``.

        Parameters
        ----------
        blocks : a block a layer.
        features : dict of node types to tensors of shape ``(num_input_nodes, width)``
            Such as ``batch.features``; of a graph of one node type its tensor alone.
        orig_nodes : dict of node types to tensors of shape ``(num_input_nodes,)``, optional
            ``batch.orig_nodes``: whose learned rows are read, of types without features.
        """
        if len(blocks) != len(self.layers):
            raise ValueError(f"{len(blocks)} blocks for a model of {len(self.layers)} layers")
        rows: TypedRows = self.first_rows(features, orig_nodes)
        for block, layer in zip(blocks, self.layers, strict=True):
            rows = layer(block, rows)
        return rows[self.target]

    def first_rows(
        self,
        features: TypedRows | torch.Tensor,
        orig_nodes: TypedRows | torch.Tensor | None,
    ) -> dict[str, torch.Tensor]:
        """What the first layer reads of each node type: features, learned rows, or IDs."""
        given = {self.target: features} if isinstance(features, torch.Tensor) else features
        ids = {self.target: orig_nodes} if isinstance(orig_nodes, torch.Tensor) else orig_nodes
        found = {}
        for ntype in self.read:
            if ntype in self.features:
                if ntype not in given:
                    raise ValueError(f"no features of {ntype!r}")
                found[ntype] = self.prepare(given[ntype])
                continue
            if ids is None or ntype not in ids:
                raise ValueError(
                    f"orig_nodes: {ntype!r} has no features, and the model a row for each node; "
                    "give batch.orig_nodes"
                )
            found[ntype] = self._rows_of_ids(ntype, ids[ntype])
        return found

    def _rows_of_ids(self, ntype: str, ids: torch.Tensor) -> torch.Tensor:
        if len(ids) > 0 and int(ids.max()) >= self.num_nodes[ntype]:
            raise errors.OutOfRange(
                f"{ntype!r}: node {int(ids.max())} of a model of {self.num_nodes[ntype]} nodes"
            )
        if ntype in self.one_hot:
            return ids
        rows = self.embeddings[module_key(ntype)].index_select(0, ids)
        return functional.dropout(rows, self.input_dropout, self.training)

    def places(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        """The arrays of a run's file: name there, and the names in the module of what is stacked in
        it, or of the one that it is."""
        for theirs, ours in self.column_places():
            yield theirs, (ours,)
        for ntype in self.read:
            if module_key(ntype) in self.embeddings:
                yield f"embeddings.{file_name(ntype)}", (f"embeddings.{module_key(ntype)}",)
        for i, layer in enumerate(self.layers):
            assert isinstance(layer, TypedModelLayer)
            file, ours = f"layers.{i}", f"layers.{i}"
            yield from _places_of_types(layer, file, ours)
            if isinstance(layer.conv, RelGraphConv):
                yield from _places_of_relations(layer.conv, file, f"{ours}.conv")
            else:
                yield from _places_of_attention(layer.conv, file, f"{ours}.conv")


def _needed(etypes: Sequence[CanonicalEtype], target: str, layers: int) -> list[list[str]]:
    """The node types whose rows are read by each layer, and last those that come out."""
    found = [{target}]
    for _ in range(layers):
        above = found[0]
        found.insert(0, above | {source for source, _, into in etypes if into in above})
    return [sorted(ntypes) for ntypes in found]


def file_name(name: str) -> str:
    """A name of a type within the name of an array of a run."""
    return name.replace("%", "%25").replace(".", "%2e")


def type_name(name: str) -> str:
    """The same back."""
    return name.replace("%2e", ".").replace("%25", "%")


Places = Iterator[tuple[str, tuple[str, ...]]]


def _places_of_types(layer: TypedModelLayer, file: str, ours: str) -> Places:
    one_hot = layer.conv.one_hot if isinstance(layer.conv, RelGraphConv) else {}
    for ntype in layer.ntypes:
        key, begin = module_key(ntype), f"{file}.types.{file_name(ntype)}"
        if key in layer.conv.loop_weight:
            form = "rows" if ntype in one_hot else "weight"
            yield f"{begin}.self.{form}", (f"{ours}.conv.loop_weight.{key}",)
        if key not in layer.norms:
            yield f"{begin}.bias", (f"{ours}.conv.bias.{key}",)
            continue
        norm = f"{ours}.norms.{key}"
        yield f"{begin}.bias", (f"{norm}.bias",)
        yield f"{begin}.norm.weight", (f"{norm}.weight",)
        if isinstance(layer.norms[key], nn.BatchNorm1d):
            yield f"{begin}.norm.running_mean", (f"{norm}.running_mean",)
            yield f"{begin}.norm.running_var", (f"{norm}.running_var",)
            yield f"{begin}.norm.steps", (f"{norm}.num_batches_tracked",)


def _places_of_relations(conv: RelGraphConv, file: str, ours: str) -> Places:
    for etype in conv.etypes:
        key, begin = etype_key(etype), f"{file}.relations.{file_name(':'.join(etype))}"
        if conv.num_bases > 0:
            yield f"{begin}.shares", (f"{ours}.shares.{key}",)
        else:
            form = "rows" if etype[0] in conv.one_hot else "weight"
            yield f"{begin}.{form}", (f"{ours}.weight.{key}",)
    for key in conv.bases:
        ntype, colon, form = key.rpartition(":")
        theirs = f"{file_name(_unkeyed(ntype))}.{form}" if colon else key
        yield f"{file}.bases.{theirs}", (f"{ours}.bases.{key}",)


def _unkeyed(key: str) -> str:
    return type_name(key.removesuffix("%"))


def _places_of_attention(conv: RelationAttention, file: str, ours: str) -> Places:
    for etype in conv.etypes:
        begin = f"{file}.relations.{file_name(':'.join(etype))}"
        layer = f"{ours}.conv.mods.{module_key(str(etype))}"
        yield f"{begin}.attention", (f"{layer}.attn_l", f"{layer}.attn_r")
        if etype[0] == etype[2]:
            yield f"{begin}.weight", (f"{layer}.fc.weight",)
            continue
        yield f"{begin}.weight", (f"{layer}.fc_src.weight",)
        yield f"{begin}.dst_weight", (f"{layer}.fc_dst.weight",)


def typed_shape(arrays: Mapping[str, Any], target: str | None) -> dict[str, Any]:
    """What the names and shapes of a run's arrays say of its model, as arguments of `TypedModel`.

    A node type that is read by the first layer alone, along edge types that share matrices, may
    have any of their widths, which its rows say then.
    """
    etypes: list[CanonicalEtype] = []
    inputs: dict[str, int] = {}
    num_nodes: dict[str, int] = {}
    dense: list[int] = []
    for name, array in arrays.items():
        words = name.split(".")
        if words[0] == "embeddings":
            num_nodes[type_name(words[1])] = int(array.shape[0])
            continue
        if words[0] != "layers":
            continue
        if words[2] == "relations":
            source, relation, into = type_name(words[3]).split(":")
            if (source, relation, into) not in etypes:
                etypes.append((source, relation, into))
            if words[1] != "0":
                continue
            if words[4] == "weight":
                inputs[source] = int(array.shape[1])
            elif words[4] == "dst_weight":
                inputs[into] = int(array.shape[1])
            elif words[4] == "rows":
                num_nodes[source] = int(array.shape[0])
        elif words[1] == "0" and words[2] == "types" and words[4] == "self":
            of_rows = words[5] == "rows"
            (num_nodes if of_rows else inputs)[type_name(words[3])] = int(
                array.shape[0 if of_rows else 1]
            )
        elif words[1] == "0" and words[2] == "bases":
            if words[-1] == "rows":
                num_nodes[type_name(words[3])] = int(array.shape[1])
            else:
                dense.append(int(words[3]))
    ends = dict.fromkeys(end for source, _, into in etypes for end in (source, into))
    for ntype in ends:
        if ntype not in inputs and ntype not in num_nodes and dense:
            inputs[ntype] = dense[0]
    for ntype in num_nodes:
        inputs.pop(ntype, None)
    if target is None:
        types = {type_name(n.split(".")[3]) for n in arrays if n.split(".")[2:3] == ["types"]}
        target = next(iter(types))
    return {"inputs": inputs, "num_nodes": num_nodes, "etypes": etypes, "target": target}
