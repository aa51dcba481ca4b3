# SPDX-License-Identifier: Apache-2.0
"""The trainers of a job, as one of them sees them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .binding import call, deadline, encoded, ffi, lib, made, owned

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
        self._restored = False
        self._barriers = 0

    def restore(self, timeout: float | None = None) -> tuple[int, bytes]:
        """Waits for all trainers, and begins the next era.

        Returns
        -------
        step, bytes
            What this trainer saved in the last committed checkpoint; 0 and nothing: there is none.
        """
        found = made("tr_checkpoint")
        self._session.waiter.call(lib.tr_group_restore, self._pointer, deadline(timeout), found)
        self._restored = True
        self._barriers = 0
        saved = bytes(ffi.buffer(ffi.cast("char *", found.bytes), found.count))
        return int(found.step), saved

    def barrier(self, timeout: float | None = None) -> None:
        """Waits until every trainer came to its barrier of the same number in this era."""
        if not self._restored:
            self.restore(timeout)
        name = encoded(f"python-{self._barriers}")
        self._barriers += 1
        self._session.waiter.call(lib.tr_group_barrier, self._pointer, name, deadline(timeout))
