# SPDX-License-Identifier: Apache-2.0
"""What the library refuses, as exceptions.

Each result of the C library that a program may want to tell apart is a class below `Error`, which
also derives from the built-in exception that fits: ``except ValueError`` and
``except TimeoutError`` do what one expects.
"""

from __future__ import annotations


class Error(Exception):
    """A call of the library failed.

    Attributes
    ----------
    message : str
        What failed, on which input, and what to do.
    code : int
        The library's result, a negative number (``TR_E*`` in ``troupe/error.h``).
    name : str
        Its name, such as ``"TR_EINVAL"``.
    system_error : int
        The ``errno`` behind it, or 0.
    process : int or None
        The number, in the cluster file, of the process that refused, did not answer or was lost.
    """

    code = 0
    name = ""

    def __init__(
        self,
        message: str,
        code: int | None = None,
        name: str | None = None,
        system_error: int = 0,
        process: int | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = type(self).code if code is None else code
        self.name = type(self).name if name is None else name
        self.system_error = system_error
        self.process = process

    def __str__(self) -> str:
        return self.message

    def __reduce__(self) -> tuple[type[Error], tuple[str, int, str, int, int | None]]:
        state = (self.message, self.code, self.name, self.system_error, self.process)
        return type(self), state


class InvalidArgument(Error, ValueError):
    """An argument or an option is none that the call takes."""

    code, name = -1, "TR_EINVAL"


class OutOfMemory(Error, MemoryError):
    """There is no memory left."""

    code, name = -2, "TR_ENOMEM"


class InputOutputError(Error, OSError):
    """Reading or writing failed."""

    code, name = -3, "TR_EIO"


class NotFound(Error, LookupError):
    """There is no such file, type, feature or name."""

    code, name = -4, "TR_ENOENT"


class AlreadyExists(Error, FileExistsError):
    """What was to be made is there already."""

    code, name = -5, "TR_EEXIST"


class NotPermitted(Error, PermissionError):
    """The system does not permit it."""

    code, name = -6, "TR_EPERM"


class NoSpace(Error, OSError):
    """A disk is full."""

    code, name = -7, "TR_ENOSPC"


class BadFormat(Error, ValueError):
    """A file is not in the format that it claims."""

    code, name = -8, "TR_EFORMAT"


class OutOfRange(Error, IndexError, ValueError):
    """There is no such ID, type or number."""

    code, name = -9, "TR_ERANGE"


class TooBig(Error, ValueError):
    """Something is larger than a stated bound."""

    code, name = -10, "TR_ETOOBIG"


class Unsupported(Error, NotImplementedError):
    """It cannot be done here."""

    code, name = -11, "TR_EUNSUPPORTED"


class Mismatch(Error, ValueError):
    """Two inputs do not belong together."""

    code, name = -12, "TR_EMISMATCH"


class TimedOut(Error, TimeoutError):
    """A deadline passed."""

    code, name = -13, "TR_ETIMEDOUT"


class PeerDown(Error, ConnectionError):
    """Another process of the job is down; ``process`` names it where it is known."""

    code, name = -14, "TR_EPEERDOWN"


class Canceled(Error):
    """The call was cancelled."""

    code, name = -15, "TR_ECANCELED"


class Full(Error):
    """A bound of memory is reached: batches that are held fill the session's."""

    code, name = -16, "TR_EFULL"


class Closed(Error, ValueError):
    """The session is closed, or its job has ended."""

    code, name = -17, "TR_ECLOSED"


class ChildFailed(Error):
    """A child process failed."""

    code, name = -19, "TR_ECHILD"


class RolledBack(Error):
    """The group went back to its last checkpoint: restore, and go on from there."""

    code, name = -20, "TR_EROLLBACK"


class InternalError(Error, RuntimeError):
    """An invariant of Troupe itself does not hold: please report it."""

    code, name = -21, "TR_EINTERNAL"


class Forked(Error, RuntimeError):
    """The handle belongs to the process that forked this one.

    A forked child has none of the threads that serve its parent. Start workers by ``spawn`` or
    ``forkserver`` instead (``multiprocessing.get_context("spawn")``): graphs, node sets and loaders
    pickle, and open themselves again there.
    """

    code, name = -22, "TR_EFORKED"


BY_CODE: dict[int, type[Error]] = {cls.code: cls for cls in Error.__subclasses__()}
