# SPDX-License-Identifier: Apache-2.0
"""Blocks of a batch as DGLBlocks over the batch's memory.

``dgl.create_block`` compares every position with its bounds; what the library sampled needs none of
that, so graph indexes are made directly, of int32 positions, and nothing is copied.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from ..batch import Batch, Block
from ..types import EID, NID
from .installed import need

FORMATS = ["coo", "csr", "csc"]


class BlockMaker:
    """Makes DGLBlocks of a graph's types."""

    def __init__(self, types: Any) -> None:
        import torch

        self._dgl = need("blocks")
        self._types = types
        # Edges stand in the order of their positions.
        self._in_order = torch.empty(0, dtype=torch.int32)
        self._frame = self._dgl.frame.Frame
        # dgl.heterograph is a function, which hides the module.
        self._made = import_module("dgl.heterograph").DGLBlock
        self._of_csr = self._dgl.heterograph_index.create_unitgraph_from_csr
        self._meta: Any = None
        if len(types.ntypes) > 1 or len(types.etypes) > 1:
            count = len(types.ntypes)
            sides = [s for s, _ in types.ends], [count + t for _, t in types.ends]
            self._meta = self._dgl.graph_index.from_coo(2 * count, *sides, True)

    def blocks(self, batch: Batch) -> list[Any]:
        """The layers of a batch, from input to output."""
        return [self.block(block) for block in batch.blocks]

    def block(self, block: Block) -> Any:
        """A layer, with ``srcdata[NID]``, ``dstdata[NID]`` and ``edata[EID]``."""
        types, content, layer = self._types, block.content, block.layer
        relations, edge_frames = [], []
        for number, (source, target) in enumerate(types.ends):
            csr = block.as_csr(types.canonical_etypes[number])
            relations.append(
                self._of_csr(
                    2,
                    content.num_nodes(layer, source),
                    content.num_nodes(layer + 1, target),
                    csr.indptr,
                    csr.indices,
                    self._in_order,
                    FORMATS,
                    True,
                )
            )
            ids = {} if csr.edge_ids is None else {EID: csr.edge_ids}
            edge_frames.append(self._frame(ids, len(csr.indices)))
        counts = [
            content.num_nodes(layer + side, t) for side in (0, 1) for t in range(len(types.ntypes))
        ]
        both = zip([*range(len(types.ntypes))] * 2, counts, strict=True)
        node_frames = [self._frame({NID: content.node_ids(t, n)}, n) for t, n in both]
        index = relations[0]
        if self._meta is not None:
            index = self._dgl.heterograph_index.create_heterograph_from_relations(
                self._meta, relations, self._dgl.utils.toindex(counts, "int64")
            )
        names = types.ntypes, types.ntypes
        return self._made(index, names, types.etypes, node_frames, edge_frames)
