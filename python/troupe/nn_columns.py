# SPDX-License-Identifier: Apache-2.0
"""What the models of ``troupe train`` do to rows of features before their first layer."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional


class FeatureColumns(nn.Module):
    """A model that normalises rows and standardises columns of features, as its run says.

    Parameters
    ----------
    columns : int
        Their number, where they are standardised.
    input_dropout : float
    normalise : bool
        Divide each row of features by the sum of its magnitudes.
    standardise : bool
        Shift and scale the columns of features as the buffers ``mean`` and ``factor`` say.
    logarithms : bool
        Before, with ``standardise``, take ``sign(u) log(1 + |u|)`` of ``u = (x - centre) / unit``
        of the columns whose ``unit`` is not 0, as the buffers ``log_centre`` and ``log_unit`` say.
    """

    mean: torch.Tensor
    factor: torch.Tensor
    log_centre: torch.Tensor
    log_unit: torch.Tensor

    def __init__(
        self,
        columns: int,
        *,
        input_dropout: float,
        normalise: bool,
        standardise: bool,
        logarithms: bool,
    ) -> None:
        super().__init__()
        if logarithms and not standardise:
            raise ValueError("logarithms of columns are taken with standardise=True")
        self.input_dropout = input_dropout
        self.normalise, self.standardise, self.logarithms = normalise, standardise, logarithms
        if standardise:
            self.register_buffer("mean", torch.zeros(columns))
            self.register_buffer("factor", torch.ones(columns))
        if logarithms:
            self.register_buffer("log_centre", torch.zeros(columns))
            self.register_buffer("log_unit", torch.zeros(columns))

    def prepare(self, features: torch.Tensor) -> torch.Tensor:
        """Features as the first layer takes them: shape ``(num_nodes, inputs)``. Rows of several
        dimensions are laid out flat."""
        rows = features.float()
        rows = rows.unsqueeze(1) if rows.dim() == 1 else rows.flatten(1)
        if self.normalise:
            sums = rows.abs().sum(1, keepdim=True, dtype=torch.float64)
            scale = torch.where(sums > 0, 1 / sums, torch.ones_like(sums)).float()
        if self.logarithms:
            plain = self.log_unit.eq(0)
            unit = self.log_unit.masked_fill(plain, 1).double()
            away = (rows.double() - self.log_centre) / unit
            logs = torch.copysign(torch.log1p(away.abs()), away).float()
            rows = torch.where(plain, rows, logs)
        if self.standardise:
            rows = (rows - self.mean) * self.factor
        if self.normalise:
            rows = rows * scale
        return functional.dropout(rows, self.input_dropout, self.training)

    def column_places(self) -> list[tuple[str, str]]:
        """The arrays of a run's file that say it: name there, and name in the module."""
        found = []
        if self.standardise:
            found += [("features.mean", "mean"), ("features.factor", "factor")]
        if self.logarithms:
            found += [("features.log_centre", "log_centre"), ("features.log_unit", "log_unit")]
        return found
