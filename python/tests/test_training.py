# SPDX-License-Identifier: Apache-2.0
"""Training and inference are those of the command, byte for byte."""

from __future__ import annotations

import json
import time
from pathlib import Path

import numpy as np
import pytest
from conftest import World, run_command

import troupe
from troupe import partitioning, train_many, training


def test_a_model_has_the_bytes_of_the_commands(world: World, tmp_path: Path) -> None:
    events: list[training.Event] = []
    options = {"epochs": 3, "hidden": 16, "batch_size": 200, "seed": 4, "threads": 1}
    run = training.train(
        world.path, tmp_path / "ours", fanout=[5, 5], on_event=events.append, **options
    )
    words = ["--fanout", "5,5", "--epochs", 3, "--hidden", 16, "--batch-size", 200]
    words += ["--seed", 4, "--threads", 1, "--run", tmp_path / "theirs", "--quiet"]
    run_command("train", world.path, *words)
    ours, theirs = (tmp_path / name / "model.safetensors" for name in ("ours", "theirs"))
    assert ours.read_bytes() == theirs.read_bytes()
    assert len(run.epochs) == run.result.epochs == 3
    assert [event.number for event in events if event.kind == "epoch"] == [0, 1, 2]
    assert run.epochs[-1].train_loss < run.epochs[0].train_loss
    assert 0 <= run.test.accuracy <= 1 and run.validation.labelled > 0

    predictions = training.infer(world.path, run.path, embeddings=True)
    words = ["--run", run.path, "--exact", "--out", tmp_path / "o.npy", "--quiet"]
    run_command("infer", world.path, *words)
    outputs = predictions.outputs
    assert np.array_equal(outputs, np.load(tmp_path / "o.npy"))
    assert predictions.embeddings.shape == (2000, 16)
    assert predictions.scores("test").accuracy == run.test.accuracy
    counts = predictions.confusion("test")
    assert counts.sum() == run.test.labelled
    assert np.trace(counts) / counts.sum() == pytest.approx(run.test.accuracy)
    predictions.write(tmp_path / "p.csv")
    assert len((tmp_path / "p.csv").read_text().splitlines()) == 2001
    expected = outputs.copy()
    del predictions
    assert np.array_equal(outputs, expected)

    # As the folder is of a run that was stopped in its second epoch.
    metrics = tmp_path / "ours" / "metrics.jsonl"
    metrics.write_text(metrics.read_text().splitlines(keepends=True)[0])
    with pytest.warns(UserWarning, match="not complete .1 of 3 epochs., so the best model"):
        assert np.array_equal(training.infer(world.path, run.path).outputs, expected)
    told: list[training.Event] = []
    training.infer(world.path, run.path, on_event=told.append)
    assert "not complete" in next(event.text for event in told if event.kind == "warning")

    saved = training.SavedModel(run.path)
    assert saved.info.kind == "sage" and saved.info.layers == 2
    shapes = {name: array.shape for name, array in saved.state_dict().items()}
    assert shapes["layers.0.neigh.weight"] == (16, 16)
    assert saved.relations() == {} and saved.info.heads == 0


def test_a_model_of_relations_names_them(world: World, tmp_path: Path) -> None:
    run = training.train(
        world.path, tmp_path / "run", model="rgcn", bases=2, epochs=1, hidden=4, fanout=[2, 2]
    )
    saved = training.SavedModel(run.path)
    assert saved.info.kind == "rgcn" and saved.info.bases == 2
    # A share of each base in each of two layers.
    assert saved.relations() == {"_N:_E:_N": 4}


def test_a_model_of_links_has_the_bytes_and_scores_of_the_commands(
    world: World, tmp_path: Path
) -> None:
    options = {"epochs": 2, "hidden": 8, "batch_size": 300, "seed": 4, "threads": 1}
    run = training.train(
        world.path, tmp_path / "ours", fanout=[4, 4], task="link", negatives=2, **options
    )
    words = ["--fanout", "4,4", "--epochs", 2, "--hidden", 8, "--batch-size", 300, "--seed", 4]
    words += ["--threads", 1, "--task", "link", "--negatives", 2, "--run", tmp_path / "theirs"]
    run_command("train", world.path, *words, "--quiet")
    ours, theirs = (tmp_path / name / "model.safetensors" for name in ("ours", "theirs"))
    assert ours.read_bytes() == theirs.read_bytes()
    lines = (tmp_path / "theirs" / "metrics.jsonl").read_text().splitlines()
    test = json.loads(lines[-1])["test"]
    assert run.test.roc_auc == test["roc_auc"] and run.test.mrr == test["mrr"]
    assert run.test.labelled == test["labelled"]
    assert training.SavedModel(run.path).info.task == "link"

    predictions = training.infer(world.path, run.path)
    assert predictions.outputs.shape == (2000, 8)
    assert predictions.scores("test") is None
    with pytest.raises(troupe.errors.Unsupported, match="no classes"):
        predictions.confusion()
    with pytest.raises(troupe.errors.Unsupported, match=r"\.npy"):
        predictions.write(tmp_path / "p.csv")


def test_a_training_draws_as_the_command_does(world: World, tmp_path: Path) -> None:
    words = ["--fanout", "3,4", "--hidden", 8, "--epochs", 1, "--seed", 3, "--threads", 1]
    folder = tmp_path / "command"
    run_command(
        "train", world.path, "--run", folder, "--quiet", "--sampler", "labor-poisson", *words
    )
    options = {"hidden": 8, "epochs": 1, "seed": 3, "threads": 1}
    run = training.train(
        world.path, tmp_path / "run", fanout=[3, 4], sampler="labor-poisson", **options
    )
    ours, theirs = (Path(path) / "model.safetensors" for path in (run.path, folder))
    assert ours.read_bytes() == theirs.read_bytes()
    even = training.train(world.path, tmp_path / "even", fanout=[3, 4], **options)
    assert (Path(even.path) / "model.safetensors").read_bytes() != theirs.read_bytes()
    for refused, name in (({"draw_by": "none"}, "none"), ({"sampler": "other"}, "other")):
        with pytest.raises(troupe.Error, match=name):
            training.train(world.path, tmp_path / "none", **options, **refused)


def test_links_of_two_types_have_outputs_of_both(tmp_path: Path) -> None:
    draw = np.random.default_rng(3)
    sources, destinations = draw.integers(0, 60, 800), draw.integers(0, 40, 800)
    edges = {
        ("person", "buys", "thing"): (sources, destinations),
        ("thing", "rev_buys", "person"): (destinations, sources),
    }
    partitioning.write_raw(edges, tmp_path / "raw", num_nodes={"person": 60, "thing": 40})
    partitioning.partition(tmp_path / "raw", tmp_path / "parts", 2, method="random", name="g")
    graph = tmp_path / "parts" / "g.json"
    run = training.train(
        graph, tmp_path / "run", fanout=[3, 3], task="link", edge_type="buys", epochs=1, hidden=8
    )
    saved = training.SavedModel(run.path).info
    assert saved.kind == "rgcn" and saved.edge_type == "person:buys:thing"
    assert saved.reverse_edge_type == "thing:rev_buys:person"
    predictions = training.infer(graph, run.path, embeddings=True)
    shapes = {name: rows.shape for name, rows in predictions.outputs.items()}
    assert shapes == {"person": (60, 8), "thing": (40, 8)}
    assert set(predictions.embeddings) == {"person", "thing"}
    with pytest.raises(troupe.errors.Unsupported, match="no classes"):
        predictions.confusion()
    predictions.write(tmp_path / "rows.npy")
    assert np.array_equal(np.load(tmp_path / "rows.thing.npy"), predictions.outputs["thing"])


def test_what_cannot_be_is_refused(world: World, tmp_path: Path) -> None:
    with pytest.raises(TypeError, match='"hidden"'):
        training.train(world.path, tmp_path / "run", hiden=3)
    with pytest.raises(troupe.errors.NotFound, match="nowhere"):
        training.train("nowhere/g.json", tmp_path / "run")
    with pytest.raises(troupe.errors.InvalidArgument, match="model"):
        training.train(world.path, tmp_path / "run", model="none")
    with pytest.raises(troupe.errors.InvalidArgument, match="negatives"):
        training.train(world.path, tmp_path / "run", negatives=2)
    with pytest.raises(troupe.errors.NotFound):
        training.infer(world.path, tmp_path / "run")
    with pytest.raises(troupe.errors.NotFound):
        training.SavedModel(tmp_path / "run")


def test_ctrl_c_ends_a_training(world: World, tmp_path: Path) -> None:
    def stop(event: training.Event) -> None:
        if event.kind == "epoch":
            raise KeyboardInterrupt

    begin = time.perf_counter()
    with pytest.raises(KeyboardInterrupt):
        training.train(world.path, tmp_path / "run", epochs=100000, on_event=stop)
    assert time.perf_counter() - begin < 30


def test_runs_write_files_for_tensorboard(world: World, tmp_path: Path) -> None:
    options = {"epochs": 1, "hidden": 8, "batch_size": 400, "threads": 1}
    run = training.train(world.path, tmp_path / "run", tensorboard=tmp_path / "board", **options)
    (file,) = (tmp_path / "board").iterdir()
    assert file.name.startswith("events.out.tfevents.") and b"loss/train" in file.read_bytes()
    with pytest.raises(troupe.Error, match=r"file.name.*options\.tensorboard"):
        training.train(world.path, tmp_path / "other", tensorboard=file / "file.name", **options)
    train_many.train_many(
        world.path,
        tmp_path / "many",
        seeds=[1, 2],
        sweep={"lr": [0.1, 0.01]},
        tensorboard=tmp_path / "boards",
        **options,
    )
    found = sorted(str(path.parent.relative_to(tmp_path)) for path in tmp_path.glob("boards/*/*/*"))
    points = ("lr=0.01", "lr=0.1")
    assert found == [f"boards/{point}/seed-{seed}" for point in points for seed in (1, 2)]
    assert run.result.epochs == 1
