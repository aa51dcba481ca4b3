# SPDX-License-Identifier: Apache-2.0
"""The graph of the comparison: as many nodes and edges as ogbn-products, times a scale.

It is made once for each size, in a folder of its own: a raw graph, which `troupe generate skew`
draws, one partition in Troupe's format, and one in DGL's. Tables have the names that the guide's
script asks for. As many nodes train as the epochs of that script are to have.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path

from processes import Failed
from workplace import Workplace

NODES, EDGES, FEATURES, CLASSES = 2449029, 123718280, 100, 47
# What the generator calls them, and what the guide's script does.
NAMES = {"feat": "features", "label": "labels"}


@dataclass
class BigGraph:
    """The folder of one size."""

    folder: Path
    nodes: int
    edges: int
    dgl_note: str = ""  # why there is no partition in DGL's format

    @property
    def raw(self) -> Path:
        """The raw graph."""
        return self.folder / "raw"

    @property
    def parts(self) -> Path:
        """One partition in Troupe's format, whose node IDs are those of the raw graph."""
        return self.folder / "troupe"

    @property
    def dgl_parts(self) -> Path:
        """One partition in DGL's format."""
        return self.folder / "dgl"


def _rename(raw: Path) -> None:
    """Gives the tables their names; the files keep theirs."""
    path = raw / "metadata.json"
    graph = json.loads(path.read_text())
    tables = graph["node_data"]["_N"]
    graph["node_data"]["_N"] = {NAMES.get(name, name): tables[name] for name in tables}
    path.write_text(json.dumps(graph))


def make(place: Workplace, scale: float, train_seeds: int, for_dgl: bool) -> BigGraph:
    """The graph at a scale, with about so many training nodes; what is there is taken.

    Where DGL's own format is wanted and DGL fails to write it, `dgl_note` says why.
    """
    nodes, edges = round(NODES * scale), round(EDGES * scale)
    share = round(max(0.01, min(50.0, 100 * train_seeds / nodes)), 2)
    graph = BigGraph(place.folder / f"graph-{nodes}-{share}", nodes, edges)
    if not graph.parts.exists():
        print(f"Making a graph of {nodes:,} nodes and {edges:,} edges ...", file=sys.stderr)
        graph.folder.mkdir(parents=True, exist_ok=True)
        sizes = ["--nodes", nodes, "--edges", edges, "--features", FEATURES, "--classes", CLASSES]
        place.troupe("generate", "skew", *sizes, "--seed", 1, "--replace", "--out", graph.raw)
        _rename(graph.raw)
        ratio = f"{share:.2f}/{share:.2f}/{100 - 2 * share:.2f}"
        place.troupe("split", graph.raw, "--ratio", ratio, "--replace")
        one = ["--parts", 1, "--method", "random", "--name", "g", "--out", graph.parts]
        place.troupe("partition", graph.raw, *one)
    if for_dgl and not (graph.dgl_parts / "whole").exists():
        print("Having DGL write one partition of it ...", file=sys.stderr)
        try:
            place.dgl_partition(graph.parts, 1, "metis", graph.dgl_parts)
            (graph.dgl_parts / "whole").touch()
        except Failed as failed:
            graph.dgl_note = f"its partition {failed}"
    return graph
