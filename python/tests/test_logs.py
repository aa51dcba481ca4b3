# SPDX-License-Identifier: Apache-2.0
"""What actors have to say becomes records of `logging`, in a file that may be renamed."""

from __future__ import annotations

import logging
import logging.handlers
import pickle
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from conftest import World
from launching import LIMIT

import troupe
from troupe import errors


class Seen(logging.Handler):
    """Keeps records, and says when one of a dump came."""

    def __init__(self) -> None:
        super().__init__()
        self.records: list[logging.LogRecord] = []
        self.dumped = threading.Event()

    def emit(self, record: logging.LogRecord) -> None:
        self.records.append(record)
        if "mailbox" in record.getMessage():
            self.dumped.set()


@contextmanager
def logger_of(name: str, level: int, *handlers: logging.Handler) -> Iterator[logging.Logger]:
    logger = logging.getLogger(name)
    logger.setLevel(level)
    logger.propagate = False
    for handler in handlers:
        logger.addHandler(handler)
    yield logger
    for handler in handlers:
        logger.removeHandler(handler)
        handler.close()


def dump(world: World, seen: Seen, name: str) -> None:
    seen.dumped.clear()
    with troupe.Session(log=name) as session:
        graph = troupe.open(world.path, session=session)
        session.dump()
        assert seen.dumped.wait(LIMIT)
        graph.close()
    session.close()


def test_a_dump_is_logged(world: World) -> None:
    seen = Seen()
    with logger_of("jobs", logging.INFO, seen):
        dump(world, seen, "jobs")
    dumped = [r for r in seen.records if r.name == "jobs.dump"]
    assert dumped and all(r.levelno == logging.INFO for r in dumped)


def test_levels_that_a_logger_does_not_take_are_not_made(world: World) -> None:
    seen = Seen()
    with logger_of("quiet", logging.ERROR, seen) as logger, troupe.Session(log="quiet") as session:
        logger.setLevel(logging.DEBUG)
        troupe.open(world.path, session=session).close()
    assert not seen.records


def test_a_file_that_is_renamed_is_left(world: World, tmp_path: Path) -> None:
    log, old = tmp_path / "log", tmp_path / "log.1"
    seen = Seen()
    # The file comes first, so that it has what was seen.
    with logger_of("rotated", logging.INFO, logging.handlers.WatchedFileHandler(log), seen):
        dump(world, seen, "rotated")
        log.rename(old)
        dump(world, seen, "rotated")
    assert "mailbox" in old.read_text() and "mailbox" in log.read_text()


def test_a_session_that_cannot_be_opened_leaves_no_thread(world: World) -> None:
    before = threading.active_count()
    with pytest.raises(errors.OutOfRange):
        troupe.Session(log="jobs", loops=100_000)
    assert threading.active_count() == before
    session = troupe.Session(log="jobs")
    again = pickle.loads(pickle.dumps(session))
    assert again.options["log"] == "jobs"
    again.close()
    session.close()
    assert threading.active_count() == before
