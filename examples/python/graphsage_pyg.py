# SPDX-License-Identifier: Apache-2.0
"""GraphSAGE for node classification with PyTorch Geometric, on one process or in a job.

    python3 graphsage_pyg.py --graph parts/g.json --classes 16
    troupe launch cluster.json -- python3 graphsage_pyg.py --classes 16

As a script of PyG's has it, but for the graph and the loader: in a job the library shares out the
seeds among the trainers, and DistributedDataParallel adds up gradients. The graph needs the
features feat and label and the masks train_mask, val_mask and test_mask.
"""

from __future__ import annotations

import argparse

import torch
import torch.nn.functional as F
from torch_geometric.nn import SAGEConv

import troupe
from troupe.pyg import NeighborLoader


class GraphSAGE(torch.nn.Module):
    """Layers with ReLU and dropout between them."""

    def __init__(self, inputs: int, hidden: int, classes: int, layers: int, dropout: float) -> None:
        super().__init__()
        sizes = [inputs] + [hidden] * (layers - 1) + [classes]
        self.convs = torch.nn.ModuleList(SAGEConv(sizes[i], sizes[i + 1]) for i in range(layers))
        self.dropout = dropout

    def forward(self, rows: torch.Tensor, edge_index: torch.Tensor) -> torch.Tensor:
        for i, conv in enumerate(self.convs):
            rows = conv(rows, edge_index)
            if i < len(self.convs) - 1:
                rows = F.dropout(F.relu(rows), self.dropout, self.training)
        return rows


@torch.no_grad()
def evaluate(g: troupe.DistGraph, model: torch.nn.Module, mask: str, layers: int) -> float:
    """The accuracy over the nodes of a mask, with every neighbour, each trainer doing its share."""
    model.eval()
    loader = NeighborLoader(
        g, num_neighbors=[-1] * layers, input_nodes=g.ndata[mask], batch_size=1024
    )
    counts = torch.zeros(2, dtype=torch.int64)
    for batch in loader:
        if not batch.padded:
            found = model(batch.x.float(), batch.edge_index)[: batch.batch_size].argmax(1)
            right = found == batch.y[: batch.batch_size]
            counts += torch.tensor([int(right.sum()), len(right)])
    if troupe.num_trainers() > 1:
        torch.distributed.all_reduce(counts)
    return float(counts[0] / counts[1])


def train(g: troupe.DistGraph, options: argparse.Namespace) -> None:
    torch.manual_seed(options.seed)  # the same initial weights everywhere
    layers = len(options.num_neighbors)
    loader = NeighborLoader(
        g,
        num_neighbors=options.num_neighbors,
        input_nodes=g.ndata["train_mask"],
        batch_size=options.batch_size,
        shuffle=True,
    )
    bare = GraphSAGE(
        g.ndata["feat"].shape[1], options.hidden, options.classes, layers, options.dropout
    )
    model = troupe.ddp(bare)
    optimizer = torch.optim.Adam(model.parameters(), lr=options.lr)
    torch.manual_seed(options.seed + 1 + troupe.rank())  # dropout of its own in each trainer
    for epoch in range(options.epochs):
        total, seeds = 0.0, 0
        model.train()
        for batch in loader:
            scores = model(batch.x.float(), batch.edge_index)[: batch.batch_size]
            loss = F.cross_entropy(scores, batch.y[: batch.batch_size])
            optimizer.zero_grad()
            (loss * batch.weight).backward()
            optimizer.step()
            total += float(loss.detach()) * (0 if batch.padded else batch.batch_size)
            seeds += 0 if batch.padded else batch.batch_size
        if troupe.rank() == 0 and seeds > 0:
            print(f"epoch {epoch}: loss {total / seeds:.4f}", flush=True)
    for name in ("val", "test"):
        accuracy = evaluate(g, bare, f"{name}_mask", layers)
        if troupe.rank() == 0:
            print(f"{name} accuracy {accuracy:.4f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description="Trains PyG's GraphSAGE on a partitioned graph.")
    parser.add_argument("--graph", help="DIR/NAME.json, where no cluster file names it")
    parser.add_argument(
        "--num-neighbors", type=lambda t: [int(n) for n in t.split(",")], default=[25, 10]
    )
    parser.add_argument("--batch-size", type=int, default=1024)
    parser.add_argument("--hidden", type=int, default=128)
    parser.add_argument("--classes", type=int, required=True)
    parser.add_argument("--dropout", type=float, default=0.5)
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--lr", type=float, default=0.003)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with troupe.initialize(graph=options.graph, tensors="torch", seed=options.seed) as g:
        train(g, options)


if __name__ == "__main__":
    main()
