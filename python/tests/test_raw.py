# SPDX-License-Identifier: Apache-2.0
"""Raw graphs from Python are those of the command, and what is wrong is refused."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import run_command

import troupe
from troupe import partitioning, raw
from troupe.book import load_partition_book


def files_of(folder: Path) -> dict[str, bytes]:
    found = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in found}


def test_a_generated_graph_has_the_bytes_of_the_commands(tmp_path: Path) -> None:
    sizes = {"nodes": 300, "edges": 2000, "features": 4, "classes": 3, "seed": 9}
    raw.generate(tmp_path / "ours", "sbm", **sizes)
    words = [word for name, number in sizes.items() for word in (f"--{name}", number)]
    run_command("generate", "sbm", *words, "--out", tmp_path / "theirs", "--quiet")
    assert files_of(tmp_path / "ours") == files_of(tmp_path / "theirs")

    report = raw.split(tmp_path / "ours", (50, 30, 20), replace=True, seed=3)
    ratio = ["--ratio", "50/30/20", "--seed", 3, "--replace"]
    run_command("split", tmp_path / "theirs", *ratio, "--quiet")
    assert files_of(tmp_path / "ours") == files_of(tmp_path / "theirs")
    assert (report.num_train, report.num_validation, report.num_test) == (150, 90, 60)

    assert raw.add_feature(tmp_path / "ours", "degree", name="deg").width == 2
    run_command("feature", tmp_path / "theirs", "--degree", "--name", "deg", "--quiet")
    assert files_of(tmp_path / "ours") == files_of(tmp_path / "theirs")


def test_tables_and_edge_lists_are_imported(tmp_path: Path) -> None:
    (tmp_path / "links.csv").write_text("from,to\na,b\nb,c\nc,a\n")
    (tmp_path / "people.csv").write_text("id,age,label\na,31,x\nb,45,y\nc,52,x\n")
    report = raw.import_table(
        tmp_path / "links.csv", tmp_path / "raw", tmp_path / "people.csv", undirected=True
    )
    assert report.edge_rows == 3 and report.num_classes == 2
    (tmp_path / "topics.csv").write_text("id,topics,old,new\na,x;y,1,0\nb,,0,1\nc,z,,1\n")
    for labels, separator, classes in (["old", "new"], None, 2), ("topics", ";", 3):
        report = raw.import_table(
            tmp_path / "links.csv",
            tmp_path / "many",
            tmp_path / "topics.csv",
            labels=labels,
            label_separator=separator,
            features=(),
            replace=True,
        )
        assert report.num_classes == classes
    report = raw.import_table(
        tmp_path / "links.csv",
        tmp_path / "many",
        tmp_path / "topics.csv",
        labels="topics",
        features=(),
        categories=["old"],
        missing="zero",
        replace=True,
    )
    assert report.num_features == 2
    (tmp_path / "kinds.csv").write_text("id,label\na,x\nb,unknown\nc,n/a\n")
    for words, classes in (None, 2), (["unknown"], 1), ((), 3):
        report = raw.import_table(
            tmp_path / "links.csv",
            tmp_path / "words",
            tmp_path / "kinds.csv",
            no_value=words,
            replace=True,
        )
        assert report.num_classes == classes
    with pytest.raises(ValueError, match="holds a comma"):
        raw.import_table(tmp_path / "links.csv", tmp_path / "no", no_value=["a,b"])
    (tmp_path / "ones.mtx").write_text(
        "%%MatrixMarket matrix coordinate pattern general\n3 3 2\n1 2\n2 3\n"
    )
    raw.import_edges(tmp_path / "ones.mtx", tmp_path / "ones")
    partitioning.partition(tmp_path / "ones", tmp_path / "parts", 1, method="random", name="g")
    assert load_partition_book(tmp_path / "parts" / "g.json")[0].first_id() == 1
    (tmp_path / "graphs.csv").write_text("graph_id,src,dst\n0,0,1\n1,0,1\n1,1,2\n")
    with pytest.raises(troupe.errors.BadFormat, match=r"another graph.*graph"):
        raw.import_table(tmp_path / "graphs.csv", tmp_path / "no")
    report = raw.import_table(
        tmp_path / "graphs.csv", tmp_path / "graph", graph="1", source_prefix="u"
    )
    assert report.edge_rows == 2
    (tmp_path / "links.txt").write_text("0 1\n1 2\n2 2\n")
    report = raw.import_edges(tmp_path / "links.txt", tmp_path / "edges", loops="drop")
    assert report.self_loops == 1 and report.largest_id == 2


def test_features_come_from_a_file_of_their_own(tmp_path: Path) -> None:
    (tmp_path / "links.txt").write_text("0 1\n1 2\n")
    (tmp_path / "words.svm").write_text("-1 1:2 3:1\n1 2:1\n1 1:1\n")
    parts = {
        "indptr": np.array([0, 2, 3, 4]),
        "indices": np.array([0, 2, 1, 0]),
        "data": np.array([2.0, 1.0, 1.0, 1.0]),
        "shape": np.array([3, 3]),
        "format": np.array(b"csr"),
    }
    np.savez_compressed(tmp_path / "words.npz", **parts)
    for name, classes in ("words.svm", 2), ("words.npz", 0):
        report = raw.import_edges(
            tmp_path / "links.txt",
            tmp_path / "raw",
            node_features=tmp_path / name,
            rows="sparse",
            replace=True,
        )
        assert report.node_features.items == 4 and report.node_features.kept_sparse
        assert report.node_features.num_classes == classes
        data = tmp_path / "raw" / "node_data" / "_N"
        assert np.load(data / "feat.indices.npy").tolist() == [0, 2, 1, 0]
        assert np.load(data / "feat.data.npy").tolist() == [2, 1, 1, 1]
        with pytest.raises(troupe.Error, match=r"1 columns|2 columns|is 0") as caught:
            raw.import_edges(
                tmp_path / "links.txt",
                tmp_path / "no",
                node_features=_wrong(tmp_path / name),
                feature_base=1,
            )
        assert "wrong" in str(caught.value)
    (tmp_path / "links.csv").write_text("from,to\na,b\nb,c\n")
    (tmp_path / "people.csv").write_text("id\na\nb\nc\n")
    report = raw.import_table(
        tmp_path / "links.csv",
        tmp_path / "table",
        tmp_path / "people.csv",
        node_features=tmp_path / "words.svm",
    )
    assert report.num_classes == 2 and report.node_features.columns == 3


def _wrong(path: Path) -> Path:
    """A file of features with an index that is not there."""
    wrong = path.with_stem("wrong")
    if path.suffix == ".npz":
        parts = dict(np.load(path))
        np.savez(wrong, **{**parts, "shape": np.array([3, 2])})
    else:
        wrong.write_text("0 0:1\n1 2:1\n0\n")
    return wrong


@pytest.mark.parametrize(
    ("call", "kind", "text"),
    [
        (lambda p: raw.generate(p, "nothing", nodes=1, edges=1), ValueError, "'sbm'"),
        (lambda p: raw.generate(p, "skew", nodes=0, edges=1), troupe.Error, "nodes"),
        (lambda p: raw.import_edges("nowhere", p), troupe.errors.NotFound, "nowhere"),
        (lambda p: raw.import_edges("x", p, loops="some"), ValueError, "'drop'"),
        (lambda p: raw.import_edges("x", p, feature_base=2), ValueError, "give 0, 1 or None"),
        (lambda p: raw.import_edges("x", p, rows="some"), ValueError, "'sparse'"),
        (lambda p: raw.import_edges("x", p, rows="dense"), troupe.Error, "node_features"),
        (lambda p: raw.split(p, (1, 2)), ValueError, "three shares"),
        (lambda p: raw.add_feature(p, "best"), ValueError, '"degree"'),
        (lambda p: raw.split(p), troupe.errors.Error, "raw"),
    ],
)
def test_what_cannot_be_is_refused(
    tmp_path: Path, call: Any, kind: type[Exception], text: str
) -> None:
    with pytest.raises(kind, match=text):
        call(tmp_path / "raw")
    assert not (tmp_path / "raw").exists()


def test_a_folder_that_is_there_stays(tmp_path: Path) -> None:
    raw.generate(tmp_path / "raw", nodes=50, edges=100)
    before = files_of(tmp_path / "raw")
    with pytest.raises(FileExistsError):
        raw.generate(tmp_path / "raw", nodes=60, edges=100)
    assert files_of(tmp_path / "raw") == before


def test_an_exception_of_the_callback_cancels_and_leaves_nothing(tmp_path: Path) -> None:
    seen = []

    def stop(progress: Any) -> None:
        seen.append(progress)
        raise KeyboardInterrupt

    begin = time.perf_counter()
    with pytest.raises(KeyboardInterrupt):
        raw.generate(
            tmp_path / "raw", nodes=4_000_000, edges=200_000_000, features=64, progress=stop
        )
    assert time.perf_counter() - begin < 20
    assert len(seen) == 1 and seen[0].seconds > 0 and not list(tmp_path.iterdir())
    assert np.isfinite(seen[0].total)


def test_edges_are_split_with_their_reverses(tmp_path: Path) -> None:
    ends = np.random.default_rng(2).integers(0, 50, (2, 500))
    lines = "".join(f"{u},{v}\n" for u, v in ends.T.tolist())
    (tmp_path / "edges.csv").write_text(lines + "".join(f"{v},{u}\n" for u, v in ends.T.tolist()))
    raw.import_edges(tmp_path / "edges.csv", tmp_path / "raw")
    with pytest.raises(ValueError, match="give 'none', 'halves' or 'adjacent'"):
        raw.split(tmp_path / "raw", edges=True, pairs="thirds")
    report = raw.split(tmp_path / "raw", (80, 10, 10), edges=True, pairs="halves", seed=3)
    assert report is not None and report.num_edges == 1000 and report.num_train == 800
    folder = tmp_path / "raw" / "edge_data" / "_N:_E:_N"
    masks = [np.load(folder / f"{name}_mask.npy") for name in ("train", "val", "test")]
    assert np.array_equal(sum(masks), np.ones(1000, np.uint8))
    assert all(np.array_equal(mask[:500], mask[500:]) for mask in masks)


def test_an_archive_with_types(tmp_path: Path) -> None:
    packages = "Package: app\nSection: games\nDepends: lib\nTag: role::program, use::playing\n\n"
    (tmp_path / "packages").write_text(packages + "Package: lib\nMaintainer: B <b@example.org>\n")
    (tmp_path / "sources").write_text("Package: app\nBuild-Depends: lib\n")
    raw.import_debian(
        tmp_path / "raw",
        source=tmp_path / "packages",
        types=True,
        sources=tmp_path / "sources",
    )
    partitioning.partition(tmp_path / "raw", tmp_path / "parts", 2, method="random", name="g")
    with troupe.open(tmp_path / "parts" / "g.json") as g:
        assert g.ntypes == ["package", "maintainer", "section", "tag", "source"]
        assert ("source", "build_depends", "package") in g.canonical_etypes
        assert g.num_edges(("package", "has_tag", "tag")) == 1
    with pytest.raises(ValueError, match="types"):
        raw.import_debian(tmp_path / "no", source=tmp_path / "packages", sources="sources")
