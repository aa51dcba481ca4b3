# SPDX-License-Identifier: Apache-2.0
"""What handles show of themselves: a text for a prompt, and a table for a notebook."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any, NamedTuple

# Features of a type that are listed before the others are only counted.
FEATURES_SHOWN = 12


class Display(NamedTuple):
    """A title, and a table below it whose first row names the columns."""

    title: str
    head: Sequence[str]
    rows: Sequence[Sequence[Any]]

    def text(self) -> str:
        """Lines of columns below the title."""
        cells = [[_printable(_cell(value)) for value in row] for row in self.rows]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        lines = [
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
            for row in cells
        ]
        return "\n  ".join([_printable(self.title), *lines])

    def html(self) -> str:
        """The same as a table, every text escaped."""
        head = "".join(f"<th>{escape(name)}</th>" for name in self.head)
        rows = "".join(
            "<tr>" + "".join(f"<td>{escape(_cell(value))}</td>" for value in row) + "</tr>"
            for row in self.rows
        )
        caption = f"<caption>{escape(self.title)}</caption>"
        return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def _cell(value: Any) -> str:
    """A number with separators of thousands, or a text as it is."""
    return f"{value:,}" if isinstance(value, int) else str(value)


def _printable(text: str) -> str:
    """A text in one line, in which characters that steer a terminal are written out."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def list_features(tables: Sequence[tuple[str, str, int]]) -> str:
    """Features by name, type and width, as one text."""
    shown = [
        f"{name} {dtype}" + (f" x {width}" if width != 1 else "")
        for name, dtype, width in tables[:FEATURES_SHOWN]
    ]
    if len(tables) > FEATURES_SHOWN:
        shown.append(f"and {len(tables) - FEATURES_SHOWN} more")
    return ", ".join(shown) or "no features"
