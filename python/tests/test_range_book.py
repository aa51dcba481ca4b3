# SPDX-License-Identifier: Apache-2.0
"""A book made of ranges answers as the book of partitions with these ranges."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import troupe

torch = pytest.importorskip("torch")

from troupe.dgl import distributed  # noqa: E402

OWN, TO = ("a", "own", "a"), ("b", "to", "a")


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    chance = np.random.default_rng(3)
    edges = {OWN: chance.integers(0, 90, (2, 700)), TO: chance.integers(0, 60, (2, 500))}
    folder = tmp_path_factory.mktemp("ranges") / "parts"
    counts = {"a": 90, "b": 60}
    troupe.partition_graph(edges, "g", 3, folder, part_method="random", num_nodes=counts)
    return folder / "g.json"


def maps_of(path: Path, dtype: Any = torch.int64) -> tuple[Any, ...]:
    config = json.loads(path.read_bytes())

    def name(written: str) -> Any:
        return tuple(written.split(":")) if ":" in written else written

    return tuple(
        {name(k): torch.tensor(v, dtype=dtype) if "map" in key else v for k, v in of.items()}
        for key in ("node_map", "edge_map", "ntypes", "etypes")
        for of in [config[key]]
    )


def answers(book: Any) -> list[Any]:
    found: list[Any] = [book.num_partitions(), book.metadata(), book.ntypes, book.canonical_etypes]
    found += [book.local_ntype_offset, book.local_etype_offset, book.partid]
    found += [book._num_nodes(), book._num_edges(), book._num_nodes("b"), book._num_edges(TO)]
    found += [book._max_node_ids, book._max_edge_ids]
    for of_edges, names in ((False, book.ntypes), (True, book.canonical_etypes)):
        count = book.num_edges() if of_edges else book.num_nodes()
        every = torch.arange(count)
        found += (book.map_to_per_etype if of_edges else book.map_to_per_ntype)(every)
        found.append((book.eid2partid if of_edges else book.nid2partid)(every))
        policy = book.edge_policy if of_edges else book.node_policy
        for name in names:
            ids = torch.arange(book.num_edges(name) if of_edges else book.num_nodes(name))
            found.append((book.map_to_homo_eid if of_edges else book.map_to_homo_nid)(ids, name))
            own = (book.partid2eids if of_edges else book.partid2nids)(book.partid, name)
            one = policy(name)
            found += [own, one.to_partid(ids), one.to_local(own), one.get_size(), str(one)]
            found.append(one.get_part_size())
        found.append((book.partid2eids if of_edges else book.partid2nids)(2))
    return found


def assert_same(found: list[Any], expected: list[Any]) -> None:
    for one, other in zip(found, expected, strict=True):
        if isinstance(other, (torch.Tensor, np.ndarray)):
            assert torch.equal(torch.as_tensor(one), torch.as_tensor(other))
        else:
            assert one == other


@pytest.mark.parametrize("part", [0, 1, 2])
def test_a_book_of_ranges_answers_as_that_of_partitions(path: Path, part: int) -> None:
    expected = answers(distributed.GraphPartitionBook(path, part))
    book = distributed.RangePartitionBook(part, 3, *maps_of(path))
    assert_same(answers(book), expected)
    assert_same(answers(pickle.loads(pickle.dumps(book))), expected)
    with pytest.raises(ValueError, match="0 is not in partition"):
        book.nid2localnid([0, 89], 1 if part != 1 else 2, "a")
    with pytest.raises(troupe.errors.OutOfRange, match="there is no 90"):
        book.nid2partid([90], "a")


def test_a_book_of_dgl_without_its_partitions_is_one_of_ranges(path: Path, tmp_path: Path) -> None:
    config = json.loads(path.read_bytes())
    config.pop("troupe")
    for part in range(3):
        config[f"part-{part}"] = {"part_graph": f"part{part}/graph.dgl"}
    # Types come in the order of their numbers, whatever order they are written in.
    for key in ("node_map", "edge_map"):
        config[key] = dict(reversed(config[key].items()))
    (tmp_path / "g.json").write_text(json.dumps(config))
    book, name, ntypes, etypes = distributed.load_partition_book(tmp_path / "g.json", 1)
    assert (name, ntypes, etypes) == ("g", {"a": 0, "b": 1}, {OWN: 0, TO: 1})
    assert_same(answers(book), answers(distributed.GraphPartitionBook(path, 1)))
    copy = pickle.loads(pickle.dumps(book))
    assert (copy.path, copy.graph_name, copy.partid) == (book.path, "g", 1)
    mask = np.arange(90) % 2 == 0
    shares = distributed.node_split(mask, book, ntype="a")
    assert torch.equal(shares, torch.arange(0, 90, 2))
    config["node_map"]["a"] = {"0": 0}
    (tmp_path / "g.json").write_text(json.dumps(config))
    with pytest.raises(TypeError, match="node_map lists no ranges"):
        distributed.load_partition_book(tmp_path / "g.json", 1)


def test_types_of_ids_are_those_of_the_book(path: Path) -> None:
    book = distributed.RangePartitionBook(0, 3, *maps_of(path, torch.int32))
    kinds, ids = book.map_to_per_ntype(torch.tensor([0, 5], dtype=torch.int32))
    assert kinds.dtype == ids.dtype == torch.int32
    with pytest.raises(TypeError, match="IDs of int64: the partition book has int32"):
        book.map_to_per_etype(torch.tensor([0]))
    with pytest.raises(TypeError, match="IDs of int32: the partition book has int64"):
        distributed.GraphPartitionBook(path).map_to_per_ntype(torch.tensor([0]).int())
    assert isinstance(distributed.GraphPartitionBook(path), distributed.RangePartitionBook)
    with pytest.raises(AssertionError, match="an edge type is"):
        distributed.RangePartitionBook(0, 3, *maps_of(path)[:3], {"to": 0})
    with pytest.raises(AssertionError, match="ranges of shape"):
        distributed.RangePartitionBook(0, 2, *maps_of(path))
    with pytest.raises(AssertionError, match="an edge type is"):
        distributed.EdgePartitionPolicy(book, "to")
