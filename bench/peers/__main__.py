# SPDX-License-Identifier: Apache-2.0
"""Measures Troupe beside DGL 2.1 and GraphBolt, on one machine, in turns.

    python3 bench/peers --scale 0.02
    python3 bench/peers --only guide --rounds 5 --json guide.json

The first run installs DGL 2.1 with GraphBolt and PyTorch 2.2 into a folder of its own (5 GB), which
the next one takes again. Then it makes a graph as large as ogbn-products (2,449,029 nodes and
123,718,280 edges, 100 features) times --scale, and runs, each beside Troupe's:

    loaders    DGL's NeighborSampler and DataLoader in one process, with IDs of 32 and 64 bits;
               GraphBolt's; DGL's DistNodeDataLoader with a server of the partition. Fanout 5,10,15,
               batches of 1024, without features and with them, one core a side
    partition  partition_graph: 2 random parts, and 4 by METIS
    guide      an epoch of the script of DGL's guide, unchanged, with DGL's allocator as it comes
               and tuned as Troupe's is

Sides take turns, round after round, and a ratio is the median over rounds. What the sides hold
together is bounded by --memory-max: the largest is ended where it is more, and the table says so.
Its Markdown goes to the standard output, or to --markdown FILE; --json FILE has every round.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import big_graph
import compare_guide
import compare_loaders
import compare_partitioning
import machine
from environment import SOURCE, Environment, Missing, build_package, guide_script, interpreter
from processes import Bound, Failed
from rows import Row, as_json, markdown
from workplace import Workplace

KINDS = ("loaders", "partition", "guide")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python3 bench/peers",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("--build", type=Path, default=SOURCE / "build", metavar="DIR", help="Troupe's build folder")
    add(
        "--env",
        type=Path,
        metavar="DIR",
        help="where DGL is, or is installed: BUILD/python/dgl-env",
    )
    add(
        "--python",
        type=Path,
        default=os.environ.get("TROUPE_DGL_PYTHON"),
        help="an interpreter that has DGL already; otherwise that of TROUPE_DGL_PYTHON",
    )
    add(
        "--dgl-source",
        type=Path,
        default=os.environ.get("TROUPE_DGL_SOURCE"),
        metavar="DIR",
        help="a checkout of DGL's sources, for the guide's script; otherwise that of "
        "TROUPE_DGL_SOURCE, or one revision is fetched",
    )
    add("--work", type=Path, metavar="DIR", help="graphs, partitions and logs: BUILD/peers")
    add("--scale", type=float, default=1.0, metavar="X", help="size of the graph, 0 to 1: 1")
    add("--rounds", type=int, default=5, metavar="N", help="rounds: 5")
    add("--batches", type=int, default=20, metavar="N", help="batches a turn and an epoch: 20")
    add("--memory-max", type=float, default=16, metavar="GB", help="for all that runs at once: 16")
    add("--only", nargs="+", choices=KINDS, default=KINDS, help="what to measure: all")
    add("--inference", action="store_true", help="also let the guide's script infer every node")
    add("--install-only", action="store_true", help="install what is needed, and measure nothing")
    add("--json", type=Path, metavar="FILE", help="write every figure there")
    add("--markdown", type=Path, metavar="FILE", help="write the table there")
    given = parser.parse_args()
    if not 0 < given.scale <= 1:
        parser.error(f"--scale {given.scale:g}: give a number above 0, 1 at most")
    if given.rounds < 1 or given.batches < 1:
        parser.error("--rounds and --batches: at least 1")
    return given


def _environment(given: argparse.Namespace) -> Environment:
    build = given.build.resolve()
    python = given.python or interpreter((given.env or build / "python/dgl-env").absolute())
    build_package(python, build)
    needs_guide = given.install_only or "guide" in given.only
    return Environment(
        python, build, guide_script(given.dgl_source, build) if needs_guide else None
    )


def _measure(given: argparse.Namespace, place: Workplace) -> Iterator[Row]:
    seeds = given.batches * compare_loaders.BATCH
    for_dgl = "loaders" in given.only or "guide" in given.only
    graph = big_graph.make(place, given.scale, seeds, for_dgl)
    if "loaders" in given.only:
        yield from compare_loaders.compare(place, graph, given.rounds, given.batches)
    if "partition" in given.only:
        yield from compare_partitioning.compare(place, graph, given.rounds)
    if "guide" in given.only:
        yield from compare_guide.compare(place, graph, given.rounds, given.inference)


def main() -> None:
    """Runs what was asked for."""
    given = _options()
    environment = _environment(given)
    if given.install_only:
        return
    folder = (given.work or environment.build / "peers").absolute()
    found = machine.describe(environment)
    graph = {
        "nodes": round(big_graph.NODES * given.scale),
        "edges": round(big_graph.EDGES * given.scale),
        "scale": given.scale,
        "rounds": given.rounds,
        "batches": given.batches,
    }
    with Bound(int(given.memory_max * 1e9)) as bound:
        rows = []
        for row in _measure(given, Workplace(folder, environment, bound)):
            rows.append(row)
            if given.json:  # what was measured stays where a later figure fails
                whole = {"machine": found, "graph": graph, "rows": as_json(rows)}
                given.json.write_text(json.dumps(whole, indent=2) + "\n")
    table = markdown(rows, machine.sentence(found, graph))
    if given.markdown:
        given.markdown.write_text(table)
    else:
        print(table, end="")


if __name__ == "__main__":
    try:
        main()
    except (Missing, Failed) as error:
        sys.exit(f"bench/peers: {error}")
