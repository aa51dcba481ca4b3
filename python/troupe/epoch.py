# SPDX-License-Identifier: Apache-2.0
"""What ``iter(loader)`` gives: the batches that are left of an epoch, of which one is under way."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class Epochs:
    """Which epoch of a loader is under way; it knows no loader, so that none keeps itself alive."""

    def __init__(self) -> None:
        self._begun = 0

    def begin(self, take: Callable[[], Any]) -> Epoch:
        """The batches of another one, each by a call; the one before is over."""
        self._begun += 1
        return Epoch(self, self._begun, take)

    def check(self, number: int) -> None:
        """Refuses one that is over.

        Raises
        ------
        RuntimeError
            Another one was begun since.
        """
        if number != self._begun:
            raise RuntimeError(
                "another epoch of this loader was begun: each `for` over it ends the one before; "
                "use two loaders"
            )


class Epoch:
    """The batches of an epoch that are left."""

    def __init__(self, epochs: Epochs, number: int, take: Callable[[], Any]) -> None:
        self._epochs, self._number = epochs, number
        self._take: Callable[[], Any] | None = take

    def __iter__(self) -> Epoch:
        return self

    def __next__(self) -> Any:
        if self._take is None:
            raise StopIteration
        self._epochs.check(self._number)
        try:
            return self._take()
        except StopIteration:
            self._take = None
            raise
