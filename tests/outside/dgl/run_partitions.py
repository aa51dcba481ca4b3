# SPDX-License-Identifier: Apache-2.0
"""Runs what DGL tests its partitions with, from a checkout of its sources, over Troupe.

    python -m troupe.dgl run_partitions.py SOURCE FOLDER test_partition|test_dist_graph_store

The tests are those of DGL's ``tests/distributed``, of which these are called:

test_partition.py           test_partition (METIS and random, one part and four, every format, with
                            features and without), test_RangePartitionBook,
                            test_UnknownPartitionBook, test_not_sorted_node_edge_map and
                            test_partition_hetero_few_edges
test_dist_graph_store.py    test_split and test_split_even

These are not: those of GraphBolt, whose partitions are another library's;
test_partition_hetero_few_nodes wants METIS to fail where a type has two nodes, which it does not
here; test_standalone wants the edges of a single part to keep their numbers, and Troupe gives edges
new ones; test_server_client, test_dist_emb_server_client and test_dist_optim_server_client start
servers of DGL's own, for which run_objects.py stands, and the last two train embeddings, as
test_standalone_node_emb does.
"""

import os
import shutil
import sys
from pathlib import Path

import pytest

CALLED = {
    "test_partition": [
        "test_partition",
        "test_RangePartitionBook",
        "test_UnknownPartitionBook",
        "test_not_sorted_node_edge_map",
        "test_partition_hetero_few_edges",
    ],
    "test_dist_graph_store": ["test_split", "test_split_even"],
}


class Surroundings:
    """A folder of each test's own, and the trainers that a test says there are."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @pytest.fixture(autouse=True)
    def of_each_test(self, monkeypatch):
        from dgl.distributed import role
        from troupe.dgl import context

        role.GLOBAL_RANK, role.PER_ROLE_RANK = {0: 0}, {}
        monkeypatch.setattr(context, "get_num_client", lambda: len(role.GLOBAL_RANK))
        yield
        shutil.rmtree(self.folder, ignore_errors=True)


def main(source: Path, folder: Path, name: str) -> int:
    os.environ["DGLBACKEND"] = "pytorch"
    sys.path[:0] = [str(source / "tests/distributed"), str(source / "tests")]
    scratch = folder / "scratch"
    copy = folder / f"{name}.py"
    text = (source / f"tests/distributed/{name}.py").read_text()
    copy.write_text(text.replace('"/tmp/', f'"{scratch}/'))
    called = [f"{copy}::{test}" for test in CALLED[name]]
    options = ["-p", "no:cacheprovider", "-q", "--rootdir", str(folder)]
    code = pytest.main([*options, *called], plugins=[Surroundings(scratch)])
    if code == 0:
        print("all passed")
    return int(code)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]))
