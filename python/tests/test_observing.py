# SPDX-License-Identifier: Apache-2.0
"""The status of a job: processes that are up, and those that are not, as the command shows them."""

from __future__ import annotations

import json
import os
import subprocess
import time
from pathlib import Path

import pytest
from conftest import World
from launching import LIMIT, Launch, write_cluster

import troupe
from troupe import errors


def test_processes_that_are_not_there_are_down(world: World, tmp_path: Path) -> None:
    cluster = write_cluster(tmp_path, world.path, 1)
    found = troupe.status(cluster)
    assert found.job.name == "job" and found.job.num_up == 0 and found.job.checkpoint is None
    assert len(found.processes) == found.job.num_processes > 2 and not found.all_up
    assert all(p.host == "a" and not p.up for p in found.processes)
    assert found.job.loss is None and found.job.score_name is None
    assert found.job.checkpoint_age_s is None
    assert all(p.loss is None and p.peers == [] for p in found.processes)
    rows = json.loads(found.json())
    assert [row["roles"] for row in rows["processes"]] == [p.roles for p in found.processes]
    command = [os.environ.get("TROUPE", "troupe"), "status", str(cluster), "--json"]
    said = subprocess.run(command, capture_output=True, check=False)
    theirs = json.loads(said.stdout)
    assert said.returncode == 1
    assert set(theirs) == set(rows) and set(theirs["processes"][0]) == set(rows["processes"][0])


def test_a_process_that_serves_is_up(world: World, tmp_path: Path) -> None:
    cluster = write_cluster(tmp_path, world.path, 1)
    command = [os.environ.get("TROUPE", "troupe"), "serve", "--cluster", str(cluster)]
    command += ["--process", "0"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        try:
            until = time.monotonic() + LIMIT
            found = troupe.status(cluster)
            while not found.processes[0].up and time.monotonic() < until:
                assert process.poll() is None
                found = troupe.status(cluster)
            first = found.processes[0]
            assert first.up and first.uptime_s > 0 and first.why == ""
            assert first.rss_bytes > 0 and first.cpu_s > 0 and first.loss is None
            assert len(first.peers) == first.links
            assert found.job.num_up == 1 and "1 of" in repr(found)
        finally:
            process.terminate()
            process.wait(LIMIT)


NOTES = """
import time, troupe
graph = troupe.initialize()
graph.note(epochs=7, loss=0.5, score=0.75, score_name="accuracy")
while True:
    time.sleep(0.05)
"""


def test_what_a_program_notes_is_shown(world: World, tmp_path: Path) -> None:
    cluster = write_cluster(tmp_path, world.path, 1)
    (tmp_path / "notes.py").write_text(NOTES)
    job = Launch(cluster, tmp_path / "notes.py")
    try:
        until = time.monotonic() + LIMIT
        found = troupe.status(cluster)
        while found.job.score is None and time.monotonic() < until:
            assert job.process.poll() is None, job.said()
            found = troupe.status(cluster)
        trainer = found.processes[3]
        assert trainer.loss == found.job.loss == 0.5
        assert (trainer.score, trainer.score_name) == (0.75, "accuracy")
        assert found.job.epochs == 7 and found.processes[0].loss is None
        assert {peer.process for peer in trainer.peers} >= {0, 1, 2}
    finally:
        job.process.terminate()
        job.process.wait(LIMIT)


def test_a_cluster_file_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(errors.NotFound, match="nowhere"):
        troupe.status(tmp_path / "nowhere.json")
    (tmp_path / "none.json").write_text("[]")
    with pytest.raises(errors.Error, match=r"none\.json"):
        troupe.status(tmp_path / "none.json")
