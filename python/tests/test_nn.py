# SPDX-License-Identifier: Apache-2.0
"""Layers against dense matrices, their gradients against differences, and what they refuse."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator
from functools import partial

import numpy as np
import pytest
from conftest import World

import troupe

torch = pytest.importorskip("torch")
from troupe import nn, nn_layers  # noqa: E402


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """Of PyTorch: its others spin between a thousand small calls."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture
def tensors(world: World) -> Iterator[troupe.DistGraph]:
    with troupe.open(world.path, seed=7, tensors="torch") as opened:
        yield opened


def batch_of(graph: troupe.DistGraph, seeds: int = 300, fanout: int = 6) -> troupe.Batch:
    sampler = troupe.NeighborSampler([fanout, fanout])
    return sampler.draw(graph, torch.arange(seeds) * 3, seed=1, degrees=True, features="feat")


def dense_of(sums: nn.Aggregation) -> torch.Tensor:
    """The sums as a matrix in float64."""
    dense = torch.zeros(sums.num_dst, sums.num_src, dtype=torch.float64)
    into, sources = sums.destinations(), sums.sources.long()
    dense.index_put_((into, sources), sums.factors(torch.float64).detach(), accumulate=True)
    if sums.own_scale is not None:
        places = torch.arange(sums.num_dst)
        dense[places, places] += sums.own_scale.double()
    return dense


def options_of(block: troupe.Block, kind: str) -> dict:
    torch.manual_seed(5)
    edges, sources = block.num_edges(), block.num_src_nodes()
    weights = torch.rand(edges)
    scales = {
        "from_scale": torch.rand(sources),
        "to_scale": torch.rand(block.num_dst_nodes()),
        "own_scale": torch.rand(block.num_dst_nodes()),
        "without_loops": True,
    }
    return {
        "sum": {},
        "mean": {"mean": True},
        "weighted": {"weights": weights},
        "weighted mean": {"weights": weights, "mean": True},
        "scaled": {"weights": weights, **scales},
    }[kind]


@pytest.mark.parametrize("kind", ["sum", "mean", "weighted", "weighted mean", "scaled"])
def test_sums_are_products_with_a_dense_matrix(tensors: troupe.DistGraph, kind: str) -> None:
    block = batch_of(tensors).blocks[0]
    sums = nn.Aggregation(block, **options_of(block, kind))
    dense = dense_of(sums)
    index = sums.index.numpy()
    assert (np.diff(index) > 0).any() and dense.abs().sum() > 0
    rows = torch.randn(sums.num_src, 19, requires_grad=True)
    out = sums(rows)
    assert torch.allclose(out.double(), dense @ rows.detach().double(), atol=1e-5)
    grads = torch.randn_like(out)
    out.backward(grads)
    assert torch.allclose(rows.grad.double(), dense.t() @ grads.double(), atol=1e-5)
    # By PyTorch's own operations, as on other devices, it is the same.
    wide = rows.detach().double().requires_grad_()
    other = sums(wide)
    assert other.dtype == torch.float64 and torch.allclose(other, dense @ wide, atol=1e-12)


def test_a_mean_divides_by_the_weights_and_is_0_of_none(tensors: troupe.DistGraph) -> None:
    block = batch_of(tensors).blocks[-1]
    rows = torch.randn(block.num_src_nodes(), 3)
    sums = nn.Aggregation(block, mean=True)
    sources, into = (ends.long() for ends in block.edges())
    for node in range(0, block.num_dst_nodes(), 17):
        expected = rows[sources[into == node]].mean(0)
        assert torch.allclose(sums(rows)[node], expected, atol=1e-6)
    nothing = nn.Aggregation(block, mean=True, weights=torch.zeros(block.num_edges()))
    assert not nothing(rows).any() and not nothing(rows.double()).any()


def test_threads_change_no_bit(tensors: troupe.DistGraph) -> None:
    block = batch_of(tensors, 600).blocks[0]
    rows = torch.randn(block.num_src_nodes(), 33)
    found = []
    for count in (1, 2, 3, 7):
        torch.set_num_threads(count)
        sums = nn.Aggregation(block, mean=True)
        out = sums.forward(rows)
        found.append((out, sums.backward(out, rows[:5])))
    for out, grads in found[1:]:
        assert torch.equal(out, found[0][0]) and torch.equal(grads, found[0][1])


def modules() -> dict:
    torch.manual_seed(2)
    return {
        "sage": nn.SAGEConv(16, 5, activation=torch.tanh),
        "sage sum": nn.SAGEConv(16, 5, "sum", bias=False),
        "both": nn.GraphConv(16, 5),
        "left": nn.GraphConv(16, 20, norm="left"),
        "right": nn.GraphConv(16, 5, norm="right"),
        "none": nn.GraphConv(16, 16, norm="none", weight=False),
        "graph": nn.GraphConv(16, 5, norm="graph"),
        "gat": nn.GATConv(16, 5, 3, residual=True),
        "gat pair": nn.GATConv((16, 16), 4, 2, activation=torch.tanh),
        "gat wide": nn.GATConv(16, 24, 2),
    }


@pytest.mark.parametrize("name", modules())
def test_gradients_are_differences(tensors: troupe.DistGraph, name: str) -> None:
    block = batch_of(tensors, 5, 3).blocks[0]
    module = modules()[name].double()
    rows = torch.randn(block.num_src_nodes(), 16, dtype=torch.float64, requires_grad=True)

    def run(rows: torch.Tensor, *_: torch.Tensor) -> torch.Tensor:
        return module(block, (rows, rows[: block.num_dst_nodes()]) if "pair" in name else rows)

    assert torch.autograd.gradcheck(run, (rows, *module.parameters()), fast_mode=True)


@pytest.mark.parametrize("name", modules())
def test_float32_is_float64_rounded(tensors: troupe.DistGraph, name: str) -> None:
    block = batch_of(tensors).blocks[0]
    module = modules()[name]
    torch.manual_seed(3)
    start = torch.randn(block.num_src_nodes(), 16)
    found = []
    for dtype in (torch.float32, torch.float64):
        module = module.to(dtype)
        module.zero_grad()
        rows = start.clone().to(dtype).requires_grad_()
        out = module(block, (rows, rows[: block.num_dst_nodes()]) if "pair" in name else rows)
        assert out.dtype == dtype and len(out) == block.num_dst_nodes()
        (out * torch.arange(out.numel()).reshape(out.shape).cos().to(dtype)).sum().backward()
        found.append([out, rows.grad, *(p.grad.clone() for p in module.parameters())])
    for narrow, wide in zip(*found, strict=True):
        assert torch.allclose(narrow.double(), wide, rtol=1e-4, atol=1e-4 * float(wide.abs().max()))


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("name", ["both", "right", "gat", "gat pair", "gat wide"])
def test_the_order_of_sums_and_products_changes_digits_alone(
    tensors: troupe.DistGraph, monkeypatch: pytest.MonkeyPatch, name: str, first: bool
) -> None:
    """Rows are multiplied before or behind their sum, as is cheaper."""
    monkeypatch.setattr(nn_layers, "_narrow_first", lambda *_: first)
    test_float32_is_float64_rounded(tensors, name)


def test_rows_of_few_are_multiplied(tensors: troupe.DistGraph) -> None:
    sums = nn.Aggregation(batch_of(tensors).blocks[0])
    # In a batch destinations are few; in a whole graph all rows are, and narrow ones are added up.
    sums.num_src = 5 * sums.num_dst
    assert not nn_layers._narrow_first(sums, 256, 47)
    sums.num_src = sums.num_dst
    assert nn_layers._narrow_first(sums, 256, 47) and not nn_layers._narrow_first(sums, 47, 256)


@pytest.mark.parametrize("name", ["sage", "right", "graph", "gat", "gat wide"])
def test_threads_change_no_bit_of_a_layer(tensors: troupe.DistGraph, name: str) -> None:
    """Of more rows than one thread multiplies at once."""
    torch.manual_seed(4)
    layer = {
        "sage": nn.SAGEConv(16, 5),
        "right": nn.GraphConv(16, 20, norm="right"),
        "graph": nn.GraphConv(16, 5, norm="graph"),
        "gat": nn.GATConv(16, 5, 3),
        "gat wide": nn.GATConv(16, 24, 2),
    }[name]
    sampler = troupe.NeighborSampler([4])
    seeds = torch.arange(tensors.num_nodes())
    assert len(seeds) > 1024
    block = sampler.draw(tensors, seeds, seed=1, degrees=True).blocks[0]
    start, found = torch.randn(block.num_src_nodes(), 16), []
    for count in (1, 2, 5):
        torch.set_num_threads(count)
        layer.zero_grad()
        rows = start.clone().requires_grad_()
        out = layer(block, rows)
        out.square().sum().backward()
        found.append([out, rows.grad, *(p.grad.clone() for p in layer.parameters())])
    for other in found[1:]:
        assert all(torch.equal(a, b) for a, b in zip(found[0], other, strict=True))


@pytest.mark.parametrize("name", ["sums", "gat"])
def test_pytorchs_threads_repeat_every_bit(tensors: troupe.DistGraph, name: str) -> None:
    """Of gradients that its own operations add up, in a fixed order."""
    torch.manual_seed(4)
    seeds = torch.arange(tensors.num_nodes())
    block = troupe.NeighborSampler([-1]).draw(tensors, seeds, seed=1).blocks[0]
    start, found = torch.randn(block.num_src_nodes(), 64), []
    step = (
        nn.Aggregation(block).by_pytorch if name == "sums" else partial(nn.GATConv(64, 8, 8), block)
    )
    torch.set_num_threads(4)
    for _ in range(10):
        rows = start.clone().requires_grad_()
        step(rows).square().sum().backward()
        found.append(rows.grad)
    assert all(torch.equal(found[0], other) for other in found[1:])


def test_weights_that_are_frozen_have_no_gradients(tensors: troupe.DistGraph) -> None:
    block = batch_of(tensors).blocks[0]
    rows = torch.randn(block.num_src_nodes(), 16)
    whole, frozen = nn.SAGEConv(16, 5), nn.SAGEConv(16, 5)
    frozen.load_state_dict(whole.state_dict())
    frozen.fc_neigh.weight.requires_grad_(False)
    for layer in (whole, frozen):
        layer(block, rows).square().sum().backward()
    assert frozen.fc_neigh.weight.grad is None
    assert torch.equal(frozen.fc_self.weight.grad, whole.fc_self.weight.grad)
    assert torch.equal(frozen.fc_self.bias.grad, whole.fc_self.bias.grad)
    with pytest.raises(ValueError, match="rows of 7 numbers; the layer's weights are for 16"):
        whole(block, rows[:, :7])


def test_weights_of_edges_are_learned(tensors: troupe.DistGraph) -> None:
    block = batch_of(tensors, 5, 3).blocks[0]
    module = nn.SAGEConv(16, 3).double()
    rows = torch.randn(block.num_src_nodes(), 16, dtype=torch.float64)
    weights = torch.rand(block.num_edges(), dtype=torch.float64).requires_grad_()
    assert torch.autograd.gradcheck(lambda w: module(block, rows, w), (weights,))
    narrow = weights.detach().float().requires_grad_()
    module.float()(block, rows.float(), narrow).sum().backward()
    assert narrow.grad.abs().sum() > 0


LINEARS = {"sage": "fc_neigh", "gat": "fc", "gat pair": "fc_dst", "gat wide": "fc"}


@pytest.mark.parametrize("name", LINEARS)
def test_hooks_of_a_layer_within_run(tensors: troupe.DistGraph, name: str) -> None:
    """What a hook returns counts, and hooks that make the weights run before these are read."""
    block = batch_of(tensors).blocks[0]
    rows = torch.randn(block.num_src_nodes(), 16)
    given = (rows, rows[: block.num_dst_nodes()]) if "pair" in name else rows
    module = modules()[name]
    inner = getattr(module, LINEARS[name])
    start = module(block, given)

    hook = inner.register_forward_hook(lambda _, inputs, out: 2 * out)
    doubled = module(block, given)
    hook.remove()
    with torch.no_grad():
        inner.weight.mul_(2)
    assert torch.allclose(doubled, module(block, given), rtol=1e-4, atol=1e-5)
    assert not torch.allclose(doubled, start, rtol=1e-2)

    def halve(layer: torch.nn.Module, _: tuple) -> None:
        layer.weight.data.div_(2)

    inner.register_forward_pre_hook(halve)
    assert torch.allclose(module(block, given), start, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", LINEARS)
def test_another_layer_in_the_place_of_one_within_is_called(
    tensors: troupe.DistGraph, name: str
) -> None:
    class Tripled(torch.nn.Module):
        def __init__(self, layer: torch.nn.Module) -> None:
            super().__init__()
            self.layer = layer

        def forward(self, rows: torch.Tensor) -> torch.Tensor:
            return 3 * self.layer(rows)

    block = batch_of(tensors).blocks[0]
    rows = torch.randn(block.num_src_nodes(), 16)
    given = (rows, rows[: block.num_dst_nodes()]) if "pair" in name else rows
    module = modules()[name]
    inner = getattr(module, LINEARS[name])
    setattr(module, LINEARS[name], Tripled(inner))
    tripled = module(block, given)
    setattr(module, LINEARS[name], inner)
    with torch.no_grad():
        inner.weight.mul_(3)
    assert torch.allclose(tripled, module(block, given), rtol=1e-4, atol=1e-5)


def test_attention_sums_to_one(tensors: troupe.DistGraph) -> None:
    block = batch_of(tensors).blocks[0]
    module = nn.GATConv(16, 4, 2, bias=False)
    # Where all neighbours have one row, each head gives that row whatever it attends to.
    out = module(block, torch.ones(block.num_src_nodes(), 16))
    expected = module.fc(torch.ones(1, 16)).reshape(1, 2, 4)
    some = torch.as_tensor(block.in_degrees()) > 0
    assert torch.allclose(out[some], expected.expand_as(out[some]), atol=1e-5)
    assert not out[~some].any()


def test_what_does_not_fit_is_refused(tensors: troupe.DistGraph) -> None:
    block = batch_of(tensors).blocks[0]
    count = block.num_src_nodes()
    for module in (nn.SAGEConv(16, 2), nn.GraphConv(16, 2), nn.GATConv(16, 2, 1)):
        for dtype in (torch.float16, torch.bfloat16, torch.int64):
            with pytest.raises(TypeError, match=r"rows\.float\(\)"):
                module(block, torch.ones(count, 16).to(dtype))
        with pytest.raises(ValueError, match=f"{count} source nodes"):
            module(block, torch.ones(count - 1, 16))
    with pytest.raises(ValueError, match="edge weights: 3 numbers"):
        nn.SAGEConv(16, 2)(block, torch.ones(count, 16), torch.ones(3))
    with pytest.raises(ValueError, match="'mean', 'sum'"):
        nn.SAGEConv(16, 2, "pool")
    with pytest.raises(ValueError, match='norm="graph"'):
        nn.GraphConv(16, 2, "graph")(block, torch.ones(count, 16), torch.ones(block.num_edges()))
    plain = troupe.NeighborSampler([2]).draw(tensors, [1], seed=1).blocks[0]
    with pytest.raises(troupe.Error, match="degrees=True"):
        nn.GraphConv(16, 2, "graph")(plain, torch.ones(plain.num_src_nodes(), 16))


def test_what_a_layer_keeps_goes_with_the_block(tensors: troupe.DistGraph) -> None:
    batch = batch_of(tensors)
    block = batch.blocks[0]
    modules = [nn.SAGEConv(16, 2), nn.GraphConv(16, 2), nn.GATConv(16, 2, 1)]
    for module in modules:
        module(block, batch.features).sum().backward()
    kept = list(block.kept.values())
    assert kept and modules[0](block, batch.features) is not None
    assert list(block.kept.values()) == kept  # the second call made nothing
    gone = [weakref.ref(block), *map(weakref.ref, kept)]
    gc.disable()
    try:
        del batch, block, kept
        assert [reference() for reference in gone] == [None] * len(gone)
    finally:
        gc.enable()


def test_relu_and_dropout_are_those_of_pytorch() -> None:
    torch.manual_seed(4)
    start = torch.randn(500, 40)
    leaf = start.clone().requires_grad_()
    out = nn.relu_dropout(leaf * 1, 0.25)
    kept, above = out != 0, start > 0
    assert torch.allclose(out[kept], start[kept] / 0.75) and not (kept & ~above).any()
    assert abs(float(kept.sum() / above.sum()) - 0.75) < 0.03
    out.backward(torch.full_like(out, 3.0))
    assert torch.allclose(leaf.grad, kept * 4.0)
    torch.manual_seed(4)
    torch.randn(500, 40)
    assert torch.equal(nn.relu_dropout(start.clone(), 0.25), out)
    assert not torch.equal(nn.relu_dropout(start.clone(), 0.25), out)
    for training, rate in ((False, 0.25), (True, 0.0)):
        assert torch.equal(nn.relu_dropout(start.clone(), rate, training), start.relu())
    wide = nn.relu_dropout(start.double(), 0.25)
    assert wide.dtype == torch.float64 and 0.65 < float((wide != 0).sum() / above.sum()) < 0.85
    with pytest.raises(ValueError, match="rate is"):
        nn.relu_dropout(start.clone(), 1.5)


def test_a_model_learns(tensors: troupe.DistGraph) -> None:
    torch.manual_seed(1)
    model = nn.Model("sage", 16, 32, 4, 2, dropout=0.2)
    optimiser = torch.optim.Adam(model.parameters(), lr=0.01)
    loader = troupe.DistNodeDataLoader(
        tensors, None, troupe.NeighborSampler([5, 5]), batch_size=256, shuffle=True,
        features="feat", labels="label",
    )  # fmt: skip
    losses = []
    for _ in range(6):
        for batch in loader:
            out = model(batch.blocks, batch.features)
            loss = torch.nn.functional.cross_entropy(out, batch.labels)
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            losses.append(float(loss))
    assert losses[-1] < 0.5 * losses[0]
