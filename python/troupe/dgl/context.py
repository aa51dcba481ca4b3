# SPDX-License-Identifier: Apache-2.0
"""What ``dgl.distributed.initialize`` begins and ``exit_client`` ends: the graphs of this process.

DGL's functions name no graph where Troupe's do (`barrier`, ``DistTensor(shape, dtype)``), so the
open graphs are kept here. They are kept weakly: a graph goes with its last user.

Where a launcher or torchrun started the process as a trainer of a job, `initialize` joins the job,
and every graph is the job's.
"""

from __future__ import annotations

import os
import sys
import warnings
import weakref
from typing import TYPE_CHECKING, Any

from .. import job

if TYPE_CHECKING:
    from .dist_graph import DistGraph

_order: list[weakref.ref[DistGraph]] = []
_state: dict[str, Any] = {"initialized": False, "options": {}}


def initialize(
    ip_config: Any = None,
    max_queue_size: int = 0,
    net_type: str | None = None,
    num_worker_threads: int = 1,
    use_graphbolt: bool = False,
    **options: Any,
) -> None:
    """Prepares this process for graphs; it may be called any number of times.

    Under ``troupe launch CLUSTER -- python script.py``, and under torchrun where ``TROUPE_CLUSTER``
    names the cluster file, it joins the job as the trainer that the environment says, and waits for
    its other processes. Elsewhere the process is alone.

    Parameters
    ----------
    ip_config, max_queue_size, net_type, num_worker_threads, use_graphbolt
        Accepted as DGL has them: where a job has several processes its cluster file says which.
    **options
        Of the sessions that graphs are opened in, such as ``seed=``: see `troupe.Session`. The
        cluster file's seed goes before it.
    """
    if os.environ.get("DGL_ROLE") == "server":
        # A launcher of DGL runs the script once more as a server, which never returns from here.
        print(
            "troupe: DGL_ROLE is server; Troupe's servers are threads of its trainers, "
            "so this process ends",
            file=sys.stderr,
        )
        raise SystemExit(0)
    if use_graphbolt:
        warnings.warn("use_graphbolt is ignored: Troupe draws by itself", stacklevel=2)
    job.reuse_buffers()
    if job.is_launched() and job.job_of_several() is None:
        job.initialize(tensors="torch", **options)
    _state["initialized"] = True
    _state["options"] = options


def is_initialized() -> bool:
    """Whether `initialize` was called, and `exit_client` not since."""
    return bool(_state["initialized"])


def session_options() -> dict[str, Any]:
    """What `initialize` was given for sessions."""
    if not _state["initialized"]:
        raise RuntimeError("call dgl.distributed.initialize(ip_config) before DistGraph")
    joined = job.job_of_several()
    return dict(_state["options"]) if joined is None else {"session": joined.graph.session}


def seed() -> int:
    """The seed of the graphs' sessions; 0 before `initialize`, and where it was given none."""
    joined = job.job_of_several()
    given = _state["options"] if joined is None else joined.graph.session.options
    return int(given.get("seed", 0))


def opened(graph: DistGraph) -> None:
    """Notes a graph that was opened."""
    _order[:] = [ref for ref in _order if ref() is not None]
    _order.append(weakref.ref(graph))


def graphs() -> list[DistGraph]:
    """The graphs that are open, the newest first."""
    alive = [ref() for ref in reversed(_order)]
    return [graph for graph in alive if graph is not None and graph.is_open]


def graph_of(what: str) -> DistGraph:
    """The newest open graph, for a function of DGL that names none."""
    found = graphs()
    if not found:
        raise RuntimeError(f"{what}: no graph is open; make a DistGraph first")
    return found[0]


def exit_client() -> None:
    """Closes every graph; `initialize` may follow.

    A process of a job leaves it, once every other trainer has come here or to its end.
    """
    for graph in graphs():
        graph.close()
    _order.clear()
    _state["initialized"] = False
    joined = job.job_of_several()
    if joined is not None:
        joined.leave(True)


shutdown = exit_client


def get_rank() -> int:
    """This process's rank among the trainers; 0 where it is alone."""
    joined = job.job_of_several()
    if joined is not None:
        return joined.rank
    found = graphs()
    return found[0].rank() if found else 0


def get_num_client() -> int:
    """Trainers of the job; 1 where this process is alone."""
    joined = job.job_of_several()
    if joined is not None:
        return joined.world
    found = graphs()
    return found[0].world if found else 1


get_num_trainers = get_num_client


def get_num_machines() -> int:
    """Machines, which DGL counts by partitions; 1 before a graph is open."""
    found = graphs()
    joined = job.job_of_several()
    if joined is not None:
        return joined.graph.num_parts
    return found[0].num_parts if found else 1


def barrier(timeout: float | None = None) -> None:
    """Waits until every trainer of the job has come here.

    Tensors that are not persistent and that nobody here uses any more are freed between two waits:
    when the others have come here too, they read them no more, and when this returns, all of them
    are gone, so that their names are free.
    """
    joined = job.job_of_several()
    if joined is not None:
        joined.graph.barrier(timeout)
        for graph in graphs():
            graph.free_dropped()
        joined.graph.barrier(timeout)


client_barrier = barrier
