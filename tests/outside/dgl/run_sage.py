# SPDX-License-Identifier: Apache-2.0
"""Runs DGL's own example of GraphSAGE as it is, and keeps what it has trained and inferred.

    python -m troupe.dgl run_sage.py SCRIPT OUT [arguments of the script]

SCRIPT is ``examples/distributed/graphsage/node_classification.py`` of DGL's sources. OUT.RANK has
the weights of its model, and the tensor that its inference ended in, all rows of it.
"""

import runpy
import sys

import dgl
import torch

kept = {}


def keep(kind, name, what):
    """Keeps something of each object of a class that is made."""
    first = kind.__init__

    def init(self, *args, **options):
        first(self, *args, **options)
        kept[name] = what(self)

    kind.__init__ = init


def main(script, out, arguments):
    keep(torch.nn.parallel.DistributedDataParallel, "model", lambda made: made.module)
    keep(dgl.distributed.DistGraph, "graph", lambda made: made)
    sys.argv = [script, *arguments]
    runpy.run_path(script, run_name="__main__")
    g, model = kept["graph"], kept["model"]
    # By its name the tensor is the one of the last inference.
    last = dgl.distributed.DistTensor(
        (g.num_nodes(), model.n_classes), torch.float32, "h_last", persistent=True
    )
    found = last[torch.arange(g.num_nodes())]
    torch.save((model.state_dict(), found), f"{out}.{g.rank()}")
    g.barrier()
    dgl.distributed.exit_client()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
