# SPDX-License-Identifier: Apache-2.0
import sys
from collections.abc import Callable
from typing import Any, final

@final
class Handle:
    def __new__(cls, address: int, release: int, /) -> Handle: ...
    @property
    def address(self) -> int: ...

@final
class View:
    def __new__(
        cls,
        handle: Handle,
        address: int,
        dtype: str,
        shape: tuple[int, ...],
        writable: bool = False,
        /,
    ) -> View: ...
    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def dtype(self) -> str: ...
    @property
    def address(self) -> int: ...
    if sys.version_info >= (3, 12):
        def __buffer__(self, flags: int, /) -> memoryview: ...

    def __dlpack__(
        self,
        stream: object = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any: ...
    def __dlpack_device__(self) -> tuple[int, int]: ...

def call(
    interrupt: int, resume: int, object: int, function: Callable[..., int], /, *args: Any
) -> int: ...
def interrupts() -> int: ...
def is_interrupting() -> bool: ...
