# SPDX-License-Identifier: Apache-2.0
"""``dgl.dataloading.negative_sampler``: Troupe's, whose pairs are those of their batch."""

from __future__ import annotations

from ..negative_sampler import GlobalUniform, NegativeSampler, PerSourceUniform

_BaseNegativeSampler = NegativeSampler
Uniform = PerSourceUniform

__all__ = ["GlobalUniform", "PerSourceUniform", "Uniform"]
