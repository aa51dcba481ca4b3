# SPDX-License-Identifier: Apache-2.0
"""Layers and models over several node types: against their definition in dense matrices, gradients
against differences, the same bits each time, and the models of `troupe train` there and back."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from conftest import NODES, World, run_command

import troupe
from troupe import training

torch = pytest.importorskip("torch")
from troupe import nn  # noqa: E402

PAPERS, AUTHORS, WIDTH = 300, 90, 5
WRITES, CITES = ("author", "writes", "paper"), ("paper", "cites", "paper")
WRITTEN, CITED = ("paper", "rev_writes", "author"), ("paper", "rev_cites", "paper")


class Academy(NamedTuple):
    """A graph of papers, which have features and classes, and of authors, which have nothing."""

    path: Path


@pytest.fixture(scope="module")
def academy(tmp_path_factory: pytest.TempPathFactory) -> Academy:
    folder = tmp_path_factory.mktemp("academy")
    draw = np.random.default_rng(3)
    label = np.arange(PAPERS) % 3
    arrays = {
        "writes": np.stack([draw.integers(AUTHORS, size=600), draw.integers(PAPERS, size=600)], 1),
        "cites": draw.integers(PAPERS, size=(900, 2)),
        "feat": (draw.random((PAPERS, WIDTH)) + label[:, None]).astype(np.float32),
        "label": label,
        "often": draw.integers(0, 4, 900).astype(np.float32),
    }
    for name, array in arrays.items():
        np.save(folder / f"{name}.npy", array)

    def file(name: str) -> dict:
        return {"format": {"name": "numpy"}, "data": [f"{name}.npy"]}

    document = {
        "graph_name": "academy",
        "node_type": ["paper", "author"],
        "num_nodes_per_type": [PAPERS, AUTHORS],
        "edge_type": [":".join(WRITES), ":".join(CITES)],
        "num_edges_per_type": [600, 900],
        "edges": {":".join(WRITES): file("writes"), ":".join(CITES): file("cites")},
        "node_data": {"paper": {"feat": file("feat"), "label": file("label")}},
        "edge_data": {":".join(CITES): {"often": file("often")}},
    }
    (folder / "metadata.json").write_text(json.dumps(document))
    raw, parts = folder / "raw", folder / "parts"
    run_command("import", "edges", folder, "--reverse-types", "--out", raw, "--quiet")
    run_command("split", raw, "--type", "paper", "--ratio", "40/30/30", "--quiet")
    run_command(
        "partition",
        raw,
        "--parts",
        2,
        "--method",
        "random",
        "--out",
        parts,
        "--name",
        "g",
        "--quiet",
    )
    return Academy(parts / "g.json")


@pytest.fixture
def graph(academy: Academy) -> Iterator[troupe.DistGraph]:
    with troupe.open(academy.path, seed=7, tensors="torch") as opened:
        yield opened


def block_of(
    graph: troupe.DistGraph, seeds: int = 40, fanout: int = 3, **options: object
) -> troupe.Block:
    papers = {"paper": torch.arange(seeds)}
    batch = troupe.NeighborSampler([fanout, fanout], **options).draw(graph, papers, seed=3)
    return batch.blocks[0]


def rows_of(block: troupe.Block, dtype: torch.dtype = torch.float32) -> dict:
    torch.manual_seed(5)
    return {n: torch.randn(block.num_src_nodes(n), WIDTH, dtype=dtype) for n in block.ntypes}


ONE_HOT = {"author": AUTHORS}
ETYPES = [WRITES, CITES, WRITTEN, CITED]


def hetero(aggregate: object) -> nn.HeteroGraphConv:
    return nn.HeteroGraphConv(
        {
            "writes": nn.SAGEConv((WIDTH, WIDTH), 4),
            CITES: nn.GraphConv(WIDTH, 4, norm="right"),
            "rev_writes": nn.GATConv((WIDTH, WIDTH), 4, 1, activation=lambda rows: rows.flatten(1)),
            "rev_cites": nn.SAGEConv(WIDTH, 4),
        },
        aggregate,
    )


def modules() -> dict:
    torch.manual_seed(2)
    widths = {"paper": WIDTH, "author": WIDTH}
    return {
        "rgcn": nn.RelGraphConv(WIDTH, 4, ETYPES, activation=torch.tanh),
        "rgcn wide": nn.RelGraphConv(widths, 40, ETYPES, self_loop=False),
        "rgcn basis": nn.RelGraphConv(WIDTH, 4, ETYPES, "basis", 2, bias=False),
        "rgcn one-hot": nn.RelGraphConv(widths, 4, ETYPES, one_hot=ONE_HOT),
        "rgcn one-hot basis": nn.RelGraphConv(widths, 4, ETYPES, "basis", 3, one_hot=ONE_HOT),
        **{f"hetero {how}": hetero(how) for how in ("sum", "mean", "max", "min", "stack")},
        "hetero own": hetero(lambda came, _: torch.stack(came).prod(0)),
    }


def call(name: str, module: torch.nn.Module, block: troupe.Block, rows: dict) -> dict:
    if "one-hot" in name:
        rows = {**rows, "author": torch.arange(block.num_src_nodes("author")) % AUTHORS}
    return module(block, rows)


@pytest.mark.parametrize("name", modules())
def test_gradients_are_differences(graph: troupe.DistGraph, name: str) -> None:
    block, module = block_of(graph, 5), modules()[name].double()
    rows = {n: r.requires_grad_() for n, r in rows_of(block, torch.float64).items()}

    def run(paper: torch.Tensor, author: torch.Tensor, *_: torch.Tensor) -> tuple:
        return tuple(call(name, module, block, {"paper": paper, "author": author}).values())

    given = (rows["paper"], rows["author"], *module.parameters())
    assert torch.autograd.gradcheck(run, given, fast_mode=True)


@pytest.mark.parametrize("name", modules())
def test_float32_is_float64_rounded_and_repeats_every_bit(
    graph: troupe.DistGraph, name: str
) -> None:
    block, module = block_of(graph), modules()[name]
    found = []
    for dtype, threads in ((torch.float32, 1), (torch.float32, 3), (torch.float64, 1)):
        torch.set_num_threads(threads)
        module = module.to(dtype)
        module.zero_grad()
        rows = {n: r.to(dtype).requires_grad_() for n, r in rows_of(block).items()}
        out = call(name, module, block, rows)
        assert {n: len(r) for n, r in out.items()} == {
            n: block.num_dst_nodes(n) for n in ("paper", "author")
        }
        sum(
            (r * torch.arange(r.numel()).reshape(r.shape).cos().to(dtype)).sum()
            for r in out.values()
        ).backward()
        grads = [p.grad.clone() for p in module.parameters()]
        found.append([*out.values(), rows["paper"].grad, *grads])
    torch.set_num_threads(1)
    for first, again, wide in zip(*found, strict=True):
        assert torch.equal(first, again)
        assert torch.allclose(first.double(), wide, rtol=1e-4, atol=1e-4 * float(wide.abs().max()))


def dense_mean(
    block: troupe.Block, etype: tuple, weights: torch.Tensor | None = None
) -> torch.Tensor:
    sources, into = (ends.long() for ends in block.edges(etype=etype))
    found = torch.zeros(block.num_dst_nodes(etype[2]), block.num_src_nodes(etype[0])).double()
    ones = torch.ones(len(sources)) if weights is None else weights
    found.index_put_((into, sources), ones.double(), accumulate=True)
    return found / found.sum(1, keepdim=True).clamp(min=1e-9)


def close(ours: torch.Tensor, theirs: torch.Tensor) -> bool:
    return torch.allclose(ours.double(), theirs.double(), rtol=1e-4, atol=1e-5)


def test_a_relation_adds_the_mean_of_its_neighbours_times_its_matrix(
    graph: troupe.DistGraph,
) -> None:
    block = block_of(graph)
    rows = rows_of(block)
    layer = nn.RelGraphConv(WIDTH, 4, ETYPES, "basis", 2)
    out = layer(block, rows)
    for ntype in ("paper", "author"):
        own = rows[ntype][: block.num_dst_nodes(ntype)]
        expected = own @ layer.loop_weight[ntype].t() + layer.bias[ntype]
        for etype in ETYPES:
            if etype[2] != ntype:
                continue
            shares, bases = layer.shares[":".join(etype)], layer.bases[str(WIDTH)]
            matrix = sum(share * base for share, base in zip(shares, bases, strict=True))
            assert torch.allclose(layer.matrix(etype, WIDTH), matrix, atol=1e-6)
            expected = (
                expected + dense_mean(block, etype) @ rows[etype[0]].double() @ matrix.t().double()
            )
        assert close(out[ntype], expected)
    weights = {CITES: torch.rand(block.num_edges(CITES)) + 0.1}
    one = nn.RelGraphConv(WIDTH, 4, [CITES], self_loop=False, bias=False)
    expected = dense_mean(block, CITES, weights[CITES]) @ rows["paper"].double()
    assert close(one(block, rows, weights)["paper"], expected @ one.matrix(CITES).t().double())


def test_one_hot_rows_are_rows_of_the_matrix(graph: troupe.DistGraph) -> None:
    block = block_of(graph)
    rows = rows_of(block)
    ids = torch.randint(AUTHORS, (block.num_src_nodes("author"),))
    layer = nn.RelGraphConv(WIDTH, 4, ETYPES, one_hot=ONE_HOT)
    wide = nn.RelGraphConv({"paper": WIDTH, "author": AUTHORS}, 4, ETYPES)
    state = layer.state_dict()
    turned = {n: t.t() if t.shape == (AUTHORS, 4) else t for n, t in state.items()}
    wide.load_state_dict(turned)
    ours = layer(block, {**rows, "author": ids})
    theirs = wide(block, {**rows, "author": torch.nn.functional.one_hot(ids, AUTHORS).float()})
    for ntype, out in ours.items():
        assert close(out, theirs[ntype])


def test_layers_of_edge_types_are_put_together(graph: troupe.DistGraph) -> None:
    block = block_of(graph)
    rows = rows_of(block)
    parts = hetero("stack")
    stacked = parts(block, rows)
    assert stacked["paper"].shape == (block.num_dst_nodes("paper"), 3, 4)
    assert stacked["author"].shape == (block.num_dst_nodes("author"), 1, 4)
    for name, reduce in {
        "sum": lambda rows: rows.sum(1),
        "mean": lambda rows: rows.mean(1),
        "max": lambda rows: rows.max(1).values,
        "min": lambda rows: rows.min(1).values,
    }.items():
        other = hetero(name)
        other.load_state_dict(parts.state_dict())
        for ntype, out in other(block, rows).items():
            assert torch.allclose(out, reduce(stacked[ntype]), atol=1e-6)
    # The rows of an edge type are those of its layer alone, also of rows that come apart.
    own = {n: rows[n][: block.num_dst_nodes(n)] for n in rows}
    apart = parts(block, (rows, own))
    for etype in ETYPES:
        place = [e for e in block.canonical_etypes if e[2] == etype[2]].index(etype)
        layer = parts.layer_of(etype)
        alone = layer(block, (rows[etype[0]], own[etype[2]]), etype=etype)
        assert torch.allclose(alone, stacked[etype[2]][:, place], atol=1e-6)
        assert torch.allclose(apart[etype[2]], stacked[etype[2]], atol=1e-6)
    # Edge types without rows are left out.
    assert list(parts(block, {"paper": rows["paper"]})) == ["paper"]


def test_layers_of_edge_types_take_what_each_is_given(graph: troupe.DistGraph) -> None:
    block = block_of(graph)
    rows = rows_of(block)
    torch.manual_seed(1)
    matrices = {etype[1]: torch.randn(WIDTH, 4) for etype in ETYPES}
    layer = nn.HeteroGraphConv(
        {e[1]: nn.GraphConv(WIDTH, 4, norm="right", weight=False, bias=False) for e in ETYPES}
    )
    out = layer(block, rows, mod_kwargs={r: {"weight": m} for r, m in matrices.items()})
    expected = sum(
        dense_mean(block, e) @ rows[e[0]].double() @ matrices[e[1]].double()
        for e in ETYPES
        if e[2] == "paper"
    )
    assert close(out["paper"], expected)
    given = nn.HeteroGraphConv({e: Listener() for e in ETYPES})
    given(block, rows, {CITES: (1, 2)}, {"cites": {"name": 3}, WRITES: {"name": 4}})
    heard = {etype: given.layer_of(etype).heard for etype in ETYPES}
    assert heard[CITES] == (True, (1, 2), {"etype": CITES, "name": 3})
    assert heard[WRITES] == (True, (), {"etype": WRITES, "name": 4})


class Listener(torch.nn.Module):
    """A layer of a program's own, which notes what it is given."""

    def forward(
        self, block: troupe.Block, rows: object, *args: object, **named: object
    ) -> torch.Tensor:
        self.heard = (isinstance(rows, tuple), args, named)
        return torch.zeros(block.num_dst_nodes(named["etype"][2]), 1)


def test_edges_that_stand_for_several_count_as_these(graph: troupe.DistGraph) -> None:
    # All edges are drawn, so that which ones are does not matter.
    block = block_of(graph, fanout=-1)
    rows = rows_of(block)["paper"]
    counts = torch.randint(1, 4, (block.num_edges(CITES),)).float()
    layer = nn.GATConv(WIDTH, 4, 2)
    ours = layer(block, rows, counts=counts, etype=CITES)
    sources, into = (ends.long() for ends in block.edges(etype=CITES))
    heads = layer.fc(rows).view(-1, 2, 4)
    left, right = (heads * layer.attn_l).sum(-1), (heads * layer.attn_r).sum(-1)
    scores = torch.nn.functional.leaky_relu(left[sources] + right[into], 0.2)
    powers = scores.exp() * counts.unsqueeze(1)
    sums = torch.zeros(block.num_dst_nodes("paper"), 2).index_add(0, into, powers)
    expected = torch.zeros(len(sums), 2, 4).index_add(
        0, into, heads[sources] * (powers / sums[into]).unsqueeze(-1)
    )
    assert torch.allclose(ours, expected + layer.bias.view(1, 2, 4), atol=1e-5)
    drawn = block_of(graph, prob="often")
    assert drawn.edge_counts(WRITES) is None
    assert torch.equal(drawn.edge_counts(CITES), drawn.edges[CITES].data["edge_weights"])


RUNS = {
    "rgcn": {"model": "rgcn"},
    "bases": {"model": "rgcn", "bases": 2, "norm": "layer"},
    "deep": {"model": "rgcn", "norm": "batch", "residual": True, "normalise": True},
    "gat": {"model": "gat", "heads": 2},
    "gat norm": {"model": "gat", "heads": 4, "norm": "batch", "residual": True},
    "one layer": {"model": "rgcn", "bases": 2},
    "drawn": {"model": "rgcn", "draw_by": "often"},
    "drawn gat": {"model": "gat", "draw_by": "often"},
}


def assert_close(ours: np.ndarray, theirs: np.ndarray) -> None:
    assert np.abs(ours - theirs).max() <= 1e-5 * np.abs(theirs).max()


@pytest.mark.parametrize("name", RUNS)
def test_a_run_loads_and_is_saved_with_equal_outputs(
    academy: Academy, graph: troupe.DistGraph, tmp_path: Path, name: str
) -> None:
    fanout = [4] if name == "one layer" else [4, 4, 4]
    options = {"epochs": 2, "hidden": 16, "batch_size": 40, "seed": 4, "threads": 1}
    run = training.train(academy.path, tmp_path / "run", fanout=fanout, **options, **RUNS[name])
    theirs = training.infer(academy.path, run.path).outputs
    model = nn.load(run)
    assert isinstance(model, nn.TypedModel) and not model.training
    sampler = troupe.NeighborSampler([-1] * len(fanout), prob=RUNS[name].get("draw_by"))
    batch = sampler.draw(graph, {"paper": torch.arange(0, PAPERS, 7)}, seed=1, features="feat")
    with torch.no_grad():
        outputs = model(batch.blocks, batch.features, batch.orig_nodes).numpy()
    assert_close(outputs, theirs[batch.orig_nodes["paper"][: len(outputs)].numpy()])
    seen: list[tuple[int, int]] = []
    every = nn.infer(graph, model, batch_size=70, progress=lambda *at: seen.append(at))
    originals = graph.orig_ids("paper", ids=torch.arange(PAPERS)).numpy()
    assert_close(every.numpy(), theirs[originals])
    assert seen[-1][0] == seen[-1][1]

    nn.save(model, tmp_path / "again")
    first, second = (tmp_path / folder / "model.safetensors" for folder in ("run", "again"))
    assert first.read_bytes() == second.read_bytes()
    assert np.array_equal(training.infer(academy.path, tmp_path / "again").outputs, theirs)


@pytest.mark.parametrize("kind", ["rgcn", "gat"])
def test_a_graph_of_one_type_has_typed_models_too(world: World, tmp_path: Path, kind: str) -> None:
    options = {"epochs": 2, "hidden": 16, "batch_size": 200, "standardise": True, "threads": 1}
    run = training.train(world.path, tmp_path / "run", fanout=[4, 4], model=kind, **options)
    theirs = training.infer(world.path, run.path).outputs
    model = nn.load(run)
    with troupe.open(world.path, seed=7, tensors="torch") as g:
        rows = nn.infer(g, model, batch_size=500)
        originals = g.orig_ids(ids=torch.arange(NODES)).numpy()
    assert model.kind == "rgcn" or model.attends_to_self()
    assert_close(rows.numpy(), theirs[originals])
    nn.save(model, tmp_path / "again")
    assert np.array_equal(training.infer(world.path, tmp_path / "again").outputs, theirs)


@pytest.mark.parametrize("kind", ["rgcn", "gat"])
def test_a_model_made_in_python_learns_and_is_inferred_by_the_command(
    academy: Academy, graph: troupe.DistGraph, tmp_path: Path, kind: str
) -> None:
    torch.manual_seed(1)
    model = nn.TypedModel(
        kind,
        {"paper": WIDTH},
        graph.canonical_etypes,
        "paper",
        hidden=8,
        classes=3,
        layers=2,
        num_nodes={"author": AUTHORS},
        bases=2 if kind == "rgcn" else 0,
        heads=1 if kind == "rgcn" else 2,
    )
    optimiser = torch.optim.Adam(model.parameters(), lr=0.02)
    losses = []
    for step in range(40):
        batch = troupe.NeighborSampler([4, 4], prob="often").draw(
            graph, {"paper": torch.arange(PAPERS)}, seed=step + 1, features="feat", labels="label"
        )
        out = model(batch.blocks, batch.features, batch.orig_nodes)
        loss = torch.nn.functional.cross_entropy(out, batch.labels["paper"].long())
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        losses.append(float(loss))
    assert losses[-1] < 0.6 * losses[0]
    nn.save(model, tmp_path / "run", fanout=[4, 4])
    words = ["--run", tmp_path / "run", "--exact", "--out", tmp_path / "o.npy", "--quiet"]
    run_command("infer", academy.path, *words)
    originals = graph.orig_ids("paper", ids=torch.arange(PAPERS)).numpy()
    assert_close(nn.infer(graph, model).numpy(), np.load(tmp_path / "o.npy")[originals])
    assert model.training  # as before


def test_what_does_not_fit_is_refused(graph: troupe.DistGraph) -> None:
    block = block_of(graph)
    rows = rows_of(block)
    with pytest.raises(ValueError, match="regularizer='bdd'"):
        nn.RelGraphConv(WIDTH, 4, ETYPES, "bdd", 2)
    with pytest.raises(ValueError, match="num_bases=2: of regularizer='basis'"):
        nn.RelGraphConv(WIDTH, 4, ETYPES, num_bases=2)
    layer = nn.RelGraphConv(WIDTH, 4, ETYPES, one_hot=ONE_HOT)
    with pytest.raises(ValueError, match="a type that is one-hot are IDs"):
        layer(block, rows)
    with pytest.raises(ValueError, match="no rows of 'author'"):
        layer(block, {"paper": rows["paper"]})
    with pytest.raises(ValueError, match="aggregate='median'"):
        nn.HeteroGraphConv({}, "median")
    with pytest.raises(KeyError, match="no layer for the edge type"):
        nn.HeteroGraphConv({"writes": nn.SAGEConv(WIDTH, 4)})(block, rows)
    for module in (nn.SAGEConv(WIDTH, 4), nn.GATConv(WIDTH, 4, 2)):
        with pytest.raises(ValueError, match="two node types: give a pair"):
            module(block, rows["author"], etype=WRITES)
    with pytest.raises(ValueError, match="self_loop"):
        pair = (rows["author"], rows["paper"][: block.num_dst_nodes("paper")])
        nn.GATConv(WIDTH, 4, 2, self_loop=True)(block, pair, etype=WRITES)
    with pytest.raises(ValueError, match="weight=False"):
        nn.GraphConv(WIDTH, 4)(block, rows["paper"], weight=torch.eye(WIDTH), etype=CITES)
    with pytest.raises(ValueError, match="neither a width in inputs nor a number of nodes"):
        nn.TypedModel("rgcn", {"paper": WIDTH}, ETYPES, "paper", 8, 3, 2)
    with pytest.raises(ValueError, match="heads=3 do not divide"):
        nn.TypedModel("gat", {"paper": WIDTH, "author": 1}, ETYPES, "paper", 8, 3, 2, heads=3)
    with pytest.raises(ValueError, match="'rgcn' or 'gat'"):
        nn.TypedModel("sage", {"paper": WIDTH}, [CITES], "paper", 8, 3, 2)
    model = nn.TypedModel(
        "gat", {"paper": WIDTH}, ETYPES, "paper", 8, 3, 1, num_nodes={"author": 4}
    )
    features = {"paper": rows["paper"]}
    with pytest.raises(ValueError, match=r"give batch\.orig_nodes"):
        model([block], features)
    with pytest.raises(troupe.errors.OutOfRange, match="of a model of 4 nodes"):
        model([block], features, {"author": torch.arange(block.num_src_nodes("author"))})
    with pytest.raises(ValueError, match="1 blocks for a model of 2 layers"):
        nn.TypedModel("gat", {"paper": WIDTH, "author": 1}, ETYPES, "paper", 8, 3, 2)([block], rows)
    with pytest.raises(troupe.errors.Unsupported, match="TypedModel"):
        nn.infer(graph, model, rows["paper"])
