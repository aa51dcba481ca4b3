# SPDX-License-Identifier: Apache-2.0
"""Blocks as DGL's own `DGLBlock`, over the same memory; DGL is imported by the first one.

`dgl.create_block` looks at every edge again, which costs more than the block is worth; what is
behind it takes the arrays as they are.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from . import errors
from .binding import ffi
from .types import EID, NID, CanonicalEtype

if TYPE_CHECKING:
    from .batch import Block, Frame


@cache
def _dgl() -> Any:
    """DGL, and the parts of it that make blocks."""
    try:
        dgl: Any = import_module("dgl")
        # dgl.heterograph is also a function, which hides the module.
        heterograph: Any = import_module("dgl.heterograph")
        generic: Any = import_module("dgl._ffi.object_generic")
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
        LateIds = _late_ids(frame)
        array = staticmethod(dgl.ndarray.from_dlpack)
        # What create_unitgraph_from_csr calls, which turns tensors into arrays and formats into
        # objects first.
        unit = staticmethod(heterograph_index._CAPI_DGLHeteroCreateUnitGraphFromCSR)
        formats = generic.convert_to_object(["coo", "csr", "csc"])
        relations = staticmethod(heterograph_index.create_heterograph_from_relations)
        meta = staticmethod(graph_index.from_coo)
        toindex = staticmethod(utils.toindex)

    return Parts


def _late_ids(frame: Any) -> Any:
    """A column of DGL's for IDs, which few programs look at, and never those of all blocks."""
    import torch

    scheme = frame.Scheme((), torch.int64)
    column: Any = frame.Column

    class LateIds(column):  # type: ignore[misc]
        """IDs of nodes or edges, whose tensor is made when it is first asked for."""

        def __init__(self, make: Callable[[], Any], count: int) -> None:
            self._make, self._count, self._made = make, count, None
            self._init(scheme)

        def __len__(self) -> int:
            untouched = self._made is None and self.index is None
            return self._count if untouched else int(super().__len__())

        @property
        def storage(self) -> Any:
            if self._made is None:
                self._made = self._make()
            return self._made

        @storage.setter
        def storage(self, rows: Any) -> None:
            self._made = rows

        def clone(self) -> Any:
            untouched = self._made is None and self.index is None and self.device is None
            return LateIds(self._make, self._count) if untouched else super().clone()

        def __reduce__(self) -> Any:
            return column, (self.data,)

    return LateIds


def _late_frame(count: int, name: str, make: Callable[[], Any]) -> Any:
    """A frame of IDs. Its constructor would clone the column, and look at it to count rows."""
    parts = _dgl()
    made = parts.Frame(None, count)
    made._columns[name] = parts.LateIds(make, count)
    return made


def _array(rows: Any) -> Any:
    """Positions as DGL's array over the same memory."""
    dlpack: Any = import_module("torch.utils.dlpack")
    return _dgl().array(dlpack.to_dlpack(rows.contiguous()))


@cache
def _fields(etype: CanonicalEtype) -> dict[str, Any]:
    """What all blocks of one edge type alone have in common, as DGL's constructor makes it."""
    parts = _dgl()
    nothing = _array_of_numbers("int32", 0)
    start = parts.array(np.zeros(1, np.int32).__dlpack__())
    unit = _unit_of((0, 0), start, nothing, nothing)
    return dict(vars(parts.DGLBlock(unit, ([etype[0]], [etype[2]]), [etype[1]])))


def _block_of(etype: CanonicalEtype, unit: Any, nodes: list[Any], edges: list[Any]) -> Any:
    """A block of a single edge type.

    The constructor would ask the index what the types say already. Blocks of the same types share
    that, as a graph of DGL and its `local_var` do; they differ by their edges and rows alone.
    """
    block_class = _dgl().DGLBlock
    made = block_class.__new__(block_class)
    fields = vars(made)
    fields.update(_fields(etype))
    fields["_graph"], fields["_node_frames"], fields["_edge_frames"] = unit, nodes, edges
    return made


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
    counts = (block.num_src_nodes(ends[0]), block.num_dst_nodes(ends[1]))
    every = _in_order(index, len(sources))
    return _unit_of(counts, _array(index), _array(sources), every)


def _unit_of(counts: tuple[int, int], index: Any, sources: Any, every: Any) -> Any:
    parts = _dgl()
    return parts.unit(2, *counts, index, sources, every, parts.formats, True)


# Numbers from 0 by their type, of which blocks have the first ones: nobody writes into them.
_numbers: dict[str, np.ndarray[Any, Any]] = {}


def _in_order(index: Any, count: int) -> Any:
    """Edges stand in the order of their positions; DGL's sums over features of edges ask for it."""
    import torch

    if index.device.type != "cpu":
        return _array(torch.arange(count, dtype=index.dtype, device=index.device))
    return _array_of_numbers(str(index.dtype).removeprefix("torch."), count)


def _array_of_numbers(dtype: str, count: int) -> Any:
    """The numbers from 0 on as DGL's array."""
    found = _numbers.get(dtype)
    if found is None or len(found) < count:
        # Some more than are asked for, as the next block may have.
        found = _numbers[dtype] = np.arange(count + count // 2, dtype=dtype)
    return _dgl().array(found[:count].__dlpack__())


def _untouched(block: Block) -> Any:
    """A block of a single edge type as it was sampled, of which nobody has seen rows yet."""
    parts, content, layer = _dgl(), block.content, block.layer
    types, found = content.layout.types, content.block(layer, 0)
    counts = content.num_nodes(layer, 0), content.num_nodes(layer + 1, 0)
    num_edges = int(found.num_edges)
    # No tensors between the batch's memory and DGL's arrays: each costs a few microseconds.
    index = content.view(found.index, "int32", (int(found.num_dst) + 1,))
    index = parts.array(index.__dlpack__())
    if num_edges:
        sources = parts.array(content.view(found.sources, "int32", (num_edges,)).__dlpack__())
    else:
        sources = _array_of_numbers("int32", 0)
    unit = _unit_of(counts, index, sources, _array_of_numbers("int32", num_edges))
    nodes = [_late_frame(n, NID, partial(content.node_ids, 0, n)) for n in counts]
    edges = parts.Frame(block.drawn_weights(0), num_edges)
    if found.edge_ids != ffi.NULL:
        ids = partial(content.array, found.edge_ids, "int64", (num_edges,))
        edges._columns[EID] = parts.LateIds(ids, num_edges)
    return _block_of(types.canonical_etypes[0], unit, nodes, [edges])


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
    types = block.types
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
