# SPDX-License-Identifier: Apache-2.0
"""DGL's module, and `troupe.open`, in the processes of a job: they join it, and share its graph."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from conftest import World
from launching import Launch, write_cluster

import troupe
from troupe import errors

torch = pytest.importorskip("torch")

# No block of DGL's is made, so that DGL need not be installed.
SCRIPT = """
import pickle, sys, time, warnings
import numpy as np, torch, torch.distributed as ranks
import troupe
from troupe import dgl, errors

d = dgl.distributed
path, raw, other = sys.argv[1:]
assert not d.is_initialized()
d.initialize("ip_config.txt")
d.initialize("ip_config.txt")
ranks.init_process_group("gloo")
g = d.DistGraph("any name", part_config=path)
rank, world = ranks.get_rank(), ranks.get_world_size()
assert (g.rank(), g.world, d.get_rank(), d.get_num_client()) == (rank, world, rank, world)

# Every handle is the job's graph: a file that another host has counts as it.
again = d.DistGraph("g", part_config="/nowhere/g.json")
assert again.world == world and again.num_nodes() == g.num_nodes()
try:
    d.DistGraph("g", part_config=other)
except errors.Mismatch as error:
    assert "is not the graph of the job" in str(error), error
else:
    raise AssertionError("another graph was taken for the job's")
with d.DistGraph("g", part_config=other, standalone=True) as alone:
    assert alone.world == 1
copy = pickle.loads(pickle.dumps(g))
assert (copy.rank(), copy.world) == (rank, world) and not copy.session.is_of_cluster
copy.close()
for one in (g, again, g):
    one.barrier()
d.barrier()

# Shares are disjoint, and all of them are the mask.
def gathered(ids):
    found = [None] * world
    ranks.all_gather_object(found, ids.tolist())
    return sum(found, [])

book = g.get_partition_book()
for even in (True, False):
    mine = d.node_split(g.ndata["train_mask"], book, force_even=even)
    every = gathered(mine)
    assert len(set(every)) == len(every)
    assert sorted(every) == torch.nonzero(g.ndata["train_mask"][:]).flatten().tolist()
nodes = d.node_split(torch.ones(g.num_nodes(), dtype=torch.bool), book)
assert sorted(gathered(nodes)) == list(range(g.num_nodes()))

# A layer for every node, whose rows go to their owners: a mean over neighbours, whatever rank.
# All layers have one name: each reads the former one's, while others may write this one's.
rows = g.ndata["feat"]
for layer in range(3):
    result = d.DistTensor((g.num_nodes(), rows.shape[1]), torch.float32, "mean", persistent=True)
    for seeds in d.DistDataLoader(nodes, 97, collate_fn=torch.tensor):
        batch = troupe.MultiLayerFullNeighborSampler(1).draw(g, {g.ntypes[0]: seeds})
        block = batch.blocks[0]
        sources, destinations = block.edges()
        total = torch.zeros(len(seeds), rows.shape[1], dtype=torch.float64)
        total.index_add_(0, destinations.long(), rows[batch.input_nodes][sources.long()].double())
        result[seeds] = total / block.in_degrees().clamp(min=1)[:, None]
    g.barrier()
    rows = result
edges, expected = np.load(raw + "/edges/_N:_E:_N.npy"), np.load(raw + "/node_data/_N/feat.npy")
for _ in range(3):
    total, count = np.zeros(expected.shape), np.zeros(len(expected))
    np.add.at(total, edges[:, 1], expected[edges[:, 0]])
    np.add.at(count, edges[:, 1], 1)
    expected = (total / np.maximum(count, 1)[:, None]).astype(np.float32)
found = rows[g.from_orig(range(g.num_nodes()))]
assert np.allclose(found.numpy(), expected, atol=1e-5), np.abs(found.numpy() - expected).max()

# A tensor is there for all until the barrier behind its last use, and its name is free then.
def make(shape, dtype):
    return torch.ones(shape, dtype=dtype)

def passing(width, name=None):
    made = d.DistTensor((g.num_nodes(), width), torch.int32, name, make)
    g.barrier()
    time.sleep(0.2 * rank)
    assert made[[rank, g.num_nodes() - 1]].tolist() == [[1] * width] * 2

passing(2)
passing(3, "passing")
g.barrier()
for width in (4, 5):
    passing(width, "passing")
    d.client_barrier()
kept = d.DistTensor((g.num_nodes(),), torch.int32, "kept")
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    kept = d.DistTensor((g.num_nodes(),), torch.int32, "kept")
g.barrier()
assert kept[[0]].tolist() == [0]

# Shares that differ in batches, with DistributedDataParallel as scripts wrap it.
model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(16, 4))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
short = mine[: 30 * (rank + 1)]
loader = d.DistDataLoader(short, 30, shuffle=True, collate_fn=torch.tensor)
for _ in range(2):
    with model.join():
        for seeds in loader:
            optimizer.zero_grad()
            labels = g.ndata["label"][seeds].long()
            torch.nn.functional.cross_entropy(model(g.ndata["feat"][seeds]), labels).backward()
            optimizer.step()
weights = [None] * world
ranks.all_gather_object(weights, model.module.weight.tolist())
assert all(one == weights[0] for one in weights)
print("done", rank, world, flush=True)
# Scripts leave by either way.
if rank % 2:
    d.exit_client()
    assert not g.is_open and not again.is_open and not d.is_initialized()
    d.exit_client()
"""


def test_a_script_of_dgls_names_on_four_processes(world: World, tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(SCRIPT)
    other = tmp_path / "other"
    troupe.partition_graph(world.edges, "other", 2, other)
    cluster = write_cluster(tmp_path, world.path, 4)
    job = Launch(cluster, tmp_path / "script.py", world.path, world.raw, other / "other.json")
    said = job.finish()
    assert all(f"done {rank} 4" in said for rank in range(4)), said
    # An interpreter that takes longer to end than the launcher waits is stopped.
    assert set(re.findall(r"ended with (.*)", said)) <= {"exit code 0", "exit code 143"}, said


OPENING = """
import sys
import troupe
from troupe import errors

path, other = sys.argv[1:]
try:
    troupe.open(other)
except errors.Mismatch:
    pass
else:
    raise AssertionError("another graph joined the job")
with troupe.open(path, seed=9) as g:
    again, elsewhere = troupe.open(path, tensors="torch"), troupe.open(other)
    assert (g.world, again.world, elsewhere.world) == (2, 2, 1)
    assert again.rank() == g.rank() == troupe.rank() and again.tensors == "torch"
    assert troupe.open().num_nodes() == g.num_nodes() != elsewhere.num_nodes()
    again.barrier()
    g.barrier()
    again.close()
    g.barrier()
print("done", troupe.num_trainers())
"""


def test_open_joins_the_job_once(world: World, tmp_path: Path) -> None:
    (tmp_path / "opening.py").write_text(OPENING)
    other = tmp_path / "other"
    troupe.partition_graph(world.edges[world.edges.max(axis=1) < 1000], "other", 2, other)
    cluster = write_cluster(tmp_path, world.path, 2)
    said = Launch(cluster, tmp_path / "opening.py", world.path, other / "other.json").finish()
    assert said.count("done 1") == 2, said


def test_open_without_a_path_is_of_a_job(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TROUPE_CLUSTER", raising=False)
    with pytest.raises(errors.InvalidArgument, match=r"graph='DIR/NAME\.json'"):
        troupe.open()
