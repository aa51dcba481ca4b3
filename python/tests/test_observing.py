# SPDX-License-Identifier: Apache-2.0
"""The status of a job: processes that are up, and those that are not, as the command shows them."""

from __future__ import annotations

import json
import os
import subprocess
import time
import urllib.error
import urllib.request
from http.cookiejar import CookieJar
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
    assert len(found.partitions) == found.job.num_parts > 1
    assert all("server" in found.processes[n].roles for p in found.partitions for n in p.processes)
    rows = json.loads(found.json())
    assert [(p.num_nodes, p.num_edges, p.processes) for p in found.partitions] == [
        (row["nodes"], row["edges"], row["processes"]) for row in rows["partitions"]
    ]
    assert sum(p.num_nodes for p in found.partitions) == len(world.feat)
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
            assert first.mailbox_messages_max > 0 and first.process_restarts == 0
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


def test_a_live_page_is_served_to_whoever_has_its_token(world: World, tmp_path: Path) -> None:
    cluster = write_cluster(tmp_path, world.path, 1)
    (tmp_path / "log").write_text("a line of the log\n")
    with troupe.live_page(cluster, log=tmp_path / "log") as page:
        bare, _, token = page.url.partition("?token=")
        assert bare.startswith("http://127.0.0.1:") and len(token) == 32
        assert token not in repr(page) and bare in repr(page)
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(bare, timeout=LIMIT)
        assert refused.value.code == 401
        refused.value.close()
        jar = urllib.request.HTTPCookieProcessor(CookieJar())
        browser = urllib.request.build_opener(jar)
        with browser.open(page.url, timeout=LIMIT) as answer:
            assert b"<html" in answer.read() and "token" not in answer.url
        with browser.open(bare + "status.json", timeout=LIMIT) as answer:
            shown = json.load(answer)
        asked = json.loads(troupe.status(cluster).json())
        assert shown["job"] == asked["job"] == "job"
        assert [row["roles"] for row in shown["processes"]] == [
            row["roles"] for row in asked["processes"]
        ]
        with browser.open(bare + "events", timeout=LIMIT) as answer:
            until = time.monotonic() + LIMIT
            while b"a line of the log" not in answer.readline() and time.monotonic() < until:
                pass
            assert time.monotonic() < until
        port = int(bare.split(":")[2].rstrip("/"))
        with pytest.raises(errors.Error, match=str(port)):
            troupe.live_page(cluster, port)
    with pytest.raises(urllib.error.URLError):
        urllib.request.urlopen(bare, timeout=LIMIT)
    with pytest.raises(errors.Closed, match="live page"):
        _ = page.url
    page.close()


def test_a_live_page_that_others_would_reach_is_refused(world: World, tmp_path: Path) -> None:
    cluster = write_cluster(tmp_path, world.path, 1)
    with pytest.raises(errors.InvalidArgument, match="ssh -L"):
        troupe.live_page(cluster, "0.0.0.0:0")
