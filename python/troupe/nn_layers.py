# SPDX-License-Identifier: Apache-2.0
"""Layers over blocks: GraphSAGE, graph convolution and graph attention."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import torch
from torch import nn
from torch.nn import functional

from .aggregation import (
    Aggregation,
    HeadProducts,
    HeadSums,
    LayerProduct,
    by_library,
    check_rows,
)
from .batch import Block
from .types import EtypeName

Activation = Callable[[torch.Tensor], torch.Tensor]
# Rows of sources; or of these and of destinations, which are theirs where the types are the same.
Rows = torch.Tensor | tuple[torch.Tensor, torch.Tensor]


def sums_of(block: Block, etype: EtypeName = None, **options: Any) -> Aggregation:
    """The sums over a block's edges, kept with the block where nothing but flags says which."""
    if any(isinstance(value, torch.Tensor) for value in options.values()):
        return Aggregation(block, etype, **options)
    key = (Aggregation, block.content.layout.types.etype(etype), *sorted(options.items()))
    if key not in block.kept:
        block.kept[key] = Aggregation(block, etype, **options)
    found: Aggregation = block.kept[key]
    return found


def _one_of(what: str, value: str, known: tuple[str, ...]) -> str:
    if value not in known:
        raise ValueError(f"{what}={value!r}: give one of {', '.join(map(repr, known))}")
    return value


def _ends(rows: Rows, sums: Aggregation) -> tuple[torch.Tensor, torch.Tensor]:
    if isinstance(rows, tuple):
        return rows
    if not sums.one_ntype:
        raise ValueError(
            "the edge type's ends are of two node types: give a pair, the rows of sources and of "
            "destinations"
        )
    return rows, rows[: sums.num_dst]


def _by_library(sums: Aggregation, *tensors: torch.Tensor | None) -> bool:
    """Whether the library multiplies: weights of edges that are learned are PyTorch's."""
    learned = sums.weights is not None and sums.weights.requires_grad
    return not learned and by_library(*tensors)


def _is_plain(*layers: nn.Module) -> bool:
    """Whether layers are no more than their weights: hooks, and what a program put in the place of
    a layer, have to be called.
    """
    return all(
        type(layer) is nn.Linear
        and not layer._forward_pre_hooks
        and not layer._forward_hooks
        and not layer._backward_hooks
        and not getattr(layer, "_backward_pre_hooks", None)  # PyTorch 1.13 has none
        for layer in layers
    )


def _glorot(weight: torch.Tensor) -> None:
    nn.init.xavier_uniform_(weight, gain=nn.init.calculate_gain("relu"))


class SAGEConv(nn.Module):
    """GraphSAGE's layer: ``fc_neigh(sum or mean of neighbours) + fc_self(own row)``.

    Hamilton, Ying and Leskovec, NIPS 2017.

    Parameters
    ----------
    in_feats : int or pair of int
        The width of rows; of sources and destinations where these differ.
    out_feats : int
    aggregator_type : "mean" or "sum"
    feat_drop : float
        Of the rows, while training.
    bias : bool
    norm, activation : callable, optional
        Of what comes out, in this order.
    """

    def __init__(
        self,
        in_feats: int | tuple[int, int],
        out_feats: int,
        aggregator_type: str = "mean",
        feat_drop: float = 0.0,
        bias: bool = True,
        norm: Activation | None = None,
        activation: Activation | None = None,
    ) -> None:
        super().__init__()
        sources, own = in_feats if isinstance(in_feats, tuple) else (in_feats, in_feats)
        self.aggregator_type = _one_of("aggregator_type", aggregator_type, ("mean", "sum"))
        self.feat_drop = nn.Dropout(feat_drop)
        self.norm, self.activation = norm, activation
        self.fc_neigh = nn.Linear(sources, out_feats, bias=False)
        self.fc_self = nn.Linear(own, out_feats, bias=bias)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draws the weights anew; the bias is 0."""
        _glorot(self.fc_neigh.weight)
        _glorot(self.fc_self.weight)
        if self.fc_self.bias is not None:
            nn.init.zeros_(self.fc_self.bias)

    def forward(
        self,
        block: Block,
        feat: Rows,
        edge_weight: torch.Tensor | None = None,
        *,
        etype: EtypeName = None,
    ) -> torch.Tensor:
        """The destinations' new rows.

        Parameters
        ----------
        block : Block
        feat : tensor of shape ``(num_src, in_feats)``, or a pair
            Rows of sources, of which destinations are the first; or of both.
        edge_weight : tensor of shape ``(num_edges,)``, optional
            What edges weigh in the sum, or in the mean, which is divided by their sum.
        etype : edge type, optional

        Returns
        -------
        tensor of shape ``(num_dst, out_feats)``
        """
        mean = self.aggregator_type == "mean"
        sums = sums_of(block, etype, mean=mean, weights=edge_weight)
        if isinstance(feat, tuple):
            feat = (self.feat_drop(feat[0]), self.feat_drop(feat[1]))
        else:
            check_rows(feat, sums.num_src)
            feat = self.feat_drop(feat)
        out: torch.Tensor | None = None
        if (
            not isinstance(feat, tuple)
            and sums.one_ntype
            and _is_plain(self.fc_neigh, self.fc_self)
        ):
            weights = (self.fc_neigh.weight, self.fc_self.weight, self.fc_self.bias)
            if _by_library(sums, feat, *weights):
                out = LayerProduct.apply(feat.contiguous(), *weights, sums)
        if out is None:
            rows, own = _ends(feat, sums)
            out = self.fc_neigh(sums(rows)) + self.fc_self(own)
        out = out if self.norm is None else self.norm(out)
        return out if self.activation is None else self.activation(out)


class GraphConv(nn.Module):
    """Graph convolution: ``(normalised sum of neighbours) @ weight + bias``.

    Kipf and Welling, ICLR 2017.

    Parameters
    ----------
    in_feats, out_feats : int
    norm : str
        "both": by the root of the degrees of both ends in the block; "right": the mean of
        neighbours; "left": each source is shared out over its edges; "none"; or "graph", as the
        models of ``troupe train``: by the degrees in the whole graph, which the loader has to
        bring (``degrees=True``), with an edge from each node to itself.
    weight, bias : bool
    activation : callable, optional
    """

    def __init__(
        self,
        in_feats: int,
        out_feats: int,
        norm: str = "both",
        weight: bool = True,
        bias: bool = True,
        activation: Activation | None = None,
    ) -> None:
        super().__init__()
        self.norm = _one_of("norm", norm, ("both", "right", "left", "none", "graph"))
        self.weight = nn.Parameter(torch.empty(in_feats, out_feats)) if weight else None
        self.bias = nn.Parameter(torch.empty(out_feats)) if bias else None
        self.activation = activation
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draws the weights anew; the bias is 0."""
        if self.weight is not None:
            nn.init.xavier_uniform_(self.weight)
        if self.bias is not None:
            nn.init.zeros_(self.bias)

    def _sums(self, block: Block, weights: torch.Tensor | None, etype: EtypeName) -> Aggregation:
        if self.norm in ("none", "right"):
            return sums_of(block, etype, mean=self.norm == "right", weights=weights)
        key = (GraphConv, self.norm, block.content.layout.types.etype(etype))
        if weights is None and key in block.kept:
            kept: Aggregation = block.kept[key]
            return kept
        if self.norm == "graph":
            made = _by_graph_degrees(block, weights, etype)
        else:
            made = _by_block_degrees(block, weights, etype, self.norm == "both")
        if weights is None:
            block.kept[key] = made
        return made

    def forward(
        self,
        block: Block,
        feat: Rows,
        edge_weight: torch.Tensor | None = None,
        *,
        weight: torch.Tensor | None = None,
        etype: EtypeName = None,
    ) -> torch.Tensor:
        """The destinations' new rows.

        Parameters
        ----------
        block : Block
        feat : tensor of shape ``(num_src, in_feats)``, or a pair, of which the first counts
        edge_weight : tensor of shape ``(num_edges,)``, optional
        weight : tensor of shape ``(in_feats, out_feats)``, optional
            In the place of the layer's own, of a layer that has none (``weight=False``).
        etype : edge type, optional

        Returns
        -------
        tensor of shape ``(num_dst, out_feats)``
        """
        sums = self._sums(block, edge_weight, etype)
        feat = feat[0] if isinstance(feat, tuple) else feat
        check_rows(feat, sums.num_src)
        if weight is not None and self.weight is not None:
            raise ValueError("weight: the layer has its own; make it with weight=False")
        weight = self.weight if weight is None else weight
        if weight is None:
            out = sums(feat)
        elif self.norm != "graph" and _narrow_first(sums, *weight.shape):
            out = sums(feat @ weight)
        elif _by_library(sums, feat, weight, self.bias):
            out = LayerProduct.apply(feat.contiguous(), weight.t(), None, self.bias, sums)
            return out if self.activation is None else self.activation(out)
        else:
            out = sums(feat) @ weight
        out = out if self.bias is None else out + self.bias
        return out if self.activation is None else self.activation(out)


# What adding up a number of a neighbour's row costs, in multiplications of a matrix product.
_SUM_COST = 8


def _narrow_first(sums: Aggregation, width: int, out_width: int) -> bool:
    """Whether rows are multiplied before they are added up: that adds up narrower rows, and
    multiplies those of all sources in place of those of destinations, which are fewer in a batch.
    """
    more = (sums.num_src - sums.num_dst) * width * out_width
    return more < _SUM_COST * sums.num_edges * (width - out_width)


def _by_block_degrees(
    block: Block, weights: torch.Tensor | None, etype: EtypeName, both: bool
) -> Aggregation:
    plain = sums_of(block, etype)
    degrees = torch.bincount(plain.sources.long(), minlength=plain.num_src).clamp(min=1).float()
    if not both:
        return Aggregation(block, etype, weights=weights, from_scale=degrees.reciprocal())
    ends = torch.as_tensor(block.in_degrees(etype)).clamp(min=1).float()
    return Aggregation(
        block, etype, weights=weights, from_scale=degrees.rsqrt(), to_scale=ends.rsqrt()
    )


def _by_graph_degrees(block: Block, weights: torch.Tensor | None, etype: EtypeName) -> Aggregation:
    """As if every neighbour had been drawn: sums are scaled up by those that were not."""
    if weights is not None:
        raise ValueError('edge_weight: norm="graph" counts edges alike')
    degrees = tuple(torch.as_tensor(d).float() for d in block.graph_degrees())
    drawn = torch.as_tensor(block.in_degrees(etype)).float()
    into, out = ((d + 1).sqrt().reciprocal() for d in degrees)
    into = into[: len(drawn)]
    missing = torch.where(drawn > 0, degrees[0][: len(drawn)] / drawn.clamp(min=1), drawn)
    # Edges that were drawn by weights say themselves how many they stand for.
    counts = block.edge_counts(etype)
    if counts is not None:
        missing = torch.ones_like(missing)
    return Aggregation(
        block,
        etype,
        weights=counts,
        from_scale=out,
        to_scale=into * missing,
        own_scale=into * out[: len(drawn)],
        without_loops=True,
    )


class GATConv(nn.Module):
    """Graph attention: each head's sum of neighbours by weights that it finds in both ends' rows.

    Veličković and others, ICLR 2018.

    Parameters
    ----------
    in_feats : int or pair of int
        The width of rows; of sources and destinations where these differ, with matrices of their
        own.
    out_feats, num_heads : int
        The width of a head's rows, and how many heads there are.
    feat_drop, attn_drop : float
        Of rows and of weights, while training.
    negative_slope : float
        Of the leaky relu that weights go through.
    residual : bool
        Add the destinations' own rows, through a matrix where the widths differ.
    activation : callable, optional
    bias : bool
    self_loop : bool
        A node also attends to itself, once, whether the graph has that edge or not. Of edge types
        from a node type to itself.
    """

    def __init__(
        self,
        in_feats: int | tuple[int, int],
        out_feats: int,
        num_heads: int,
        feat_drop: float = 0.0,
        attn_drop: float = 0.0,
        negative_slope: float = 0.2,
        residual: bool = False,
        activation: Activation | None = None,
        bias: bool = True,
        *,
        self_loop: bool = False,
    ) -> None:
        super().__init__()
        width = out_feats * num_heads
        self.self_loop = self_loop
        self.num_heads, self.out_feats = num_heads, out_feats
        own = in_feats[1] if isinstance(in_feats, tuple) else in_feats
        if isinstance(in_feats, tuple):
            self.fc_src = nn.Linear(in_feats[0], width, bias=False)
            self.fc_dst = nn.Linear(in_feats[1], width, bias=False)
        else:
            self.fc = nn.Linear(in_feats, width, bias=False)
        self.attn_l = nn.Parameter(torch.empty(1, num_heads, out_feats))
        self.attn_r = nn.Parameter(torch.empty(1, num_heads, out_feats))
        self.bias = nn.Parameter(torch.empty(width)) if bias else None
        self.feat_drop, self.attn_drop = nn.Dropout(feat_drop), nn.Dropout(attn_drop)
        self.negative_slope, self.activation = negative_slope, activation
        self.res_fc: nn.Module | None = None
        if residual:
            same = own == width
            self.res_fc = nn.Identity() if same else nn.Linear(own, width, bias=False)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draws the weights anew; the bias is 0."""
        for module in self.children():
            if isinstance(module, nn.Linear):
                _glorot(module.weight)
        _glorot(self.attn_l)
        _glorot(self.attn_r)
        if self.bias is not None:
            nn.init.zeros_(self.bias)

    def _layers_of_ends(self) -> tuple[Any, Any]:
        """What makes a head's rows of those of sources and of destinations."""
        if hasattr(self, "fc"):
            return self.fc, self.fc
        return self.fc_src, self.fc_dst

    def forward(
        self,
        block: Block,
        feat: Rows,
        *,
        counts: torch.Tensor | None = None,
        etype: EtypeName = None,
    ) -> torch.Tensor:
        """The destinations' new rows of each head.

        Parameters
        ----------
        block : Block
        feat : tensor of shape ``(num_src, in_feats)``, or a pair
            Rows of sources, of which destinations are the first; or of both.
        counts : tensor of shape ``(num_edges,)``, optional
            As how many edges each counts, such as ``block.edge_counts()`` of edges that were drawn
            by weights.
        etype : edge type, optional

        Returns
        -------
        tensor of shape ``(num_dst, num_heads, out_feats)``
            0, but for residual and bias, where a destination has no edge.
        """
        edges = sums_of(block, etype)
        shape = (-1, self.num_heads, self.out_feats)
        rows, own = _ends(feat, edges)
        alone = not isinstance(feat, tuple)
        if alone:
            check_rows(rows, edges.num_src)
        rows = self.feat_drop(rows)
        own = rows[: edges.num_dst] if alone else self.feat_drop(own)
        of_rows, of_own = self._layers_of_ends()
        heads: torch.Tensor | None = None
        if _is_plain(of_rows, of_own) and not self.self_loop:
            # A head's row times its vector, without the head's rows.
            left = rows @ _by_vector(of_rows.weight, self.attn_l).t()
            right = own @ _by_vector(of_own.weight, self.attn_r).t()
        else:
            heads = of_rows(rows).view(shape)
            same = alone and of_own is of_rows
            own_heads = heads[: len(own)] if same else of_own(own).view(shape)
            left, right = (heads * self.attn_l).sum(-1), (own_heads * self.attn_r).sum(-1)
        attention, to_self = self._attention(edges, left, right, counts)
        sources, into = edges.sources.long(), edges.destinations()
        if (
            heads is None
            and by_library(rows, attention, of_rows.weight)
            and not _narrow_first(edges, rows.shape[1], self.out_feats)
        ):
            matrices = of_rows.weight.view(*shape[1:], -1)
            out = HeadProducts.apply(rows.contiguous(), attention, matrices, edges)
        else:
            heads = of_rows(rows).view(shape) if heads is None else heads
            if by_library(heads, attention):
                out = HeadSums.apply(heads, attention, edges)
            else:
                zeros = heads.new_zeros(edges.num_dst, *shape[1:])
                rows_of = heads.index_select(0, sources)
                out = zeros.index_add(0, into, rows_of * attention.unsqueeze(-1))
            if to_self is not None:
                out = out + heads[: edges.num_dst] * to_self.unsqueeze(-1)
        if self.res_fc is not None:
            out = out + self.res_fc(own).view(shape)
        if self.bias is not None:
            out = out + self.bias.view(shape)
        return out if self.activation is None else self.activation(out)

    def _attention(
        self,
        edges: Aggregation,
        left: torch.Tensor,
        right: torch.Tensor,
        counts: torch.Tensor | None,
    ) -> tuple[torch.Tensor, torch.Tensor | None]:
        """The shares of edges, ``(num_edges, heads)``, and of nodes in themselves."""
        sources, into = edges.sources.long(), edges.destinations()
        scores = functional.leaky_relu(
            left.index_select(0, sources) + right.index_select(0, into), self.negative_slope
        )
        if counts is not None:
            scores = scores + counts.log().to(scores).unsqueeze(1)
        if not self.self_loop:
            return self.attn_drop(_softmax_by(scores, into, edges.num_dst)), None
        if not edges.one_ntype:
            raise ValueError("self_loop: the edge type's ends are of two node types")
        loops = (sources == into).unsqueeze(1)
        own = functional.leaky_relu(left[: edges.num_dst] + right, self.negative_slope)
        scores = torch.cat([scores.masked_fill(loops, -float("inf")), own])
        groups = torch.cat([into, torch.arange(edges.num_dst, device=into.device)])
        shares = self.attn_drop(_softmax_by(scores, groups, edges.num_dst))
        return shares[: edges.num_edges], shares[edges.num_edges :]


def _by_vector(weight: torch.Tensor, vectors: torch.Tensor) -> torch.Tensor:
    """Each head's vector times its matrix: shape ``(heads, width)``."""
    _, heads, out_width = vectors.shape
    return torch.bmm(vectors.view(heads, 1, out_width), weight.view(heads, out_width, -1)).squeeze(
        1
    )


def _softmax_by(scores: torch.Tensor, groups: torch.Tensor, count: int) -> torch.Tensor:
    """Over the scores of each group, column by column."""
    places = groups.unsqueeze(1).expand_as(scores)
    # Subtracting the largest changes no result, and keeps powers finite.
    lowest = scores.new_full((count, scores.shape[1]), -float("inf"))
    with warnings.catch_warnings():  # PyTorch 1.13 calls the operation new
        warnings.simplefilter("ignore", UserWarning)
        largest = lowest.scatter_reduce(0, places, scores.detach(), "amax")
    powers = torch.exp(scores - largest[groups])
    sums = powers.new_zeros(count, scores.shape[1]).index_add(0, groups, powers)
    return powers / sums.index_select(0, groups)
