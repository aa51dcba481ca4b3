# SPDX-License-Identifier: Apache-2.0
"""Graphs in memory are partitioned, and come back as they were."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from conftest import World, run_command
from test_raw import files_of

import troupe
from troupe import errors, partitioning

SOURCES = np.array([0, 1, 2, 3, 4, 5, 0, 2])
TARGETS = np.array([1, 2, 3, 4, 5, 0, 3, 5])


def read_back(book: str) -> tuple[int, set[tuple[int, int]]]:
    """The nodes, and the edges in original IDs."""
    with troupe.open(book) as graph:
        drawn = graph.sample_neighbors(slice(None), -1)
        ends = [graph.orig_ids(ids=ids).tolist() for ids in drawn.edges()]
        return graph.num_nodes(), set(zip(*ends, strict=True))


def test_partitions_are_those_of_the_command(world: World, tmp_path: Path) -> None:
    report = partitioning.partition(
        world.raw, tmp_path / "ours", 2, method="random", name="g", seed=5
    )
    words = ["--parts", 2, "--method", "random", "--name", "g", "--seed", 5]
    run_command("partition", world.raw, *words, "--out", tmp_path / "theirs", "--quiet")
    assert files_of(tmp_path / "ours") == files_of(tmp_path / "theirs")
    assert report.book == str(tmp_path / "ours/g.json") and 0 < report.cut_share < 1
    assert partitioning.verify(report.book, world.raw).num_edges == report.num_edges
    assert partitioning.verify(report.book).num_files > 4
    found = partitioning.inspect(report.book)
    assert found["ntypes"] == {"_N": 2000} and len(found["parts"]) == 2
    assert {table["name"] for table in found["tables"]} >= {"feat", "label"}


def test_a_damaged_file_is_found(world: World, tmp_path: Path) -> None:
    report = partitioning.partition(world.raw, tmp_path / "p", 2, method="random", name="g")
    files = [path for path in (tmp_path / "p/part0").rglob("*.npy") if path.stat().st_size > 4096]
    data = bytearray(files[0].read_bytes())
    data[-1] ^= 1
    files[0].write_bytes(data)
    with pytest.raises(troupe.Error, match="part0"):
        partitioning.verify(report.book)


class Matrix:
    """The face of a SciPy matrix that is looked at."""

    shape = (6, 6)

    def tocoo(self) -> Any:
        return SimpleNamespace(row=SOURCES, col=TARGETS)


class Table:
    """The face of a table of pandas."""

    columns = ("weight", "src", "dst")

    def __getitem__(self, name: str) -> np.ndarray:
        return {"src": SOURCES, "dst": TARGETS, "weight": SOURCES * 0.5}[name]


class Undirected:
    """The face of a graph of NetworkX."""

    nodes = "abcdef"

    def is_directed(self) -> bool:
        return True

    def edges(self) -> list[tuple[str, str]]:
        return [(self.nodes[s], self.nodes[t]) for s, t in zip(SOURCES, TARGETS, strict=True)]


@pytest.mark.parametrize(
    "graph",
    [
        (SOURCES, TARGETS),
        np.stack([SOURCES, TARGETS]),
        (SOURCES.tolist(), TARGETS.astype(np.int32)),
        {("_N", "_E", "_N"): (SOURCES, TARGETS)},
        Matrix(),
        Table(),
        Undirected(),
    ],
    ids=["pair", "array", "list", "mapping", "scipy", "pandas", "networkx"],
)
def test_every_source_of_edges_gives_the_same_graph(graph: Any, tmp_path: Path) -> None:
    report = troupe.partition_graph(graph, "g", 2, tmp_path / "out", part_method="random")
    num_nodes, edges = read_back(report.book)
    assert num_nodes == 6 and edges == set(zip(SOURCES.tolist(), TARGETS.tolist(), strict=True))
    assert not [path for path in tmp_path.iterdir() if path.name != "out"]


def test_features_and_mappings_come_along(tmp_path: Path) -> None:
    feat = np.arange(14, dtype=np.float32).reshape(7, 2)
    mask = np.array([1, 0, 1, 0, 1, 0, 1], dtype=bool)
    nodes, edges = troupe.partition_graph(
        (SOURCES, TARGETS),
        "g",
        2,
        tmp_path / "out",
        part_method="random",
        ndata={"feat": feat, "train_mask": mask},
        edata={"w": np.arange(8.0)},
        return_mapping=True,
    )
    with troupe.open(tmp_path / "out/g.json") as graph:
        assert graph.num_nodes() == 7
        assert np.array_equal(graph.orig_ids(), nodes)
        assert np.array_equal(graph.ndata["feat"][:], feat[nodes])
        assert np.array_equal(graph.ndata["train_mask"][:], mask[nodes])
        assert np.array_equal(graph.edata["w"][:], edges.astype(float))
        assert len(graph.nodes_of("train_mask")) == 4


def test_several_types(tmp_path: Path) -> None:
    cites, writes = ("paper", "cites", "paper"), ("author", "writes", "paper")
    graph = {cites: ([0, 1], [1, 2]), writes: ([0, 1, 1], [0, 1, 2])}
    ndata = {"paper": {"year": np.array([2001, 2002, 2003])}}
    report = troupe.partition_graph(
        graph, "g", 2, tmp_path / "out", part_method="random", num_nodes={"author": 4}, ndata=ndata
    )
    with troupe.open(report.book) as opened:
        assert opened.num_nodes("author") == 4 and opened.num_nodes() == 7
        assert opened.canonical_etypes == [cites, writes] or set(opened.canonical_etypes) == {
            cites,
            writes,
        }
        original = opened.orig_ids("paper")
        assert np.array_equal(
            opened.nodes["paper"].data["year"][:], ndata["paper"]["year"][original]
        )
        with pytest.raises(troupe.errors.NotFound, match="name one"):
            _ = opened.ndata
        sampler = troupe.NeighborSampler([{"writes": -1}, {cites: -1}])
        loader = troupe.DistNodeDataLoader(opened, {"paper": None}, sampler, batch_size=9)
        batch = next(iter(loader))
        assert set(batch.output_nodes) == {"paper", "author"}
        assert len(batch.output_nodes["paper"]) == 3 and len(batch.output_nodes["author"]) == 0
        assert batch.blocks[0].num_edges("writes") == 3 and batch.blocks[0].num_edges("cites") == 0
        assert batch.blocks[1].num_edges(cites) == 2
        assert sorted(opened.orig_ids("author", batch.input_nodes["author"])) == [0, 1]
        first = batch.blocks[0]
        assert set(first.srcdata["_ID"]) == {"paper", "author"}
        first.srcdata["h"] = {"paper": np.ones(3)}
        assert first.srcnodes["paper"].data["h"].sum() == 3
        assert first.num_src_nodes("author") == 2 and first.num_dst_nodes("author") == 0
        sources, _ = first.edges(etype="writes")
        assert sources.max() < first.num_src_nodes("author")


@pytest.mark.parametrize(
    ("graph", "options", "kind", "text"),
    [
        (([0, 1], [1]), {}, troupe.errors.Mismatch, "2 sources and 1 destinations"),
        (([0, -1], [1, 0]), {}, troupe.errors.OutOfRange, "edge 1 has node -1"),
        (([0.5], [1]), {}, TypeError, "whole number"),
        (([0], [5]), {"num_nodes": 3}, troupe.errors.OutOfRange, "node 5"),
        (([0], [1]), {"ndata": {"f": np.ones(1)}}, troupe.errors.Mismatch, "_N/f has 1 rows"),
        (([0], [1]), {"edata": {"w": np.ones(3)}}, troupe.errors.Mismatch, "_N:_E:_N/w has 3"),
    ],
)
def test_what_is_no_graph_is_refused(
    graph: Any, options: Any, kind: type[Exception], text: str, tmp_path: Path
) -> None:
    with pytest.raises(kind, match=text):
        troupe.partition_graph(graph, "g", 1, tmp_path / "out", **options)
    assert not list(tmp_path.iterdir())


def test_an_estimate_grows_with_the_graph() -> None:
    small = partitioning.estimate_bytes((SOURCES, TARGETS))
    assert 0 < small < partitioning.estimate_bytes((np.tile(SOURCES, 9), np.tile(TARGETS, 9)))


def test_partitions_of_a_list_of_edges_are_verified_as_they_were_made(tmp_path: Path) -> None:
    (tmp_path / "edges.txt").write_text("0 1\n1 2\n2 3\n")
    made = partitioning.partition(
        tmp_path / "edges.txt", tmp_path / "parts", 2, method="random", undirected=True, num_nodes=6
    )
    given = {"undirected": True, "num_nodes": 6}
    partitioning.verify(made.book, tmp_path / "edges.txt", **given)
    with pytest.raises(errors.Error):
        partitioning.verify(made.book, tmp_path / "edges.txt")


@pytest.mark.parametrize("shape", [(), (1,), (3,), (3, 1), (2, 3)])
def test_rows_keep_the_shape_that_they_were_given(tmp_path: Path, shape: tuple[int, ...]) -> None:
    rows = np.arange(6 * int(np.prod(shape)), dtype=np.float32).reshape(6, *shape)
    partitioning.partition_graph(
        (SOURCES, TARGETS), "g", 2, tmp_path / "p", part_method="random", ndata={"f": rows}
    )
    with troupe.open(tmp_path / "p/g.json") as graph:
        feature = graph.ndata["f"]
        assert feature.shape == (6, *shape) and feature.ndim == 1 + len(shape)
        found = np.asarray(feature[:])
        assert found.shape == (6, *shape)
        assert np.array_equal(found, rows[graph.orig_ids()])
        sampler = troupe.NeighborSampler([2])
        loader = troupe.DistNodeDataLoader(
            graph, None, sampler, batch_size=4, features="f", labels="f"
        )
        batches = [*loader, sampler.draw(graph, [3, 0], seed=1, features="f", labels="f")]
        for batch in batches:
            wanted, seeds = rows[batch.orig_nodes], len(batch.output_nodes)
            for given in (batch.features, batch.blocks[0].srcdata["f"]):
                assert np.asarray(given).shape == wanted.shape
                assert np.array_equal(np.asarray(given), wanted)
            assert np.asarray(batch.labels).shape == (seeds, *shape)
            assert np.array_equal(np.asarray(batch.labels), wanted[:seeds])
