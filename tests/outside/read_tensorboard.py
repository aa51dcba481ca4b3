# SPDX-License-Identifier: Apache-2.0
"""What TensorBoard reads of a folder, beside the metrics of its run.

read_tensorboard.py FOLDER RUN [--ended-at EPOCH] [--while-trained]
read_tensorboard.py FOLDER --serve RUN...
"""

import json
import math
import pathlib
import subprocess
import sys
import time
import urllib.parse
import urllib.request

from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

SCORES = ("loss", "accuracy", "macro_f1", "roc_auc", "mrr")


def scores(split, of):
    return {f"{name}/{split}": of[name] for name in SCORES if of.get(name) is not None}


def expected(run):
    """The scalars of each epoch, and those of the test, by metrics.jsonl."""
    epochs, test = {}, None
    for line in (run / "metrics.jsonl").read_text().splitlines():
        row = json.loads(line)
        if "test" in row:
            test = scores("test", row["test"])
            continue
        epochs[row["epoch"]] = {
            "loss/train": row["train_loss"],
            "epoch/learning_rate": row["rate"],
            "epoch/seconds": row["seconds"],
            "epoch/seeds": row["seeds"],
            "epoch/steps": row["steps"],
            "epoch/seeds_per_second": row["seeds"] / row["seconds"],
            **(scores("validation", row["val"]) if row["val"] else {}),
        }
    return epochs, test


def read(folder):
    """The points of each tag, as TensorBoard has them."""
    board = EventAccumulator(str(folder), size_guidance={"scalars": 0})
    board.Reload()
    tags = board.Tags()["scalars"]
    return {tag: [(point.step, point.value) for point in board.Scalars(tag)] for tag in tags}


def compare(folder, run, ended_at, whole):
    epochs, test = expected(run)
    found = read(folder)
    wanted = {}
    for epoch, scalars in epochs.items():
        for tag, value in scalars.items():
            wanted.setdefault(tag, []).append((epoch, value))
    for tag, value in (test or {}).items():
        wanted[tag] = [(max(epochs), value)]
    assert epochs and (set(wanted) == set(found)), (sorted(wanted), sorted(found))
    for tag, points in wanted.items():
        have = [
            (step, value) for step, value in found[tag] if "/test" not in tag or step != ended_at
        ]
        if not whole:  # the run went on since its metrics were read
            assert len(have) >= len(points), (tag, len(have), len(points))
            have = have[: len(points)]
        assert [step for step, _ in have] == [step for step, _ in points], (
            tag,
            have,
            points,
        )
        for (_, ours), (_, theirs) in zip(points, have, strict=True):
            assert math.isclose(ours, theirs, rel_tol=1e-6), (tag, ours, theirs)


def serve(folder, runs):
    """The server of the program has these runs, and the curve of each one's loss."""
    command = [
        sys.executable,
        "-m",
        "tensorboard.main",
        "--logdir",
        str(folder),
        "--port",
        "0",
    ]
    command += ["--host", "127.0.0.1", "--load_fast", "false", "--reload_interval", "1"]
    server = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        address = None
        while address is None:
            line = server.stderr.readline()
            assert line, "it ended"
            address = next((word for word in line.split() if word.startswith("http://")), None)

        def ask(path):
            with urllib.request.urlopen(address.rstrip("/") + path, timeout=60) as answer:
                return json.load(answer)

        missing = set(runs)
        while missing:
            missing = set(runs) - set(ask("/data/runs"))
            time.sleep(0.2 if missing else 0)
        for run in runs:
            where = urllib.parse.urlencode({"tag": "loss/train", "run": run})
            points = ask(f"/data/plugin/scalars/scalars?{where}")
            assert [point[1] for point in points] == [1, 2], (run, points)
    finally:
        server.terminate()
        server.wait()


def main():
    folder, *rest = sys.argv[1:]
    if rest[0] == "--serve":
        serve(folder, rest[1:])
        return
    ended_at = int(rest[2]) if rest[1:2] == ["--ended-at"] else None
    compare(folder, pathlib.Path(rest[0]), ended_at, rest[1:] != ["--while-trained"])


main()
