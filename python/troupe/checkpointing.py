# SPDX-License-Identifier: Apache-2.0
"""Checkpoints of programs: models, optimisers, loaders and PyTorch's random state, committed whole.

Each trainer saves a part, a safetensors file; the job's manifest names all parts, and only a
manifest makes a checkpoint (``man troupe-checkpoint``). The library keeps a checksum of each part.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from . import errors, safetensors, state_tree
from .binding import lib
from .graph import DistGraph
from .job import Job, job_of

FORMAT = "troupe.checkpoint"
VERSION = "1"


def _bare(model: Any) -> Any:
    """A model without DistributedDataParallel around it, whose names begin otherwise."""
    from torch.nn.parallel import DistributedDataParallel

    return model.module if isinstance(model, DistributedDataParallel) else model


def _named(model: Any, optimizer: Any, loader: Any, more: Mapping[str, Any]) -> dict[str, Any]:
    """What is saved, by its name."""
    ours = {"model": model, "optimizer": optimizer, "loader": loader}
    for name, thing in more.items():
        if name in ours or name == "random":
            raise errors.InvalidArgument(f"{name}=: the name is taken")
        if not hasattr(thing, "state_dict") or not hasattr(thing, "load_state_dict"):
            raise errors.InvalidArgument(f"{name}=: it has no state_dict() and load_state_dict()")
    every = {**ours, **more}
    found = {name: thing for name, thing in every.items() if thing is not None}
    if model is not None:
        found["model"] = _bare(model)
    return found


def _random_state() -> dict[str, Any]:
    import torch

    state: dict[str, Any] = {"cpu": torch.get_rng_state()}
    cuda: Any = torch.cuda
    if cuda.is_available() and cuda.is_initialized():
        state["cuda"] = cuda.get_rng_state_all()
    return state


def _set_random_state(state: Any) -> None:
    import torch

    torch.set_rng_state(state["cpu"])
    if "cuda" in state and torch.cuda.is_available():
        torch.cuda.set_rng_state_all(state["cuda"])


def _types_of(graph: DistGraph) -> dict[str, Any]:
    return {"ntypes": graph.ntypes, "etypes": [list(etype) for etype in graph.canonical_etypes]}


def pack(job: Job, things: Mapping[str, Any], step: int) -> bytes:
    """A trainer's part of a checkpoint."""
    tensors: dict[str, Any] = {}
    states = {name: thing.state_dict() for name, thing in things.items()}
    states["random"] = _random_state()
    structure = {name: state_tree.flatten(state, name, tensors) for name, state in states.items()}
    metadata = {
        "format": FORMAT,
        "version": VERSION,
        "step": str(step),
        "rank": str(job.rank),
        "trainers": str(job.world),
        "graph": job.graph.graph_name,
        "types": json.dumps(_types_of(job.graph)),
        "structure": json.dumps(structure),
    }
    return safetensors.dump(tensors, metadata)


def _check_place(job: Job, metadata: Mapping[str, str], what: str) -> None:
    if metadata.get("format") != FORMAT:
        raise errors.BadFormat(f"{what} was not saved by troupe.checkpoint()")
    if metadata.get("version") != VERSION:
        raise errors.BadFormat(
            f"{what}: version {metadata.get('version')}; this one reads {VERSION}"
        )
    here = {"rank": str(job.rank), "trainers": str(job.world), "graph": job.graph.graph_name}
    for name, value in here.items():
        if metadata.get(name) != value:
            raise errors.Mismatch(f"{what}: its {name} is {metadata.get(name)}, and here {value}")
    try:
        types = json.loads(metadata.get("types", ""))
    except (ValueError, RecursionError):
        raise errors.BadFormat(f"{what}: its types are not JSON") from None
    if types != _types_of(job.graph):
        raise errors.Mismatch(
            f"{what}: it was saved with the types {types}, and the graph has "
            f"{_types_of(job.graph)}: names and order have to be the same"
        )


def unpack(job: Job, content: bytes, what: str) -> dict[str, Any]:
    """The states of a part, by name, once the graph and this trainer are those of it."""
    tensors, metadata = safetensors.load(content, what)
    _check_place(job, metadata, what)
    try:
        structure = json.loads(metadata.get("structure", ""))
    except (ValueError, RecursionError):
        raise errors.BadFormat(f"{what}: its structure is not JSON") from None
    if not isinstance(structure, dict) or "random" not in structure:
        raise errors.BadFormat(f"{what}: its structure is not that of a state")
    return {name: state_tree.unflatten(tree, tensors, what) for name, tree in structure.items()}


def checkpoint(
    model: Any = None,
    optimizer: Any = None,
    loader: Any = None,
    *,
    step: int | None = None,
    graph: DistGraph | None = None,
    timeout: float | None = None,
    **more: Any,
) -> int:
    """Commits a checkpoint of all trainers; every one calls it after the same step.

    Parameters
    ----------
    model, optimizer, loader
        Whose states are saved; None: not that one. PyTorch's random state always is. A model in
        DistributedDataParallel is saved as what is inside.
    step : int, optional
        Its number, larger than that of the checkpoint before; None: one more than that.
    graph : DistGraph, optional
        Of the job; None: the one that was initialized last.
    timeout : float, optional
        Seconds to wait for the others.
    **more
        Others with ``state_dict()`` and ``load_state_dict()``, such as ``scheduler=``.

    Returns
    -------
    int
        The step.

    Raises
    ------
    InvalidArgument
        No folder of checkpoints is named, by the cluster file or by ``checkpoints=`` of
        `initialize`; or there is a checkpoint that `resume` was not called for.
    NoSpace, InputOutputError
        No trainer has this checkpoint, and the one before stays: all go on, or all call it again.
    RolledBack
        Another trainer died. A program ends then, and is started again.
    """
    job = job_of(graph)
    group = job.graph.group()
    number = group.step + 1 if step is None else step
    things = _named(model, optimizer, loader, more)
    group.save(number, pack(job, things, number), timeout)
    if job.process is not None and job.rank == 0:
        job.say(lib.tr_process_say_checkpoint, number)
    return number


def resume(
    model: Any = None,
    optimizer: Any = None,
    loader: Any = None,
    *,
    graph: DistGraph | None = None,
    timeout: float | None = None,
    **more: Any,
) -> int | None:
    """Goes on from the last committed checkpoint; every trainer calls it before its first step.

    Parameters
    ----------
    model, optimizer, loader, **more
        As they were given to `checkpoint`.
    graph, timeout
        As there.

    Returns
    -------
    int or None
        The step after which it was committed; None: there is none, and nothing was changed.

    Raises
    ------
    Mismatch
        It is of another graph, of other types or another order of them, of another number of
        trainers, or was saved with other names than are asked for.
    """
    job = job_of(graph)
    group = job.graph.group()
    step, content = group.found(timeout)
    if job.process is not None and job.rank == 0:
        job.say(lib.tr_process_say_era, step)
    if not step and not content:
        group.resumed()
        return None
    what = f"the checkpoint of step {step}, trainer {job.rank}"
    states = unpack(job, content, what)
    things = _named(model, optimizer, loader, more)
    if set(things) != set(states) - {"random"}:
        raise errors.Mismatch(
            f"{what}: it has {sorted(set(states) - {'random'})}, and {sorted(things)} is asked for"
        )
    for name, thing in things.items():
        thing.load_state_dict(states[name])
    _set_random_state(states["random"])
    group.resumed()
    return step
