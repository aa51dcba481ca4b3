# SPDX-License-Identifier: Apache-2.0
"""A task's progress on the terminal or in a notebook: by tqdm where that is installed."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .task import Progress


class ProgressBar:
    """Shows each phase of a task as a bar, or as a line where tqdm is not installed."""

    def __init__(self) -> None:
        self._phase = ""
        self._bar: Any = None

    def __call__(self, progress: Progress) -> None:
        """Shows where the task stands."""
        if progress.phase != self._phase:
            self.close()
            self._phase = progress.phase
            self._bar = _new_bar(progress)
        if self._bar is not None:
            self._bar.total = progress.total or None
            self._bar.update(progress.done - self._bar.n)

    def close(self) -> None:
        """Leaves what it shows as it is."""
        if self._bar is not None:
            self._bar.close()
        self._bar, self._phase = None, ""


def _new_bar(progress: Progress) -> Any:
    try:
        from tqdm.auto import tqdm
    except ImportError:
        print(f"troupe: {progress.phase}", file=sys.stderr)
        return None
    unit = f" {progress.unit}" if progress.unit else "it"
    return tqdm(desc=progress.phase, total=progress.total or None, unit=unit, unit_scale=True)
