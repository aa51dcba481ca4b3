# SPDX-License-Identifier: Apache-2.0
"""A mini-batch and its blocks, over the memory that the library sampled it into.

Nothing is copied and nothing is made before it is asked for: a batch that a loop only takes the
features of costs a few calls, whatever its size. Arrays keep the batch's memory alive; it is given
back when the last of them goes, on whatever thread.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, MutableMapping
from types import MappingProxyType
from typing import Any, NamedTuple, cast

import numpy as np

from . import _core, errors
from .arrays import DTYPES, Tensors, id_tensor, tensor_of
from .binding import address, call, ffi, function_address, lib, made
from .display import Display
from .negative_pairs import ENDS, joined
from .types import EID, NID, EtypeName, Types


class Layout(NamedTuple):
    """What the batches of a loader have in common."""

    types: Types
    tensors: Tensors
    features: str | None
    labels: str | None
    # Trainers that share a step.
    world: int = 1
    # The shapes of a row of features and labels, by node type and name; of others: the width.
    row_shapes: Mapping[tuple[int, str], tuple[int, ...]] = MappingProxyType({})


class Content:
    """What a batch holds, for the batch and its blocks, which know it and not each other."""

    __slots__ = ("_counts", "_handle", "_structs", "layout", "num_layers", "pointer")

    def __init__(self, pointer: Any, layout: Layout) -> None:
        self._handle = _core.Handle(address(pointer), function_address("tr_batch_release"))
        self.pointer = pointer
        self.layout = layout
        self.num_layers = int(lib.tr_batch_num_layers(pointer))
        self._counts: dict[tuple[int, int], int] = {}
        self._structs: dict[tuple[int, int], Any] = {}

    def view(self, pointer: Any, dtype: str, shape: tuple[int, ...]) -> _core.View:
        """A piece of the batch's memory."""
        return _core.View(self._handle, address(pointer), dtype, shape)

    def array(self, pointer: Any, dtype: str, shape: tuple[int, ...]) -> Any:
        """The same, as the graph's tensors are."""
        return tensor_of(self.view(pointer, dtype, shape), self.layout.tensors)

    def block(self, layer: int, etype: int) -> Any:
        """The library's block of a layer and edge type."""
        found = self._structs.get((layer, etype))
        if found is None:
            found = made("tr_block")
            call(lib.tr_batch_block, self.pointer, layer, etype, found)
            if max(found.num_src, found.num_dst, found.num_edges) >= 1 << 31:
                raise errors.TooBig("a block of 2^31 nodes or edges: positions are int32 in Python")
            self._structs[layer, etype] = found
        return found

    def num_nodes(self, layer: int, ntype: int) -> int:
        """Nodes of a type that are sources of a layer; of the layer behind the last: seeds."""
        found = self._counts.get((layer, ntype))
        if found is None:
            found = self._counts[layer, ntype] = self._count_nodes(layer, ntype)
        return found

    def _count_nodes(self, layer: int, ntype: int) -> int:
        if layer == 0:
            count = ffi.new("size_t *")
            lib.tr_batch_nodes(self.pointer, ntype, count)
            return int(count[0])
        if layer < self.num_layers:
            for etype, ends in enumerate(self.layout.types.ends):
                if ntype not in ends:
                    continue
                # Along out-edges the types of both ends have changed places.
                here, above = self.block(layer, etype), self.block(layer - 1, etype)
                if ends[here.direction] == ntype:
                    return int(here.num_src)
                if ends[1 - above.direction] == ntype:
                    return int(above.num_dst)
        return int(lib.tr_batch_num_seeds(self.pointer, ntype))

    def block_types(self, layer: int) -> Types:
        """The types of a block's edges; those drawn along out-edges have their ends swapped."""
        types = self.layout.types
        if types.is_homogeneous:
            return types
        out = [bool(self.block(layer, etype).direction) for etype in range(len(types.etypes))]
        return types.turned(out) if any(out) else types

    def node_ids(self, ntype: int, count: int, original: bool = False) -> Any:
        """The first `count` nodes of a type."""
        total = ffi.new("size_t *")
        function = lib.tr_batch_original_ids if original else lib.tr_batch_nodes
        ids = function(self.pointer, ntype, total)
        if original and count and not total[0]:
            raise errors.NotFound("no original IDs came along: open the loader with orig_ids=True")
        return self.array(ids, "int64", (min(count, int(total[0])),))

    def degrees(self, function: Any, ntype: int) -> Any:
        """Degrees of all nodes of a type, in or out as the library's function says."""
        found = function(self.pointer, ntype)
        count = self.num_nodes(0, ntype)
        if found == ffi.NULL and count:
            raise errors.NotFound("no degrees came along: open the loader with degrees=True")
        return self.array(found, "int32", (count,))

    def rows(self, ntype: int, labels: bool) -> Any | None:
        """The features (or labels) of a type that came along, the library's; None: none did."""
        rows = made("tr_rows")
        function = lib.tr_batch_labels if labels else lib.tr_batch_features
        code = function(self.pointer, ntype, rows, ffi.NULL)
        return rows if code == 0 else None

    def rows_array(self, ntype: int, labels: bool, count: int | None = None) -> Any:
        """The same as an array; its first `count` rows."""
        rows = self.rows(ntype, labels)
        if rows is None:
            raise errors.NotFound("the batch has no such rows")
        have = int(rows.num_rows) if count is None else min(count, int(rows.num_rows))
        name = self.layout.labels if labels else self.layout.features
        row = self.layout.row_shapes.get((ntype, name or ""))
        if row is None:
            row = () if rows.width == 1 else (int(rows.width),)
        return self.array(rows.rows, DTYPES[rows.dtype], (have, *row))

    def table_rows(self, number: int, layer: int, dtype: str, row: tuple[int, ...]) -> Any:
        """The rows of a table that the spec of the draw lists; of edges, those of a layer."""
        rows = made("tr_rows")
        call(lib.tr_batch_table, self.pointer, number, layer, rows)
        return self.array(rows.rows, dtype, (int(rows.num_rows), *row))


# The rows of edges that were drawn by weights, as DGL's samplers name them.
EDGE_WEIGHTS = "edge_weights"


class Csr(NamedTuple):
    """The edges of a block by their destinations: those of destination d are
    ``indices[indptr[d]:indptr[d + 1]]``, positions among the source nodes."""

    indptr: Any
    indices: Any
    edge_ids: Any


class Frame(MutableMapping[str, Any]):
    """Rows by name of the nodes or edges of one type in a block; what is set stays in Python."""

    def __init__(self, lazy: dict[str, Callable[[], Any]]) -> None:
        self._lazy = lazy
        self._values: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._values:
            if name not in self._lazy:
                known = ", ".join(map(repr, self)) or "nothing"
                raise KeyError(f"no {name!r} came with the batch; it has {known}")
            self._values[name] = self._lazy[name]()
        return self._values[name]

    def __setitem__(self, name: str, value: Any) -> None:
        self._values[name] = value

    def __delitem__(self, name: str) -> None:
        if name not in self._lazy and name not in self._values:
            raise KeyError(name)
        self._lazy.pop(name, None)
        self._values.pop(name, None)

    def __contains__(self, name: object) -> bool:
        return name in self._lazy or name in self._values

    def __iter__(self) -> Iterator[str]:
        yield from self._lazy
        yield from (name for name in self._values if name not in self._lazy)

    def __len__(self) -> int:
        return len(self._lazy.keys() | self._values.keys())

    def set_values(self) -> Iterator[tuple[str, Any]]:
        """Names and rows that a program set, or that were asked for."""
        yield from self._values.items()

    def __repr__(self) -> str:
        return f"Frame({', '.join(map(repr, self))})"


class Frames(MutableMapping[str, Any]):
    """Frames of several types: ``["h"]`` is a mapping of types to rows, as DGL has it."""

    def __init__(self, frames: dict[Any, Frame]) -> None:
        self._frames = frames

    def __getitem__(self, name: str) -> Any:
        found = {t: frame[name] for t, frame in self._frames.items() if name in frame}
        if not found:
            raise KeyError(name)
        return found

    def __setitem__(self, name: str, value: Any) -> None:
        for type_name, rows in value.items():
            self._frames[type_name][name] = rows

    def __delitem__(self, name: str) -> None:
        for frame in self._frames.values():
            frame.pop(name, None)

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys(name for frame in self._frames.values() for name in frame))

    def __len__(self) -> int:
        return len(list(iter(self)))


class TypeFrame(NamedTuple):
    """The rows of a type, as ``block.srcnodes[type].data``."""

    data: Frame


class FrameView:
    """Frames by type: ``block.srcnodes["paper"].data``."""

    def __init__(self, find: Callable[[Any], Frame]) -> None:
        self._find = find

    def __getitem__(self, name: Any) -> TypeFrame:
        return TypeFrame(self._find(name))


class EdgeView(FrameView):
    """``block.edges(...)`` and ``block.edges[type].data``."""

    def __init__(self, block: Block) -> None:
        super().__init__(block.edge_frame)
        self._block = block

    def __call__(self, form: str = "uv", order: str | None = None, etype: EtypeName = None) -> Any:
        """Positions of the ends of edges among source and destination nodes.

        Parameters
        ----------
        form : "uv", "all" or "eid"
            Sources and destinations; these and the edges' positions; or those alone.
        order : accepted as DGL has it; edges stand by destination.
        etype : the edge type; None: the only one.

        Returns
        -------
        int32, shape ``(num_edges,)`` each.
        """
        csr = self._block.as_csr(etype, edge_ids=False)
        tensors = self._block.content.layout.tensors
        if form not in ("uv", "all", "eid"):
            raise ValueError(f'form={form!r}: give "uv", "all" or "eid"')
        if str(self._block.device) != "cpu":
            return _edges_of_device(csr, form)
        places = id_tensor(cast(Any, np.arange(len(csr.indices), dtype=np.int32)), tensors)
        if form == "eid":
            return places
        index = np.asarray(csr.indptr)
        counts = np.diff(index)
        into = np.repeat(np.arange(len(counts), dtype=np.int32), counts)
        ends = (csr.indices, id_tensor(cast(Any, into), tensors))
        return ends if form == "uv" else (*ends, places)


def _edges_of_device(csr: Csr, form: str) -> Any:
    """The same of a block that was moved, without a way back."""
    import torch

    count, where = len(csr.indices), csr.indices.device
    places = torch.arange(count, dtype=torch.int32, device=where)
    if form == "eid":
        return places
    degrees = (csr.indptr[1:] - csr.indptr[:-1]).long()
    rows = torch.arange(len(degrees), dtype=torch.int32, device=where)
    into = torch.repeat_interleave(rows, degrees, output_size=count)
    return (csr.indices, into) if form == "uv" else (csr.indices, into, places)


def _then(move: Callable[[Any], Any], rows: Callable[[], Any]) -> Callable[[], Any]:
    return lambda: move(rows())


class Block:
    """One layer of a batch: edges from source nodes to destination nodes.

    Destination nodes are the first of the source nodes, in both the order of the batch's nodes.
    Edges that were drawn along out-edges lead from the neighbours to the nodes that drew them, as
    messages do: their type is the graph's with its ends swapped, ("paper", "writes", "author").
    """

    is_block = True

    def __init__(self, content: Content, layer: int) -> None:
        self.content = content
        self.layer = layer
        self._frames: dict[tuple[str, int], Frame] = {}
        # Where the block was moved to: the device, and what moves an array there.
        self._moved: tuple[Any, Callable[[Any], Any]] | None = None
        self._csrs: dict[tuple[int, bool], Csr] = {}
        self._types: Types | None = None
        # What layers make of the edges, as long as the block lives; nothing that refers to it.
        self.kept: dict[Any, Any] = {}

    # Types and counts.

    @property
    def types(self) -> Types:
        """The types of nodes and edges."""
        if self._types is None:
            self._types = self.content.block_types(self.layer)
        return self._types

    @property
    def ntypes(self) -> list[str]:
        """Node types, in the order of their numbers."""
        return self.types.ntypes

    srctypes = dsttypes = ntypes

    @property
    def etypes(self) -> list[str]:
        """Relations of edge types, likewise."""
        return self.types.etypes

    @property
    def canonical_etypes(self) -> list[tuple[str, str, str]]:
        """Edge types, likewise."""
        return self.types.canonical_etypes

    def num_src_nodes(self, ntype: str | None = None) -> int:
        """Source nodes of a type; None: of all types."""
        types = self.types
        wanted = range(len(types.ntypes)) if ntype is None else [types.ntype(ntype)]
        return sum(self.content.num_nodes(self.layer, t) for t in wanted)

    def num_dst_nodes(self, ntype: str | None = None) -> int:
        """Destination nodes of a type; None: of all types."""
        types = self.types
        wanted = range(len(types.ntypes)) if ntype is None else [types.ntype(ntype)]
        return sum(self.content.num_nodes(self.layer + 1, t) for t in wanted)

    def num_edges(self, etype: EtypeName = None) -> int:
        """Edges of a type; None: of all types."""
        types = self.types
        wanted = range(len(types.etypes)) if etype is None else [types.etype(etype)]
        return sum(int(self.content.block(self.layer, t).num_edges) for t in wanted)

    number_of_src_nodes = num_src_nodes
    number_of_dst_nodes = num_dst_nodes
    number_of_edges = num_edges

    # Edges.

    @property
    def edges(self) -> EdgeView:
        """Ends of edges: call it; rows of edges: index it by type."""
        return EdgeView(self)

    def as_csr(self, etype: EtypeName = None, *, edge_ids: bool = True) -> Csr:
        """The edges of a type by their destinations, without a copy.

        Returns
        -------
        Csr
            ``indptr``: int32, shape ``(num_dst + 1,)``; ``indices``: int32, ``(num_edges,)``,
            positions among the source nodes of the edge type's source type; ``edge_ids``: int64,
            ``(num_edges,)``, per-type global IDs, or None where the loader gives none.
        """
        number = self.types.etype(etype)
        found = self._csrs.get((number, edge_ids))
        if found is None:
            found = self._csrs[number, edge_ids] = self._csr(number, edge_ids)
        return found

    def _csr(self, number: int, edge_ids: bool) -> Csr:
        content = self.content
        block = content.block(self.layer, number)
        count = int(block.num_edges)
        ids = None
        # Of no edges there are IDs, though the library points at none.
        if edge_ids and (not count or block.edge_ids != ffi.NULL):
            ids = content.array(block.edge_ids, "int64", (count,))
        csr = Csr(
            content.array(block.index, "int32", (int(block.num_dst) + 1,)),
            content.array(block.sources, "int32", (count,)),
            ids,
        )
        if self._moved is None:
            return csr
        move = self._moved[1]
        return Csr(*(None if part is None else move(part) for part in csr))

    def as_scipy(self, etype: EtypeName = None) -> Any:
        """The edges of a type as ``scipy.sparse.csr_matrix``, over the same memory.

        Returns
        -------
        csr_matrix
            Shape ``(num_dst, num_src)``; its values are the edges' global IDs, or ones where the
            loader gives none.
        """
        from scipy.sparse import csr_matrix

        name = self.canonical_etypes[self.types.etype(etype)]
        csr = self.as_csr(name)
        index, sources = np.asarray(csr.indptr), np.asarray(csr.indices)
        ids = np.ones(len(sources), np.int8) if csr.edge_ids is None else np.asarray(csr.edge_ids)
        shape = (self.num_dst_nodes(name[2]), self.num_src_nodes(name[0]))
        matrix = csr_matrix(shape, dtype=ids.dtype)
        # Its constructor would copy what is read-only.
        matrix.indptr, matrix.indices, matrix.data = index, sources, ids
        return matrix

    @property
    def is_untouched(self) -> bool:
        """Whether it is as it was sampled: of PyTorch, in place, with no rows but IDs."""
        layout = self.content.layout
        plain = layout.tensors == "torch" and layout.features is None and layout.labels is None
        return plain and not self._frames and self._moved is None

    def to_dgl(self, idtype: Any = None) -> Any:
        """The block as DGL's `DGLBlock` over the same memory; see `dgl_block.to_dgl`."""
        from .dgl_block import to_dgl

        return to_dgl(self, idtype)

    # Devices.

    @property
    def device(self) -> Any:
        """Where its tensors are: ``torch.device``, or "cpu" where they are of NumPy."""
        if self.content.layout.tensors != "torch":
            return "cpu"
        import torch

        return torch.device("cpu") if self._moved is None else self._moved[0]

    def to(self, device: Any, non_blocking: bool = False) -> Block:
        """The block on a device: its edges, and rows as they are asked for.

        Parameters
        ----------
        device : torch.device, str or int
        non_blocking : bool
            Copies need not be done when this returns.

        Returns
        -------
        Block
            The same block where it is there already.
        """
        if self.content.layout.tensors != "torch":
            if str(device) == "cpu":
                return self
            raise errors.Unsupported(
                f'to({device!r}): the arrays are of NumPy; open the graph with tensors="torch"'
            )
        import torch

        place = torch.device(device)
        if place == self.device:
            return self

        def move(rows: Any) -> Any:
            return rows.to(place, non_blocking=non_blocking)

        moved = Block(self.content, self.layer)
        moved._moved = (place, move)
        for key, frame in self._frames.items():
            for name, rows in frame.set_values():
                moved._frame(*key)[name] = move(rows)
        return moved

    def in_degrees(self, etype: EtypeName = None) -> Any:
        """Edges into each destination node in the block: int32, shape ``(num_dst,)``."""
        index = self.as_csr(etype, edge_ids=False).indptr
        return index[1:] - index[:-1]

    def graph_degrees(self, ntype: str | None = None) -> tuple[Any, Any]:
        """In-degrees and out-degrees of source nodes in the whole graph, over all edge types:
        int32, shape ``(num_src,)`` each."""
        content, number = self.content, self.types.ntype(ntype)
        count = content.num_nodes(self.layer, number)
        functions = (lib.tr_batch_in_degrees, lib.tr_batch_out_degrees)
        found = tuple(content.degrees(function, number)[:count] for function in functions)
        move = self._moved[1] if self._moved is not None else None
        return (found[0], found[1]) if move is None else (move(found[0]), move(found[1]))

    # Rows.

    def _frame(self, side: str, number: int) -> Frame:
        found = self._frames.get((side, number))
        if found is None:
            lazy = self._edge_rows(number) if side == "edge" else self._node_rows(side, number)
            if self._moved is not None:
                move = self._moved[1]
                lazy = {name: _then(move, rows) for name, rows in lazy.items()}
            found = self._frames[side, number] = Frame(lazy)
        return found

    def _node_rows(self, side: str, ntype: int) -> dict[str, Callable[[], Any]]:
        content, layout = self.content, self.content.layout
        count = content.num_nodes(self.layer if side == "src" else self.layer + 1, ntype)
        rows: dict[str, Callable[[], Any]] = {NID: lambda: content.node_ids(ntype, count)}
        if layout.features is not None and content.rows(ntype, False) is not None:
            rows[layout.features] = lambda: content.rows_array(ntype, False, count)
        last = side == "dst" and self.layer == content.num_layers - 1
        if last and layout.labels is not None and content.rows(ntype, True) is not None:
            rows[layout.labels] = lambda: content.rows_array(ntype, True, count)
        return rows

    def _edge_rows(self, etype: int) -> dict[str, Callable[[], Any]]:
        content, block = self.content, self.content.block(self.layer, etype)
        count = int(block.num_edges)
        rows: dict[str, Callable[[], Any]] = {}
        if not count or block.edge_ids != ffi.NULL:
            rows[EID] = lambda: content.array(block.edge_ids, "int64", (count,))
        if block.edge_weights != ffi.NULL:
            rows[EDGE_WEIGHTS] = lambda: self.drawn_weights(etype)[EDGE_WEIGHTS]
        return rows

    def drawn_weights(self, etype: int) -> dict[str, Any]:
        """The weights of edges that were drawn by weights, by their name; else nothing."""
        block = self.content.block(self.layer, etype)
        if block.edge_weights == ffi.NULL:
            return {}
        shape = (int(block.num_edges),)
        return {EDGE_WEIGHTS: self.content.array(block.edge_weights, "float32", shape)}

    def edge_counts(self, etype: EtypeName = None) -> Any | None:
        """Of edges that were drawn by weights: how many edges each stands for, float32, shape
        ``(num_edges,)``; None: they were not."""
        number = self.content.layout.types.etype(etype)
        if self.content.block(self.layer, number).edge_weights == ffi.NULL:
            return None
        return self._frame("edge", number)[EDGE_WEIGHTS]

    def edge_frame(self, etype: EtypeName) -> Frame:
        """The rows of edges of a type."""
        return self._frame("edge", self.types.etype(etype))

    @property
    def srcnodes(self) -> FrameView:
        """Rows of source nodes by type."""
        return FrameView(lambda n: self._frame("src", self.types.ntype(n)))

    @property
    def dstnodes(self) -> FrameView:
        """Rows of destination nodes by type."""
        return FrameView(lambda n: self._frame("dst", self.types.ntype(n)))

    def _data(self, side: str, names: list[Any]) -> Frame | Frames:
        if len(names) == 1:
            return self._frame(side, 0)
        return Frames({name: self._frame(side, i) for i, name in enumerate(names)})

    @property
    def srcdata(self) -> Frame | Frames:
        """Rows of source nodes: ``[NID]`` are their global IDs, and the features that came."""
        return self._data("src", self.ntypes)

    @property
    def dstdata(self) -> Frame | Frames:
        """Rows of destination nodes; of the last block also the labels that came."""
        return self._data("dst", self.ntypes)

    @property
    def edata(self) -> Frame | Frames:
        """Rows of edges.

        ``[EID]`` are their global IDs, where the loader gives them. ``["edge_weights"]`` are those
        of edges that were drawn by ``prob=``: sums of them times any values estimate the sums over
        all in-edges without bias.
        """
        return self._data("edge", self.canonical_etypes)

    def __repr__(self) -> str:
        return (
            f"Block(layer {self.layer}: {self.num_edges()} edges from {self.num_src_nodes()} "
            f"to {self.num_dst_nodes()} nodes)"
        )


class Batch:
    """A mini-batch: unpacks into ``input_nodes, output_nodes, blocks`` as DGL's loaders give it.

    Where the graph has several node types, IDs, features and labels are mappings by type.

    Its memory counts against the session's bound until the batch and every array of it are gone.
    """

    __slots__ = ("_blocks", "_place", "content")

    def __init__(self, pointer: Any, layout: Layout) -> None:
        self.content = Content(pointer, layout)
        self._blocks: list[Block] | None = None
        # What says where in the epoch it stands: of a padded batch, the one without seeds.
        self._place = self.content

    def pointer(self) -> Any:
        """The library's own batch."""
        return self.content.pointer

    @property
    def num_layers(self) -> int:
        """Blocks."""
        return self.content.num_layers

    def stand_for(self, empty: Batch) -> Batch:
        """Takes the place of a batch without seeds: it is padded then."""
        self._place = empty.content
        return self

    def count_seeds(self) -> int:
        """Seeds of all types; of a padded batch, those that pad it."""
        types = range(len(self.content.layout.types.ntypes))
        return sum(int(lib.tr_batch_num_seeds(self.content.pointer, t)) for t in types)

    # Where it stands.

    @property
    def padded(self) -> bool:
        """Whether this trainer has no seed in this step: the batch then has one that counts not.

        So every trainer has the same number of batches, all of which a model can be called with.
        """
        return self._place is not self.content

    @property
    def weight(self) -> float:
        """By what a mean loss is multiplied where gradients are averaged over trainers.

        Their average then is the gradient of the mean over all seeds of the step; 0 of a padded
        batch, 1 where one trainer has all.
        """
        if self.padded:
            return 0.0
        pairs = self._pairs_by_type()
        count = sum(int(one.count) for one in pairs.values()) if pairs else self.count_seeds()
        return count * self._place.layout.world / max(self.step_seeds, 1)

    @property
    def epoch(self) -> int:
        """The epoch, from 0."""
        return int(lib.tr_batch_epoch(self._place.pointer))

    @property
    def index(self) -> int:
        """Its number in the epoch, from 0."""
        return int(lib.tr_batch_index(self._place.pointer))

    @property
    def rank(self) -> int:
        """The trainer that it was made for."""
        return int(lib.tr_batch_rank(self._place.pointer))

    @property
    def step_seeds(self) -> int:
        """Seeds of its step over all trainers: what the gradient of a mean loss is divided by."""
        return int(lib.tr_batch_step_seeds(self._place.pointer))

    def digest(self) -> int:
        """A hash of the batch in original IDs: equal on every placement, in C and in Python."""
        digest = ffi.new("uint64_t *")
        call(lib.tr_batch_digest, self._place.pointer, digest)
        return int(digest[0])

    # What it holds.

    def _per_ntype(self, value: Callable[[int], Any]) -> Any:
        types = self.content.layout.types
        if len(types.ntypes) == 1:
            return value(0)
        return {name: value(i) for i, name in enumerate(types.ntypes)}

    @property
    def input_nodes(self) -> Any:
        """Global IDs of all nodes, seeds first: int64, shape ``(num_nodes,)``."""
        return self._per_ntype(lambda t: self.content.node_ids(t, self.content.num_nodes(0, t)))

    @property
    def output_nodes(self) -> Any:
        """Global IDs of the seeds: int64, shape ``(num_seeds,)``."""
        return self._per_ntype(
            lambda t: self.content.node_ids(t, self.content.num_nodes(self.content.num_layers, t))
        )

    def _pairs_by_type(self) -> dict[int, Any]:
        """The pairs that are the seeds, by the numbers of their edge types; of nodes none."""
        found, pairs = {}, made("tr_pairs")
        for etype in range(len(self.content.layout.types.etypes)):
            if lib.tr_batch_pairs_of(self.content.pointer, etype, pairs, ffi.NULL) == 0:
                found[etype], pairs = pairs, made("tr_pairs")
        return found

    def _per_pair_type(self, value: Callable[[int, Any], Any]) -> Any:
        """A value of the pairs or, where the loader's are of several edge types, by these."""
        pairs = self._pairs_by_type()
        if not pairs:
            call(lib.tr_batch_pairs, self.content.pointer, made("tr_pairs"))
        if len(pairs) == 1:
            return next(value(etype, one) for etype, one in pairs.items())
        names = self.content.layout.types.canonical_etypes
        return {names[etype]: value(etype, one) for etype, one in pairs.items()}

    @property
    def seed_edges(self) -> Any:
        """Global IDs of the edges that are the seeds: int64, of several edge types a mapping of
        these to them; None: the seeds are nodes or pairs."""
        pairs = self._pairs_by_type().values()
        if not pairs or not all(one.edge_ids for one in pairs):
            return None
        return self._per_pair_type(lambda _, one: self._edge_ids(one))

    def _edge_ids(self, pairs: Any) -> Any:
        ids = np.empty(int(pairs.count), np.int64)
        if len(ids):
            ffi.memmove(ids, pairs.edge_ids, ids.nbytes)
        return id_tensor(ids, self.content.layout.tensors)

    @property
    def pairs(self) -> Any:
        """Positions of sources and destinations of the pairs that are the seeds, among the nodes of
        their types: int64, shape ``(num_pairs,)`` each; of several edge types a mapping of these to
        such positions.

        Raises
        ------
        NotFound
            The seeds are nodes.
        """
        return self._per_pair_type(lambda _, one: self._ends(one, int(one.count)))

    def _ends(self, pairs: Any, count: int) -> tuple[Any, Any]:
        return self._positions(pairs.sources, count), self._positions(pairs.destinations, count)

    def _negatives(self, etype: int) -> Any:
        negatives = made("tr_negatives")
        call(lib.tr_batch_negatives_of, self.content.pointer, etype, negatives)
        return negatives

    @property
    def negative_pairs(self) -> Any:
        """The same of pairs that need be no edges: the negatives of each of `pairs`, in order.

        Of one pair those with another destination come first, then those with another source.

        Raises
        ------
        NotFound
            The loader was asked for none.
        """
        return self._per_pair_type(self._negative_pairs)

    def _negative_pairs(self, etype: int, pairs: Any) -> tuple[Any, Any]:
        negatives = self._negatives(etype)
        drawn = (
            self._positions(negatives.sources, int(negatives.count_sources)),
            self._positions(negatives.destinations, int(negatives.count)),
        )
        # A pair alone in its batch has no ends of others.
        count = int(pairs.count) if len(drawn[0]) + len(drawn[1]) > 0 else 0
        ends = ENDS[int(negatives.negative_ends)]
        return joined(self._ends(pairs, count), drawn, ends, int(negatives.num_negatives))

    @property
    def negative_edges(self) -> Any:
        """How many of `negative_pairs` are edges, where those that are were to be drawn again:
        each draw of them was one. Of several edge types a mapping of these to such numbers.

        Raises
        ------
        NotFound
            The loader was asked for none.
        """
        return self._per_pair_type(lambda etype, _: int(self._negatives(etype).num_edges))

    @staticmethod
    def _positions(pointer: Any, count: int) -> Any:
        narrow = np.empty(count, np.uint32)
        if count:
            ffi.memmove(narrow, pointer, narrow.nbytes)
        return narrow.astype(np.int64)

    @property
    def orig_nodes(self) -> Any:
        """The user's own IDs of `input_nodes`, in the same order."""
        return self._per_ntype(
            lambda t: self.content.node_ids(t, self.content.num_nodes(0, t), True)
        )

    @property
    def blocks(self) -> list[Block]:
        """The layers, from input to output."""
        if self._blocks is None:
            self._blocks = [Block(self.content, layer) for layer in range(self.num_layers)]
        return self._blocks

    def _came(self, labels: bool) -> Any:
        types = self.content.layout.types
        found = {
            name: self.content.rows_array(i, labels)
            for i, name in enumerate(types.ntypes)
            if self.content.rows(i, labels) is not None
        }
        if len(types.ntypes) > 1:
            return found
        if not found:
            what = "labels" if labels else "features"
            raise errors.NotFound(f"no {what} came along: open the loader with {what}='NAME'")
        return found[types.ntypes[0]]

    @property
    def features(self) -> Any:
        """Rows of `input_nodes` of the loader's feature: shape ``(num_nodes, *row)``, the rows as
        ``graph.ndata`` has them."""
        return self._came(False)

    @property
    def labels(self) -> Any:
        """Rows of `output_nodes` of the loader's labels: shape ``(num_seeds, *row)``, likewise."""
        return self._came(True)

    def _degrees(self, function: Any) -> Any:
        return self._per_ntype(lambda ntype: self.content.degrees(function, ntype))

    @property
    def in_degrees(self) -> Any:
        """In-degrees of `input_nodes` in the whole graph, over all edge types: int32."""
        return self._degrees(lib.tr_batch_in_degrees)

    @property
    def out_degrees(self) -> Any:
        """Out-degrees of `input_nodes` in the whole graph, over all edge types: int32."""
        return self._degrees(lib.tr_batch_out_degrees)

    def to_pyg(self) -> Any:
        """The batch as PyG's `Data`, or `HeteroData` of several types; see `pyg_data.to_pyg`."""
        from .pyg_data import to_pyg

        return to_pyg(self)

    def __iter__(self) -> Iterator[Any]:
        yield self.input_nodes
        yield self.output_nodes
        yield self.blocks

    def __repr__(self) -> str:
        types = range(len(self.content.layout.types.ntypes))
        seeds = sum(self.content.num_nodes(self.content.num_layers, t) for t in types)
        nodes = sum(self.content.num_nodes(0, t) for t in types)
        return (
            f"Batch({self.index} of epoch {self.epoch}: {seeds} seeds, {nodes} nodes, "
            f"{self.num_layers} layers)"
        )

    def _repr_html_(self) -> str:
        rows = [
            (layer, block.num_src_nodes(), block.num_dst_nodes(), block.num_edges())
            for layer, block in enumerate(self.blocks)
        ]
        head = ("layer", "source nodes", "destination nodes", "edges")
        return Display(repr(self), head, rows).html()
