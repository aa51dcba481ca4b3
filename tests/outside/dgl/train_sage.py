# SPDX-License-Identifier: Apache-2.0
"""Trains GraphSAGE with DGL's distributed module, and infers layer by layer: the calls of a script
that was written for DGL, which knows nothing of Troupe."""

import argparse
import itertools

import dgl
import dgl.distributed
import dgl.nn.pytorch as layers
import numpy as np
import torch
from torch.nn import functional


class Sage(torch.nn.Module):
    def __init__(self, sizes):
        super().__init__()
        pairs = itertools.pairwise(sizes)
        self.layers = torch.nn.ModuleList(layers.SAGEConv(a, b, "mean") for a, b in pairs)

    def forward(self, blocks, rows):
        for number, (layer, block) in enumerate(zip(self.layers, blocks, strict=True)):
            rows = layer(block, rows)
            rows = functional.relu(rows) if number + 1 < len(self.layers) else rows
        return rows

    @torch.no_grad()
    def infer(self, g, rows, batch_size):
        nodes = dgl.distributed.node_split(
            np.arange(g.num_nodes()), g.get_partition_book(), force_even=True
        )
        sampler = dgl.dataloading.NeighborSampler([-1])
        for number, layer in enumerate(self.layers):
            last = number + 1 == len(self.layers)
            size = layer._out_feats
            result = dgl.distributed.DistTensor(
                (g.num_nodes(), size), torch.float32, f"layer {number}", persistent=True
            )
            loader = dgl.distributed.DistNodeDataLoader(
                g, nodes, sampler, batch_size=batch_size, shuffle=False, drop_last=False
            )
            for inputs, outputs, blocks in loader:
                block = blocks[0].to(torch.device("cpu"))
                source = rows[inputs]
                made = layer(block, (source, source[: block.number_of_dst_nodes()]))
                result[outputs] = made if last else functional.relu(made)
            rows = result
            g.barrier()
        return rows


def main(args):
    torch.manual_seed(1)
    dgl.distributed.initialize(args.ip_config)
    torch.distributed.init_process_group("gloo")
    g = dgl.distributed.DistGraph(args.graph_name, part_config=args.part_config)
    book = g.get_partition_book()
    split = {
        name: dgl.distributed.node_split(g.ndata[f"{name}_mask"], book, force_even=True)
        for name in ("train", "test")
    }
    local = book.partid2nids(book.partid).detach().numpy()
    print("local training nodes:", len(np.intersect1d(split["train"].numpy(), local)))
    labels = g.ndata["label"]
    classes = len(torch.unique(labels[np.arange(g.num_nodes())]))
    sampler = dgl.dataloading.NeighborSampler([5, 10])
    loader = dgl.distributed.DistNodeDataLoader(
        g, split["train"], sampler, batch_size=100, shuffle=True, drop_last=False
    )
    model = Sage([g.ndata["feat"].shape[1], 16, classes])
    model = torch.nn.parallel.DistributedDataParallel(model)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(args.epochs):
        with model.join():
            for inputs, seeds, blocks in loader:
                assert len(seeds) == len(blocks[-1].dstdata[dgl.NID])
                predicted = model(blocks, g.ndata["feat"][inputs])
                loss = functional.cross_entropy(predicted, labels[seeds].long())
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
    result = model.module.infer(g, g.ndata["feat"], 300)
    right = result[split["test"]].argmax(1) == labels[split["test"]]
    found = model.module.state_dict(), result[np.arange(g.num_nodes())], right.float().mean()
    torch.save(found, f"{args.out}.{g.rank()}")
    dgl.distributed.exit_client()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--graph_name")
    parser.add_argument("--part_config")
    parser.add_argument("--ip_config")
    parser.add_argument("--out")
    parser.add_argument("--epochs", type=int, default=10)
    main(parser.parse_args())
