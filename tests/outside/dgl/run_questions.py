# SPDX-License-Identifier: Apache-2.0
"""Asks DGL what `python/tests/dgl_questions.py` asks, over partitions that DGL made.

    python run_questions.py partition KIND PARTS FOLDER
    python run_questions.py server KIND PARTS FOLDER NUMBER    (one a partition)
    python run_questions.py client KIND PARTS FOLDER           (writes FOLDER/answers)

It is run in FOLDER, whose ip_config.txt has a line for each server.
"""

from __future__ import annotations

import pickle
import sys
from pathlib import Path
from typing import Any

import dgl
import numpy as np
import torch

sys.path.append(str(Path(__file__).resolve().parents[3] / "python/tests"))
from dgl.dataloading.dist_dataloader import NodeCollator
from dgl_questions import ONLY, Asked, World, make_world, questions


class Loaders:
    """Where DGL 2.1 has them."""

    DistNodeDataLoader = dgl.dataloading.DistNodeDataLoader
    NodeCollator = NodeCollator


class AskedOfDGL(Asked):
    """One process asks for the shares of all trainers, each of which has a partition."""

    def book_of(self, rank: int | None) -> Any:
        return dgl.distributed.load_partition_book("parts/g.json", rank)[0]


def graph_of(world: World) -> Any:
    ends = {name: tuple(torch.from_numpy(of) for of in e) for name, e in world.edges.items()}
    if world.is_homogeneous:
        g = dgl.graph(ends[ONLY], num_nodes=world.counts["_N"])
    else:
        g = dgl.heterograph(ends, num_nodes_dict=world.counts)
    for name, frame in world.ndata.items():
        g.nodes[name].data.update({key: torch.from_numpy(rows) for key, rows in frame.items()})
    for etype, frame in world.edata.items():
        g.edges[etype].data.update({key: torch.from_numpy(rows) for key, rows in frame.items()})
    return g


def partition(kind: str, parts: int) -> None:
    world = make_world(kind)
    nodes, edges = dgl.distributed.partition_graph(
        graph_of(world), "g", parts, "parts", part_method="random", return_mapping=True
    )
    if world.is_homogeneous:
        nodes, edges = {"_N": nodes}, {ONLY: edges}
    maps = [{name: np.asarray(ids) for name, ids in of.items()} for of in (nodes, edges)]
    Path("maps").write_bytes(pickle.dumps(maps))


def serve(parts: int, number: int) -> None:
    """Ends with the client."""
    dgl.distributed.DistGraphServer(
        number,
        "ip_config.txt",
        1,
        1,
        "parts/g.json",
        disable_shared_mem=parts > 1,
        graph_format=("csc", "csr", "coo"),
    ).start()


def ask(kind: str, parts: int) -> None:
    world = make_world(kind)
    maps = pickle.loads(Path("maps").read_bytes())
    dgl.distributed.initialize("ip_config.txt")
    book = dgl.distributed.load_partition_book("parts/g.json", 0)[0] if parts > 1 else None
    g = dgl.distributed.DistGraph("g", gpb=book)
    a = AskedOfDGL(
        world,
        g,
        dgl.distributed,
        *maps,
        list(range(parts)),
        dgl.dataloading.NeighborSampler,
        Loaders,
        lambda g, etype, ids, sampler, **options: dgl.dataloading.DistEdgeDataLoader(
            g, ids if world.is_homogeneous else {etype: ids}, sampler, **options
        ),
        dgl.dataloading.negative_sampler,
    )
    found = {}
    for name, question in questions():
        left_out = question.defect or (parts > 1 and question.in_one_part)
        if left_out or (question.in_one_type and not world.is_homogeneous):
            continue
        print("asks", name, flush=True)
        pretend_trainers(parts if name == "Shares" else 1)
        found[name] = question.ask(a)
    pretend_trainers(1)
    Path("answers").write_bytes(pickle.dumps(found))
    dgl.distributed.exit_client()


def pretend_trainers(count: int) -> None:
    """As DGL's own tests have it: one process splits for all."""
    ranks = {number: number for number in range(count)}
    dgl.distributed.role.GLOBAL_RANK = ranks
    dgl.distributed.role.PER_ROLE_RANK["default"] = ranks


if __name__ == "__main__":
    command, kind, parts = sys.argv[1], sys.argv[2], int(sys.argv[3])
    if command == "partition":
        partition(kind, parts)
    elif command == "server":
        serve(parts, int(sys.argv[4]))
    else:
        ask(kind, parts)
