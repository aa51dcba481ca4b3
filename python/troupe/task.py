# SPDX-License-Identifier: Apache-2.0
"""Tasks: work of the library that takes long, on a thread of its own.

Every function that runs one takes ``progress``, which is called about ten times a second with a
`Progress`; an exception that it raises, or Ctrl-C, cancels the work, and nothing of it is left.
``progress=True`` shows a bar of tqdm for each phase, or a line where tqdm is not installed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from . import display
from .binding import call, check, error_struct, ffi, fields_of, lib, made, owned, text

# Nanoseconds between two looks; Ctrl-C is noticed as often.
LOOK_NS = 50_000_000


@dataclass(frozen=True)
class Progress:
    """Where a task stands.

    Attributes
    ----------
    phase : what it does, such as "reading edges".
    unit : of `done` and `total`: "edges", "bytes", or "".
    done, total : in this phase; total 0: not known.
    seconds : since its start.
    """

    phase: str
    unit: str
    done: int
    total: int
    seconds: float


# Called with where a task stands; True: a bar is shown.
OnProgress = Callable[[Progress], object] | bool | None


class Report:
    """What came of a task: an attribute for each figure; ``vars(report)`` has all."""

    def __init__(self, **figures: Any) -> None:
        self.__dict__.update(figures)

    def __setattr__(self, name: str, value: Any) -> None:
        self.__dict__[name] = value

    def __getattr__(self, name: str) -> Any:
        known = ", ".join(sorted(self.__dict__))
        raise AttributeError(f"the report has no {name!r}; it has {known}")

    def __repr__(self) -> str:
        return f"Report({', '.join(f'{k}={v!r}' for k, v in self.__dict__.items())})"

    def _repr_html_(self) -> str:
        figures = [(name, repr(value)) for name, value in self.__dict__.items()]
        return display.Display("Report", ("figure", "value"), figures).html()


def report_of(struct: Any) -> Report:
    """A public struct as a report."""
    return Report(**dict(fields_of(struct)))


def start(function: Any, options: Any) -> Any:
    """Begins a task; the result closes it when it goes, which cancels what still runs."""
    box = ffi.new("struct tr_task **")
    call(function, options, box)
    return owned(box[0], lib.tr_task_close)


def wait(task: Any, progress: OnProgress = None, look: Callable[[], object] | None = None) -> None:
    """Waits for a task's end, and raises what it failed with; `look` is called between waits."""
    if progress is not True:
        _wait(task, progress or None, look)
        return
    from .progress_bar import ProgressBar

    bar = ProgressBar()
    try:
        _wait(task, bar, look)
        # However short the work was, its last phase is shown, and to its end.
        bar(progress_of(task))
    finally:
        bar.close()


def _wait(
    task: Any,
    progress: Callable[[Progress], object] | None,
    look: Callable[[], object] | None,
) -> None:
    while True:
        error = error_struct()
        code = lib.tr_task_wait(task, LOOK_NS, error)
        if code != lib.TR_ETIMEDOUT:
            if look is not None:
                look()
            check(code, error if code == 0 else _again(task))
            return
        if look is not None:
            look()
        if progress is not None:
            progress(progress_of(task))


def _again(task: Any) -> Any:
    """The task's failure once more, since what looked in between had the same error's memory."""
    error = error_struct()
    lib.tr_task_wait(task, 0, error)
    return error


def progress_of(task: Any) -> Progress:
    """Where a task stands."""
    found = made("tr_task_progress")
    call(lib.tr_task_progress, task, found)
    return Progress(
        text(found.phase), text(found.unit), found.done, found.total, found.elapsed_ns / 1e9
    )


def run(
    function: Any,
    options: Any,
    progress: OnProgress = None,
    result: tuple[Any, str] | None = None,
    more: dict[str, tuple[Any, str]] | None = None,
) -> Report | None:
    """Runs a task to its end.

    Parameters
    ----------
    function, options : how it begins.
    progress : as above.
    result : the function that gives its report, and the name of that struct.
    more : reports of a part of it, by the attributes that they become.
    """
    task = start(function, options)
    wait(task, progress)
    if result is None:
        return None
    report = made(result[1])
    call(result[0], task, report)
    # Texts in it are the task's.
    made_of = report_of(report)
    for name, (function, struct) in (more or {}).items():
        part = made(struct)
        call(function, task, part)
        setattr(made_of, name, report_of(part))
    return made_of
