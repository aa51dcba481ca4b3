# SPDX-License-Identifier: Apache-2.0
"""The folder of a training run as its files tell it, also while the run goes on."""

from __future__ import annotations

import datetime
import math
import os
from typing import Any

from ._libmodel import ffi
from ._libmodel import lib as model
from .binding import call, encoded, made, owned, text
from .task import Report, report_of

AnyPath = str | os.PathLike[str]

_EPOCH = datetime.datetime.fromtimestamp(0, datetime.UTC)


def _struct(name: str) -> Any:
    return made(name, _library=model, _ffi=ffi)


class RunRecord:
    """A run's options, epochs and scores, as they were when it was read.

    Attributes
    ----------
    path : the folder.
    version, graph, kernels : of the library, of the graph and of what computed; "": not said.
    complete : whether the training came to its end, by its epochs or its patience.
    parameters : of the model; None: there is none yet.
    options : dict
        Names of config.json and their values as texts.
    epochs : list of Report
        ``epoch`` (from 1), ``steps``, ``train_loss``, ``seconds``, ``best`` (so far) and
        ``validation`` (scores, or None).
    best : Report or None
        The last epoch that was the best so far.
    test : Report or None
        Scores of the test nodes.
    events : list of Report
        What happened to the run's job, in the order of its events.jsonl: ``time`` (a
        `datetime.datetime` in UTC), ``event``, ``process`` (None: of none), ``host``, ``role``,
        ``outcome``, ``text``, ``step``, ``pid``, ``exit_code``, ``signal`` and ``lost``, as
        troupe-events(5) has them.
    """

    def __init__(self, path: AnyPath) -> None:
        box = ffi.new("struct tr_run **")
        call(model.tr_run_open, encoded(path), box)
        run = owned(box[0], model.tr_run_close)
        info = _struct("tr_run_info")
        call(model.tr_run_info, run, info)
        self.path = os.fspath(path)
        self.version, self.graph = text(info.version), text(info.graph)
        self.kernels = text(info.kernels)
        self.complete = bool(info.complete)
        self.parameters = int(info.parameters) if info.has_model else None
        self.options = dict(_option(run, i) for i in range(info.num_options))
        self.epochs = [_epoch(run, i) for i in range(info.num_epochs)]
        self.events = [_event(run, i) for i in range(model.tr_run_num_events(run))]
        self.best = self.epochs[info.best] if info.has_best else None
        self.test: Report | None = None
        if info.tested:
            scores = _struct("tr_scores")
            call(model.tr_run_get_test, run, scores)
            self.test = report_of(scores)

    @property
    def steps(self) -> int:
        """Of all epochs."""
        return sum(int(epoch.steps) for epoch in self.epochs)

    @property
    def seconds(self) -> float:
        """Of all epochs whose time is known."""
        known = [float(e.seconds) for e in self.epochs if math.isfinite(e.seconds)]
        return sum(known)

    def __repr__(self) -> str:
        state = "complete" if self.complete else "not complete"
        return f"RunRecord({self.path!r}, {len(self.epochs)} epochs, {state}, test {self.test})"


def _option(run: Any, index: int) -> tuple[str, str]:
    name, value = ffi.new("const char **"), ffi.new("const char **")
    call(model.tr_run_option, run, index, name, value)
    return text(name[0]), text(value[0])


def _epoch(run: Any, index: int) -> Report:
    epoch, scores = _struct("tr_run_epoch"), _struct("tr_scores")
    call(model.tr_run_get_epoch, run, index, epoch, scores)
    found = report_of(epoch)
    found.validation = report_of(scores) if epoch.evaluated else None
    return found


def _event(run: Any, index: int) -> Report:
    event = _struct("tr_run_event")
    call(model.tr_run_get_event, run, index, event)
    process = int(event.process)
    return Report(
        time=_EPOCH + datetime.timedelta(milliseconds=int(event.time_ns) // 1_000_000),
        event=text(event.event),
        process=None if process == 2**32 - 1 else process,
        host=text(event.host),
        role=text(event.role),
        outcome=text(event.outcome),
        text=text(event.text),
        step=int(event.step),
        pid=int(event.pid),
        exit_code=int(event.exit_code),
        signal=int(event.signal),
        lost=int(event.lost),
    )


def is_run(path: AnyPath) -> bool:
    """Whether the path is the folder of a run, by the names of its files."""
    return bool(model.tr_run_named(encoded(path)))


def open_run(path: AnyPath) -> RunRecord:
    """Reads the folder of a run; as ``troupe inspect RUN``.

    Raises
    ------
    NotFound
        There is no run.
    BadFormat
        The file and the line that are none of a run.
    """
    return RunRecord(path)
