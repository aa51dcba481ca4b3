# SPDX-License-Identifier: Apache-2.0
"""A page about training runs."""

from __future__ import annotations

import os
from collections.abc import Sequence

from ._libmodel import ffi
from ._libmodel import lib as model
from .binding import call, encoded, made, text
from .task import OnProgress, Report, report_of, start, wait

AnyPath = str | os.PathLike[str]


def report(
    runs: AnyPath | Sequence[AnyPath],
    out: AnyPath,
    *,
    classes: AnyPath | Sequence[AnyPath] = (),
    progress: OnProgress = None,
) -> Report:
    """Writes one page of HTML about training runs; as ``troupe report``.

    The page needs neither a network nor a script: losses and scores over steps and seconds, scores
    by class, how the graphs are partitioned, options, machines, and the commands that repeat the
    runs.

    Parameters
    ----------
    runs : a folder of a run, or several (32 at most), which are compared.
    out : the page, which appears whole or not at all; an earlier report there is replaced.
    classes : files of `troupe.training.Predictions.write_by_class`, or of
        ``troupe infer --by-class --json``; a file by-class.json in the folder of a run is read
        without being named.
    progress : called about ten times a second; True: a bar.

    Returns
    -------
    Report
        ``path``, ``runs``, ``classes`` (how many), and ``graphs``: a dict of the graphs that the
        runs name, each with why it could not be read, or None.

    Raises
    ------
    NotFound, BadFormat
        What of a run or of a file of classes is missing or is none.
    AlreadyExists
        Another file than a report has the name.
    """
    run_texts = [encoded(path) for path in _listed(runs)]
    class_texts = [encoded(path) for path in _listed(classes)]
    options = made("tr_report_options", _library=model, _ffi=ffi, out=out)
    run_list = ffi.new("const char *[]", run_texts)
    class_list = ffi.new("const char *[]", class_texts)
    options.runs, options.num_runs = run_list, len(run_texts)
    options.classes, options.num_classes = class_list, len(class_texts)
    task = start(model.tr_report_start, options)
    wait(task, progress)
    result = made("tr_report_result", _library=model, _ffi=ffi)
    call(model.tr_report_get_result, task, result)
    found = report_of(result)
    found.path = os.fspath(out)
    found.graphs = {}
    for index in range(result.graphs):
        graph = made("tr_report_graph", _library=model, _ffi=ffi)
        call(model.tr_report_get_graph, task, index, graph)
        found.graphs[text(graph.path)] = text(graph.why) if graph.why != ffi.NULL else None
    return found


def _listed(paths: AnyPath | Sequence[AnyPath]) -> list[AnyPath]:
    return [paths] if isinstance(paths, (str, os.PathLike)) else list(paths)
