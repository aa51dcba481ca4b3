# SPDX-License-Identifier: Apache-2.0
"""What the processes of a running job do."""

from __future__ import annotations

import os
from typing import Any

from .binding import Waiter, call, check, deadline, ffi, lib, made, owned, text
from .task import Report, report_of

AnyPath = str | os.PathLike[str]


class Status:
    """Where a job was, and its processes, when they were asked.

    Attributes
    ----------
    job : Report
        ``name``, ``num_processes``, ``num_up``, ``era``, ``epoch``, ``epochs`` (0: not known),
        ``step``, ``steps`` (of the epoch), ``checkpoint`` (the step of the last one, or None).
    processes : list of Report
        One a process of the cluster file: ``host``, ``roles``, ``up``, ``why`` (it is not up), and
        its counters, which are 0 where they are not known: ``uptime_s``, ``round_trip_s``,
        ``links_up``, ``sent_bytes``, ``batches_made``, ...
    """

    def __init__(self, pointer: Any) -> None:
        self._pointer = pointer
        job = made("tr_job_status")
        call(lib.tr_status_job, pointer, job)
        self.job = report_of(job)
        self.job.checkpoint = job.checkpoint if job.has_checkpoint else None
        self.processes: list[Report] = []
        for number in range(job.num_processes):
            process = made("tr_process_status")
            call(lib.tr_status_process, pointer, number, process)
            self.processes.append(report_of(process))

    @property
    def all_up(self) -> bool:
        """Whether every process answered."""
        return all(process.up for process in self.processes)

    def json(self) -> str:
        """All of it as the line that ``troupe status --json`` prints."""
        return text(lib.tr_status_json(self._pointer))

    def __repr__(self) -> str:
        up = sum(bool(process.up) for process in self.processes)
        job = self.job
        return (
            f"Status({job.name!r}, {up} of {len(self.processes)} processes up, epoch {job.epoch}, "
            f"step {job.step} of {job.steps})"
        )


def status(
    cluster: AnyPath,
    *,
    graph: AnyPath | None = None,
    host: str | None = None,
    shared_key: AnyPath | None = None,
    timeout: float | None = 10.0,
) -> Status:
    """Asks every process of a job what it does; as ``troupe status``.

    A process that does not answer within three seconds is down, and ``why`` says the reason.

    Parameters
    ----------
    cluster : the cluster file.
    graph : ``DIR/NAME.json``; None: as the cluster file says.
    host : whose keys are used, where each host has its own; None: this host's.
    shared_key : the file of the job's key; None: as TROUPE_SHARED_KEY says.
    timeout : seconds until processes that were not asked yet are left out; None: no end.
    """
    options = made(
        "tr_observer_options", cluster=cluster, graph=graph, host=host, shared_key=shared_key
    )
    box = ffi.new("struct tr_observer **")
    call(lib.tr_observer_open, options, deadline(timeout), box)
    observer = owned(box[0], lib.tr_observer_close)
    waiter = Waiter(observer, "tr_observer_interrupt", "tr_observer_resume")
    code, error = waiter.result(lib.tr_observer_wait, observer, 1, deadline(timeout))
    # Who has not answered by then is shown so.
    if code != lib.TR_ETIMEDOUT:
        check(code, error)
    kept = ffi.new("struct tr_status **")
    call(lib.tr_status_read, observer, kept)
    return Status(owned(kept[0], lib.tr_status_close))
