# SPDX-License-Identifier: Apache-2.0
"""This process as a trainer of a job: joining it, its rank, waiting for the others, leaving.

Where a launcher (``troupe launch CLUSTER -- python train.py``) or torchrun started the process, its
environment says which trainer it is. Elsewhere it is alone, and the only trainer.
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import multiprocessing
import os
import sys
import traceback
from typing import Any

from . import errors
from .binding import call, deadline, ffi, lib, made, owned, text
from .book import is_same_book
from .graph import DistGraph
from .session import Session

SAY_NS: int = lib.TR_PROCESS_SAY_NS
# Seconds to wait for a launcher's key, which is the first line of the standard input.
KEY_TIMEOUT = 60.0
# Seconds in which all processes of a job that is over have ended their actors.
END_TIMEOUT = 60.0

# mallopt(3): parameter, the variable that sets it before the process begins, and its value.
ALLOCATOR = (
    (-4, "MALLOC_MMAP_MAX_", 0),
    (-1, "MALLOC_TRIM_THRESHOLD_", (1 << 31) - 1),
    (-2, "MALLOC_TOP_PAD_", 64 << 20),
)


def reuse_buffers() -> bool:
    """Has the C library keep large buffers that are freed, for the next step, in this process.

    A step of PyTorch frees and allocates the same large buffers again. By default glibc gives each
    back to the system, and their pages are faulted in anew. Where the environment sets ``MALLOC_*``
    itself, as `troupe launch` does, that stays. False: the C library has no such settings.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is None:
        return False
    for parameter, variable, value in ALLOCATOR:
        if variable not in os.environ:
            mallopt(parameter, value)
    return True


class Job:
    """A graph that `initialize` opened, and this process's place among its trainers."""

    def __init__(self, process: Any, graph: DistGraph) -> None:
        self.process = process
        self.graph = graph
        self.pid = os.getpid()
        # Whether `troupe.ddp` began the process group of PyTorch.
        self.has_process_group = False

    @property
    def rank(self) -> int:
        """Of this process's trainer."""
        return self.graph.rank()

    @property
    def world(self) -> int:
        """Trainers of the job."""
        return self.graph.world

    def say(self, function: Any, *args: Any) -> None:
        """Notifies the launcher, where there is one; what it does not take is no failure."""
        sys.stdout.flush()
        with contextlib.suppress(errors.Error):
            call(function, *args, SAY_NS)

    def leave(self, finish: bool) -> None:
        """As `shutdown`, of this job alone."""
        if self in _jobs:
            _jobs.remove(self)
            self.close(finish)

    def close(self, finish: bool, timeout: float | None = None) -> None:
        """Leaves the job; finish: after all trainers have come to their end."""
        try:
            if finish and self.process is not None:
                self._finish(timeout)
        finally:
            self._end_process_group()
            if self.process is not None:
                with contextlib.suppress(errors.Error):
                    call(lib.tr_process_attach, self.process, ffi.NULL)
            self.graph.close()
            self.graph.session.close()
            self.process = None

    def _finish(self, timeout: float | None) -> None:
        self.graph.group().done(timeout)
        # All have come to their end: no death takes that back.
        if self.rank == 0:
            self.say(lib.tr_process_say_complete)
        # Other processes may need the actors of this one until then.
        with contextlib.suppress(errors.TimedOut, errors.PeerDown, errors.Canceled):
            self.graph.wait_end(END_TIMEOUT if timeout is None else timeout)

    def _end_process_group(self) -> None:
        torch = sys.modules.get("torch")
        if self.has_process_group and torch is not None and torch.distributed.is_initialized():
            torch.distributed.destroy_process_group()
        self.has_process_group = False


# The jobs that are open, the last one first asked.
_jobs: list[Job] = []


def jobs_here() -> list[Job]:
    """The jobs of this process, which are not those of the process that forked it."""
    for job in _jobs:
        if job.pid != os.getpid():
            raise errors.Forked(
                "this process was forked by a trainer, and is not a trainer itself. Start "
                "workers by spawn or forkserver: multiprocessing.get_context('spawn'), or "
                "multiprocessing_context='spawn' of a DataLoader"
            )
    # What was closed by other ways has left.
    _jobs[:] = [job for job in _jobs if job.graph.is_open]
    return _jobs


def job_of(graph: DistGraph | None = None) -> Job:
    """The job of a graph; None: the one that was initialized last."""
    for job in reversed(jobs_here()):
        if graph is None or job.graph is graph:
            return job
    raise errors.NotFound("call troupe.initialize() first: this process is not a trainer yet")


def is_launched() -> bool:
    """Whether the environment says that this process is one of a job of several.

    Workers that it starts by multiprocessing are none, though they inherit the environment.
    """
    return bool(os.environ.get("TROUPE_CLUSTER")) and multiprocessing.parent_process() is None


def job_of_several() -> Job | None:
    """The job of several processes that this one has joined; None: it has not."""
    return next((job for job in jobs_here() if job.process is not None), None)


def _own_process(cluster: Any, graph: Any) -> Any:
    if multiprocessing.parent_process() is not None:
        raise errors.InvalidArgument(
            "troupe.initialize() in a process that multiprocessing started: a trainer is the "
            "process that the launcher started; workers get graphs and loaders as arguments, "
            "which pickle"
        )
    if job_of_several() is not None:
        raise errors.AlreadyExists(
            "this process is in a job of several processes already: troupe.shutdown() leaves it"
        )
    options = made(
        "tr_process_options",
        cluster=None if cluster is None else os.fspath(cluster),
        graph=None if graph is None else os.fspath(graph),
    )
    box = ffi.new("struct tr_process **")
    call(lib.tr_process_open, options, deadline(KEY_TIMEOUT), box)
    return owned(box[0], lib.tr_process_close)


def _check_graph(process: Any, expected: str | os.PathLike[str]) -> None:
    info = made("tr_process_info")
    call(lib.tr_process_info, process, info)
    graph = text(info.graph)
    if not is_same_book(expected, graph):
        raise errors.Mismatch(
            f"{os.fspath(expected)} is not the graph of the job, {graph}: name it in the cluster "
            "file, or open it in this process alone, DistGraph(part_config=...)"
        )


def _join(process: Any, tensors: str, timeout: float | None, options: dict[str, Any]) -> DistGraph:
    """Opens the session and the graph as this process of the cluster."""
    info = made("tr_process_info")
    call(lib.tr_process_info, process, info)
    if info.num_trainers != 1:
        raise errors.InvalidArgument(
            f"process {info.process} of {text(info.cluster)} has {info.num_trainers} trainers, and "
            'a program is one: give its host "processes": "role"'
        )
    if info.has_seed:
        options = {**options, "seed": int(info.seed)}
    session = Session(
        **options,
        cluster=text(info.cluster),
        process=int(info.process),
        incarnation=int(info.incarnation),
        shared_key=text(info.shared_key) or None,
    )
    try:
        call(lib.tr_process_attach, process, session.pointer())
        return DistGraph(
            part_config=text(info.graph), session=session, tensors=tensors, timeout=timeout
        )
    except BaseException:
        with contextlib.suppress(errors.Error):
            call(lib.tr_process_attach, process, ffi.NULL)
        session.close()
        raise


def initialize(
    cluster: str | os.PathLike[str] | None = None,
    graph: str | os.PathLike[str] | None = None,
    *,
    tensors: str = "numpy",
    timeout: float | None = None,
    **options: Any,
) -> DistGraph:
    """Joins the job as the trainer that this process is, and opens its graph.

    Under ``troupe launch CLUSTER -- python train.py``, and under torchrun where ``TROUPE_CLUSTER``
    names the cluster file, the environment says all. Without a cluster file this process is alone:
    `graph` names what to open.

    Parameters
    ----------
    cluster : path, optional
        The cluster file; None: ``TROUPE_CLUSTER`` of the environment, if that is set.
    graph : path, optional
        ``DIR/NAME.json``; None: as the cluster file says, else ``TROUPE_GRAPH``.
    tensors : "numpy" or "torch"
        What rows, IDs and batches come as.
    timeout : float, optional
        Seconds for opening the graph.
    **options
        Of the session, see `Session`. The cluster file's seed goes before ``seed=``, and its folder
        of checkpoints before ``checkpoints=``.

    Returns
    -------
    DistGraph
        Leaving it as a context manager, `shutdown` or the end of the program leaves the job.

    Raises
    ------
    InvalidArgument
        The environment does not say which process this is, or names a process without a trainer.

    Notes
    -----
    Buffers of PyTorch are kept for the next step from here on: see `reuse_buffers`.

    Examples
    --------
    >>> with troupe.initialize(graph="parts/g.json", tensors="torch") as g:
    ...     print(troupe.rank(), troupe.num_trainers())
    0 1
    """
    return _initialize(cluster, graph, None, tensors, timeout, options)


def _initialize(
    cluster: Any,
    graph: Any,
    expected: Any,
    tensors: str,
    timeout: float | None,
    options: dict[str, Any],
) -> DistGraph:
    """As `initialize`; the graph of the job is refused where it is not the expected one."""
    reuse_buffers()
    if cluster is None:
        cluster = os.environ.get("TROUPE_CLUSTER") or None
    if cluster is None:
        jobs_here()
        path = graph if graph is not None else os.environ.get("TROUPE_GRAPH")
        if path is None:
            raise errors.InvalidArgument(
                "troupe.initialize(): there is no cluster file, so say graph='DIR/NAME.json'"
            )
        opened = DistGraph(part_config=path, tensors=tensors, timeout=timeout, **options)
        _jobs.append(Job(None, opened))
        return opened
    process = _own_process(cluster, graph)
    if expected is not None:
        _check_graph(process, expected)
    joined = _join(process, tensors, timeout, options)
    job = Job(process, joined)
    _jobs.append(job)
    joined.leave_job = job.leave
    job.say(lib.tr_process_say_ready, process)
    return joined


def open(
    path: str | os.PathLike[str] | None = None, *, tensors: str = "numpy", **options: Any
) -> DistGraph:
    """Opens a partitioned graph.

    Where a launcher or torchrun started this process as a trainer of a job (``TROUPE_CLUSTER`` is
    set), the first call joins the job, as `initialize` does, and a later one for the job's graph
    gives that graph again. Any other graph, and one opened as ``DistGraph(part_config=path)``, is
    opened in this process alone.

    Parameters
    ----------
    path : path, optional
        ``DIR/NAME.json``, as partitioning wrote it; None: the graph of the job.
    tensors : "numpy" or "torch"
        What rows, IDs and batches come as.
    **options
        Of the graph's own session: see `Session`; ``seed=`` is the one that most programs give.
        In a job the cluster file's goes before it.

    Notes
    -----
    With ``tensors="torch"`` buffers of PyTorch are kept for the next step from here on: see
    `reuse_buffers`.

    Raises
    ------
    Mismatch
        The path that joins the job is of another graph than that of its other processes.

    Examples
    --------
    >>> with troupe.open("parts/g.json", seed=1) as g:
    ...     rows = g.ndata["feat"][[5, 3, 3]]
    """
    if tensors == "torch":
        reuse_buffers()
    if path is None and not is_launched():
        return initialize(tensors=tensors, **options)
    if not is_launched():
        return DistGraph(part_config=path, tensors=tensors, **options)
    job = job_of_several()
    if job is None:
        return _initialize(None, None, path, tensors, None, options)
    if path is None or job.graph.is_of_book(path):
        return DistGraph(session=job.graph.session, tensors=tensors)
    return DistGraph(part_config=path, tensors=tensors, **options)


def shutdown(finish: bool = True, timeout: float | None = None) -> None:
    """Leaves the jobs that this process initialized, the last one first.

    Parameters
    ----------
    finish : bool
        Waits until every trainer has come here, after which nothing of the job is started again.
        False: leaves at once, as after an error.
    timeout : float, optional
        Seconds to wait for the others.

    Raises
    ------
    RolledBack
        Another trainer died before it had finished: this one is needed again.
    """
    while jobs_here():
        _jobs.pop().close(finish, timeout)


def rank() -> int:
    """This process's number among the trainers of its job; 0 where it is alone."""
    return job_of().rank if jobs_here() else 0


def num_trainers() -> int:
    """Trainers of the job; 1 where this process is alone."""
    return job_of().world if jobs_here() else 1


def barrier(timeout: float | None = None) -> None:
    """Waits until every trainer of the job has come here; see `DistGraph.barrier`."""
    if jobs_here():
        job_of().graph.barrier(timeout)


@atexit.register
def _leave() -> None:
    """At the end of the program: all is well unless an exception has ended it."""
    if not _jobs or _jobs[0].pid != os.getpid():
        return
    failed = getattr(sys, "last_value", None) is not None
    try:
        shutdown(finish=not failed)
    except BaseException:
        # An exception here would be printed, and the exit code stay 0: the launcher would not
        # start this process again.
        traceback.print_exc()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(1)
