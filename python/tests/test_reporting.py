# SPDX-License-Identifier: Apache-2.0
"""Runs read back, the page about them, scores by class, and pictures."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from conftest import PARTS, World, run_command

import troupe
from troupe import errors, partitioning, plot, train_many, training
from troupe.task import Progress


@pytest.fixture(scope="module")
def run(world: World, tmp_path_factory: pytest.TempPathFactory) -> training.Run:
    folder = tmp_path_factory.mktemp("runs") / "one"
    return training.train(world.path, folder, fanout=[5, 5], epochs=3, hidden=8, threads=1)


def test_a_run_is_read_as_it_was_trained(world: World, run: training.Run) -> None:
    found = troupe.open_run(run.path)
    first, last = found.events[0], found.events[-1]
    assert first.event == "begun" and last.event == "finished" and first.time <= last.time
    assert last.outcome == "complete" and last.process is None
    assert found.complete and found.graph == str(world.path) and found.parameters > 0
    assert found.options["hidden"] == "8" and found.options["fanout"] == "5,5"
    assert [e.epoch for e in found.epochs] == [1, 2, 3]
    assert [e.train_loss for e in found.epochs] == [e.train_loss for e in run.epochs]
    assert found.epochs[-1].validation.accuracy == run.epochs[-1].validation.accuracy
    assert found.best.epoch == run.result.best_epoch + 1
    assert found.test.accuracy == run.test.accuracy
    assert found.steps == sum(e.steps for e in found.epochs) > 0 and found.seconds > 0


def test_what_is_no_run_is_refused(world: World, tmp_path: Path) -> None:
    with pytest.raises(errors.NotFound, match=r"config\.json is missing"):
        troupe.open_run(tmp_path)
    with pytest.raises(errors.NotFound, match=r"config\.json is missing"):
        troupe.report(tmp_path, tmp_path / "page.html")
    with pytest.raises(errors.InvalidArgument, match="0 runs"):
        troupe.report([], tmp_path / "page.html")
    assert not (tmp_path / "page.html").exists()


def test_a_page_is_that_of_the_command(world: World, run: training.Run, tmp_path: Path) -> None:
    ours, theirs = tmp_path / "ours.html", tmp_path / "theirs.html"
    seen: list[Progress] = []
    made = troupe.report(run.path, ours, progress=seen.append)
    assert (made.path, made.runs, made.classes) == (str(ours), 1, 0)
    assert made.graphs == {str(world.path): None}
    run_command("report", run.path, "--out", theirs)
    assert ours.read_bytes() == theirs.read_bytes()
    # An earlier page is replaced, and nothing else.
    assert troupe.report([run.path, run.path], ours).runs == 2
    with pytest.raises(errors.AlreadyExists, match="another file of that name"):
        troupe.report(run.path, Path(run.path) / "metrics.jsonl")


def test_scores_by_class_are_those_of_the_command(
    world: World, run: training.Run, tmp_path: Path
) -> None:
    predictions = training.infer(world.path, run.path, embeddings=True)
    rows = predictions.by_class()
    assert sum(row.labelled for row in rows) == run.test.labelled
    predictions.write_by_class(tmp_path / "classes.json")
    command = [os.environ.get("TROUPE", "troupe"), "infer", world.path, "--run", run.path]
    said = subprocess.run(
        [*command, "--exact", "--by-class", "--json", "--quiet"], check=True, capture_output=True
    ).stdout
    theirs, ours = json.loads(said), json.loads((tmp_path / "classes.json").read_text())
    assert ours["inference"] == theirs["inference"] and ours["run"] == theirs["run"]
    for mine, other in zip(ours["classes"], theirs["classes"], strict=True):
        assert mine["taken_for"] == other["taken_for"]
        for key in ("class", "labelled", "predicted", "precision", "recall", "f1"):
            assert mine[key] == pytest.approx(other[key])
    made = troupe.report(run.path, tmp_path / "page.html", classes=tmp_path / "classes.json")
    assert made.classes == 1
    predictions.write_embeddings(tmp_path / "e.npy")
    assert np.array_equal(np.load(tmp_path / "e.npy"), predictions.embeddings)


def test_a_training_begins_from_another_runs_weights(
    world: World, run: training.Run, tmp_path: Path
) -> None:
    options = {"fanout": [5, 5], "epochs": 1, "hidden": 8, "threads": 1}
    more = training.train(world.path, tmp_path / "more", from_run=run.path, **options)
    assert more.epochs[0].train_loss < run.epochs[0].train_loss
    assert troupe.open_run(more.path).options["from"] == run.path
    with pytest.raises(errors.Mismatch):
        options["hidden"] = 9
        training.train(world.path, tmp_path / "other", from_run=run.path, **options)


def test_seeds_and_options_are_swept(world: World, tmp_path: Path) -> None:
    options = {"fanout": [5, 5], "epochs": 2, "threads": 1}
    points = train_many.train_many(
        world.path, tmp_path / "many", seeds=[3, 4], sweep={"hidden": [4, 8]}, **options
    )
    assert [point.options for point in points] == [{"hidden": 4}, {"hidden": 8}]
    assert [run.path for run in points[1].runs] == [
        str(tmp_path / f"many/hidden=8/seed-{seed}") for seed in (3, 4)
    ]
    alone = training.train(world.path, tmp_path / "alone", seed=4, hidden=8, **options)
    assert points[1].runs[1].test.accuracy == alone.test.accuracy
    scores = points[1].scores()
    assert points[1].mean() == pytest.approx(np.mean(scores))
    assert points[1].deviation() == pytest.approx(np.std(scores, ddof=1))
    assert "hidden=8" in repr(points[1])
    with pytest.raises(TypeError, match="seeds= in place of seed="):
        train_many.train_many(world.path, tmp_path / "x", seed=1)
    with pytest.raises(TypeError, match="lr: give it"):
        train_many.train_many(world.path, tmp_path / "x", lr=1, sweep={"lr": [1]})
    with pytest.raises(ValueError, match="at least one value"):
        train_many.train_many(world.path, tmp_path / "x", sweep={"model": "sage"})
    with pytest.raises(ValueError, match="seeds: 3 is named twice"):
        train_many.train_many(world.path, tmp_path / "x", seeds=[3, 4, 3])
    with pytest.raises(ValueError, match=r"sweep: fanout: \(5, 5\) is named twice"):
        twice = {"fanout": [[5, 5], [3, 3], (5, 5)]}
        train_many.train_many(world.path, tmp_path / "x", sweep=twice)
    assert not (tmp_path / "x").exists()


def test_figures_of_partitions_are_those_of_the_edges(world: World) -> None:
    figures = plot.partition_figures(world.path)
    report = partitioning.inspect(world.path)
    assert figures["nodes"].tolist() == [part["num_nodes"] for part in report["parts"]]
    assert figures["edges"].sum() == len(world.edges) and len(figures["halo"]) == PARTS
    book = troupe.load_partition_book(world.path)
    book = book if isinstance(book, troupe.PartitionBook) else book[0]
    original = partitioning._mapping(str(world.path))[0]
    owner_of = np.empty(len(original), dtype=np.int64)
    owner_of[original] = np.asarray(book.nid2partid(np.arange(len(original))))
    ends = owner_of[world.edges]
    assert figures["cut"].sum() == np.count_nonzero(ends[:, 0] != ends[:, 1])
    assert figures["cut"].tolist() == [
        int(np.count_nonzero((ends[:, 1] == p) & (ends[:, 0] != p))) for p in range(PARTS)
    ]


def test_pictures_say_what_they_need(run: training.Run, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match="'steps', 'seconds', 'epochs'"):
        plot.curves(run.path, against="hours")
    with pytest.raises(ValueError, match="'train_loss'"):
        plot.curves(run.path, scores=["recall"])
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match="python3-matplotlib"):
        plot.curves(run.path)
