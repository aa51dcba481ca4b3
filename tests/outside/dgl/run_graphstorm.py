# SPDX-License-Identifier: Apache-2.0
"""Trains a model of GraphStorm's for classes of nodes, over Troupe: GraphStorm imports dgl itself.

    python -m troupe.dgl run_graphstorm.py ENCODER [edges]

It goes the way of GraphStorm's own test_rgcn_nc4ef, test_rgat_nc4ef and test_hgt_nc4ef: partitions
of a graph of two node types and two edge types, its loaders of nodes, two epochs, an evaluator.
"edges": features of edges count, too. Those of its tests for edges and links (``_ec4ef``,
``_lp4ef``, the ones of several tasks) are not run here; those of nodes without features need
embeddings that are trained, which are not there yet.
"""

import sys
import tempfile
from argparse import Namespace
from pathlib import Path
from types import ModuleType

# What GraphStorm imports without declaring it, and uses when raw tables are read.
TABULAR = "autogluon.tabular"
INTERNAL = f"{TABULAR}.models.mitra._internal"
UNDECLARED = {
    "autogluon": [],
    TABULAR: ["TabularPredictor"],
    f"{TABULAR}.models": [],
    f"{TABULAR}.models.mitra": [],
    INTERNAL: [],
    f"{INTERNAL}.config": [],
    f"{INTERNAL}.config.enums": ["LossName", "ModelName", "Task"],
    f"{INTERNAL}.core": [],
    f"{INTERNAL}.core.trainer_finetune": ["CollatorWithPadding"],
    f"{INTERNAL}.data": [],
    f"{INTERNAL}.data.dataset_finetune": ["DatasetFinetune"],
}
for module, names in UNDECLARED.items():
    sys.modules[module] = ModuleType(module)
    sys.modules[module].__path__ = []
    sys.modules[module].__dict__.update({name: type(name, (), {}) for name in names})

import dgl  # noqa: E402
import torch  # noqa: E402
import yaml  # noqa: E402
from graphstorm import create_builtin_node_gnn_model  # noqa: E402
from graphstorm.config import GSConfig  # noqa: E402
from graphstorm.dataloading import GSgnnData, GSgnnNodeDataLoader  # noqa: E402
from graphstorm.eval import GSgnnClassificationEvaluator  # noqa: E402
from graphstorm.trainer import GSgnnNodePredictionTrainer  # noqa: E402
from graphstorm.utils import get_device, setup_device  # noqa: E402

NODES, EDGES, CLASSES = 120, 300, 4
ETYPES = [("n0", "r0", "n1"), ("n0", "r1", "n1")]


def make_partitions(folder: str) -> str:
    torch.manual_seed(1)
    ends = {etype: tuple(torch.randint(NODES, (2, EDGES))) for etype in ETYPES}
    g = dgl.heterograph(ends, {"n0": NODES, "n1": NODES})
    for ntype in g.ntypes:
        g.nodes[ntype].data["feat"] = torch.randn(NODES, 2)
    for etype in ETYPES:
        g.edges[etype].data["feat"] = torch.randn(EDGES, 2)
    data = g.nodes["n1"].data
    data["label"] = torch.randint(CLASSES, (NODES,))
    for third, name in enumerate(("train_mask", "val_mask", "test_mask")):
        data[name] = torch.arange(NODES) % 3 == third
    dgl.distributed.partition_graph(g, "g", 2, folder)
    return f"{folder}/g.json"


def configuration(folder: str, encoder: str, of_edges: bool) -> GSConfig:
    basic = {"node_feat_name": ["feat"]}
    if of_edges:
        basic["edge_feat_name"] = [f"{','.join(etype)}:feat" for etype in ETYPES]
    gnn = {
        "model_encoder_type": encoder,
        "num_layers": 2,
        "hidden_size": 16,
        "lr": 0.01,
    }
    target = {"num_classes": CLASSES, "target_ntype": "n1", "label_field": "label"}
    parts = {
        "basic": basic,
        "gnn": gnn,
        "input": {},
        "output": {},
        "node_classification": target,
    }
    parts["hyperparam"] = {"fanout": "10,10", "batch_size": 8}
    if encoder in ("hgt", "rgat"):
        parts[encoder] = {"num_heads": 4}
    path = Path(folder) / "model.yaml"
    path.write_text(yaml.dump({"version": 1.0, "gsf": parts}))
    return GSConfig(Namespace(yaml_config_file=str(path), local_rank=0))


def main(folder: str, encoder: str, of_edges: bool) -> None:
    store = torch.distributed.HashStore()
    torch.distributed.init_process_group("gloo", store=store, rank=0, world_size=1)
    setup_device(0)
    path = make_partitions(folder)
    dgl.distributed.initialize(None)
    data = GSgnnData(part_config=path)
    config = configuration(folder, encoder, of_edges)
    model = create_builtin_node_gnn_model(data.g, config, True)
    trainer = GSgnnNodePredictionTrainer(model)
    trainer.setup_device(get_device())
    options = {
        "fanout": config.fanout,
        "batch_size": config.batch_size,
        "label_field": config.label_field,
        "node_feats": config.node_feat_name,
        "edge_feats": config.edge_feat_name if of_edges else None,
    }
    loaders = [
        GSgnnNodeDataLoader(data, target_idx=nodes, train_task=number == 0, **options)
        for number, nodes in enumerate((data.get_node_train_set("n1"), data.get_node_val_set("n1")))
    ]
    evaluator = GSgnnClassificationEvaluator(
        config.eval_frequency,
        config.eval_metric,
        config.multilabel,
        config.use_early_stop,
    )
    trainer.setup_evaluator(evaluator)
    trainer.fit(train_loader=loaders[0], val_loader=loaders[1], num_epochs=2)
    assert 0 <= evaluator.best_val_score["accuracy"] <= 1
    assert len(loaders[0]) == -(-NODES // 3 // 8)
    print("trained", encoder, of_edges)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as made:
        main(made, sys.argv[1], "edges" in sys.argv[2:])
