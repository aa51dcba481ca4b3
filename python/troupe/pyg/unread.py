# SPDX-License-Identifier: Apache-2.0
"""Attributes of PyG's data that are read from the graph when something first asks for them."""

from __future__ import annotations

from collections.abc import Callable, ItemsView, ValuesView
from typing import Any


class Unread:
    """A value that is read once.

    Parameters
    ----------
    read : callable
        Gives the value.
    what : optional
        What is read, to those who read a part of it elsewhere.
    """

    def __init__(self, read: Callable[[], Any], what: Any = None) -> None:
        self._read, self.what = read, what
        self._value: Any = None
        self._version = 0

    def value(self) -> Any:
        """What is read; the same object each time."""
        if self._value is None:
            self._value = self._read()
            self._version = getattr(self._value, "_version", 0)
        return self._value

    def is_as_read(self) -> bool:
        """Whether nobody wrote into what was read: it is still what the graph has."""
        return self._value is None or getattr(self._value, "_version", 0) == self._version

    def is_value(self, value: Any) -> bool:
        """Whether this is what was read."""
        return self._value is not None and value is self._value

    def __getstate__(self) -> dict[str, Any]:
        # What was written into travels; what was only read is read anew.
        return {**self.__dict__, "_version": 0} | (
            {"_value": None} if self.is_as_read() else {"_version": -1}
        )

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        from copy import deepcopy

        return Unread(self._read, self.what) if self.is_as_read() else deepcopy(self._value, memo)


class UnreadDict(dict[str, Any]):
    """A mapping whose values may be `Unread`; whoever looks at one gets what it reads.

    It takes the place of the dict in PyG's storages.
    """

    def held(self, name: str) -> Any:
        """The value itself, or the `Unread` that stands for it."""
        return super().__getitem__(name)

    def __getitem__(self, name: str) -> Any:
        value = super().__getitem__(name)
        return value.value() if isinstance(value, Unread) else value

    def __setitem__(self, name: str, value: Any) -> None:
        held = super().get(name)
        # `data.to(device)` puts each attribute back; where it did not move, it stays the graph's.
        if not (isinstance(held, Unread) and held.is_value(value)):
            super().__setitem__(name, value)

    def get(self, name: str, default: Any = None) -> Any:
        """The value of a name, or the default."""
        return self[name] if name in self else default  # noqa: SIM401

    def pop(self, name: str, *default: Any) -> Any:
        """Removes a name; returns its value."""
        value = super().pop(name, *default)
        return value.value() if isinstance(value, Unread) else value

    def values(self) -> Any:
        """The values."""
        return ValuesView(self)

    def items(self) -> Any:
        """Names and values."""
        return ItemsView(self)

    def copy(self) -> UnreadDict:
        """Another mapping of the same."""
        return self.__copy__()

    def __copy__(self) -> UnreadDict:
        return UnreadDict({name: self.held(name) for name in self})

    def __deepcopy__(self, memo: dict[int, Any]) -> UnreadDict:
        from copy import deepcopy

        return UnreadDict({name: deepcopy(self.held(name), memo) for name in self})

    def __reduce__(self) -> tuple[Any, ...]:
        return UnreadDict, ({name: self.held(name) for name in self},)

    def __repr__(self) -> str:
        shown = ", ".join(
            f"{n!r}: {'...' if isinstance(self.held(n), Unread) else repr(self.held(n))}"
            for n in self
        )
        return f"{{{shown}}}"
