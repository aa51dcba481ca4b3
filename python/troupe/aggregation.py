# SPDX-License-Identifier: Apache-2.0
"""Sums over the edges of a block, which PyTorch differentiates, by the library's own loops.

They run on the CPU in float32, on as many threads as PyTorch has, with the same bits whatever their
number. What is elsewhere, or of float64, is summed by PyTorch's own operations.
"""

from __future__ import annotations

import copy
from functools import cache
from typing import Any

import torch

from ._libmodel import ffi
from ._libmodel import lib as model
from .batch import Block
from .binding import call
from .types import EtypeName


@cache
def _threads(count: int) -> Any:
    """Threads that compute; they are kept until the interpreter ends."""
    box = ffi.new("struct tr_model_threads **")
    call(model.tr_model_threads_create, count, box)
    return box[0]


def threads() -> Any:
    """As many as PyTorch has."""
    return _threads(min(torch.get_num_threads(), model.TR_AGGREGATION_THREADS_MAX))


def floats(tensor: torch.Tensor | None) -> Any:
    """The library's pointer to a tensor, as long as that lives."""
    if tensor is None:
        return ffi.NULL
    return ffi.cast("float *", tensor.data_ptr())


def _one_number_each(tensor: torch.Tensor | None, count: int, what: str) -> torch.Tensor | None:
    if tensor is None:
        return None
    if tensor.numel() != count:
        raise ValueError(f"{what}: {tensor.numel()} numbers; one each of {count} is wanted")
    return tensor.reshape(-1)


class Aggregation:
    """The sums over the edges of one type in a block.

        out[d] = to[d] * (sum over edges e = (s, d) of weights[e] * from[s] * rows[s])
                 + own[d] * rows[d]

    Parameters
    ----------
    block : Block
    etype : edge type, optional
    weights : tensor, optional
        A number an edge, in the order of ``block.edges()``.
    mean : bool
        Whether `to` is one by the sum of the weights, and 0 where that is not above 0.
    from_scale, to_scale, own_scale : tensor, optional
        A number a source or destination: from, to and own.
    without_loops : bool
        Leave out edges from a node to itself.
    """

    def __init__(
        self,
        block: Block,
        etype: EtypeName = None,
        *,
        weights: torch.Tensor | None = None,
        mean: bool = False,
        from_scale: torch.Tensor | None = None,
        to_scale: torch.Tensor | None = None,
        own_scale: torch.Tensor | None = None,
        without_loops: bool = False,
    ) -> None:
        # Nothing here refers to the block, which may keep this.
        name = block.canonical_etypes[block.content.layout.types.etype(etype)]
        csr = block.as_csr(name, edge_ids=False)
        self.index = torch.as_tensor(csr.indptr)
        self.sources = torch.as_tensor(csr.indices)
        self.one_ntype = name[0] == name[2]  # destinations are the first sources
        self.num_src, self.num_dst = block.num_src_nodes(name[0]), block.num_dst_nodes(name[2])
        self.num_edges = len(self.sources)
        self.weights = _one_number_each(weights, self.num_edges, "edge weights")
        self.mean, self.without_loops = mean, without_loops
        self.from_scale = _one_number_each(from_scale, self.num_src, "factors of sources")
        self.to_scale = _one_number_each(to_scale, self.num_dst, "factors of destinations")
        self.own_scale = _one_number_each(own_scale, self.num_dst, "factors of own rows")
        self._pointer: Any = None
        self._kept: tuple[torch.Tensor | None, ...] = ()

    def weighed_by(self, weights: torch.Tensor) -> Aggregation:
        """The same sums with these weights of edges."""
        found = copy.copy(self)
        found.weights = _one_number_each(weights, self.num_edges, "edge weights")
        found._pointer, found._kept = None, ()
        return found

    def pointer(self) -> Any:
        """The library's own, made when it is first asked for."""
        if self._pointer is None:
            box = ffi.new("struct tr_model_aggregation **")
            call(
                model.tr_model_aggregation_create,
                self.num_src,
                self.num_dst,
                self.num_edges,
                ffi.cast("uint32_t *", self.index.data_ptr()),
                ffi.cast("uint32_t *", self.sources.data_ptr()),
                box,
            )
            made = ffi.gc(box[0], model.tr_model_aggregation_destroy)
            scales = (self.weights, self.from_scale, self.to_scale, self.own_scale)
            self._kept = tuple(
                None if t is None else t.detach().to(torch.float32).contiguous() for t in scales
            )
            weights, *ends = (floats(t) for t in self._kept)
            count = self.num_edges
            call(model.tr_model_aggregation_set_weights, made, weights, count)
            call(model.tr_model_aggregation_set_scales, made, *ends, self.without_loops)
            if self.mean:
                call(model.tr_model_aggregation_set_mean, made)
            self._pointer = made
        return self._pointer

    def forward(self, rows: torch.Tensor) -> torch.Tensor:
        """The sums of rows that lie in the CPU's memory in float32, not differentiated."""
        out = torch.empty((self.num_dst, rows.shape[1]), dtype=torch.float32)
        call(
            model.tr_model_aggregation_forward,
            self.pointer(),
            threads(),
            rows.shape[1],
            floats(rows),
            rows.shape[0],
            floats(out),
            self.num_dst,
        )
        return out

    def backward(self, grads: torch.Tensor, added: torch.Tensor | None = None) -> torch.Tensor:
        """The gradients of the rows from those of the sums; `added` is added to the first."""
        rows = torch.empty((self.num_src, grads.shape[1]), dtype=torch.float32)
        call(
            model.tr_model_aggregation_backward,
            self.pointer(),
            threads(),
            grads.shape[1],
            floats(grads),
            self.num_dst,
            floats(added),
            0 if added is None else added.shape[0],
            floats(rows),
            self.num_src,
        )
        return rows

    def destinations(self) -> torch.Tensor:
        """The destination of each edge: int64, shape ``(num_edges,)``."""
        degrees = (self.index[1:] - self.index[:-1]).long()
        places = torch.arange(self.num_dst, device=degrees.device)
        return torch.repeat_interleave(places, degrees, output_size=self.num_edges)

    def factors(self, dtype: torch.dtype) -> torch.Tensor:
        """What each source's row is multiplied by: shape ``(num_edges,)``."""
        sources, into = self.sources.long(), self.destinations()
        factors = torch.ones(self.num_edges, dtype=dtype, device=self.sources.device)
        if self.weights is not None:
            factors = self.weights.to(factors)
        if self.mean:
            sums = torch.zeros(self.num_dst, dtype=dtype, device=factors.device)
            sums = sums.index_add(0, into, factors)
            tiny = torch.finfo(torch.float32).tiny
            # Nowhere is divided by 0, whose gradient is none.
            divisors = torch.where(sums < tiny, torch.ones_like(sums), sums)
            factors = factors * ((sums >= tiny) / divisors).index_select(0, into)
        if self.from_scale is not None:
            factors = factors * self.from_scale.to(factors)[sources]
        if self.to_scale is not None:
            factors = factors * self.to_scale.to(factors)[into]
        if self.without_loops:
            factors = factors * (sources != into)
        return factors

    def by_pytorch(self, rows: torch.Tensor) -> torch.Tensor:
        """The sums by PyTorch's operations, on any device and of float32 or float64."""
        # Not rows[sources], whose gradient several threads of PyTorch add up in no fixed order.
        taken = rows.index_select(0, self.sources.long())
        messages = taken * self.factors(rows.dtype).unsqueeze(1)
        zeros = torch.zeros((self.num_dst, rows.shape[1]), dtype=rows.dtype, device=rows.device)
        out = zeros.index_add(0, self.destinations(), messages)
        if self.own_scale is not None:
            out = out + self.own_scale.to(rows).unsqueeze(1) * rows[: self.num_dst]
        return out

    def __call__(self, rows: torch.Tensor) -> torch.Tensor:
        """The sums of rows ``(num_src, width)``: shape ``(num_dst, width)``."""
        check_rows(rows, self.num_src)
        if not by_library(rows) or (self.weights is not None and self.weights.requires_grad):
            return self.by_pytorch(rows)
        return _Sums.apply(rows.contiguous(), self)


def by_library(*tensors: torch.Tensor | None) -> bool:
    """Whether the library's loops take such rows and weights."""
    return all(
        t.device.type == "cpu" and t.dtype == torch.float32 for t in tensors if t is not None
    )


def check_rows(rows: torch.Tensor, count: int) -> None:
    """Refuses what are no rows of `count` nodes, and types that sums would lose digits in."""
    if rows.dtype not in (torch.float32, torch.float64):
        half = rows.dtype in (torch.float16, torch.bfloat16)
        if not half or rows.device.type == "cpu":
            raise TypeError(
                f"rows of {rows.dtype}: neighbours are summed in float32 or float64; "
                "give rows.float()"
            )
    if rows.dim() != 2 or rows.shape[0] != count:
        raise ValueError(
            f"rows of shape {tuple(rows.shape)}; the block has {count} source nodes, so "
            f"({count}, width) is wanted"
        )


class _Sums(torch.autograd.Function):
    """The sums, and their transpose."""

    @staticmethod
    def forward(ctx: Any, rows: torch.Tensor, sums: Aggregation) -> torch.Tensor:
        ctx.sums = sums
        return sums.forward(rows)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, grads: torch.Tensor) -> Any:
        return ctx.sums.backward(grads.contiguous()), None


class HeadSums(torch.autograd.Function):
    """Sums of several heads' rows by weights of edges, a number a head, which are differentiated
    too: of rows ``(num_src, heads, width)`` and weights ``(num_edges, heads)``."""

    @staticmethod
    def forward(
        ctx: Any, rows: torch.Tensor, weights: torch.Tensor, sums: Aggregation
    ) -> torch.Tensor:
        # A head's rows lie together, as the library reads them.
        of_heads = rows.transpose(0, 1).contiguous()
        by_head = [sums.weighed_by(w) for w in weights.t().contiguous()]
        ctx.by_head = by_head
        ctx.save_for_backward(of_heads)
        found = [one.forward(own) for one, own in zip(by_head, of_heads, strict=True)]
        return torch.stack(found, 1)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, grads: torch.Tensor) -> Any:
        (of_heads,) = ctx.saved_tensors
        of_rows, of_weights = [], []
        for one, own, out in zip(
            ctx.by_head, of_heads, grads.transpose(0, 1).contiguous(), strict=True
        ):
            of_rows.append(one.backward(out))
            of_weights.append(_products_of_ends(one, own, out))
        return torch.stack(of_rows, 1), torch.stack(of_weights, 1), None


# Edges whose rows are multiplied at once: what lies in a cache.
_EDGES_AT_ONCE = 1 << 12


def _products_of_ends(sums: Aggregation, rows: torch.Tensor, out: torch.Tensor) -> torch.Tensor:
    """For each edge the product of its source's row and its destination's."""
    into, found = sums.destinations(), torch.empty(sums.num_edges)
    for first in range(0, sums.num_edges, _EDGES_AT_ONCE):
        some = slice(first, first + _EDGES_AT_ONCE)
        found[some] = (rows[sums.sources[some].long()] * out[into[some]]).sum(1)
    return found


class LayerProduct(torch.autograd.Function):
    """Sums times one matrix plus own rows times another, plus a bias: the layer of GraphSAGE, and
    without own rows that of GCN.

    The library multiplies blocks of rows on its threads, in the order of the built-in models.
    """

    @staticmethod
    def forward(
        ctx: Any,
        rows: torch.Tensor,
        neigh: torch.Tensor,
        own: torch.Tensor | None,
        bias: torch.Tensor | None,
        sums: Aggregation,
    ) -> torch.Tensor:
        neigh = neigh.contiguous()
        own = None if own is None else own.contiguous()
        out_width, width = neigh.shape
        if rows.shape[1] != width:
            raise ValueError(
                f"rows of {rows.shape[1]} numbers; the layer's weights are for {width}"
            )
        kept = torch.empty((sums.num_dst, width), dtype=torch.float32)
        out = torch.empty((sums.num_dst, out_width), dtype=torch.float32)
        product = _product(sums, neigh, own, bias)
        call(
            model.tr_model_product_forward,
            product,
            threads(),
            floats(rows),
            rows.shape[0],
            floats(kept),
            floats(out),
            sums.num_dst,
        )
        ctx.sums, ctx.has = sums, (own is not None, bias is not None)
        ctx.save_for_backward(kept, rows, neigh, *(t for t in (own, bias) if t is not None))
        return out

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, grads: torch.Tensor) -> Any:
        kept, rows, neigh, *rest = ctx.saved_tensors
        own = rest.pop(0) if ctx.has[0] else None
        bias = rest.pop(0) if ctx.has[1] else None
        sums, grads = ctx.sums, grads.contiguous()
        found = [
            torch.empty_like(tensor) if wanted and tensor is not None else None
            for wanted, tensor in zip(ctx.needs_input_grad, (rows, neigh, own, bias), strict=False)
        ]
        product = _product(sums, neigh, own, bias)
        call(model.tr_model_product_set_gradients, product, *(floats(t) for t in found[1:]))
        call(
            model.tr_model_product_backward,
            product,
            threads(),
            floats(rows),
            rows.shape[0],
            floats(kept),
            floats(grads),
            sums.num_dst,
            floats(found[0]),
        )
        return *found, None


class HeadProducts(torch.autograd.Function):
    """Sums of rows ``(num_src, width)`` by weights ``(num_edges, heads)``, times each head's matrix
    ``(out_width, width)`` of ``(heads, out_width, width)``; weights are differentiated too."""

    @staticmethod
    def forward(
        ctx: Any,
        rows: torch.Tensor,
        weights: torch.Tensor,
        matrices: torch.Tensor,
        sums: Aggregation,
    ) -> torch.Tensor:
        matrices = matrices.contiguous()
        heads, out_width, width = matrices.shape
        by_head = [sums.weighed_by(w) for w in weights.t().contiguous()]
        kept = torch.empty((heads, sums.num_dst, width), dtype=torch.float32)
        out = torch.empty((heads, sums.num_dst, out_width), dtype=torch.float32)
        for one, matrix, sum_of, to in zip(by_head, matrices, kept, out, strict=True):
            call(
                model.tr_model_product_forward,
                _product(one, matrix, None, None),
                threads(),
                floats(rows),
                rows.shape[0],
                floats(sum_of),
                floats(to),
                sums.num_dst,
            )
        ctx.by_head = by_head
        ctx.save_for_backward(rows, matrices, kept)
        return out.transpose(0, 1)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, grads: torch.Tensor) -> Any:
        rows, matrices, kept = ctx.saved_tensors
        by_head = zip(ctx.by_head, grads.transpose(0, 1).contiguous(), matrices, kept, strict=True)
        of_rows: torch.Tensor | None = None
        of_weights, of_matrices = [], []
        for one, out, matrix, sum_of in by_head:
            of_sums = out @ matrix
            of_matrices.append(out.t() @ sum_of)
            of_weights.append(_products_of_ends(one, rows, of_sums))
            if ctx.needs_input_grad[0]:
                found = one.backward(of_sums)
                of_rows = found if of_rows is None else of_rows.add_(found)
        return of_rows, torch.stack(of_weights, 1), torch.stack(of_matrices), None


def _product(
    sums: Aggregation,
    neigh: torch.Tensor,
    own: torch.Tensor | None,
    bias: torch.Tensor | None,
) -> Any:
    box = ffi.new("struct tr_model_product **")
    out_width, width = neigh.shape
    call(model.tr_model_product_create, sums.pointer(), width, out_width, box)
    made = ffi.gc(box[0], model.tr_model_product_destroy)
    call(model.tr_model_product_set_weights, made, floats(neigh), floats(own), floats(bias))
    return made
