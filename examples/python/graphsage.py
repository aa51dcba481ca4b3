# SPDX-License-Identifier: Apache-2.0
"""GraphSAGE for node classification in PyTorch, on one process or as the trainers of a job.

    python3 graphsage.py --graph parts/g.json
    troupe launch cluster.json -- python3 graphsage.py

The graph needs the features feat and label and the masks train_mask, val_mask and test_mask. In a
job every trainer takes its share of each step's seeds, DistributedDataParallel adds up gradients,
and where the cluster file names a folder of checkpoints a job whose processes die goes on from the
last one, to the same weights.
"""

from __future__ import annotations

import argparse

import torch
import torch.nn.functional as F

import troupe


class SAGEConv(torch.nn.Module):
    """A layer: a node's own row and the mean of its neighbours' rows, a weight matrix for each."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.own = torch.nn.Linear(inputs, outputs)
        self.neighbours = torch.nn.Linear(inputs, outputs, bias=False)

    def forward(self, block: troupe.Block, rows: torch.Tensor) -> torch.Tensor:
        sources, destinations = block.edges()
        count = block.num_dst_nodes()
        total = torch.zeros(count, rows.shape[1]).index_add(
            0, destinations, rows.index_select(0, sources)
        )
        mean = total / block.in_degrees().clamp(min=1).unsqueeze(1)
        return self.own(rows[:count]) + self.neighbours(mean)


class GraphSAGE(torch.nn.Module):
    """Layers with ReLU and dropout between them."""

    def __init__(self, inputs: int, hidden: int, classes: int, layers: int, dropout: float) -> None:
        super().__init__()
        sizes = [inputs] + [hidden] * (layers - 1) + [classes]
        self.layers = torch.nn.ModuleList(SAGEConv(sizes[i], sizes[i + 1]) for i in range(layers))
        self.dropout = dropout

    def forward(self, blocks: list[troupe.Block], rows: torch.Tensor) -> torch.Tensor:
        for i, (layer, block) in enumerate(zip(self.layers, blocks, strict=True)):
            rows = layer(block, rows)
            if i < len(self.layers) - 1:
                rows = F.dropout(F.relu(rows), self.dropout, self.training)
        return rows


@torch.no_grad()
def evaluate(g: troupe.DistGraph, model: torch.nn.Module, mask: str, layers: int) -> float:
    """The accuracy over the nodes of a mask, with every neighbour, each trainer doing its share."""
    model.eval()
    sampler = troupe.MultiLayerFullNeighborSampler(layers)
    loader = troupe.DistNodeDataLoader(
        g, g.ndata[mask], sampler, batch_size=1024, features="feat", labels="label"
    )
    counts = torch.zeros(2, dtype=torch.int64)
    for batch in loader:
        if not batch.padded:
            found = model(batch.blocks, batch.features.float()).argmax(1)
            counts += torch.tensor([int((found == batch.labels).sum()), len(found)])
    if troupe.num_trainers() > 1:
        torch.distributed.all_reduce(counts)
    return float(counts[0] / counts[1])


def train(g: troupe.DistGraph, options: argparse.Namespace) -> None:
    torch.manual_seed(options.seed)  # the same initial weights everywhere
    sampler = troupe.NeighborSampler(options.fanout)
    layers = len(options.fanout)
    loader = troupe.DistNodeDataLoader(
        g,
        g.ndata["train_mask"],
        sampler,
        batch_size=options.batch_size,
        shuffle=True,
        features="feat",
        labels="label",
    )
    bare = GraphSAGE(
        g.ndata["feat"].shape[1], options.hidden, options.classes, layers, options.dropout
    )
    model = troupe.ddp(bare)
    optimizer = torch.optim.Adam(model.parameters(), lr=options.lr)
    torch.manual_seed(options.seed + 1 + troupe.rank())  # dropout of its own in each trainer
    step = 0
    if options.checkpoint_every:
        step = troupe.resume(model, optimizer, loader) or 0
    while loader.epoch < options.epochs:
        epoch, total, seeds = loader.epoch, 0.0, 0
        model.train()
        for batch in loader:
            scores = model(batch.blocks, batch.features.float())
            loss = F.cross_entropy(scores, batch.labels)
            optimizer.zero_grad()
            (loss * batch.weight).backward()
            optimizer.step()
            step += 1
            total += float(loss.detach()) * (0 if batch.padded else len(batch.labels))
            seeds += 0 if batch.padded else len(batch.labels)
            g.note(loss=total / seeds if seeds > 0 else None)  # for `troupe top` and metrics
            if options.checkpoint_every and step % options.checkpoint_every == 0:
                troupe.checkpoint(model, optimizer, loader, step=step)
        if troupe.rank() == 0 and seeds > 0:
            print(f"epoch {epoch}: loss {total / seeds:.4f}")
    for name in ("val", "test"):
        accuracy = evaluate(g, bare, f"{name}_mask", layers)
        if troupe.rank() == 0:
            print(f"{name} accuracy {accuracy:.4f}")
    if options.out and troupe.rank() == 0:
        torch.save(bare.state_dict(), options.out)


def main() -> None:
    parser = argparse.ArgumentParser(description="Trains GraphSAGE on a partitioned graph.")
    parser.add_argument("--graph", help="DIR/NAME.json, where no cluster file names it")
    parser.add_argument("--fanout", type=lambda t: [int(n) for n in t.split(",")], default=[10, 25])
    parser.add_argument("--batch-size", type=int, default=1024)
    parser.add_argument("--hidden", type=int, default=128)
    parser.add_argument("--classes", type=int, required=True)
    parser.add_argument("--dropout", type=float, default=0.5)
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--lr", type=float, default=0.003)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--checkpoints", help="their folder, where no cluster file names it")
    parser.add_argument("--checkpoint-every", type=int, default=0, help="steps")
    parser.add_argument("--out", help="where the weights go")
    options = parser.parse_args()
    with troupe.initialize(
        graph=options.graph,
        tensors="torch",
        seed=options.seed,
        checkpoints=options.checkpoints,
    ) as g:
        train(g, options)


if __name__ == "__main__":
    main()
