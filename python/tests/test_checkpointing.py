# SPDX-License-Identifier: Apache-2.0
"""Checkpoints of a program that is alone: what they bring back, and what they refuse."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from conftest import World

import troupe
from troupe import errors
from troupe.checkpointing import pack, unpack
from troupe.job import job_of

torch = pytest.importorskip("torch")


class Run:
    """A model that is trained on a graph, with all that a checkpoint has of it."""

    def __init__(self, world: World, kept: Path | None, seed: int = 5) -> None:
        self.graph = troupe.initialize(
            graph=world.path, tensors="torch", seed=seed, checkpoints=kept
        )
        sampler = troupe.NeighborSampler([3])
        self.loader = troupe.DistNodeDataLoader(
            self.graph, None, sampler, batch_size=300, shuffle=True, features="feat", labels="label"
        )
        torch.manual_seed(3)
        self.model = troupe.ddp(
            torch.nn.Sequential(torch.nn.Linear(16, 8), torch.nn.Dropout(), torch.nn.Linear(8, 4))
        )
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=0.01)
        self.scheduler = torch.optim.lr_scheduler.StepLR(self.optimizer, 2, 0.5)
        self.digests: list[int] = []

    def things(self) -> dict[str, Any]:
        names = ("model", "optimizer", "loader", "scheduler")
        return {name: getattr(self, name) for name in names}

    def steps(self, count: int) -> None:
        while count > 0:
            for batch in self.loader:
                self.digests.append(batch.digest())
                scores = self.model(batch.features[: len(batch.labels)])
                self.optimizer.zero_grad()
                torch.nn.functional.cross_entropy(scores, batch.labels).backward()
                self.optimizer.step()
                self.scheduler.step()
                count -= 1
                if count == 0:
                    return

    def weights(self) -> Any:
        return torch.cat([p.detach().reshape(-1).clone() for p in self.model.parameters()])


@pytest.mark.parametrize("before", [3, 7, 10])  # an epoch has 7 batches
def test_a_run_goes_on_as_if_nothing_had_been(world: World, tmp_path: Path, before: int) -> None:
    whole = Run(world, None)
    whole.steps(17)
    weights = whole.weights()
    troupe.shutdown()

    first = Run(world, tmp_path)
    assert troupe.resume(**first.things()) is None
    first.steps(before)
    assert troupe.checkpoint(**first.things()) == 1
    first.steps(2)  # which are lost
    troupe.shutdown()

    second = Run(world, tmp_path)
    torch.manual_seed(99)
    with pytest.raises(errors.InvalidArgument, match=r"step 1: troupe.resume\(\) goes on"):
        troupe.checkpoint(**second.things())
    assert troupe.resume(**second.things()) == 1
    second.steps(17 - before)
    assert first.digests[:before] + second.digests == whole.digests
    assert torch.equal(second.weights(), weights)
    assert troupe.checkpoint(**second.things(), step=40) == 40
    assert troupe.checkpoint(**second.things()) == 41
    troupe.shutdown()


def test_what_does_not_belong_together_is_refused(world: World, tmp_path: Path) -> None:
    run = Run(world, tmp_path)
    troupe.checkpoint(**run.things())
    troupe.shutdown()
    run = Run(world, tmp_path)
    with pytest.raises(errors.Mismatch, match=r"\['loader', 'model', 'optimizer', 'scheduler'\]"):
        troupe.resume(model=run.model)
    with pytest.raises(errors.InvalidArgument, match=r"thing=: it has no state_dict\(\)"):
        troupe.checkpoint(run.model, thing=1)
    with pytest.raises(errors.InvalidArgument, match="random=: the name is taken"):
        troupe.checkpoint(run.model, random=run.model)
    job = job_of()
    part = pack(job, {"model": run.model}, 1)
    assert set(unpack(job, part, "it")) == {"model", "random"}
    with pytest.raises(errors.Mismatch, match="names and order have to be the same"):
        run.graph.types.ntypes[0] = "paper"
        unpack(job, part, "it")
    run.graph.take_place(1, 2)
    with pytest.raises(errors.Mismatch, match="its rank is 0, and here 1"):
        unpack(job, part, "it")
    with pytest.raises(errors.BadFormat, match=r"was not saved by troupe.checkpoint\(\)"):
        unpack(job, troupe.safetensors.dump({}, {}), "it")
    with pytest.raises(errors.Mismatch, match="batches an epoch"):
        run.loader.load_state_dict({"epoch": 0, "batch": 1, "batches": 8})
    troupe.shutdown()


def test_without_a_folder_there_are_none(world: World) -> None:
    with (
        troupe.initialize(graph=world.path, tensors="torch"),
        pytest.raises(errors.InvalidArgument, match="no folder for checkpoints was set"),
    ):
        troupe.checkpoint(torch.nn.Linear(1, 1), timeout=60)
