# SPDX-License-Identifier: Apache-2.0
"""What handles show at a prompt and in a notebook, and progress as bars."""

from __future__ import annotations

import json
import sys
from html.parser import HTMLParser
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from conftest import EDGES, NODES, World

import troupe
from troupe import raw, training
from troupe.display import Display, list_features

HOSTILE = "<img src=x onerror=alert(1)>&\"'"


class Cells(HTMLParser):
    """The texts of a table's cells, its caption first, and the names of all elements."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.texts: list[str] = []
        self.elements: set[str] = set()
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.add(tag)
        assert not attrs
        if tag in ("caption", "th", "td"):
            self.texts.append("")

    def handle_data(self, data: str) -> None:
        self.texts[-1] += data


def html_of(thing: Any) -> Cells:
    cells = Cells(thing._repr_html_())
    assert cells.elements == {"table", "caption", "thead", "tbody", "tr", "th", "td"}
    return cells


def test_a_graph_shows_types_counts_parts_and_features(graph: troupe.DistGraph) -> None:
    text = repr(graph)
    assert text.splitlines()[0] == "DistGraph('g', 3 partitions)"
    nodes, edges = (line.split(None, 3) for line in text.splitlines()[1:])
    assert nodes[:3] == ["nodes", "_N", f"{NODES:,}"] and "feat float32 x 16" in nodes[3]
    assert edges == ["edges", "_N:_E:_N", f"{EDGES:,}", "no features"]
    cells = html_of(graph).texts
    assert cells[0] == text.splitlines()[0]
    assert cells[1:5] == ["", "type", "count", "features"]
    assert cells[5:8] == nodes[:3] and cells[8] == nodes[3]
    graph.close()
    assert repr(graph) == "DistGraph('g', closed)" and "closed" in graph._repr_html_()


def test_others_show_what_is_in_them(graph: troupe.DistGraph) -> None:
    book = html_of(graph.get_partition_book()).texts
    assert book[1:5] == ["type", "partition 0", "partition 1", "partition 2"]
    assert sum(int(count.replace(",", "")) for count in book[6:9]) == NODES
    assert sum(int(count.replace(",", "")) for count in book[10:13]) == EDGES
    features = html_of(graph.ndata).texts
    place = features.index("feat")
    assert features[place : place + 3] == ["feat", "float32", f"({NODES}, 16)"]
    sampler = troupe.NeighborSampler([3, 4])
    batch = next(iter(troupe.DistNodeDataLoader(graph, None, sampler, batch_size=50)))
    cells = html_of(batch).texts
    last = batch.blocks[1]
    assert cells[-4:] == ["1", f"{last.num_src_nodes():,}", "50", f"{last.num_edges():,}"]


def test_a_run_shows_its_epochs(world: World, tmp_path: Path) -> None:
    run = training.train(world.path, tmp_path / "run", fanout=[3, 3], epochs=2, hidden=8)
    cells = html_of(run).texts
    assert f"test accuracy {run.test.accuracy:.4f}" in cells[0]
    assert cells[5:7] == ["1", f"{run.epochs[0].train_loss:.4f}"] and cells[9] == "2"
    assert html_of(run.test).texts[1:3] == ["figure", "value"]


def test_names_of_others_do_nothing(tmp_path: Path) -> None:
    edges = tmp_path / "edges"
    edges.write_text("0 1\n1 2\n")
    raw.import_edges(edges, tmp_path / "raw")
    np.save(tmp_path / "raw" / "x.npy", np.zeros(3, np.float32))
    path = tmp_path / "raw" / "metadata.json"
    metadata = json.loads(path.read_text())
    metadata["node_data"]["_N"] = {HOSTILE: {"format": {"name": "numpy"}, "data": ["x.npy"]}}
    path.write_text(json.dumps(metadata))
    troupe.partitioning.partition(tmp_path / "raw", tmp_path / "parts", 1, name="g")
    with troupe.open(tmp_path / "parts" / "g.json") as g:
        assert f"{HOSTILE} float32" in html_of(g).texts
        assert HOSTILE in html_of(g.ndata).texts


def test_characters_that_steer_a_terminal_are_written_out() -> None:
    shown = Display("\x1b[31mred", ("a",), [("x\ny\u202e",)]).text()
    assert shown == "\\x1b[31mred\n  x\\ny\\u202e"


def test_many_features_are_counted() -> None:
    tables = [(f"f{i}", "int8", 1) for i in range(15)]
    assert list_features(tables).endswith("f11 int8, and 3 more")


class Bar:
    """In the place of tqdm's."""

    made: list[Bar]

    def __init__(self, desc: str, total: int | None, unit: str, unit_scale: bool) -> None:
        self.desc, self.total, self.n, self.closed = desc, total, 0, False
        Bar.made.append(self)

    def update(self, more: int) -> None:
        assert not self.closed
        self.n += more

    def close(self) -> None:
        self.closed = True


def test_progress_is_a_bar_of_tqdm_for_each_phase(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = ModuleType("tqdm.auto")
    module.tqdm = Bar  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "tqdm", ModuleType("tqdm"))
    monkeypatch.setitem(sys.modules, "tqdm.auto", module)
    monkeypatch.setattr(Bar, "made", [], raising=False)
    raw.generate(tmp_path / "raw", nodes=200_000, edges=2_000_000, progress=True)
    assert Bar.made and all(bar.desc and bar.closed for bar in Bar.made)
    assert Bar.made[-1].n > 0
    assert len({bar.desc for bar in Bar.made}) == len(Bar.made)


def test_without_tqdm_it_is_a_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    raw.generate(tmp_path / "raw", nodes=200_000, edges=2_000_000, progress=True)
    assert capsys.readouterr().err.startswith("troupe: ")
