# SPDX-License-Identifier: Apache-2.0
"""What the processes of a running job do: once, or live in a browser."""

from __future__ import annotations

import os
from typing import Any

from .binding import Waiter, call, check, deadline, ffi, lib, made, opened, owned, text
from .task import Report, report_of

AnyPath = str | os.PathLike[str]


class Status:
    """Where a job was, and its processes, when they were asked.

    Attributes
    ----------
    job : Report
        ``name``, ``num_processes``, ``num_up``, ``num_parts`` (partitions of its graph), ``era``,
        ``epoch``, ``epochs`` (0: not known), ``step``, ``steps`` (of the epoch), ``checkpoint``
        (the step of the last one, or None), ``checkpoint_age_s``, ``loss`` (the mean of its
        trainers), ``score``, ``score_name`` (of the last validation), each None where no process
        knows it, ``seeds``, ``seeds_per_s``.
    processes : list of Report
        One a process of the cluster file: ``host``, ``roles``, ``up``, ``why`` (it is not up), and
        its counters, which are 0 where they are not known: ``uptime_s``, ``round_trip_s``,
        ``links_up``, ``sent_bytes``, ``batches_made``, ``rss_bytes``, ``cpu_s``, ``cpus``,
        ``seeds_per_s``, ``mailbox_messages`` (that wait for its actors), ``mailbox_messages_max``
        (the most that waited for one), ``process_restarts`` (by its launcher), ``restarts`` (of its
        actors), ...; ``loss`` and ``score``, None where its trainers noted none; and
        ``peers``, a list of Report with the ``process``, ``up``, ``sent_bytes``,
        ``received_bytes``, ``queued_bytes`` and ``silent_s`` of each link.
    partitions : list of Report
        One a partition of the graph: ``num_nodes`` and ``num_edges`` that it owns, and the
        ``processes`` that serve it.
    """

    def __init__(self, pointer: Any) -> None:
        self._pointer = pointer
        job = made("tr_job_status")
        call(lib.tr_status_job, pointer, job)
        self.job = report_of(job)
        self.job.checkpoint = job.checkpoint if job.has_checkpoint else None
        if job.checkpoint_age_s < 0:
            self.job.checkpoint_age_s = None
        _leave_out(self.job, job)
        self.processes: list[Report] = []
        for number in range(job.num_processes):
            process = made("tr_process_status")
            call(lib.tr_status_process, pointer, number, process)
            report = report_of(process)
            _leave_out(report, process)
            report.peers = [self._link(number, link) for link in range(process.links)]
            self.processes.append(report)

        self.partitions = [self._partition(number) for number in range(job.num_parts)]

    def _partition(self, number: int) -> Report:
        part = made("tr_part_status")
        call(lib.tr_status_part, self._pointer, number, part)
        return Report(
            num_nodes=part.num_nodes,
            num_edges=part.num_edges,
            processes=list(part.processes[0 : part.num_processes]),
        )

    def _link(self, process: int, number: int) -> Report:
        link = made("tr_link_status")
        call(lib.tr_status_link, self._pointer, process, number, link)
        return report_of(link)

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


def _leave_out(report: Report, status: Any) -> None:
    """Makes None of a loss and a score that nobody noted."""
    if not status.has_loss:
        report.loss = None
    if not status.has_score:
        report.score = report.score_name = None


def _observer(
    cluster: AnyPath,
    graph: AnyPath | None,
    host: str | None,
    shared_key: AnyPath | None,
    timeout: float | None,
) -> Any:
    """An observer of the library, which is closed when it goes."""
    options = made(
        "tr_observer_options", cluster=cluster, graph=graph, host=host, shared_key=shared_key
    )
    box = ffi.new("struct tr_observer **")
    call(lib.tr_observer_open, options, deadline(timeout), box)
    return owned(box[0], lib.tr_observer_close)


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
    observer = _observer(cluster, graph, host, shared_key, timeout)
    waiter = Waiter(observer, "tr_observer_interrupt", "tr_observer_resume")
    code, error = waiter.result(lib.tr_observer_wait, observer, 1, deadline(timeout))
    # Who has not answered by then is shown so.
    if code != lib.TR_ETIMEDOUT:
        check(code, error)
    kept = ffi.new("struct tr_status **")
    call(lib.tr_status_read, observer, kept)
    return Status(owned(kept[0], lib.tr_status_close))


class LivePage:
    """A page about a job that browsers of this host can open; `live_page` makes it.

    It is served until `close()` or the end of a ``with`` block, by a thread of the library.
    """

    def __init__(self, observer: Any, options: Any) -> None:
        box = ffi.new("struct tr_live_page **")
        call(lib.tr_live_page_open, observer, options, box)
        self._url = text(lib.tr_live_page_url(box[0]))
        self._pointer: Any | None = owned(box[0], lib.tr_live_page_close)
        self._observer: Any | None = observer

    @property
    def url(self) -> str:
        """What to give to a browser: an address with a token, without which nothing is served."""
        opened(self._pointer, "live page")
        return self._url

    def close(self) -> None:
        """Ends the page; browsers that show it say so. The job goes on."""
        # The page ends before the observer that it reads.
        for name in ("_pointer", "_observer"):
            pointer = getattr(self, name)
            setattr(self, name, None)
            if pointer is not None:
                ffi.release(pointer)

    def __enter__(self) -> LivePage:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        # Without the token: a text of this may end in a log.
        if self._pointer is None:
            return "LivePage(closed)"
        return f"LivePage({self._url.partition('?')[0]!r})"


def live_page(
    cluster: AnyPath,
    address: str | int | None = None,
    *,
    log: AnyPath | None = None,
    run: AnyPath | None = None,
    graph: AnyPath | None = None,
    host: str | None = None,
    shared_key: AnyPath | None = None,
    timeout: float | None = 10.0,
) -> LivePage:
    """Serves a live page about a job to browsers of this host; as ``troupe top --web``.

    Parameters
    ----------
    cluster : the cluster file.
    address : the port, ``"localhost:PORT"`` or ``"[::1]:PORT"``; None: any port that is free. Other
        hosts reach it by ``ssh -L`` alone.
    log : a text file whose last lines are shown as it grows.
    run : the folder of the job's run on this host, whose history (``events.jsonl``) is shown.
    graph : ``DIR/NAME.json``; None: as the cluster file says.
    host : whose keys are used, where each host has its own; None: this host's.
    shared_key : the file of the job's key; None: as TROUPE_SHARED_KEY says.
    timeout : seconds for the line of the key, where that comes by the standard input.

    Returns
    -------
    LivePage
        Its ``url`` has a token, and shows the page to whoever has it.

    Examples
    --------
    >>> with troupe.live_page("cluster.json", 8080) as page:  # doctest: +SKIP
    ...     print(page.url)
    ...     input("Enter ends the page. ")
    """
    observer = _observer(cluster, graph, host, shared_key, timeout)
    where = str(address) if isinstance(address, int) else address
    return LivePage(observer, made("tr_live_page_options", address=where, log=log, run=run))
