# SPDX-License-Identifier: Apache-2.0
"""Troupe answers what ``dgl.distributed`` is asked as NumPy does, however the graph is cut and
wherever its partitions are; `tests/outside/dgl` asks DGL the same."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch")

import dgl_questions
from dgl_questions import TRAINERS, Shares, asked_ours, draw_every_way, make_world, questions
from launching import Launch

import troupe
from troupe.dgl import distributed, drawn_graph

pytestmark = pytest.mark.filterwarnings("error")
KINDS, PARTS = ["homogeneous", "typed"], [1, 2, 4]


def partitioned(folder: Path, kind: str, parts: int) -> Path:
    world = make_world(kind)
    one = world.is_homogeneous
    troupe.partition_graph(
        world.edges[dgl_questions.ONLY] if one else world.edges,
        "g",
        parts,
        folder / f"{kind}-{parts}",
        part_method="metis" if parts == 2 else "random",
        num_nodes=world.counts["_N"] if one else world.counts,
        ndata=world.ndata["_N"] if one else world.ndata,
        edata=world.edata[dgl_questions.ONLY] if one else world.edata,
        out_edges=True,
    )
    return folder / f"{kind}-{parts}" / "g.json"


@pytest.fixture
def without_dgl(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is put in its place goes again."""
    monkeypatch.setattr(drawn_graph, "graph_of_edges", drawn_graph.graph_of_edges)


def drawn_alone(folder: Path, kind: str) -> list[dict[str, Any]]:
    """What loaders of all trainers draw of one partition that is read in place."""
    path = partitioned(folder / "alone", kind, 1)
    with distributed.DistGraph(part_config=path, standalone=True, servers=1) as g:
        a = asked_ours(make_world(kind), g, [0])
        return [draw_every_way(a, rank) for rank in range(TRAINERS)]


def check(kind: str, answers: list[dict[str, Any]], folder: Path) -> None:
    world, asked = make_world(kind), dict(questions())
    assert all(found.keys() == asked.keys() | {"drawn"} for found in answers)
    for name, question in asked.items():
        question.check(world, [found[name] for found in answers])
    expected = drawn_alone(folder, kind)
    drawn = [found["drawn"] for found in answers]
    assert all(all(of_rank.values()) and len(of_rank) > 15 for of_rank in expected)
    np.testing.assert_equal(drawn if len(drawn) == TRAINERS else drawn[0], expected)


@pytest.mark.parametrize("parts", PARTS)
@pytest.mark.parametrize("kind", KINDS)
def test_one_process_answers_by_messages(
    tmp_path: Path, kind: str, parts: int, without_dgl: None
) -> None:
    path, world = partitioned(tmp_path, kind, parts), make_world(kind)
    distributed.initialize(None, seed=5, servers=parts, direct=False, codec=True)
    try:
        g = distributed.DistGraph("g", part_config=path)
        a = asked_ours(world, g, [0])
        found = {name: question.ask(a) for name, question in questions()}
        drawn = [draw_every_way(a, rank) for rank in range(TRAINERS)]
        check(kind, [{**found, "drawn": drawn}], tmp_path)
        # The shares of each of several trainers.
        g.take_place(0, TRAINERS)
        found = Shares().ask(asked_ours(world, g, list(range(TRAINERS))))
        Shares().check(world, [found])
    finally:
        distributed.exit_client()


def write_cluster_of_four(folder: Path, graph: Path) -> Path:
    """Four processes, each a server, a sampler and a trainer, which ask each other by messages."""
    sockets = folder / f"{graph.parent.name}-sockets"
    sockets.mkdir(mode=0o700)
    host = {"unix": str(sockets), "loops": 1}
    job = {
        "name": "job",
        "graph": str(graph),
        "seed": 3,
        "direct": False,
        "hosts": [{"name": f"host{number}", **host} for number in range(TRAINERS)],
        "checkpoints": {"folder": str(folder / "kept-%h")},
    }
    path = folder / f"{graph.parent.name}.json"
    path.write_text(json.dumps(job))
    return path


@pytest.mark.parametrize("parts", PARTS)
@pytest.mark.parametrize("kind", KINDS)
def test_four_processes_answer(tmp_path: Path, kind: str, parts: int) -> None:
    path = partitioned(tmp_path, kind, parts)
    script = Path(dgl_questions.__file__)
    Launch(write_cluster_of_four(tmp_path, path), script, path, kind, tmp_path).finish()
    files = [tmp_path / f"{kind}-{parts}.{rank}" for rank in range(TRAINERS)]
    check(kind, [pickle.loads(file.read_bytes()) for file in files], tmp_path)


def chi_square(counts: np.ndarray, shares: np.ndarray) -> float:
    """In standard deviations above its mean."""
    expected = counts.sum() * shares / shares.sum()
    found = float(((counts - expected) ** 2 / expected).sum())
    freedom = len(counts) - 1
    return (found - freedom) / float(np.sqrt(2 * freedom))


def test_draws_over_all_types_are_even_or_in_proportion(tmp_path: Path, without_dgl: None) -> None:
    """Of one node that is asked for many times, whose in-edges are of several types."""
    world, times = make_world("typed"), 40000
    with distributed.DistGraph(
        part_config=partitioned(tmp_path, "typed", 4), standalone=True, seed=5
    ) as g:
        a = asked_ours(world, g, [0])
        degrees = sum(world.degrees(name, 1) for name in world.edges if name[2] == "a")
        node = int(np.argmax(degrees))
        seeds = {"a": a.node_ids("a", np.full(times, node))}

        def counted(fanout: int, prob: str | None, again: bool) -> tuple[np.ndarray, np.ndarray]:
            drawn = a.drawn(
                distributed.sample_neighbors(g, seeds, fanout, prob=prob, replace=again)
            )
            found, weights = [], []
            for name, ends in world.edges.items():
                own = np.flatnonzero(ends[1] == node) if name[2] == "a" else []
                every = np.bincount(drawn[name][2], minlength=ends.shape[1])
                found.append(every[own])
                weights.append(world.edata[name]["w"][own] if prob else np.ones(len(own)))
            return np.concatenate(found), np.concatenate(weights).astype(float)

        for fanout, prob, again in ((3, None, False), (3, None, True), (1, "w", False)):
            counts, weights = counted(fanout, prob, again)
            possible = weights > 0
            assert counts.sum() == times * fanout and (counts[~possible] == 0).all()
            assert chi_square(counts[possible], weights[possible]) < 4
        counts, weights = counted(3, "w", True)
        assert chi_square(counts[weights > 0], weights[weights > 0]) < 4
        # Two without replacement: the first in proportion, the second among those that are left.
        counts, weights = counted(2, "w", False)
        chance = weights[weights > 0] / weights.sum()
        second = chance * ((chance / (1 - chance)).sum() - chance / (1 - chance))
        assert chi_square(counts[weights > 0], chance + second) < 4
