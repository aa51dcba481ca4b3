# SPDX-License-Identifier: Apache-2.0
"""Layers over several edge types beside DGL's of the same names: the same outputs and gradients,
from the same parameters, over the same blocks."""

from __future__ import annotations

from collections.abc import Iterator

import dgl as real
import dgl.nn.pytorch as theirs
import numpy as np
import pytest
import torch
import troupe
from troupe import dgl, nn

SIZES = {"a": 300, "b": 200}
GOES, BACK, OWN = ("a", "goes", "b"), ("b", "back", "a"), ("a", "own", "a")
ETYPES = [GOES, BACK, OWN]
WIDTH, OUT = 6, 4


@pytest.fixture(scope="session")
def path(tmp_path_factory) -> str:
    chance = np.random.default_rng(5)
    edges = {
        (s, r, d): (
            torch.from_numpy(chance.integers(0, SIZES[s], 1500)),
            torch.from_numpy(chance.integers(0, SIZES[d], 1500)),
        )
        for s, r, d in ETYPES
    }
    folder = tmp_path_factory.mktemp("layers")
    g = real.heterograph(edges, SIZES)
    dgl.distributed.partition_graph(g, "g", 2, str(folder), part_method="random")
    return f"{folder}/g.json"


@pytest.fixture
def block(path) -> Iterator[troupe.Block]:
    with troupe.open(path, seed=3, tensors="torch") as g:
        batch = troupe.NeighborSampler([4, 4]).draw(g, {"a": torch.arange(40)}, seed=2)
        yield batch.blocks[0]


def rows_of(block: troupe.Block) -> dict[str, torch.Tensor]:
    torch.manual_seed(1)
    return {n: torch.randn(block.num_src_nodes(n), WIDTH, requires_grad=True) for n in SIZES}


def gradients(out: torch.Tensor, *of: torch.Tensor) -> tuple[torch.Tensor, ...]:
    score = (out * torch.arange(out.numel()).reshape(out.shape).cos()).sum()
    return torch.autograd.grad(score, of, retain_graph=True, allow_unused=True)


def alike(ours, others) -> None:
    """Tensors that are equal to rounding, or gradients that are not there."""
    for mine, other in zip(ours, others, strict=True):
        if mine is None or other is None:
            assert (mine is None or not mine.any()) and (other is None or not other.any())
        else:
            assert torch.allclose(mine, other, rtol=1e-4, atol=1e-5)


def layers_of(which) -> dict:
    def flat(rows: torch.Tensor) -> torch.Tensor:
        return rows.flatten(1)

    return {
        "goes": which.SAGEConv((WIDTH, WIDTH), OUT, "mean"),
        "back": which.GATConv((WIDTH, WIDTH), OUT // 2, 2, activation=flat),
        "own": which.GraphConv(WIDTH, OUT, norm="right"),
    }


@pytest.mark.parametrize("aggregate", ["sum", "mean", "max", "min", "stack"])
def test_layers_of_edge_types(block, aggregate) -> None:
    ours = nn.HeteroGraphConv(layers_of(nn), aggregate)
    other = theirs.HeteroGraphConv(layers_of(theirs), aggregate)
    other.load_state_dict(ours.state_dict())
    rows = rows_of(block)
    mine, found = ours(block, rows), other(block.to_dgl(), rows)
    assert mine.keys() == found.keys() == set(SIZES)
    for ntype in SIZES:
        alike([mine[ntype]], [found[ntype]])
        of = tuple(rows.values())
        # Parameters have an order of their own in each.
        names = [name for name, _ in ours.named_parameters()]
        mine_by, other_by = dict(ours.named_parameters()), dict(other.named_parameters())
        alike(
            gradients(mine[ntype], *of, *(mine_by[n] for n in names)),
            gradients(found[ntype], *of, *(other_by[n] for n in names)),
        )


def test_layers_take_matrices_from_outside(block) -> None:
    """As DGL's examples of R-GCN have it: layers without a weight, which is given with the call."""
    rows = rows_of(block)
    torch.manual_seed(2)
    weights = {r: {"weight": torch.randn(WIDTH, OUT)} for _, r, _ in ETYPES}
    options = {"norm": "right", "weight": False, "bias": False}
    found = [
        which.HeteroGraphConv({r: which.GraphConv(WIDTH, OUT, **options) for r in weights})(
            given, rows, mod_kwargs=weights
        )
        for which, given in ((nn, block), (theirs, block.to_dgl()))
    ]
    for ntype in SIZES:
        alike([found[0][ntype]], [found[1][ntype]])


def homogeneous(block: troupe.Block):
    """The block's edges over all its source nodes, one type after the other, the number of each
    edge's type, and one by the edges of its type into its destination."""
    begin, at = {}, 0
    for ntype in block.ntypes:
        begin[ntype], at = at, at + block.num_src_nodes(ntype)
    sources, into, numbers, norms = [], [], [], []
    for number, etype in enumerate(ETYPES):
        ends = [e.long() for e in block.edges(etype=etype)]
        degrees = torch.bincount(ends[1], minlength=1)
        sources.append(ends[0] + begin[etype[0]])
        into.append(ends[1] + begin[etype[2]])
        numbers.append(torch.full_like(ends[0], number))
        norms.append(1 / degrees[ends[1]].float())
    g = real.graph((torch.cat(sources), torch.cat(into)), num_nodes=at)
    return g, torch.cat(numbers), torch.cat(norms).unsqueeze(1), begin


@pytest.mark.parametrize("bases", [None, 2])
def test_relations(block, bases) -> None:
    kind = None if bases is None else "basis"
    ours = nn.RelGraphConv(WIDTH, OUT, ETYPES, kind, bases)
    other = theirs.RelGraphConv(WIDTH, OUT, len(ETYPES), kind, bases)
    keys = [":".join(etype) for etype in ETYPES]
    with torch.no_grad():
        if bases is None:
            other.linear_r.W.copy_(torch.stack([ours.weight[k].t() for k in keys]))
        else:
            other.linear_r.W.copy_(ours.bases[str(WIDTH)].transpose(1, 2))
            other.linear_r.coeff.copy_(torch.stack([ours.shares[k] for k in keys]))
        other.h_bias.uniform_()
        for ntype in SIZES:
            ours.loop_weight[ntype].copy_(other.loop_weight.t())
            ours.bias[ntype].copy_(other.h_bias)
    rows = rows_of(block)
    g, numbers, norms, begin = homogeneous(block)
    mine = ours(block, rows)
    found = other(g, torch.cat([rows[n] for n in block.ntypes]), numbers, norms)
    for ntype in SIZES:
        count = block.num_dst_nodes(ntype)
        part = found[begin[ntype] : begin[ntype] + count]
        alike([mine[ntype]], [part])
        alike(gradients(mine[ntype], *rows.values()), gradients(part, *rows.values()))
        of = [*ours.weight.values(), *ours.bases.values(), *ours.shares.values()]
        by_matrix = gradients(mine[ntype], *of)
        if bases is None:
            (whole,) = gradients(part, other.linear_r.W)
            for key, grad in zip(ours.weight, by_matrix, strict=True):
                alike([grad], [whole[keys.index(key)].t()])
        else:
            of_bases, of_shares = gradients(part, other.linear_r.W, other.linear_r.coeff)
            alike(by_matrix[:1], [of_bases.transpose(1, 2)])
            for key, grad in zip(ours.shares, by_matrix[1:], strict=True):
                alike([grad], [of_shares[keys.index(key)]])
