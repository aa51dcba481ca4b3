# SPDX-License-Identifier: Apache-2.0
"""The library's functions as Python calls them: errors become exceptions, signals end waits.

Every other module goes through this one. A function of the library that can fail is called by
`call` (it does not wait), by `Waiter.call` (it may wait on a session), or by the task's own wait.
"""

from __future__ import annotations

import os
import threading
import time
import weakref
from collections.abc import Iterator
from typing import Any

from . import _core, errors
from ._libtroupe import ffi as ffi
from ._libtroupe import lib as lib

FOREVER: int = lib.TR_WAIT_FOREVER
CANCELED: int = lib.TR_ECANCELED

_per_thread = threading.local()


def error_struct() -> Any:
    """This thread's ``struct tr_error``, as it is before a call."""
    error = getattr(_per_thread, "error", None)
    if error is None:
        error = _per_thread.error = ffi.new("struct tr_error *")
    lib.init_tr_error(error)
    return error


def text(pointer: Any) -> str:
    """A text of the library; file names that are not UTF-8 survive as `os.fsdecode` has them."""
    return os.fsdecode(ffi.string(pointer)) if pointer != ffi.NULL else ""


def encoded(value: str | os.PathLike[str] | None) -> Any:
    """A text for the library, or NULL; keep the result as long as the library reads it."""
    if value is None:
        return ffi.NULL
    given = os.fsencode(value)
    if b"\0" in given:  # The library would read what is before it alone.
        raise errors.InvalidArgument(f"{value!r} has a null character")
    return ffi.new("char[]", given)


def failure(code: int, error: Any) -> errors.Error:
    """The exception of a result."""
    name = text(lib.tr_error_name(code))
    message = text(error.message) or text(lib.tr_strerror(code))
    process = int(error.process) if error.process >= 0 else None
    if code == lib.TR_EFORKED:
        message += (
            ". Start workers by spawn or forkserver: multiprocessing.get_context('spawn'), or "
            "multiprocessing_context='spawn' of a DataLoader"
        )
    cls = errors.BY_CODE.get(code, errors.Error)
    return cls(message, code, name, int(error.system_error), process)


# Set once the interpreter ends, which closes the sessions.
at_exit = threading.Event()


def leave_thread() -> None:
    """Ends a thread whose session the end of the interpreter has closed.

    Only daemons still run then, and none of them did anything wrong: SystemExit is what threading
    shows no traceback of.
    """
    if at_exit.is_set() and not on_main_thread():
        raise SystemExit


def check(code: int, error: Any) -> int:
    """Raises the exception of a result below 0."""
    if code in (lib.TR_ECLOSED, CANCELED):
        leave_thread()
    if code < 0:
        raise failure(code, error)
    return code


def call(function: Any, *args: Any) -> int:
    """A call that does not wait: ``function(*args, error)``."""
    error = error_struct()
    return check(function(*args, error), error)


def made(struct: str, *, _library: Any = lib, _ffi: Any = ffi, **fields: Any) -> Any:
    """A new public struct with its defaults, and these fields; of `_library`.

    Texts are copied, and what it points to is kept as long as the struct is. An attribute error
    names a field that the struct has not.
    """
    value = _ffi.new(f"struct {struct} *")
    sized = getattr(_library, f"{struct}_init_sized", None)
    if sized is not None:
        sized(value, _ffi.sizeof(f"struct {struct}"))
    else:
        getattr(_library, f"init_{struct}")(value)
    return filled(value, **fields)


# What structs point to, as long as those live.
_kept: weakref.WeakKeyDictionary[Any, list[Any]] = weakref.WeakKeyDictionary()


def filled(value: Any, **fields: Any) -> Any:
    """Sets fields of a struct; None leaves a default. A number that does not fit is named."""
    for name, field in fields.items():
        if field is None:
            continue
        if isinstance(field, (str, os.PathLike)):
            field = encoded(field)
        if isinstance(field, ffi.CData):
            _kept.setdefault(value, []).append(field)
        try:
            setattr(value, name, field)
        except OverflowError as error:
            raise errors.OutOfRange(f"{name}={field!r}: {error}") from None
        except TypeError as error:
            raise TypeError(f"{name}={field!r}: {error}") from None
    return value


def address(pointer: Any) -> int:
    """The address in a pointer or function of the library."""
    return int(ffi.cast("uintptr_t", pointer))


_addresses: dict[str, int] = {}


def function_address(name: str) -> int:
    """The address of a function of the library."""
    found = _addresses.get(name)
    if found is None:
        found = _addresses[name] = address(ffi.addressof(lib, name))
    return found


def owned(pointer: Any, close: Any) -> Any:
    """Takes over what a call of the library made: the pointer closes it when it goes.

    A call that another thread has begun holds the pointer too, so a close in between waits for it.
    """
    return ffi.gc(pointer, close)


def opened(pointer: Any | None, what: str) -> Any:
    """The pointer of something that may have been closed; `errors.Closed` where it was."""
    if pointer is None:
        leave_thread()
        raise errors.Closed(f"the {what} is closed")
    return pointer


def deadline(timeout: float | None) -> int:
    """Nanoseconds for the library of a timeout in seconds; None: no end."""
    if timeout is None:
        return FOREVER
    if timeout != timeout or timeout < 0:
        raise ValueError(f"timeout {timeout} is not a number of seconds")
    return int(min(timeout, 9e9) * 1e9)


def on_main_thread() -> bool:
    """Whether this thread is the one that runs signal handlers."""
    return threading.get_ident() == threading.main_thread().ident


class Waiter:
    """Calls that wait on one object of the library, and that a signal ends at once.

    `interrupt` and `resume` name the library's functions for it. Python runs handlers on the main
    thread only, so only calls there watch signals. Their interrupt ends calls of other threads too;
    those wait again, as does the main thread when no handler raised.
    """

    __slots__ = ("_address", "_interrupt", "_resume", "object")

    def __init__(self, pointer: Any, interrupt: str, resume: str) -> None:
        self.object = pointer
        self._address = address(pointer)
        self._interrupt = function_address(interrupt)
        self._resume = function_address(resume)

    def result(self, function: Any, *args: Any) -> tuple[int, Any]:
        """The result of ``function(*args, error)``, and its error."""
        error = error_struct()
        while True:
            before = _core.interrupts()
            if on_main_thread():
                code = _core.call(
                    self._interrupt, self._resume, self._address, function, *args, error
                )
            else:
                code = function(*args, error)
            if code != CANCELED:
                return code, error
            # An interrupt lasts until the main thread has left its call.
            while _core.is_interrupting():
                time.sleep(0.001)
            if _core.interrupts() == before:
                return code, error

    def call(self, function: Any, *args: Any) -> int:
        """As `call`, of a function that may wait."""
        code, error = self.result(function, *args)
        return check(code, error)


def fields_of(value: Any) -> Iterator[tuple[str, Any]]:
    """The fields of a public struct as Python values, but its size and what is reserved."""
    for name, field in ffi.typeof(value).item.fields:
        if name == "size" or name.startswith(("reserved", "padding")):
            continue
        content = getattr(value, name)
        kind = field.type.kind
        if kind == "pointer" and field.type.item.cname == "char":
            yield name, text(content) if content != ffi.NULL else None
        elif kind == "array" and field.type.item.cname == "char":
            yield name, text(content)
        elif kind == "array":
            yield name, list(content)
        elif kind in ("primitive", "enum"):
            yield name, content
