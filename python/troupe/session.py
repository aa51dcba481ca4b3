# SPDX-License-Identifier: Apache-2.0
"""A session: the actors of one job as this process sees them."""

from __future__ import annotations

import atexit
import os
import weakref
from typing import TYPE_CHECKING, Any

from . import errors
from .binding import Waiter, at_exit, call, ffi, leave_thread, lib, made, opened, owned
from .logs import SessionLog

if TYPE_CHECKING:
    from .graph import DistGraph

# Sessions that are open, which the end of the interpreter closes: their actors run on threads.
_open: weakref.WeakSet[Session] = weakref.WeakSet()


class Session:
    """The actors (servers, samplers, a trainer-proxy) of one job in this process.

    Most programs need none of their own: `troupe.open` makes one for its graph. Several graphs may
    share one.

    Parameters
    ----------
    seed : int
        Of every random choice; the same seed gives the same batches, whatever the placement.
    servers, samplers, trainers, loops : int
        How many of each; 0: as many as suit the graph and the machine.
    memory_bytes_max : int
        Of batches that are in flight or held; 0: 4 GiB.
    recovery_deadline : float
        Seconds after which a wait for a lost peer fails; 0: 600.
    map_files : bool
        Serve from mapped files instead of memory: slower, but takes none.
    verify_files : bool
        Compare mapped files with their checksums first.
    direct, codec : bool
        Whether data of this process are read in place, and whether messages inside it are encoded
        as a link would: for tests.
    cluster : path, optional
        The cluster file of a job of several processes, of which this is number `process`.
    checkpoints : path, optional
        The folder of checkpoints, the same for every process of the job.
    tensor_bytes_max : int
        Bytes of the tensors (`troupe.DistTensor`) whose rows this process owns; 0: 4 GiB.
    log : str, optional
        Name of the logger of `logging` that gets what the actors have to say, of each component in
        a logger below it ("troupe.links"), up to the level that it has when the session is opened.
        A handler writes it to a file: `logging.handlers.WatchedFileHandler` to one that is rotated.
    """

    def __init__(
        self,
        *,
        seed: int = 0,
        servers: int = 0,
        samplers: int = 0,
        trainers: int = 0,
        loops: int = 0,
        memory_bytes_max: int = 0,
        recovery_deadline: float = 0,
        map_files: bool = False,
        verify_files: bool = False,
        direct: bool = True,
        codec: bool = False,
        cluster: str | os.PathLike[str] | None = None,
        process: int = 0,
        incarnation: int = 0,
        shared_key: str | os.PathLike[str] | None = None,
        checkpoints: str | os.PathLike[str] | None = None,
        checkpoint_keep: int = 0,
        tensor_bytes_max: int = 0,
        log: str | None = None,
    ) -> None:
        self.options = {k: v for k, v in locals().items() if k not in ("self", "__class__")}
        fields = dict(self.options)
        del fields["recovery_deadline"]
        self._log = None if log is None else SessionLog(log)
        fields["log"] = None if self._log is None else self._log.pointer()
        options = made(
            "tr_session_options", recovery_deadline_ns=int(recovery_deadline * 1e9), **fields
        )
        box = ffi.new("struct tr_session **")
        try:
            call(lib.tr_session_open, options, box)
        except BaseException:
            self._close_log()
            raise
        self._pointer: Any = owned(box[0], lib.tr_session_close)
        self._waiter: Waiter | None = Waiter(
            self._pointer, "tr_session_interrupt", "tr_session_resume"
        )
        # In a job of several processes a session has one graph, which all that open it share.
        self._joined: weakref.ref[DistGraph] | None = None
        _open.add(self)

    @property
    def is_open(self) -> bool:
        """Whether it was not closed."""
        return self._pointer is not None

    @property
    def is_of_cluster(self) -> bool:
        """Whether it is one of a job of several processes."""
        return self.options["cluster"] is not None

    @property
    def joined(self) -> DistGraph | None:
        """The graph with which this process is in a job of several processes."""
        found = None if self._joined is None else self._joined()
        return found if found is not None and found.is_open else None

    def join(self, graph: DistGraph) -> None:
        """Notes the graph with which this process joined the job."""
        if self.is_of_cluster:
            self._joined = weakref.ref(graph)

    @property
    def waiter(self) -> Waiter:
        """Runs calls that wait on the session."""
        if self._waiter is None:
            leave_thread()
            raise errors.Closed("the session is closed: open it again")
        return self._waiter

    def pointer(self) -> Any:
        """The library's own session."""
        return opened(self._pointer, "session")

    def dump(self) -> None:
        """Has every loop write what its actors hold to the session's log."""
        call(lib.tr_session_dump, self.pointer())

    def close(self) -> None:
        """Stops the actors; calls on graphs and loaders of the session then fail.

        Batches stay readable. Closing again does nothing.
        """
        if self._pointer is not None:
            # What still refers to the pointer are calls of other threads: their wait ends here, and
            # the session with the last of them.
            lib.tr_session_interrupt(self._pointer)
        self._pointer = self._waiter = None
        _open.discard(self)
        self._close_log()

    def _close_log(self) -> None:
        if self._log is not None:
            self._log.close()

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __reduce__(self) -> tuple[Any, ...]:
        return _session_of, (self.options,)

    def __repr__(self) -> str:
        said = ", ".join(f"{k}={v!r}" for k, v in self.options.items() if v)
        return f"Session({said})" if self._pointer is not None else "Session(closed)"


def _session_of(options: dict[str, Any]) -> Session:
    return Session(**options)


@atexit.register
def _close_all() -> None:
    at_exit.set()
    for session in list(_open):
        session.close()
