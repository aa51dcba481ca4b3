# SPDX-License-Identifier: Apache-2.0
"""The layer of R-GCN: each edge type has a matrix of its own, or its share of a few."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from torch import nn
from torch.nn import functional

from .aggregation import Aggregation, LayerProduct, check_rows
from .batch import Block
from .nn_hetero import module_key
from .nn_layers import Activation, _by_library, _glorot, _narrow_first, sums_of

CanonicalEtype = tuple[str, str, str]
EdgeWeights = Mapping[CanonicalEtype, torch.Tensor | None]


def etype_key(etype: CanonicalEtype) -> str:
    """An edge type as the key of its parameters: the name that a run's file has of it."""
    return module_key(":".join(etype))


class RelGraphConv(nn.Module):
    """A node's own row times a matrix, and for each edge type the mean of its neighbours times one.

    Schlichtkrull and others, ESWC 2018, as ``troupe train --model rgcn`` has it, over blocks of any
    number of types.

    Parameters
    ----------
    in_feat : int, or dict of node types to int
        The width of rows. A type of ``one_hot`` has none.
    out_feat : int
    etypes : sequence of ``(source type, relation, destination type)``
        The edge types along which rows come, such as ``g.canonical_etypes``.
    regularizer : None or "basis"
        With "basis" edge types share ``num_bases`` matrices for each width of rows, which each of
        them mixes by shares of its own.
    num_bases : int, optional
        None: as many as there are edge types.
    bias : bool
    activation : callable, optional
        Of what comes out.
    self_loop : bool
        Whether a node's own row counts, times a matrix of its type.
    dropout : float
        Of what comes out, while training.
    ntypes : sequence of str, optional
        The node types that come out; None: all that an edge type has as an end.
    one_hot : dict of node types to int, optional
        Types whose nodes have no rows, and their numbers of nodes: their matrices have a row for
        each node, and what is given for them are IDs below these numbers, such as those of
        ``batch.orig_nodes``.
    """

    def __init__(
        self,
        in_feat: int | Mapping[str, int],
        out_feat: int,
        etypes: Sequence[CanonicalEtype],
        regularizer: str | None = None,
        num_bases: int | None = None,
        bias: bool = True,
        activation: Activation | None = None,
        self_loop: bool = True,
        dropout: float = 0.0,
        *,
        ntypes: Sequence[str] | None = None,
        one_hot: Mapping[str, int] | None = None,
    ) -> None:
        super().__init__()
        if regularizer not in (None, "basis"):
            raise ValueError(f"regularizer={regularizer!r}: give None or 'basis'")
        if num_bases is not None and (regularizer is None or num_bases < 1):
            raise ValueError(f"num_bases={num_bases}: of regularizer='basis', and 1 at least")
        ends = [end for source, _, into in etypes for end in (source, into)]
        self.ntypes = list(dict.fromkeys(ends) if ntypes is None else ntypes)
        self.etypes = [(s, r, d) for s, r, d in etypes if d in self.ntypes]
        self.out_feat, self.one_hot = out_feat, dict(one_hot or {})
        self.num_bases = (num_bases or len(self.etypes)) if regularizer == "basis" else 0
        self.activation, self.dropout = activation, nn.Dropout(dropout)

        def shape(ntype: str) -> tuple[int, int]:
            """Of a matrix; of one-hot rows it lies the other way."""
            if ntype in self.one_hot:
                return self.one_hot[ntype], out_feat
            return out_feat, in_feat if isinstance(in_feat, int) else in_feat[ntype]

        self.weight, self.shares = nn.ParameterDict(), nn.ParameterDict()
        self.bases, self.loop_weight = nn.ParameterDict(), nn.ParameterDict()
        for etype in self.etypes:
            rows = shape(etype[0])
            if self.num_bases == 0:
                self.weight[etype_key(etype)] = nn.Parameter(torch.empty(rows))
                continue
            self.shares[etype_key(etype)] = nn.Parameter(torch.empty(self.num_bases))
            key = self._bases_of(etype[0], rows[1])
            if key not in self.bases:
                self.bases[key] = nn.Parameter(torch.empty(self.num_bases, *rows))
        for ntype in self.ntypes if self_loop else []:
            self.loop_weight[module_key(ntype)] = nn.Parameter(torch.empty(shape(ntype)))
        self.bias = nn.ParameterDict(
            {module_key(n): nn.Parameter(torch.empty(out_feat)) for n in self.ntypes if bias}
        )
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draws the weights anew; biases are 0."""
        for weight in [*self.weight.values(), *self.loop_weight.values()]:
            _glorot(weight)
        for bases in self.bases.values():
            for matrix in bases:
                _glorot(matrix)
        # Shares whose squares sum to one in the mean make matrices as large as the bases.
        for shares in self.shares.values():
            bound = (3 / self.num_bases) ** 0.5
            nn.init.uniform_(shares, -bound, bound)
        for bias in self.bias.values():
            nn.init.zeros_(bias)

    def _bases_of(self, ntype: str, width: int) -> str:
        return f"{module_key(ntype)}:rows" if ntype in self.one_hot else str(width)

    def matrix(self, etype: CanonicalEtype, width: int | None = None) -> torch.Tensor:
        """The matrix of an edge type: ``(out_feat, width)``, of one-hot rows ``(nodes, out_feat)``.

        Parameters
        ----------
        etype : edge type
        width : int, optional
            Of the rows, with bases of rows that are not one-hot.
        """
        key = etype_key(etype)
        if self.num_bases == 0:
            return self.weight[key]
        bases = self.bases[self._bases_of(etype[0], width or 0)]
        return (self.shares[key] @ bases.flatten(1)).view(bases.shape[1:])

    def _term(self, etype: CanonicalEtype, rows: torch.Tensor, sums: Aggregation) -> torch.Tensor:
        """The means of neighbours along an edge type, times its matrix."""
        if etype[0] in self.one_hot:
            return sums(self.matrix(etype).index_select(0, rows))
        matrix = self.matrix(etype, rows.shape[1])
        if _narrow_first(sums, rows.shape[1], self.out_feat):
            return sums(functional.linear(rows, matrix))
        if _by_library(sums, rows, matrix):
            return LayerProduct.apply(rows.contiguous(), matrix, None, None, sums)
        return functional.linear(sums(rows), matrix)

    def _rows_of(self, block: Block, rows: Mapping[str, torch.Tensor], ntype: str) -> torch.Tensor:
        """The rows of the sources of a type, or their IDs, which are checked."""
        if ntype not in rows:
            known = ", ".join(map(repr, rows))
            raise ValueError(f"no rows of {ntype!r}; there are those of {known}")
        check = _check_ids if ntype in self.one_hot else check_rows
        check(rows[ntype], block.num_src_nodes(ntype))
        return rows[ntype]

    def _own(self, ntype: str, rows: torch.Tensor) -> torch.Tensor:
        weight = self.loop_weight[module_key(ntype)]
        if ntype in self.one_hot:
            return weight.index_select(0, rows)
        return functional.linear(rows, weight)

    def forward(
        self,
        block: Block,
        feat: Mapping[str, torch.Tensor] | torch.Tensor,
        edge_weight: EdgeWeights | None = None,
    ) -> dict[str, torch.Tensor] | torch.Tensor:
        """The destinations' new rows.

        Parameters
        ----------
        block : Block
        feat : dict of node types to tensors of shape ``(num_src, in_feat)``
            Rows of sources, of which destinations are the first; of types of ``one_hot`` IDs of
            shape ``(num_src,)``. Of a graph of one node type also its tensor alone.
        edge_weight : dict of edge types to tensors of shape ``(num_edges,)``, optional
            What edges weigh in the means.

        Returns
        -------
        dict of str to tensor of shape ``(num_dst, out_feat)``
            By node type; of a tensor a tensor.
        """
        rows = {block.ntypes[0]: feat} if isinstance(feat, torch.Tensor) else feat
        found: dict[str, torch.Tensor] = {}
        for ntype in self.ntypes:
            count = block.num_dst_nodes(ntype)
            if len(self.loop_weight) > 0 and (count > 0 or ntype in rows):
                found[ntype] = self._own(ntype, self._rows_of(block, rows, ntype)[:count])
        for etype in block.canonical_etypes:
            if etype not in self.etypes or block.num_edges(etype) == 0:
                continue
            weights = None if edge_weight is None else edge_weight.get(etype)
            sums = sums_of(block, etype, mean=True, weights=weights)
            term = self._term(etype, self._rows_of(block, rows, etype[0]), sums)
            found[etype[2]] = found[etype[2]] + term if etype[2] in found else term
        done = {ntype: self._finish(ntype, block, found.get(ntype)) for ntype in self.ntypes}
        return done[block.ntypes[0]] if isinstance(feat, torch.Tensor) else done

    def _finish(self, ntype: str, block: Block, out: torch.Tensor | None) -> torch.Tensor:
        if out is None:
            like = next(self.parameters())
            out = like.new_zeros((block.num_dst_nodes(ntype), self.out_feat))
        if len(self.bias) > 0:
            out = out + self.bias[module_key(ntype)]
        return self.dropout(out if self.activation is None else self.activation(out))


def _check_ids(ids: torch.Tensor, count: int) -> None:
    if ids.dim() != 1 or ids.is_floating_point() or len(ids) != count:
        raise ValueError(
            f"rows of a type that is one-hot are IDs, as batch.orig_nodes has them: {count} are "
            f"wanted, and not {ids.dtype} of shape {tuple(ids.shape)}"
        )
