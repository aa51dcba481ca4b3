# SPDX-License-Identifier: Apache-2.0
"""DistributedDataParallel of PyTorch, among the trainers of a job."""

from __future__ import annotations

import warnings
from typing import Any

from . import errors
from .graph import DistGraph
from .job import job_of


def process_group(graph: DistGraph | None = None) -> None:
    """Begins PyTorch's process group of the trainers of a job (gloo), unless one is there.

    Its address is that of the environment (``MASTER_ADDR``, ``MASTER_PORT``), which launchers set.
    """
    import torch.distributed

    # Its types differ between versions.
    dist: Any = torch.distributed
    job = job_of(graph)
    if dist.is_initialized():
        if (dist.get_rank(), dist.get_world_size()) != (job.rank, job.world):
            raise errors.Mismatch(
                f"PyTorch's process group has this process as rank {dist.get_rank()} of "
                f"{dist.get_world_size()}, and the job as trainer {job.rank} of {job.world}"
            )
        return
    if job.world == 1:
        # Nobody else is there: no address is needed.
        dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    else:
        dist.init_process_group("gloo", rank=job.rank, world_size=job.world)
    job.has_process_group = True


def ddp(model: Any, *, graph: DistGraph | None = None, **options: Any) -> Any:
    """Wraps a model in DistributedDataParallel, so that a restored run repeats an undisturbed one.

    By itself PyTorch rebuilds the buckets in which gradients are added up after the first step, in
    the order in which they came. A run that goes on from a checkpoint would then take its first
    step with other buckets than the undisturbed run, which add in another order, and its weights
    would differ in the last digits. Here buckets stay as they are made, which
    ``find_unused_parameters=True`` does: layers that a step does not use are no error either. On
    the same machines and versions the weights are equal, bit by bit.

    Parameters
    ----------
    model : torch.nn.Module
    graph : DistGraph, optional
        Of the job; None: the one that was initialized last.
    **options
        Of DistributedDataParallel.

    Returns
    -------
    torch.nn.parallel.DistributedDataParallel
        Where lists of the trainers' own are uneven, ``with model.join(
        divide_by_initial_world_size=False):`` is around the loop.

    Notes
    -----
    PyTorch averages gradients over trainers. A loss is to be multiplied by ``batch.weight``, so
    that the step is that of the mean over all its seeds.
    """
    from torch.nn.parallel import DistributedDataParallel

    process_group(graph)
    if not options.setdefault("find_unused_parameters", True):
        raise errors.InvalidArgument(
            "find_unused_parameters=False: PyTorch rebuilds its buckets after the first step then, "
            "and a restored run differs; torch.nn.parallel.DistributedDataParallel can be used as "
            "it is"
        )
    # That there are none is no news: the option is not there to find them.
    warnings.filterwarnings("ignore", message="find_unused_parameters=True was specified")
    return DistributedDataParallel(model, **options)
