# SPDX-License-Identifier: Apache-2.0
"""The rows that a comparison finds, and the table that they make."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass
class Row:
    """What one peer and one face of Troupe did in the same rounds.

    `ratio` is how many times as fast Troupe was: the median over rounds of the two that were
    measured one after the other. Without a `peer_value`, `note` says why there is none.
    """

    figure: str
    what: str
    unit: str
    peer: str
    ours: str
    peer_value: float | None = None
    ours_value: float | None = None
    ratio: float | None = None
    goal: float | None = None
    note: str = ""
    more: dict[str, Any] = field(default_factory=dict)


def compared(peer: Sequence[float], ours: Sequence[float], *, seconds: bool) -> dict[str, float]:
    """The values and the ratio of a row, of what each round measured."""
    pairs = list(zip(peer, ours, strict=True))
    ratios = [(a / b if seconds else b / a) for a, b in pairs]
    return {
        "peer_value": statistics.median(peer),
        "ours_value": statistics.median(ours),
        "ratio": statistics.median(ratios),
    }


def _said(value: float | None, unit: str, note: str) -> str:
    if value is None:
        return note or "-"
    if unit.startswith("edges"):
        return f"{value / 1e6:.1f} M"
    return f"{value:.3g} s" if value < 100 else f"{value:.0f} s"


def _ratio(row: Row) -> str:
    if row.ratio is None:
        return ""
    goal = "" if row.goal is None else f" (goal {row.goal:g})"
    return f"{row.ratio:.1f}{goal}"


def markdown(rows: Sequence[Row], machine: str) -> str:
    """The table, below a sentence about the machine."""
    lines = [machine, "", "| what | peer | measured | Troupe | measured | times as fast |"]
    lines.append("|---|---|---|---|---|---|")
    for row in rows:
        values = [_said(value, row.unit, row.note) for value in (row.peer_value, row.ours_value)]
        cells = [row.what, row.peer, values[0], row.ours, values[1], _ratio(row)]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def as_json(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """The rows for programs."""
    return [asdict(row) for row in rows]
