# SPDX-License-Identifier: Apache-2.0
"""DGL itself, by its own servers on this machine, and Troupe with DGL installed are asked what
`python/tests/dgl_questions.py` asks: both answer as NumPy does over the raw graph."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from run_questions import graph_of
from troupe import dgl

sys.path.append(str(Path(__file__).resolve().parents[3] / "python/tests"))
from dgl_questions import ONLY, TRAINERS, Asked, Shares, make_world, questions
from launching import LIMIT, free_port

SCRIPT = str(Path(__file__).with_name("run_questions.py"))
KINDS = ["homogeneous", "typed"]


def ask_dgl(folder: Path, kind: str, parts: int) -> dict[str, Any]:
    """What DGL answers: a server for each partition, and one client."""
    environment = {**os.environ, "DGL_DIST_MODE": "distributed", "OMP_NUM_THREADS": "1"}

    def run(command: str, *more: object) -> subprocess.Popen[str]:
        words = [sys.executable, SCRIPT, command, kind, str(parts), *map(str, more)]
        with (folder / "log").open("a") as log:
            return subprocess.Popen(
                words, cwd=folder, env=environment, text=True, stdout=log, stderr=log
            )

    def said() -> str:
        return (folder / "log").read_text(errors="replace")

    assert run("partition").wait(LIMIT) == 0, said()
    addresses = {free_port() for _ in range(8)}
    lines = [f"127.0.0.1 {port}\n" for port in sorted(addresses)[:parts]]
    (folder / "ip_config.txt").write_text("".join(lines))
    processes = [run("server", number) for number in range(parts)] + [run("client")]
    try:
        assert processes[-1].wait(LIMIT) == 0, said()
    finally:
        for process in processes:
            process.kill()
            process.wait()
    return dict(pickle.loads((folder / "answers").read_bytes()))


@pytest.mark.parametrize("parts", [1, 2])
@pytest.mark.parametrize("kind", KINDS)
def test_dgl_answers(tmp_path: Path, kind: str, parts: int) -> None:
    world, found = make_world(kind), ask_dgl(tmp_path, kind, parts)
    asked = dict(questions())
    for name in found:
        asked[name].check(world, [found[name]])
    of_all = [name for name, one in asked.items() if not one.defect]
    assert kind == "typed" or parts > 1 or found.keys() == set(of_all)


@pytest.mark.parametrize("parts", [1, 2, 4])
@pytest.mark.parametrize("kind", KINDS)
def test_troupe_answers_the_same(tmp_path: Path, kind: str, parts: int) -> None:
    """Its graphs and blocks are DGL's own."""
    world = make_world(kind)
    dgl.distributed.partition_graph(
        graph_of(world), "g", parts, tmp_path / "p", part_method="random", graph_formats="csr"
    )
    dgl.distributed.initialize(None, seed=5)
    try:
        g = dgl.distributed.DistGraph("g", part_config=tmp_path / "p" / "g.json")

        def asked(ranks: list[int | None]) -> Asked:
            return Asked(
                world,
                g,
                dgl.distributed,
                {name: np.asarray(g.orig_ids(name)) for name in g.ntypes},
                {name: np.asarray(g.orig_edge_ids(name)) for name in g.canonical_etypes},
                ranks,
                dgl.dataloading.NeighborSampler,
                dgl.distributed,
                lambda g, etype, ids, sampler, **options: dgl.distributed.DistEdgeDataLoader(
                    g, ids if etype == ONLY else {etype: ids}, sampler, **options
                ),
                dgl.dataloading.negative_sampler,
            )

        for _, question in questions():
            question.check(world, [question.ask(asked([0]))])
        g.take_place(0, TRAINERS)
        Shares().check(world, [Shares().ask(asked(list(range(TRAINERS))))])
    finally:
        dgl.distributed.exit_client()
