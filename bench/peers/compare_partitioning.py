# SPDX-License-Identifier: Apache-2.0
"""DGL's partition_graph beside `troupe partition`, in turns.

DGL has the graph in memory when its time begins; Troupe's time is that of the whole command, which
reads the raw graph. Both write their partitions with all features, and use the cores they like.
"""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Iterator

from big_graph import BigGraph
from processes import Failed
from rows import Row, compared
from workplace import Workplace

WAYS = [("random", 2), ("metis", 4)]


def compare(place: Workplace, graph: BigGraph, rounds: int) -> Iterator[Row]:
    """A row for each way to partition."""
    for method, count in WAYS:
        print(f"Partitioning: {count} parts, {method} ...", file=sys.stderr)
        what = f"{graph.edges:,} edges into {count} {method} parts"
        peer, ours = "DGL, `partition_graph`", "`troupe partition`"
        row = Row("partition", what, "s", peer, ours, goal=3.0)
        theirs: list[float] = []
        own: list[float] = []
        held = [0, 0]
        theirs_at, own_at = place.folder / "parts-dgl", place.folder / "parts-troupe"
        for _ in range(rounds):
            if not row.note:
                try:
                    said, side = place.dgl_partition(graph.parts, count, method, theirs_at)
                    theirs.append(said["seconds"])
                    held[0] = max(held[0], side.peak)
                except Failed as failed:
                    row.note = str(failed)
            begin = time.perf_counter()
            asked = ["--parts", count, "--method", method, "--name", "g", "--replace"]
            side = place.troupe("partition", graph.raw, *asked, "--out", own_at)
            own.append(time.perf_counter() - begin)
            held[1] = max(held[1], side.peak)
        for folder in (theirs_at, own_at):
            shutil.rmtree(folder, ignore_errors=True)
        row.more = {"peer_rounds": theirs, "ours_rounds": own, "peer_bytes": held[0]}
        row.more["ours_bytes"] = held[1]
        if row.note:
            row.ours_value = sorted(own)[len(own) // 2]
        else:
            vars(row).update(compared(theirs, own, seconds=True))
        yield row
