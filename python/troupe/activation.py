# SPDX-License-Identifier: Apache-2.0
"""Relu and dropout in one pass, which on a CPU cost PyTorch as much as the products of a layer."""

from __future__ import annotations

from typing import Any

import torch
from torch.nn import functional

from ._libmodel import lib as model
from .aggregation import by_library, floats, threads
from .binding import call


class _ReluDropout(torch.autograd.Function):
    """In the rows' own memory, whose zeroes say on the way back what was dropped."""

    @staticmethod
    def forward(ctx: Any, rows: torch.Tensor, rate: float, key: int) -> torch.Tensor:
        count, width = rows.shape
        call(model.tr_model_activate, threads(), floats(rows), count, width, rate, key)
        ctx.rate = rate
        ctx.mark_dirty(rows)
        ctx.save_for_backward(rows)
        return rows

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, grads: torch.Tensor) -> Any:
        (rows,) = ctx.saved_tensors
        grads, to = grads.contiguous(), torch.empty_like(rows)
        call(
            model.tr_model_activate_backward,
            threads(),
            floats(rows),
            floats(grads),
            *rows.shape,
            ctx.rate,
            floats(to),
        )
        return to, None, None


def relu_dropout(rows: torch.Tensor, rate: float, training: bool = True) -> torch.Tensor:
    """``dropout(relu(rows), rate, training)``, in the memory of `rows`.

    Parameters
    ----------
    rows : tensor of shape ``(num_rows, width)``
        Overwritten; no leaf that requires a gradient.
    rate : float
        In [0, 1). PyTorch's generator gives the key of what is dropped, one draw a call.

    Returns
    -------
    tensor of that shape
    """
    if not by_library(rows) or rows.dim() != 2 or not rows.is_contiguous():
        return functional.dropout(torch.relu_(rows), rate, training)
    if not training or rate == 0:
        return torch.relu_(rows)
    key = int(torch.randint(2**63 - 1, ()))
    return _ReluDropout.apply(rows, rate, key)
