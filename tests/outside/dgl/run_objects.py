# SPDX-License-Identifier: Apache-2.0
"""Runs what DGL tests its distributed objects with, from a checkout of its sources, over Troupe.

    python -m troupe.dgl run_objects.py create SOURCE FOLDER PARTS homo|hetero
    python -m troupe.dgl run_objects.py SOURCE FOLDER PARTS          (each trainer)

The functions are those of DGL's ``tests/dist/python/run_dist_objects.py``. These are called:

test_dist_graph             in one process; it makes tensors of edges, which a job of several
                            processes has not: there its node_split_test is called
test_dist_graph_services    degrees, find_edges, edge_subgraph, sample_neighbors
test_dist_tensor            shared, made again with another shape, persistent
test_dist_dataloader        loaders of nodes, of edges, with and without negative pairs, and with a
                            sampler of the program's own; drop_last, shuffle and num_workers. It
                            looks at each node of many epochs: in a job of several processes,
                            those of nodes once, and of edges with and without negative pairs
multi_distdataloader_test   four loaders in turn, of nodes and of edges

These are not: test_dist_embedding and test_dist_optimizer are of embeddings that are trained;
run_server is a server of DGL's.
"""

import itertools
import os
import runpy
import sys
from pathlib import Path

NAME = "random_test_graph"


def create(source: Path, folder: str, parts: str, kind: str) -> None:
    sys.path.insert(0, str(source / "tests/dist"))
    import test_dist_objects

    test_dist_objects.create_graph(int(parts), folder, kind == "hetero")


def prepare(folder: str, parts: int) -> None:
    """What the file reads when it is run."""
    rank, world = int(os.environ.get("RANK", "0")), int(os.environ.get("WORLD_SIZE", "1"))
    clients = max(world // parts, 1)
    values = {
        "MODE": "client",
        "NUM_PART": parts,
        "NUM_SERVER": 1,
        "NUM_CLIENT": clients,
        "GRAPH_PATH": folder,
        "PART_ID": min(rank // clients, parts - 1),
        "OBJECT_TYPE": "none at once",
    }
    for name, value in values.items():
        os.environ[f"DIST_DGL_TEST_{name}"] = str(value)


def main(source: Path, folder: str, parts: str) -> None:
    prepare(folder, int(parts))
    functions = runpy.run_path(str(source / "tests/dist/python/run_dist_objects.py"))
    import dgl
    import numpy as np

    g = functions["g"]
    alone = g.world == 1

    def run(name, *arguments):
        functions[name](g, *arguments)
        g.barrier()
        if g.rank() == 0:
            print("passed", name, *(a for a in arguments if isinstance(a, (bool, int, str))))

    if alone:
        run("test_dist_graph")
    for even, ntype in itertools.product((False, True), g.ntypes):
        run("node_split_test", even, ntype)
    run("test_dist_graph_services")
    run("test_dist_tensor")
    if alone:
        run("test_dist_dataloader")
    else:
        ids = {
            name: dgl.backend.tensor(np.load(f"{folder}/orig_nid_array_{name}.npy"))
            for name in g.ntypes
        }
        ends = {
            name: (g.edges[name].data["edge_u"], g.edges[name].data["edge_v"]) for name in g.etypes
        }
        run("distnodedataloader_test", 64, True, True, 4, ids, ends)
        for negatives in (0, 15):
            run("distedgedataloader_test", 64, False, True, 4, ids, ends, negatives)
    run("multi_distdataloader_test", dgl.dataloading.DistNodeDataLoader)
    run("multi_distdataloader_test", dgl.dataloading.DistEdgeDataLoader)
    dgl.distributed.exit_client()
    print("all passed")


if __name__ == "__main__":
    if sys.argv[1] == "create":
        create(Path(sys.argv[2]), *sys.argv[3:])
    else:
        main(Path(sys.argv[1]), *sys.argv[2:])
