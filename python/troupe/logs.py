# SPDX-License-Identifier: Apache-2.0
"""What the actors of a session have to say, as records of `logging`.

A logger writes them where its handlers do: to a file that is rotated by
`logging.handlers.WatchedFileHandler`, for example, which opens it again when it was renamed.
"""

from __future__ import annotations

import logging
import threading
from typing import Any

from .binding import FOREVER, call, ffi, lib, made, opened, owned, text

# By the levels of the library.
LEVELS = (logging.ERROR, logging.WARNING, logging.INFO, logging.DEBUG)


class SessionLog:
    """The log of a session, whose lines a thread gives to a logger.

    Each component of the library ("links", "memory", "job", ...) has a logger of its own below it.
    Lines of levels that the logger does not take when this is made are not even made.

    Parameters
    ----------
    logger : str
        Its name, as for `logging.getLogger`.
    """

    def __init__(self, logger: str) -> None:
        taker = logging.getLogger(logger)
        wanted = taker.getEffectiveLevel()
        taken = [i for i, level in enumerate(LEVELS) if level >= wanted]
        options = made("tr_log_options", level=max(taken, default=0))
        box = ffi.new("struct tr_log **")
        call(lib.tr_log_open, options, box)
        self._pointer: Any = owned(box[0], lib.tr_log_close)
        self._thread = threading.Thread(
            target=_give_lines, args=(self._pointer, taker), name="tr-log", daemon=True
        )
        self._thread.start()

    def pointer(self) -> Any:
        """The library's own log."""
        return opened(self._pointer, "log")

    def close(self) -> None:
        """Gives the logger what is left; closing again does nothing."""
        if self._pointer is not None:
            # A line that is there goes before the interrupt.
            lib.tr_log_interrupt(self._pointer)
            self._thread.join()
        self._pointer = None


def _give_lines(log: Any, logger: logging.Logger) -> None:
    """Until the log is interrupted."""
    line = made("tr_log_line")
    error = ffi.new("struct tr_error *")
    lib.init_tr_error(error)
    while lib.tr_log_next(log, FOREVER, line, error) == 0:
        if line.lost > 0:
            logger.warning("%d lines were lost", line.lost)
        component = logger.getChild(text(line.component))
        component.log(LEVELS[line.level], "%s", text(line.text))
