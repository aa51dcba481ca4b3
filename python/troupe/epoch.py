# SPDX-License-Identifier: Apache-2.0
"""What ``iter(loader)`` gives: the batches that are left of an epoch, of which one is under way."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any

from .errors import InvalidArgument, OutOfRange


def place_of(state: Any) -> tuple[int, int]:
    """The epoch and the batch of a loader's state.

    Raises
    ------
    InvalidArgument
        It is none: something else than ``state_dict()`` returned.
    """
    place = []
    for name in ("epoch", "batch"):
        value: Any = state.get(name) if isinstance(state, Mapping) else None
        try:
            place.append(operator.index(value))
        except TypeError:
            raise InvalidArgument(
                f"the state of a loader has no number {name!r}: give what state_dict() returned, "
                f"not {state!r}"
            ) from None
    check_place(*place)
    return place[0], place[1]


def check_place(epoch: int, batch: int) -> None:
    """Refuses numbers of epochs and batches that none has."""
    if not (0 <= epoch < 2**32 and 0 <= batch < 2**64):
        raise OutOfRange(f"epoch {epoch}, batch {batch}: both count from 0, the first below 2^32")


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
