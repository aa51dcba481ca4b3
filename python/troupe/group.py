# SPDX-License-Identifier: Apache-2.0
"""The trainers of a job, as one of them sees them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import errors
from .binding import call, check, deadline, encoded, ffi, lib, made, owned

if TYPE_CHECKING:
    from .graph import DistGraph


class Group:
    """One trainer's membership in the group of all trainers of its job.

    `restore` comes first; it waits for all of them. When a trainer dies, the group goes back to the
    last committed checkpoint: every call then raises `errors.RolledBack` until `restore`.

    Parameters
    ----------
    graph : DistGraph
    rank : int
        Of the trainer, which lives in this process.
    """

    def __init__(self, graph: DistGraph, rank: int) -> None:
        box = ffi.new("struct tr_group **")
        call(lib.tr_group_open, graph.pointer(), rank, box)
        self._pointer: Any = owned(box[0], lib.tr_group_close)
        # The group keeps the graph's session, not the graph, which may keep the group.
        self._session = graph.session
        # What the last restore gave, until the group goes on from it.
        self._found: tuple[int, bytes] | None = None
        self._restored = self._resumed = False
        self._barriers = 0
        # Of the last checkpoint that this trainer knows; 0: of none.
        self.step = 0

    def restore(self, timeout: float | None = None) -> tuple[int, bytes]:
        """Waits for all trainers, and begins the next era.

        Returns
        -------
        step, bytes
            What this trainer saved in the last committed checkpoint; 0 and nothing: there is none.
        """
        found = made("tr_checkpoint")
        self._session.waiter.call(lib.tr_group_restore, self._pointer, deadline(timeout), found)
        self._restored, self._resumed = True, False
        self._barriers = 0
        saved = bytes(ffi.buffer(ffi.cast("char *", found.bytes), found.count))
        self.step = int(found.step)
        self._found = (self.step, saved)
        return self._found

    def found(self, timeout: float | None = None) -> tuple[int, bytes]:
        """What the last `restore` gave, if this trainer has not gone on from it; else `restore`."""
        if not self._restored or self._found is None or self._resumed:
            return self.restore(timeout)
        return self._found

    def resumed(self) -> None:
        """Notes that this trainer goes on from what the last `restore` gave."""
        self._resumed = True

    def _operate(self, function: Any, *args: Any) -> None:
        """An operation of the era, which a rollback ends."""
        if not self._restored:
            self.restore()
        code, error = self._session.waiter.result(function, self._pointer, *args)
        if code == lib.TR_EROLLBACK:
            self._restored, self._found = False, None
        check(code, error)

    def barrier(self, timeout: float | None = None) -> None:
        """Waits until every trainer came to its barrier of the same number in this era."""
        if not self._restored:
            self.restore(timeout)
        name = encoded(f"python-{self._barriers}")
        self._barriers += 1
        self._operate(lib.tr_group_barrier, name, deadline(timeout))

    def save(self, step: int, part: bytes, timeout: float | None = None) -> None:
        """Commits this trainer's part of a checkpoint, which all make after the same step."""
        if not self._resumed and self.found(timeout)[0]:
            raise errors.InvalidArgument(
                f"there is a checkpoint of step {self.found()[0]}: troupe.resume() goes on from "
                "it, and comes before the first troupe.checkpoint(); to begin anew, remove the "
                "folder of checkpoints"
            )
        self._operate(lib.tr_group_save, step, ffi.from_buffer(part), len(part), deadline(timeout))
        self._resumed, self.step = True, step

    def done(self, timeout: float | None = None) -> None:
        """Says that this trainer has nothing more to do, and waits until all have said so."""
        self._operate(lib.tr_group_done, deadline(timeout))
