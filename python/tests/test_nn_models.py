# SPDX-License-Identifier: Apache-2.0
"""Models of `troupe train` as modules, back again, and every node by a program's own layers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from conftest import NODES, World, run_command

import troupe
from troupe import training

torch = pytest.importorskip("torch")
from troupe import nn  # noqa: E402

RUNS = {
    "sage": {"model": "sage"},
    "gcn": {"model": "gcn"},
    "layer": {"model": "sage", "norm": "layer", "residual": True, "dropout": 0.2},
    "batch": {"model": "sage", "norm": "batch", "standardise": True},
    "rows": {"model": "gcn", "norm": "batch", "normalise": True, "residual": True},
}


@pytest.fixture
def tensors(world: World) -> Iterator[troupe.DistGraph]:
    with troupe.open(world.path, seed=7, tensors="torch") as opened:
        yield opened


def by_original(g: troupe.DistGraph, rows: torch.Tensor) -> np.ndarray:
    found = np.empty(tuple(rows.shape), np.float32)
    found[g.orig_ids(ids=torch.arange(NODES)).numpy()] = rows.numpy()
    return found


def assert_close(ours: np.ndarray, theirs: np.ndarray) -> None:
    assert np.abs(ours - theirs).max() <= 1e-5 * np.abs(theirs).max()


@pytest.mark.parametrize("name", RUNS)
def test_a_run_loads_and_is_saved_with_equal_outputs(
    world: World, tensors: troupe.DistGraph, tmp_path: Path, name: str
) -> None:
    options = {"epochs": 2, "hidden": 12, "batch_size": 200, "seed": 4, "threads": 1}
    run = training.train(world.path, tmp_path / "run", fanout=[4, 4, 4], **options, **RUNS[name])
    theirs = training.infer(world.path, run.path).outputs
    model = nn.load(run)
    assert not model.training and len(model.layers) == 3
    assert_close(by_original(tensors, nn.infer(tensors, model)), theirs)
    # A batch with all neighbours gives the same.
    seeds = torch.arange(0, NODES, 7)
    batch = troupe.MultiLayerFullNeighborSampler(3).draw(
        tensors, seeds, seed=1, features="feat", degrees=True
    )
    with torch.no_grad():
        outputs = model(batch.blocks, batch.features).numpy()
    assert_close(outputs, theirs[batch.orig_nodes[: len(seeds)].numpy()])

    # What Python writes is the file that C wrote, and C reads it alike.
    nn.save(model, tmp_path / "again")
    first, second = (tmp_path / folder / "model.safetensors" for folder in ("run", "again"))
    assert first.read_bytes() == second.read_bytes()
    assert np.array_equal(training.infer(world.path, tmp_path / "again").outputs, theirs)


def test_a_model_made_in_python_is_inferred_by_the_command(
    world: World, tensors: troupe.DistGraph, tmp_path: Path
) -> None:
    torch.manual_seed(1)
    model = nn.Model("sage", 16, 8, 4, 2, norm="layer")
    nn.save(model, tmp_path / "run", fanout=[3, 3])
    words = ["--run", tmp_path / "run", "--exact", "--out", tmp_path / "o.npy", "--quiet"]
    run_command("infer", world.path, *words)
    assert_close(by_original(tensors, nn.infer(tensors, model)), np.load(tmp_path / "o.npy"))
    assert model.training  # as before
    with pytest.raises(troupe.errors.AlreadyExists, match="replace=True"):
        nn.save(model, tmp_path / "run")
    with pytest.raises(TypeError, match="'fanuot'"):
        nn.save(model, tmp_path / "run", replace=True, fanuot=[3, 3])
    with torch.no_grad():
        for parameter in model.parameters():
            parameter += 1
    nn.save(model, tmp_path / "run", replace=True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["o.npy", "run"]
    for ours, theirs in zip(
        model.parameters(), nn.load(tmp_path / "run").parameters(), strict=True
    ):
        assert torch.equal(ours, theirs)
    with pytest.raises(troupe.errors.NotFound):
        nn.load(tmp_path / "nowhere")


def test_logarithms_of_columns_are_taken_by_the_command_too(
    world: World, tensors: troupe.DistGraph, tmp_path: Path
) -> None:
    model = nn.Model("sage", 16, 8, 4, 2, standardise=True, logarithms=True)
    model.log_unit[:5], model.log_centre[:5] = 0.01, 0.3
    model.factor[3:9] = 2
    nn.save(model, tmp_path / "run", fanout=[3, 3])
    assert_close(
        by_original(tensors, nn.infer(tensors, model)),
        training.infer(world.path, tmp_path / "run").outputs,
    )
    again = nn.load(tmp_path / "run")
    assert again.logarithms and torch.equal(again.log_unit, model.log_unit)
    with pytest.raises(ValueError, match="standardise=True"):
        nn.Model("sage", 16, 8, 4, 2, logarithms=True)


def test_own_layers_are_exact_for_every_node(world: World, tensors: troupe.DistGraph) -> None:
    edges = world.edges
    degrees = np.bincount(edges[:, 1], minlength=NODES).clip(1)
    weight = np.linspace(-1, 1, 16 * 3).reshape(16, 3)

    def dense(rows: np.ndarray) -> np.ndarray:
        summed = np.zeros_like(rows)
        np.add.at(summed, edges[:, 1], rows[edges[:, 0]])
        return summed / degrees[:, None]

    expected = dense(np.tanh(dense(world.feat.astype(np.float64)) @ weight))
    calls: list[tuple[int, int]] = []
    layers = [
        lambda block, rows: torch.tanh(
            nn.Aggregation(block, mean=True)(rows) @ torch.tensor(weight, dtype=torch.float32)
        ),
        lambda block, rows: nn.Aggregation(block, mean=True)(rows),
    ]
    rows = nn.infer(tensors, layers, batch_size=300, progress=lambda *at: calls.append(at))
    assert np.abs(by_original(tensors, rows) - expected).max() < 1e-5
    assert calls[-1] == (14, 14) and len(calls) == 14
    # Of rows that a program has itself, too.
    given = tensors.ndata["feat"][torch.arange(NODES)]
    assert torch.equal(nn.infer(tensors, layers, given, batch_size=300), rows)


def test_what_inference_cannot_take_is_refused(world: World, tensors: troupe.DistGraph) -> None:
    with troupe.open(world.path) as arrays, pytest.raises(troupe.Error, match='tensors="torch"'):
        nn.infer(arrays, [])
    with pytest.raises(troupe.Error, match="no layer"):
        nn.infer(tensors, [])
    with pytest.raises(ValueError, match="1 blocks for a model of 2 layers"):
        batch = troupe.NeighborSampler([2]).draw(tensors, [1], features="feat")
        nn.Model("sage", 16, 8, 4, 2)(batch.blocks, batch.features)
    with pytest.raises(ValueError, match="'sage' or 'gcn'"):
        nn.Model("gat", 16, 8, 4, 2)
