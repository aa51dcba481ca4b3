# SPDX-License-Identifier: Apache-2.0
"""Processes as trainers of a job: alone, under the launcher, with what their environment says."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import World, run_command
from launching import EXAMPLE, LIMIT, Launch, free_port, write_cluster

import troupe
from troupe import errors

torch = pytest.importorskip("torch")


def loader_of(graph: troupe.DistGraph, **options: Any) -> troupe.DistNodeDataLoader:
    sampler = troupe.NeighborSampler([3, 3])
    given = {"batch_size": 100, "shuffle": True, "features": "feat", "labels": "label", **options}
    return troupe.DistNodeDataLoader(graph, graph.ndata["train_mask"], sampler, **given)


def test_alone_it_is_the_only_trainer(world: World) -> None:
    assert (troupe.rank(), troupe.num_trainers()) == (0, 1)
    troupe.barrier()
    for _ in range(3):
        with troupe.initialize(graph=world.path, seed=1) as graph:
            assert (troupe.rank(), troupe.num_trainers()) == (0, 1)
            troupe.barrier()
            other = troupe.initialize(graph=world.path, seed=2)
            assert next(loader_of(graph)).digest() != next(loader_of(other)).digest()
            troupe.shutdown()
            assert not graph.is_open and not other.is_open
    troupe.shutdown()
    with pytest.raises(errors.InvalidArgument, match=r"graph='DIR/NAME\.json'"):
        troupe.initialize()
    with pytest.raises(errors.NotFound, match=r"troupe.initialize\(\) first"):
        troupe.checkpoint()


def test_a_forked_child_is_no_trainer(world: World) -> None:
    with troupe.initialize(graph=world.path, seed=1):
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                troupe.rank()
            except errors.Forked as error:
                os.write(write, str(error).encode())
            os._exit(0)
        os.waitpid(child, 0)
        os.close(write)
        with os.fdopen(read) as said:
            assert "spawn" in said.read()


def first_digest(loader: troupe.DistNodeDataLoader, box: Any) -> None:
    box.put(next(iter(loader)).digest())


def test_spawned_workers_open_what_is_handed_to_them(world: World) -> None:
    with troupe.initialize(graph=world.path, seed=1) as graph:
        loader = loader_of(graph)
        expected = next(iter(loader)).digest()
        for method in ("spawn", "forkserver"):
            context = multiprocessing.get_context(method)
            box = context.SimpleQueue()
            worker = context.Process(target=first_digest, args=(loader, box))
            worker.start()
            assert box.get() == expected
            worker.join()


def trained(world: World, folder: Path, *words: object) -> tuple[list[str], Any]:
    """Epochs' lines and weights of the example in one process."""
    out = folder / "weights.pt"
    options = ["--graph", world.path, "--classes", 4, "--epochs", 3, "--batch-size", 100]
    said = subprocess.run(
        [sys.executable, *map(str, (EXAMPLE, *options, "--out", out, *words))],
        check=True,
        capture_output=True,
        text=True,
        timeout=LIMIT,
    ).stdout
    return said.splitlines(), torch.load(out)


def test_the_example_learns_in_one_process(world: World, tmp_path: Path) -> None:
    lines, weights = trained(world, tmp_path)
    assert float(lines[-1].split()[-1]) > 0.9, lines
    again, same = trained(world, tmp_path)
    assert lines == again and all(torch.equal(weights[n], same[n]) for n in weights)


WORDS = (EXAMPLE, "--classes", 4, "--epochs", 9, "--batch-size", 40, "--checkpoint-every", 4)


def said_by_first(log: str) -> dict[str, str]:
    """The last line of each epoch, and the accuracies."""
    lines = [line.split("] ", 1)[-1] for line in log.splitlines() if "/trainer 3]" in line]
    known = [line for line in lines if line.startswith(("epoch", "val", "test"))]
    return {line.rsplit(" ", 1)[0]: line.rsplit(" ", 1)[1] for line in known}


def test_a_job_of_four_survives_a_killed_trainer(world: World, tmp_path: Path) -> None:
    """The same weights, bit by bit, as a job that nobody disturbed."""
    cluster = write_cluster(tmp_path, world.path, 4)
    job = Launch(cluster, *WORDS, "--out", tmp_path / "one.pt")
    undisturbed = said_by_first(job.finish())
    assert float(undisturbed["test accuracy"]) > 0.9
    for number in range(4):
        assert f"trainer {number} of 4: of " in job.said()
    for part in (tmp_path / "kept").iterdir():
        run_command("inspect", part)
    subprocess.run(["rm", "-r", tmp_path / "kept"], check=True)

    job = Launch(cluster, *WORDS, "--out", tmp_path / "two.pt")
    job.until(lambda said: "troupe: checkpoint 12" in said)
    os.kill(job.python_of(2), signal.SIGKILL)
    disturbed = said_by_first(job.finish())
    # All four began again, once.
    assert job.said().count("] started, process number") == 7 + 4, job.said()
    assert disturbed["test accuracy"] == undisturbed["test accuracy"]
    assert disturbed["epoch 8: loss"] == undisturbed["epoch 8: loss"]
    one, two = torch.load(tmp_path / "one.pt"), torch.load(tmp_path / "two.pt")
    assert all(torch.equal(one[name], two[name]) for name in one)


PADDED = """
import torch, troupe
with troupe.initialize(tensors="torch") as g:
    loader = troupe.DistNodeDataLoader(
        g, [11, 5, 7], troupe.NeighborSampler([3, 3]), batch_size=1, features="feat",
        labels="label", degrees=True, shuffle=True)
    model = troupe.ddp(torch.nn.Sequential(torch.nn.Linear(16, 8), torch.nn.BatchNorm1d(8)))
    seeds, places, total = 0, [], 0.0
    for batch in loader:
        rows = model(batch.features)
        loss = (rows[: len(batch.labels)].mean() * batch.weight)
        loss.backward()
        places.append((batch.epoch, batch.index, batch.rank))
        assert len(batch.labels) == 1 and len(batch.in_degrees) == len(batch.input_nodes)
        assert batch.weight == (0 if batch.padded else 4 / 3), batch.weight
        assert batch.step_seeds == 3
        seeds += not batch.padded
    counts = torch.tensor([seeds])
    torch.distributed.all_reduce(counts)
    assert counts == 3 and places == [(0, 0, troupe.rank())], (counts, places)
    # Lists of the trainers' own, uneven ones.
    with model.join(divide_by_initial_world_size=False):
        for _ in range(1 + troupe.rank()):
            model(torch.ones(2, 16)).sum().backward()
    troupe.barrier()
    try:
        troupe.initialize()
    except troupe.errors.AlreadyExists as error:
        assert "troupe.shutdown()" in str(error)
    print("done", troupe.rank(), troupe.num_trainers())
"""


def test_fewer_seeds_than_trainers(world: World, tmp_path: Path) -> None:
    """Every rank has as many batches, some padded; BatchNorm and DDP take them."""
    (tmp_path / "padded.py").write_text(PADDED)
    said = Launch(write_cluster(tmp_path, world.path, 4), tmp_path / "padded.py").finish()
    assert all(f"done {rank} 4" in said for rank in range(4)), said


RANKS = """
import torch, troupe
g = troupe.initialize(tensors="torch")
model = troupe.ddp(torch.nn.Linear(2, 2))
print("done", troupe.rank(), troupe.num_trainers(), torch.distributed.get_rank(), flush=True)
"""


def test_the_environment_of_torchrun(world: World, tmp_path: Path) -> None:
    """Servers and samplers are started by themselves; RANK says which trainer a program is."""
    (tmp_path / "ranks.py").write_text(RANKS)
    cluster = write_cluster(tmp_path, world.path, 2)
    command = os.environ.get("TROUPE", "troupe")
    words = [[command, r, "--cluster", str(cluster)] for r in ("serve", "serve", "sample")]
    words = [[*line, "--process", str(number)] for number, line in enumerate(words)]
    ranks = {"WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port())}
    places = [{}, {}, {}, *({"RANK": str(r), "LOCAL_RANK": str(r), **ranks} for r in range(2))]
    words += [[sys.executable, str(tmp_path / "ranks.py")]] * 2
    processes = [
        subprocess.Popen(
            line,
            env={**os.environ, "TROUPE_CLUSTER": str(cluster), **place},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            text=True,
        )
        for line, place in zip(words, places, strict=True)
    ]
    try:
        said = [process.communicate(timeout=LIMIT)[0] for process in processes[::-1]]
        # The job ends for all.
        assert [process.returncode for process in processes] == [0] * 5, said
        assert "done 1 2 1" in said[0] and "done 0 2 0" in said[1], said
    finally:
        for process in processes:
            if process.poll() is None:
                process.kill()
                process.wait()


@pytest.mark.parametrize("way", ["open", "initialize", "torchrun"])
def test_memory_of_large_buffers_is_kept(world: World, way: str) -> None:
    """What a step frees is there for the next one: it is not given back to the system."""
    code = (
        "import ctypes, sys, troupe\n"
        "g = troupe.initialize(graph=sys.argv[1]) if sys.argv[2] == 'initialize' else "
        "troupe.open(sys.argv[1], tensors='torch')\n"
        "libc = ctypes.CDLL(None)\n"
        "libc.malloc.restype, libc.free.argtypes = ctypes.c_void_p, [ctypes.c_void_p]\n"
        "held = lambda: int(open('/proc/self/statm').read().split()[1]) * 4096\n"
        "buffer = libc.malloc(64 << 20)\n"
        "ctypes.memset(buffer, 1, 64 << 20)\n"
        "before = held()\n"
        "libc.free(buffer)\n"
        "sys.exit(held() < before - (32 << 20))\n"
    )
    environment = {k: v for k, v in os.environ.items() if not k.startswith("MALLOC_")}
    if way == "torchrun":
        environment |= {"RANK": "0", "WORLD_SIZE": "1", "LOCAL_RANK": "0"}
    words = [sys.executable, "-c", code, str(world.path), way]
    assert subprocess.run(words, env=environment, timeout=LIMIT).returncode == 0
