# SPDX-License-Identifier: Apache-2.0
"""How many of a loader's seeds are near: in partitions of this process, and of its host.

What is far has to come through links with every batch, so a partitioning that does not fit the
seeds, or hosts that serve none, show here before a job has run for hours.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .binding import call, encoded, ffi, lib, made, owned
from .seeds import NodeSet

if TYPE_CHECKING:
    from .graph import DistGraph

# Seeds that are looked at, in runs, of a set that has more: the share is then an estimate.
LOOKED_AT = 1 << 16
RUNS = 64


class LocalShare(NamedTuple):
    """Shares of seeds, 0 .. 1, in partitions that this process serves, and its host."""

    process: float
    host: float


def near_parts(graph: DistGraph) -> tuple[set[int], set[int]]:
    """The partitions that this process serves, and those that its host does."""
    path = graph.session.options["cluster"]
    if path is None:
        every = set(range(graph.num_parts))
        return every, every
    box = ffi.new("struct tr_cluster **")
    call(lib.tr_cluster_open, encoded(path), box)
    cluster = owned(box[0], lib.tr_cluster_close)
    box = ffi.new("struct tr_plan **")
    call(lib.tr_plan_open, cluster, graph.num_parts, box)
    plan = owned(box[0], lib.tr_plan_close)
    info = made("tr_plan_info")
    call(lib.tr_plan_info, plan, info)
    served: list[tuple[int, set[int]]] = []
    for number in range(info.num_processes):
        process: Any = made("tr_plan_process_info")
        call(lib.tr_plan_process, plan, number, process)
        parts = {int(process.parts[i]) for i in range(process.num_parts)}
        served.append((int(process.host), parts))
    host, here = served[int(graph.session.options["process"])]
    # A plan goes before its cluster.
    del plan
    return here, set[int]().union(*(parts for where, parts in served if where == host))


def _some_ids(nodes: NodeSet) -> Any:
    """IDs of a set: all, or runs of them at equal distances."""
    if len(nodes) <= LOOKED_AT:
        return nodes.read(0, len(nodes))
    run = LOOKED_AT // RUNS
    firsts = np.linspace(0, len(nodes) - run, RUNS).astype(np.int64)
    return np.concatenate([nodes.read(int(first), run) for first in firsts])


def local_share(graph: DistGraph, sets: Iterable[NodeSet]) -> LocalShare:
    """The shares of the seeds in these sets; every trainer is dealt seeds of all."""
    here, host = near_parts(graph)
    book = graph.get_partition_book()
    total = in_here = in_host = 0.0
    for nodes in sets:
        if not len(nodes):
            continue
        owners = np.asarray(book.nid2partid(_some_ids(nodes), nodes.ntype))
        scale = len(nodes) / len(owners)
        total += len(nodes)
        in_here += scale * np.isin(owners, sorted(here)).sum()
        in_host += scale * np.isin(owners, sorted(host)).sum()
    return LocalShare(float(in_here / total), float(in_host / total)) if total else LocalShare(1, 1)
