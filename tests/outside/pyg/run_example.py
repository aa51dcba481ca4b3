# SPDX-License-Identifier: Apache-2.0
"""Runs an example of PyG's, as it is, on a graph that is made here.

    run_example.py SCRIPT pyg|data|parts FOLDER [arguments of the script]

The script's data set is a graph of a few thousand nodes with communities, which features and edges
tell of. "pyg": loaders are PyG's own, which draw by the kernels of pyg-lib or torch-sparse, or else
by the same written down in NumPy. "data": loaders are Troupe's, of the same data in memory.
"parts": they are Troupe's, and the data those of a graph that is partitioned into FOLDER.
"""

from __future__ import annotations

import runpy
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import torch
import torch_geometric.datasets
import torch_geometric.loader
import torch_geometric.typing
from torch_geometric.data import Data, HeteroData

CLASSES, WIDTH = 6, 16
PAPERS, AUTHORS, FIELDS = 1800, 700, 120
NAMES = ("NeighborLoader", "LinkNeighborLoader", "LinkLoader")


def drawn(colptr, row, seeds, numbers, replace):
    """Uniform in-edges of nodes of one type: each node is expanded once."""
    chance = np.random.default_rng(int(torch.randint(2**31, ())))
    nodes = seeds.tolist()
    places, begin = {}, 0
    for place, node in enumerate(nodes):
        places.setdefault(node, place)
    found = ([], [], [])
    for number in numbers:
        end = len(nodes)
        for place in range(begin, end):
            first, last = int(colptr[nodes[place]]), int(colptr[nodes[place] + 1])
            for edge in picked(chance, first, last, number, replace):
                other = int(row[edge])
                if other not in places:
                    places[other] = len(nodes)
                    nodes.append(other)
                for into, value in zip(found, (places[other], place, edge), strict=True):
                    into.append(value)
        begin = end
    return torch.tensor(nodes), *(torch.tensor(f).long() for f in found)


def picked(chance, first, last, number, replace):
    if first == last or (not replace and (number < 0 or number >= last - first)):
        return range(first, last)
    return first + chance.choice(last - first, number, replace=replace)


def drawn_by_type(ntypes, etypes, colptrs, rows, seeds, numbers, hops, replace, directed):
    chance = np.random.default_rng(int(torch.randint(2**31, ())))
    nodes = {t: seeds[t].tolist() if t in seeds else [] for t in ntypes}
    places = {t: {} for t in ntypes}
    for ntype, ids in nodes.items():
        for place, node in enumerate(ids):
            places[ntype].setdefault(node, place)
    found = {"__".join(e): ([], [], []) for e in etypes}
    begin = dict.fromkeys(ntypes, 0)
    for hop in range(hops):
        end = {t: len(ids) for t, ids in nodes.items()}
        for source, relation, target in etypes:
            name = f"{source}__{relation}__{target}"
            for place in range(begin[target], end[target]):
                node = nodes[target][place]
                span = (int(colptrs[name][node]), int(colptrs[name][node + 1]))
                for edge in picked(chance, *span, numbers[name][hop], replace):
                    other = int(rows[name][edge])
                    if other not in places[source]:
                        places[source][other] = len(nodes[source])
                        nodes[source].append(other)
                    for into, value in zip(
                        found[name], (places[source][other], place, edge), strict=True
                    ):
                        into.append(value)
        begin = end
    out = [{n: torch.tensor(f[i]).long() for n, f in found.items()} for i in range(3)]
    return {t: torch.tensor(ids).long() for t, ids in nodes.items()}, *out


def give_pyg_its_draws() -> None:
    if torch_geometric.typing.WITH_PYG_LIB or torch_geometric.typing.WITH_TORCH_SPARSE:
        return
    torch.ops.torch_sparse = SimpleNamespace(
        neighbor_sample=lambda *given: drawn(*given[:5]), hetero_neighbor_sample=drawn_by_type
    )
    torch_geometric.typing.WITH_TORCH_SPARSE = True


def ends(chance, sources, targets, count, same=0.8):
    """Edges, most within a class: a node's is its number modulo CLASSES."""
    into = chance.integers(0, targets, count)
    of = chance.integers(0, sources // CLASSES, count) * CLASSES
    kind = np.where(chance.random(count) < same, into % CLASSES, chance.integers(0, CLASSES, count))
    return torch.from_numpy(np.stack([of + kind, into]))


def features(chance, count):
    signal = np.eye(CLASSES, WIDTH)[np.arange(count) % CLASSES]
    return torch.from_numpy((signal + chance.normal(0, 1.5, (count, WIDTH))).astype(np.float32))


def masks(chance, count):
    kind = torch.from_numpy(chance.permutation(count) % 5)
    return {"train_mask": kind < 3, "val_mask": kind == 3, "test_mask": kind == 4}


def one_type() -> Data:
    chance = np.random.default_rng(1)
    pairs = ends(chance, PAPERS, PAPERS, 5 * PAPERS)
    return Data(
        x=features(chance, PAPERS),
        y=torch.arange(PAPERS) % CLASSES,
        edge_index=torch.cat([pairs, pairs.flip(0)], dim=1),
        **masks(chance, PAPERS),
    )


def several_types() -> HeteroData:
    chance = np.random.default_rng(2)
    data = HeteroData()
    for name, count in (("paper", PAPERS), ("author", AUTHORS), ("field_of_study", FIELDS)):
        data[name].x = features(chance, count)
    data["paper"].y = torch.arange(PAPERS) % CLASSES
    for name, mask in masks(chance, PAPERS).items():
        data["paper"][name] = mask
    data["author", "writes", "paper"].edge_index = ends(chance, AUTHORS, PAPERS, 3 * PAPERS)
    data["paper", "cites", "paper"].edge_index = ends(chance, PAPERS, PAPERS, 3 * PAPERS)
    topics = ends(chance, PAPERS, FIELDS, 2 * PAPERS)
    data["paper", "has_topic", "field_of_study"].edge_index = topics
    return data


def dataset_of(made, how, folder):
    """A class that stands for one of PyG's data sets."""

    class Dataset:
        num_classes, num_features, num_node_features = CLASSES, WIDTH, WIDTH

        def __init__(self, *_, transform=None, **__) -> None:
            data = made()
            self.data = data if transform is None else transform(data)
            if how == "parts":
                import troupe
                from troupe import pyg

                troupe.partition_graph(self.data, "g", 3, folder / "parts", part_method="random")
                self.graph = troupe.open(folder / "parts/g.json", seed=3, tensors="torch")
                self.data = pyg.graph_data(self.graph)

        def __getitem__(self, number):
            return self.data

    return Dataset


def main(script: str, how: str, folder: Path, arguments: list[str]) -> None:
    torch.manual_seed(0)
    for name in ("Reddit", "Planetoid", "Flickr"):
        setattr(torch_geometric.datasets, name, dataset_of(one_type, how, folder))
    torch_geometric.datasets.OGB_MAG = dataset_of(several_types, how, folder)
    give_pyg_its_draws()
    if how != "pyg":
        from troupe import pyg

        for name in NAMES:
            setattr(torch_geometric.loader, name, getattr(pyg, name))
    sys.argv = [script, *arguments]
    runpy.run_path(script, run_name="__main__")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], Path(sys.argv[3]), sys.argv[4:])
