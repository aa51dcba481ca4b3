# SPDX-License-Identifier: Apache-2.0
"""Blocks as DGL's own `DGLBlock`, over the same memory; DGL is imported by the first one.

`dgl.create_block` looks at every edge again, which costs more than the block is worth; what is
behind it takes the arrays as they are.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from . import errors
from .types import EID, NID

if TYPE_CHECKING:
    from .batch import Block, Frame

FORMATS = ["coo", "csr", "csc"]


@cache
def _dgl() -> Any:
    """DGL, and the parts of it that make blocks."""
    try:
        dgl: Any = import_module("dgl")
        # dgl.heterograph is also a function, which hides the module.
        heterograph: Any = import_module("dgl.heterograph")
        frame, graph_index, utils = dgl.frame, dgl.graph_index, dgl.utils
        heterograph_index = dgl.heterograph_index
    except ImportError as error:
        raise errors.Unsupported(
            f"to_dgl(): dgl cannot be imported ({error}); install it, or use the block as it is"
        ) from error

    class Parts:
        module = dgl
        Frame = frame.Frame
        DGLBlock = heterograph.DGLBlock
        unit = staticmethod(heterograph_index.create_unitgraph_from_csr)
        relations = staticmethod(heterograph_index.create_heterograph_from_relations)
        meta = staticmethod(graph_index.from_coo)
        toindex = staticmethod(utils.toindex)

    return Parts


def _tensor(rows: Any) -> Any:
    """An array as a tensor over the same memory."""
    import torch

    return torch.from_numpy(rows) if isinstance(rows, np.ndarray) else rows


def _frame(rows: Frame, count: int) -> Any:
    return _dgl().Frame({name: _tensor(rows[name]) for name in rows}, num_rows=count)


def _unit(block: Block, etype: Any, ends: tuple[str, str], idtype: Any) -> Any:
    """The edges of one type as DGL's index."""
    import torch

    csr = block.as_csr(etype, edge_ids=False)
    index, sources = _tensor(csr.indptr), _tensor(csr.indices)
    if idtype is not None and idtype != torch.int32:
        index, sources = index.to(idtype), sources.to(idtype)
    every = _in_order(index, len(sources))
    counts = (block.num_src_nodes(ends[0]), block.num_dst_nodes(ends[1]))
    return _dgl().unit(2, *counts, index, sources, every, FORMATS, True)


# Numbers from 0 by their type, of which blocks have the first ones: nobody writes into them.
_numbers: dict[Any, Any] = {}


def _in_order(index: Any, count: int) -> Any:
    """Edges stand in the order of their positions; DGL's sums over features of edges ask for it."""
    import torch

    if index.device.type != "cpu":
        return torch.arange(count, dtype=index.dtype, device=index.device)
    found = _numbers.get(index.dtype)
    if found is None or len(found) < count:
        # Some more than are asked for, as the next block may have.
        found = _numbers[index.dtype] = torch.arange(count + count // 2, dtype=index.dtype)
    return found[:count]


def _untouched(block: Block) -> Any:
    """A block of a single edge type as it was sampled, of which nobody has seen rows yet."""
    parts, content, layer = _dgl(), block.content, block.layer
    types = content.layout.types
    csr = block.as_csr(types.canonical_etypes[0])
    counts = content.num_nodes(layer, 0), content.num_nodes(layer + 1, 0)
    every = _in_order(csr.indptr, len(csr.indices))
    index = parts.unit(2, *counts, csr.indptr, csr.indices, every, FORMATS, True)
    frames = [parts.Frame({NID: content.node_ids(0, count)}, count) for count in counts]
    rows = {} if csr.edge_ids is None else {EID: csr.edge_ids}
    rows.update(block.drawn_weights(0))
    edges = [parts.Frame(rows, len(csr.indices))]
    return parts.DGLBlock(index, (types.ntypes, types.ntypes), types.etypes, frames, edges)


def to_dgl(block: Block, idtype: Any = None) -> Any:
    """A block as `dgl.heterograph.DGLBlock`, over the same memory.

    Parameters
    ----------
    block : Block
    idtype : torch.dtype, optional
        Of positions: None or ``torch.int32``: as they are; ``torch.int64``: a copy.

    Returns
    -------
    DGLBlock
        Its `srcdata`, `dstdata` and `edata` have what the block's have.
    """
    parts = _dgl()
    types = block.content.layout.types
    if block.is_untouched and idtype is None and types.is_homogeneous and types.etypes:
        return _untouched(block)
    ntypes, canonical = types.ntypes, types.canonical_etypes
    units = [_unit(block, name, (name[0], name[2]), idtype) for name in canonical]
    frames = [_frame(block.srcnodes[n].data, block.num_src_nodes(n)) for n in ntypes]
    frames += [_frame(block.dstnodes[n].data, block.num_dst_nodes(n)) for n in ntypes]
    edges = [_frame(block.edges[name].data, block.num_edges(name)) for name in canonical]
    index = units[0]
    if len(ntypes) > 1 or len(canonical) > 1:
        counts = [block.num_src_nodes(n) for n in ntypes] + [block.num_dst_nodes(n) for n in ntypes]
        sources, destinations = zip(*types.ends, strict=True)
        meta = parts.meta(
            2 * len(ntypes), list(sources), [d + len(ntypes) for d in destinations], True
        )
        index = parts.relations(meta, units, parts.toindex(counts, "int64"))
    return parts.DGLBlock(index, (ntypes, ntypes), types.etypes, frames, edges)
