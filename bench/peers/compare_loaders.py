# SPDX-License-Identifier: Apache-2.0
"""Loaders side by side, one core a side.

Each peer runs with Troupe's faces beside it. They take turns on one core: in every round each draws
the same number of batches, after those that Troupe's had ready and a first one, which do not count.
A rate is edges by seconds that all processes of the side computed, a server of DGL's
included, so that work of others on the machine does not count.
"""

from __future__ import annotations

import os
import shutil
import socket
import statistics
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from big_graph import BigGraph
from processes import Failed, Side
from rows import Row, compared
from workplace import TUNED, Workplace

FANOUTS = [5, 10, 15]
BATCH = 1024
UNIT = "edges/s/core"
# Batches that a side may have drawn before its turn.
AHEAD = 10


@dataclass
class Contender:
    """A loader: its name in the table, and what its program is given."""

    name: str
    label: str
    script: str
    given: Mapping[str, Any] = field(default_factory=dict)
    more: Mapping[str, str] = field(default_factory=dict)
    face: bool = False
    server: bool = False


OURS = [
    Contender("troupe-c", "loader, from C", "troupe_loader.py", {"face": "c"}),
    Contender("troupe-python", "loader, from Python", "troupe_loader.py", {"face": "python"}),
    Contender("troupe-dgl", "`troupe.dgl`, DistNodeDataLoader", "distributed_loader.py", face=True),
]
PEERS = [
    Contender("dgl-32", "DGL, one process, 32-bit IDs", "dgl_loader.py", {"bits": 32}),
    Contender("dgl-64", "DGL, one process, 64-bit IDs", "dgl_loader.py", {"bits": 64}),
    Contender("graphbolt", "GraphBolt, one process", "graphbolt_loader.py"),
    Contender("dgl-dist", "DGL, DistNodeDataLoader", "distributed_loader.py", server=True),
]
TUNED_PEERS = [
    Contender(
        "dgl-dist-tuned",
        "DGL, DistNodeDataLoader, allocator tuned",
        "distributed_loader.py",
        more=TUNED,
        server=True,
    ),
]


def free_port() -> int:
    """A port of this machine that nobody has."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def dgl_job(folder: Path, book: Path) -> dict[str, str]:
    """What DGL's launcher says to a server and its one client, in a folder that is made."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    hosts = folder / "ip_config.txt"
    hosts.write_text(f"127.0.0.1 {free_port()}\n")
    return {
        "DGL_DIST_MODE": "distributed",
        "DGL_IP_CONFIG": str(hosts),
        "DGL_CONF_PATH": str(book),
        "DGL_NUM_SERVER": "1",
        "DGL_NUM_CLIENT": "1",
        "DGL_NUM_SAMPLER": "0",
        "DGL_SERVER_ID": "0",
        "DGL_GRAPH_FORMAT": "csc",
        "DGL_KEEP_ALIVE": "0",
    }


def begin(place: Workplace, graph: BigGraph, one: Contender, features: bool) -> Side:
    """Starts a contender on one core; it has not answered yet."""
    if one.server and graph.dgl_note:
        raise Failed(graph.dgl_note)
    core = max(os.sched_getaffinity(0))
    side = place.side(f"{one.name}-{'features' if features else 'sampling'}", {core})
    book = (graph.dgl_parts if one.server else graph.parts) / "g.json"
    given = {
        "parts": str(graph.parts),
        "book": str(book),
        "fanouts": FANOUTS,
        "batch": BATCH,
        "features": features,
        **one.given,
    }
    command = place.program(one.script, given)
    more = {**place.environment.variables(1), **one.more}
    if one.server:
        more |= dgl_job(place.folder / "job", book)
        side.start(command, {**more, "DGL_ROLE": "server"}, answers=False)
        side.start(command, {**more, "DGL_ROLE": "client"}, answers=True)
    else:
        side.start(place.face(command) if one.face else command, more, answers=True)
    return side


def _turn(side: Side, one: Contender, batches: int) -> dict[str, float]:
    """Edges by seconds that were computed and by those that passed, in this turn."""
    side.ask(AHEAD if one in OURS else 1)
    said = side.ask(batches)
    return {"rate": said["edges"] / said["cpu"], "passed": said["edges"] / said["seconds"]}


Turns = dict[str, list[dict[str, float]]]


def _turns(sides: Mapping[str, Side], peer: Contender, rounds: int, batches: int) -> Turns:
    """What each side measured in its turns; where the peer fails, the rounds end."""
    turns: Turns = {one.name: [] for one in [peer, *OURS]}
    for _ in range(rounds):
        for one in [*OURS, peer]:
            if one.name in sides:
                turns[one.name].append(_turn(sides[one.name], one, batches))
    return turns


def _rows(
    peer: Contender, features: bool, sides: Mapping[str, Side], turns: Turns, note: str
) -> Iterator[Row]:
    """Rows of a peer with each of Troupe's faces."""
    figure = "loader" if features else "sampling"
    what = "batches with features" if features else "sampled blocks"
    for one in OURS:
        # With features the goal is five times DGL's distributed loader, and three times any other.
        goal = 5.0 if features and peer.server else 3.0
        row = Row(figure, what, UNIT, peer.label, one.label, goal=goal, note=note)
        theirs, own = turns[peer.name], turns[one.name]
        rates = [turn["rate"] for turn in own]
        if theirs:
            found = compared([turn["rate"] for turn in theirs], rates, seconds=False)
            vars(row).update(found)
        else:
            row.ours_value = statistics.median(rates)
        row.more = {"peer_rounds": theirs, "ours_rounds": own, "ours_bytes": sides[one.name].peak}
        if peer.name in sides:
            row.more["peer_bytes"] = sides[peer.name].peak
        yield row


def _beside(
    place: Workplace,
    graph: BigGraph,
    peer: Contender,
    ours: Mapping[str, Side],
    features: bool,
    rounds: int,
    batches: int,
) -> Iterator[Row]:
    """Rows of a peer that is started beside Troupe's faces, which go on with the next."""
    sides = dict(ours)
    try:
        sides[peer.name] = begin(place, graph, peer, features)
        sides[peer.name].answer()
        yield from _rows(peer, features, sides, _turns(sides, peer, rounds, batches), "")
    except Failed as failed:
        if any(side.ended_for for side in ours.values()):
            raise
        turns = _turns(ours, peer, 1, batches)
        yield from _rows(peer, features, sides, turns, str(failed))
    finally:
        if peer.name in sides:
            place.bound.end(sides[peer.name])


def compare(place: Workplace, graph: BigGraph, rounds: int, batches: int) -> Iterator[Row]:
    """Rows of all loaders, without features and with them."""
    for features in (False, True):
        ours = {one.name: begin(place, graph, one, features) for one in OURS}
        for side in ours.values():
            side.answer()
        for peer in PEERS + (TUNED_PEERS if features else []):
            print(f"Loaders: {peer.label}{', features' if features else ''} ...", file=sys.stderr)
            yield from _beside(place, graph, peer, ours, features, rounds, batches)
        for side in ours.values():
            place.bound.end(side)
