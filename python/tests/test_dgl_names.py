# SPDX-License-Identifier: Apache-2.0
"""DGL's module where DGL is not installed: what needs it says so, and what does not works."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import troupe

torch = pytest.importorskip("torch")

from troupe import dgl  # noqa: E402
from troupe.dgl import context, distributed, installed  # noqa: E402
from troupe.dgl.dgl_loaders import DistDataLoader, SeedList  # noqa: E402
from troupe.dgl.dgl_samplers import LaborSampler, NeighborSampler  # noqa: E402
from troupe.dgl.total_fanout import edges_in_total  # noqa: E402


@pytest.fixture
def without_dgl(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installed, "find", lambda: None)


@pytest.fixture
def g(world) -> Iterator[distributed.DistGraph]:
    distributed.initialize("ip_config.txt", seed=3)
    yield distributed.DistGraph("any name", part_config=world.path)
    distributed.exit_client()


def test_importing_it_imports_neither_dgl_nor_torch() -> None:
    code = "import sys; from troupe import dgl; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_a_name_of_dgl_says_that_dgl_is_not_installed(without_dgl: None) -> None:
    with pytest.raises(ImportError, match=r"dgl\.nn takes DGL .* not installed"):
        dgl.nn  # noqa: B018
    with pytest.raises(ImportError, match=r"dgl\.dataloading\.ShaDowKHopSampler takes DGL"):
        dgl.dataloading.ShaDowKHopSampler  # noqa: B018
    with pytest.raises(ImportError, match=r"install\(\) takes DGL"):
        dgl.install()


def test_blocks_say_that_dgl_is_not_installed(without_dgl: None, g) -> None:
    loader = distributed.DistNodeDataLoader(g, torch.arange(9), NeighborSampler([2]), batch_size=3)
    with pytest.raises(ImportError, match="blocks takes DGL"):
        next(iter(loader))


@pytest.mark.parametrize(
    "make",
    [
        lambda: distributed.DistEmbedding(3, 2),
        lambda: distributed.optim.SparseAdam([], lr=0.1),
        lambda: distributed.rpc.send_request(0, None),
        lambda: distributed.KVClient,
    ],
)
def test_what_is_not_there_yet_says_so(make) -> None:
    with pytest.raises(NotImplementedError, match="is not there yet: "):
        make()


@pytest.mark.parametrize("module", sorted(distributed.MODULES))
def test_a_name_that_is_not_there_is_no_attribute_error(module: str) -> None:
    found = distributed.MODULES[module]
    name = f"dgl.distributed.{module and module + '.'}KVThing"
    with pytest.raises(NotImplementedError, match=rf"^{name} is not there yet: "):
        found.KVThing  # noqa: B018
    assert not hasattr(found, "__wrapped__")


def test_names_of_dgls_modules_are_in_each_of_them() -> None:
    assert distributed.role.get_trainer_rank() == distributed.role.get_global_rank() == 0
    assert distributed.role.get_role() == "default"
    assert distributed.Request is distributed.rpc.Request
    with pytest.raises(NotImplementedError, match="services of a program's own"):
        distributed.send_request(0, None)


def test_a_graph_needs_initialize(world) -> None:
    distributed.exit_client()
    with pytest.raises(RuntimeError, match=r"call dgl\.distributed\.initialize"):
        distributed.DistGraph("g", part_config=world.path)


def test_a_server_of_a_launcher_ends(monkeypatch, capsys) -> None:
    monkeypatch.setenv("DGL_ROLE", "server")
    with pytest.raises(SystemExit) as ended:
        distributed.initialize("ip_config.txt")
    assert ended.value.code == 0 and "DGL_ROLE is server" in capsys.readouterr().err


MAPPED = """
import ctypes
from troupe import dgl

class Held(ctypes.Structure):
    names = "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost"
    _fields_ = [(name, ctypes.c_size_t) for name in names.split()]

look = ctypes.CDLL(None).mallinfo2
look.restype = Held
dgl.distributed.initialize(None)
before = look().hblks
kept = bytearray(64 << 20)
print(look().hblks - before)
"""


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "mallinfo2"), reason="glibc 2.33 has it")
def test_a_process_alone_keeps_its_buffers_from_step_to_step() -> None:
    """glibc would map each large buffer anew, and give it back when it is freed."""
    free = {name: value for name, value in os.environ.items() if not name.startswith("MALLOC_")}
    said = subprocess.run([sys.executable, "-c", MAPPED], env=free, capture_output=True, text=True)
    assert (said.stdout, said.stderr) == ("0\n", "")


def test_rows_are_tensors_and_masks_uint8(g, world) -> None:
    every = np.asarray(g.orig_ids())
    rows = g.ndata["feat"][[5, 3, 3]]
    assert rows.dtype == torch.float32
    assert np.array_equal(rows.numpy(), world.feat[every[[5, 3, 3]]])
    mask = g.ndata["train_mask"]
    assert mask.dtype == torch.uint8 and mask[:4].dtype == torch.uint8
    assert np.array_equal(mask[:].numpy(), world.train_mask[every])
    assert (1 - mask[:]).sum() + mask.count_nonzero() == g.num_nodes()
    assert g.ndata["feat"][7].shape == (1, 16)
    assert isinstance(mask, distributed.DistTensor) and "nothing" not in g.ndata
    assert g.nodes["_N"].data.keys() == g.ndata.keys()
    with pytest.raises(TypeError, match="index is an array of booleans"):
        g.ndata["feat"][mask[:] != 0]


def test_shares_are_even_disjoint_and_whole(g) -> None:
    book = g.get_partition_book()
    mask = g.ndata["train_mask"]
    chosen = torch.nonzero(mask[:]).reshape(-1)
    assert torch.equal(distributed.node_split(mask, book), chosen)
    assert torch.equal(distributed.node_split(mask[:], book), chosen)
    g._world = 4
    shares = [distributed.node_split(mask, book, rank=rank) for rank in range(4)]
    sizes = [len(share) for share in shares]
    assert max(sizes) - min(sizes) <= 1 and torch.equal(torch.cat(shares), chosen)
    with pytest.raises(troupe.errors.OutOfRange, match="rank=4"):
        distributed.node_split(mask, book, rank=4)


def test_arange_means_all_nodes(g) -> None:
    count = g.num_nodes()
    with pytest.warns(UserWarning, match="taken as all"):
        assert torch.equal(distributed.node_split(np.arange(count)), torch.arange(count))
    assert len(distributed.node_split(torch.ones(count))) == count
    assert len(distributed.edge_split(torch.ones(g.num_edges(), dtype=torch.bool))) == len(
        g.edges()
    )
    with pytest.raises(troupe.errors.InvalidArgument, match=r"shape \(3,\)"):
        distributed.node_split(torch.ones(3))


def test_a_book_answers_without_a_type(g) -> None:
    book = g.get_partition_book()
    ids = book.partid2nids(book.partid)
    assert torch.equal(ids.detach(), torch.arange(len(ids)))
    assert set(book.nid2partid(ids).tolist()) == {book.partid}
    assert book._max_node_ids[-1] == g.num_nodes()
    with pytest.raises(ValueError, match="part_id=9"):
        distributed.load_partition_book(book.path, 9)
    policy = g.get_node_partition_policy("_N")
    assert policy.policy_str == "node~_N" and policy.get_size() == g.num_nodes()
    with pytest.raises(ValueError, match="begin with"):
        distributed.PartitionPolicy("graph~_N", book)


def test_ends_of_edges_are_those_of_the_raw_graph(g, world) -> None:
    edges = g.edges()
    sources, destinations = g.find_edges(edges)
    every = np.asarray(g.orig_ids())
    found = np.stack([every[sources.numpy()], every[destinations.numpy()]], axis=1)
    assert np.array_equal(np.sort(found, axis=0), np.sort(world.edges, axis=0))
    assert sorted(map(tuple, found.tolist())) == sorted(map(tuple, world.edges.tolist()))


def test_a_tensor_is_attached_by_name(g) -> None:
    count = g.num_nodes()
    made = distributed.DistTensor((count, 3), torch.float32, "h", persistent=True)
    made[torch.tensor([4, 2])] = torch.tensor([[1.0, 2, 3], [4, 5, 6]])
    with pytest.warns(UserWarning, match="needs another name a layer"):
        again = distributed.DistTensor((count, 3), torch.float32, "h", persistent=True)
    assert torch.equal(again[[2, 4, 0]], torch.tensor([[4.0, 5, 6], [1, 2, 3], [0, 0, 0]]))
    with pytest.raises(troupe.errors.Mismatch, match="name another one"):
        distributed.DistTensor((count, 2), torch.float32, "h")
    with pytest.raises(troupe.errors.InvalidArgument, match="no type of an open graph"):
        distributed.DistTensor((3, 2), torch.float32, "h")
    passing = distributed.DistTensor((count,), torch.int64, "once")
    del passing
    assert distributed.DistTensor((count, 2), torch.float32, "once").shape == (count, 2)
    g.ndata["mine"] = again
    assert g.ndata["mine"] is again and "mine" in g.nodes["_N"].data
    del g.ndata["mine"]
    plain = torch.arange(count)
    g.ndata["plain"] = plain
    assert g.ndata["plain"] is plain and "plain" in g.ndata
    with pytest.raises(ValueError, match=f"3 rows, but the type has {count}"):
        g.ndata["short"] = plain[:3]
    with pytest.raises(TypeError, match="give a DistTensor or a tensor, not list"):
        g.ndata["list"] = [0] * count
    with pytest.raises(KeyError, match="belongs to the partitions"):
        del g.ndata["feat"]


class ByTurns(DistDataLoader):
    """A program's own, with its own positions, as GraphStorm's."""

    def __iter__(self):
        self.current_pos = {"a": 0}
        self.recv_idxs = self.num_pending = 0
        return self

    def _next_data(self):
        place = self.current_pos["a"]
        if place == len(self.dataset):
            return None
        self.current_pos["a"] = place + 1
        return [self.dataset[place]]


@pytest.mark.parametrize("queue", [0, 3])
def test_a_loader_of_a_program_keeps_its_own_positions(g, queue: int) -> None:
    loader = ByTurns([5, 7, 9, 11], 1, collate_fn=lambda items: items[0], queue_size=queue)
    assert list(loader) == [5, 7, 9, 11]
    assert next(iter(loader)) == 5
    # What was drawn ahead of an epoch that was left does not come in the next one.
    assert list(loader) == [5, 7, 9, 11] and loader._epoch == 2
    loader.close()


def test_the_book_of_an_open_graph_is_read_once(world, tmp_path: Path) -> None:
    """Programs ask for it with each batch, some when the folder is gone."""
    shutil.copytree(world.path.parent, tmp_path / "parts")
    distributed.initialize(None)
    with distributed.DistGraph("g", part_config=tmp_path / "parts" / world.path.name) as g:
        before = g.get_partition_book().metadata()
        (tmp_path / "parts").rename(tmp_path / "gone")
        assert g.get_partition_book().metadata() == before
        assert g.ndata["feat"].part_policy.get_size() == g.num_nodes()
    distributed.exit_client()


def test_a_tensor_of_several_trainers_lies_with_its_owners(g) -> None:
    g._world = 2
    count = g.num_nodes()
    made = distributed.DistTensor((count, 3), torch.float32, "h", lambda *a: torch.ones(*a[:1]))
    made[torch.tensor([4, 2])] = torch.tensor([[1.0, 2, 3], [4, 5, 6]])
    with pytest.warns(UserWarning, match="needs another name a layer"):
        again = distributed.DistTensor((count, 3), torch.float32, "h")
    assert torch.equal(again[[2, 4, 0]], torch.tensor([[4.0, 5, 6], [1, 2, 3], [1, 1, 1]]))
    assert again.shape == (count, 3) and again.dtype == torch.float32 and again.name == "h"
    assert troupe.DistTensor((count, 3), "float32", "h", graph=g, attach=True)[4].tolist() == [
        1,
        2,
        3,
    ]
    with pytest.raises(troupe.errors.Mismatch, match="already"):
        distributed.DistTensor((count, 2), torch.float32, "h")
    left, right = (distributed.DistTensor((count,), torch.bool) for _ in range(2))
    left[[1, 2]] = torch.ones(2, dtype=torch.bool)
    right[[2, 1999]] = torch.ones(2, dtype=torch.bool)
    assert (left | right).count_nonzero() == 3
    with pytest.raises(NotImplementedError, match="of edges"):
        distributed.DistTensor((g.num_edges(),), torch.float32, "e")


def test_a_tensor_whose_first_user_is_gone_gives_no_warning(g) -> None:
    """As a script of two layers makes its tensors at every evaluation."""
    shape = (g.num_nodes(), 2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(2):
            rows = g.ndata["feat"]
            for name in ("h", "h_last"):
                made = distributed.DistTensor(shape, torch.float32, name, persistent=True)
                made[[0]] = rows[[0]][:, :2]
                rows = made
            del made, rows


@pytest.mark.parametrize("trainers", [1, 2])
def test_a_loop_may_read_what_its_line_made_before(g, trainers: int) -> None:
    """As a script of many layers makes one name for each: the former tensor stays as it is."""
    g._world = trainers
    shape, rows = (g.num_nodes(), 2), None
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(4):
            made = distributed.DistTensor(shape, torch.float32, "h", persistent=True)
            assert made.name == "h"
            if rows is not None:
                assert torch.equal(made[:], rows[:]), "it begins as a copy"
                before = rows[:]
                made[[3, 1]] = rows[[3, 1]] + 1
                assert torch.equal(rows[:], before) and not torch.equal(made[:], before)
            rows = made
            g.barrier() if trainers == 1 else g.free_dropped()
    del made, rows
    assert distributed.DistTensor(shape, torch.float32, "h")[[3]].tolist() == [[3, 3]]
    with pytest.raises(troupe.errors.Mismatch, match=r"name another one|another name"):
        for width in (2, 3):
            distributed.DistTensor((shape[0], width), torch.float32, "h", persistent=True)


def test_a_graph_is_that_of_dgls_launcher(world, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DGL_CONF_PATH", str(world.path))
    distributed.initialize("ip_config.txt")
    assert distributed.DistGraph("g").path == str(world.path)
    distributed.exit_client()


@pytest.mark.parametrize("even", [True, False])
def test_a_book_that_was_loaded_by_itself_splits(world, monkeypatch, even: bool) -> None:
    """As scripts do that train on whole partitions: no graph is open, nothing is initialized."""
    monkeypatch.setattr(context, "get_num_client", lambda: 4)
    book = distributed.load_partition_book(world.path, 1)[0]
    for split, count in (
        (distributed.node_split, book.num_nodes()),
        (distributed.edge_split, book.num_edges()),
    ):
        mask = np.arange(count) % 3 > 0
        shares = [split(mask, book, rank=rank, force_even=even) for rank in range(4)]
        assert torch.cat(shares).sort().values.tolist() == np.flatnonzero(mask).tolist()
        assert not even or {len(share) - len(shares[-1]) for share in shares} <= {0, 1}


def test_names_of_tensors_are_written_as_dgl_has_them(g) -> None:
    name = distributed.HeteroDataName(False, ("a", "r", "b"), "w")
    assert str(name) == "edge~a:r:b~w" and name.is_edge() and not name.is_node()
    again = distributed.parse_hetero_data_name(str(name))
    assert (again.get_type(), again.get_name()) == (("a", "r", "b"), "w")
    with pytest.raises(ValueError, match="an edge type is"):
        distributed.HeteroDataName(False, "r", "w")
    assert str(g.get_node_partition_policy().get_data_name("x")) == "node~_N~x"
    kept = distributed.DistTensor((g.num_nodes(),), torch.float32, "kept")
    assert {"feat", kept.kvstore_key} <= set(g._client.data_name_list())
    del kept
    assert "kept" not in g._client.gdata_name_list()


def test_an_unknown_type_raises_dgls_error_too(g, monkeypatch: pytest.MonkeyPatch) -> None:
    class DGLError(Exception):
        pass

    monkeypatch.setitem(sys.modules, "dgl", type("dgl", (), {"DGLError": DGLError}))
    book = g.get_partition_book()
    for ask in (
        lambda: g.nodes["none"],
        lambda: g.num_edges("none"),
        lambda: book.to_canonical_etype("none"),
    ):
        with pytest.raises(DGLError, match=r"no .* type 'none'") as caught:
            ask()
        assert isinstance(caught.value, troupe.errors.NotFound)


def test_what_draws_do_not_have_is_refused(g) -> None:
    for options in ({"prob": "w"}, {"mask": "w"}):
        with pytest.raises(troupe.errors.NotFound, match='no edge type has a feature "w"'):
            NeighborSampler([2, 2], **options).own().draw(g, np.arange(3))
    with pytest.raises(troupe.errors.NotFound, match='no edge type has a feature "w"'):
        g.sample_neighbors(torch.arange(3), 2, prob="w")
    with pytest.raises(ValueError, match="exclude each other"):
        NeighborSampler([2], prob="w", mask="w")
    with pytest.raises(NotImplementedError, match="partition again with --out-edges"):
        g.sample_neighbors(torch.arange(3), 2, edge_dir="out")
    with pytest.raises(troupe.errors.InvalidArgument, match="edge_dir='both'"):
        g.sample_neighbors(torch.arange(3), 2, edge_dir="both")
    with pytest.raises(NotImplementedError, match="LABOR-0 draws evenly"):
        LaborSampler([2], prob="w")
    sampler = LaborSampler([2])
    assert sampler.own().draw(g, np.arange(3), seed=1).blocks[0].num_edges() <= 6


def test_weights_and_edges_are_checked_in_draws_over_all_types(tmp_path: Path) -> None:
    """What is no feature, or no number an edge, is refused; so is a mask where edges are listed."""
    ends = np.arange(20)
    edges = {("a", "to", "b"): (ends, ends), ("b", "of", "a"): (ends, ends)}
    edata = {name: {"w": np.ones(20), "wide": np.ones((20, 2))} for name in edges}
    path = tmp_path / "two"
    troupe.partition_graph(edges, "g", 1, path, num_nodes={"a": 20, "b": 20}, edata=edata)
    with distributed.DistGraph(part_config=path / "g.json", standalone=True, servers=1) as two:
        ways = {"fanout": 1, "replace": False, "exclude": None, "edge_dir": "in"}
        seeds = {"a": [1, 2]}
        drawn = edges_in_total(two, seeds, prob="w", **ways)
        assert sum(len(found[0]) for found in drawn.values()) == 2
        with pytest.raises(troupe.errors.NotFound, match="prob='v': no edge type has a feature"):
            edges_in_total(two, seeds, prob="v", **ways)
        with pytest.raises(troupe.errors.InvalidArgument, match="several numbers an edge"):
            edges_in_total(two, seeds, prob="wide", **ways)
        for wrong in (torch.ones(20, dtype=torch.bool), [1.7]):
            with pytest.raises(TypeError, match="IDs"):
                two.edge_subgraph({"to": wrong})


def test_shares_of_partitions_are_disjoint_and_whole(g) -> None:
    """Also where partitions do not divide evenly among trainers."""
    for world in (1, 2, 3, 4, 5, 7):
        g._world = world
        mask = g.ndata["train_mask"]
        shares = [distributed.node_split(mask, rank=r, force_even=False) for r in range(world)]
        assert torch.equal(torch.cat(shares).sort().values, torch.nonzero(mask[:]).reshape(-1))
        edges = torch.ones(g.num_edges(), dtype=torch.bool)
        shares = [distributed.edge_split(edges, rank=r, force_even=False) for r in range(world)]
        assert torch.equal(torch.cat(shares).sort().values, g.edges())


def test_batches_come_in_order_and_exactly_once() -> None:
    data = torch.arange(100, 123)
    loader = DistDataLoader(data, 5, collate_fn=lambda items: items)
    assert len(loader) == loader.expected_idxs == 5
    assert [i for batch in loader for i in batch] == data.tolist()
    kept = DistDataLoader(data, 5, drop_last=True, shuffle=True, collate_fn=sorted)
    first, second = list(kept), list(kept)
    assert len(first) == 4 and first != second
    assert len({i for batch in first for i in batch}) == 20


def test_an_epoch_that_is_left_early_leaves_nothing_behind() -> None:
    loader = DistDataLoader(torch.arange(40), 4, collate_fn=list)
    for batch in loader:
        if batch[0] >= 8:
            break
    assert [batch[0] for batch in loader] == list(range(0, 40, 4))
    loader.close()


def test_what_a_collate_function_raises_comes_to_the_loop() -> None:
    def fails(items: list[int]) -> None:
        raise KeyError(items[0])

    with pytest.raises(KeyError, match="4"):
        list(DistDataLoader([4, 5], 2, collate_fn=fails))
    with pytest.raises(ValueError, match="batch_size=0"):
        DistDataLoader([1], 0)


def test_seeds_of_several_types_stay_apart() -> None:
    seeds = SeedList({"a": torch.tensor([3, 1]), "b": torch.tensor([7], dtype=torch.int32)})
    assert list(seeds) == [("a", 3), ("a", 1), ("b", 7)]
    taken = seeds.take_items(np.array([2, 0]))
    assert {name: ids.tolist() for name, ids in taken.items()} == {"a": [3], "b": [7]}


def test_a_script_is_named(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "troupe.dgl"]
    ended = subprocess.run([*words, str(tmp_path / "no.py")], capture_output=True, text=True)
    assert ended.returncode == 1 and "no.py: there is no such file" in ended.stderr


def test_partitions_stay_where_graphbolt_would_have_others() -> None:
    with pytest.warns(UserWarning, match=r"a\.json stays as it is"):
        distributed.dgl_partition_to_graphbolt("a.json", store_eids=True, graph_formats="coo")


def test_embeddings_are_refused_with_what_trains_them() -> None:
    for name in ("DistEmbedding", "SparseAdam", "SparseAdagrad"):
        made = getattr(distributed, name, None) or getattr(distributed.optim, name)
        with pytest.raises(NotImplementedError, match=rf"{name} is not there yet: .*Embedding\("):
            made(10, 4)
