# SPDX-License-Identifier: Apache-2.0
"""What to draw, and drawing once, without a loader."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from . import errors
from .arrays import Ids, id_pointer
from .batch import Batch, Block, Layout
from .binding import call, deadline, encoded, ffi, filled, lib, made, owned
from .types import EtypeName

if TYPE_CHECKING:
    from .graph import DistGraph
    from .seeds import EdgeSet, PairSet

LAYERS_MAX: int = lib.TR_LAYERS_MAX
EVERY: int = lib.TR_EVERY
FOR_ALL: int = lib.TR_FOR_ALL
FOR_SEEDS: int = lib.TR_FOR_SEEDS

Fanout = int | Mapping[Any, int]


class TableWanted(NamedTuple):
    """A feature that comes along with a draw."""

    of_edges: bool
    type_number: int
    name: str
    # A layer: for the source nodes of its block, or its edges; FOR_ALL nodes, or FOR_SEEDS.
    where: int


class BlockSampler:
    """What draws the blocks of seeds; a program's own derives from it.

    A subclass defines ``sample_blocks(g, seeds, exclude_eids=None)``, which returns input nodes,
    output nodes and a list of blocks.
    """

    def sample_blocks(self, g: DistGraph, seeds: Any, exclude_eids: Any = None) -> Any:
        """Input nodes, output nodes and blocks of seeds."""
        raise NotImplementedError(f"{type(self).__name__} defines no sample_blocks()")

    def sample(self, g: DistGraph, seeds: Any, exclude_eids: Any = None) -> Any:
        """The same, as DGL calls it."""
        return self.sample_blocks(g, seeds, exclude_eids)


class NeighborSampler(BlockSampler):
    """Draws neighbours along in-edges or out-edges, layer by layer.

    Parameters
    ----------
    fanouts : sequence
        A number a layer, from the input layer to the output layer: of each edge type so many
        in-edges of a node are drawn; -1: all, 0: none. Or a mapping of edge types to such numbers,
        of which those that it does not name draw 0.
    edge_dir : "in" or "out"
        "out": out-edges are drawn, evenly, in a graph that was partitioned with ``out_edges=True``.
        The edges of a block lead from the neighbours to the nodes that drew them all the same.
    prob : str, optional
        An edge feature, in proportion to which edges are drawn; those of 0 never are. Blocks then
        have ``edata["edge_weights"]``. One of bool or uint8 is a mask. Edge types without it draw
        evenly.
    mask : str, optional
        An edge feature of bool or uint8; edges of 0 are not drawn.
    replace : bool
        Draw with replacement.
    total : bool
        The numbers are over all edge types together: so many of all edges of a node, evenly,
        without `prob` or `mask`.
    """

    def __init__(
        self,
        fanouts: Sequence[Fanout],
        edge_dir: str = "in",
        prob: str | None = None,
        mask: str | None = None,
        replace: bool = False,
        *,
        total: bool = False,
    ) -> None:
        if edge_dir not in ("in", "out"):
            raise errors.InvalidArgument(f"edge_dir={edge_dir!r}: give 'in' or 'out'")
        if prob is not None and mask is not None:
            raise errors.InvalidArgument("NeighborSampler: prob and mask exclude each other")
        if not 1 <= len(fanouts) <= LAYERS_MAX:
            raise errors.InvalidArgument(f"fanouts: {len(fanouts)} layers; 1 .. {LAYERS_MAX}")
        if total and any(isinstance(fanout, Mapping) for fanout in fanouts):
            raise errors.InvalidArgument("total=True: give a number a layer, over all edge types")
        self.fanouts = list(fanouts)
        self.edge_dir = edge_dir
        self.total = total
        self.replace = replace
        self.prob = prob
        self.mask = mask

    @property
    def num_layers(self) -> int:
        """Layers."""
        return len(self.fanouts)

    @property
    def is_plain(self) -> bool:
        """Whether a number a layer, and whether to replace, say all."""
        varied = any(isinstance(fanout, Mapping) for fanout in self.fanouts)
        turned = self.total or self.edge_dir != "in"
        return not varied and not turned and self.prob is None and self.mask is None

    def _draws_by(self, graph: DistGraph) -> tuple[str | None, str | None]:
        """The features that are weights and a mask."""
        if self.prob is None:
            return None, self.mask
        for number in range(len(graph.types.etypes)):
            info = graph.tables_of(True, number).get(self.prob)
            if info is not None and info.dtype in ("bool", "uint8"):
                return None, self.prob
        return self.prob, None

    def spec(self, graph: DistGraph) -> Any:
        """What is drawn, as the library takes it."""
        box = ffi.new("struct tr_sample_spec **")
        call(lib.tr_sample_spec_create, graph.pointer(), self.num_layers, box)
        spec = owned(box[0], lib.tr_sample_spec_destroy)
        if self.edge_dir == "out":
            call(lib.tr_sample_spec_set_direction, spec, EVERY, EVERY, lib.TR_OUT_EDGES)
        for layer, fanout in enumerate(self.fanouts):
            call(lib.tr_sample_spec_set_replace, spec, layer, EVERY, self.replace)
            if isinstance(fanout, Mapping):
                for name, number in fanout.items():
                    etype = graph.types.etype(name)
                    call(lib.tr_sample_spec_set_fanout, spec, layer, etype, whole_fanout(number))
            elif self.total:
                call(lib.tr_sample_spec_set_total, spec, layer, EVERY, whole_fanout(fanout))
            else:
                call(lib.tr_sample_spec_set_fanout, spec, layer, EVERY, whole_fanout(fanout))
        weights, mask = self._draws_by(graph)
        if weights is not None:
            call(lib.tr_sample_spec_set_weights, spec, EVERY, EVERY, encoded(weights))
        if mask is not None:
            call(lib.tr_sample_spec_set_mask, spec, EVERY, EVERY, encoded(mask))
        return spec

    def draw(
        self,
        g: DistGraph,
        seeds: Any,
        *,
        seed: int | None = None,
        exclude_eids: Any = None,
        features: str | None = None,
        labels: str | None = None,
        edge_ids: bool = True,
        orig_ids: bool = True,
        degrees: bool = False,
        tables: Sequence[TableWanted] = (),
        timeout: float | None = None,
    ) -> Batch:
        """Draws one batch; its seeds are in the order given, repeats included.

        Parameters
        ----------
        g : the graph.
        seeds : global IDs, or a mapping of node types to them.
        seed : of the random choices; None: the graph's next (of its session's seed and its calls).
        exclude_eids : edges that no layer draws: global IDs, or a mapping of edge types to them.
            They are left out before the draw, which is as full as the other edges allow.
        tables : features that come along beside `features` and `labels`; `batch_table` gives them.

        Returns
        -------
        Batch
            The same seeds, fanouts and seed give the same batch on any placement.
        """
        given = seeds if isinstance(seeds, Mapping) else {None: seeds}
        every = {g.types.ntype(name): ids for name, ids in given.items() if ids is not None}
        checked = {ntype: g.checked_ids(ids, False, ntype) for ntype, ids in every.items()}
        of = {ntype: ids for ntype, ids in checked.items() if len(ids)}
        if not of:
            raise errors.InvalidArgument("seeds: there are none; give at least one node")
        lists = list(of.values())
        ids = np.concatenate(lists)
        spec = self.spec(g)
        for of_edges, number, feature, where in tables:
            name_of_table = encoded(feature)
            call(lib.tr_sample_spec_add_table, spec, of_edges, number, name_of_table, where)
        options = made(
            "tr_sample_options",
            spec=spec,
            ntype=next(iter(of)),
            seeds=id_pointer(ids),
            num_seeds=len(ids),
            seed=g.next_seed() if seed is None else seed,
            edge_ids=edge_ids,
            original_ids=orig_ids,
            degrees=degrees,
        )
        if len(of) > 1:
            counts = ffi.new("size_t[]", [len(one) for one in lists])
            filled(options, ntypes=ffi.new("uint32_t[]", list(of)), counts=counts)
            filled(options, num_ntypes=len(of))
        return self._drawn(g, options, exclude_eids, features, labels, timeout)

    def draw_pairs(
        self,
        g: DistGraph,
        pairs: EdgeSet | PairSet,
        links: Mapping[str, Any],
        *,
        seed: int | None = None,
        exclude_eids: Any = None,
        features: str | None = None,
        labels: str | None = None,
        orig_ids: bool = True,
        timeout: float | None = None,
    ) -> Batch:
        """Draws one batch around the ends of all pairs of a set, each of which is one seed.

        Parameters
        ----------
        pairs : edges or pairs, at least one.
        links : fields of ``struct tr_link_options``: negatives, and a rule for edges left out.
        seed, exclude_eids, features, labels, orig_ids, timeout : of `draw`.

        Returns
        -------
        Batch
            `Batch.pairs` and `Batch.negative_pairs` say which nodes are whose ends.
        """
        options = made(
            "tr_sample_options",
            spec=self.spec(g),
            pairs=pairs.pointer(),
            links=made("tr_link_options", **links),
            seed=g.next_seed() if seed is None else seed,
            edge_ids=True,
            original_ids=orig_ids,
        )
        return self._drawn(g, options, exclude_eids, features, labels, timeout)

    @staticmethod
    def _drawn(
        g: DistGraph,
        options: Any,
        exclude_eids: Any,
        features: str | None,
        labels: str | None,
        timeout: float | None,
    ) -> Batch:
        """The batch of these options, with what a batch of any seeds has."""
        excluded, etypes = excluded_edges(g, exclude_eids)
        filled(
            options,
            excluded=id_pointer(excluded),
            excluded_etypes=ffi.cast("uint32_t *", etypes.ctypes.data),
            num_excluded=len(excluded),
            features=features,
            labels=labels,
        )
        return take_batch(
            g.session.waiter,
            Layout(g.types, g.tensors, features, labels, row_shapes=g.row_shapes(features, labels)),
            lib.tr_sample,
            g.pointer(),
            options,
            deadline(timeout),
        )

    def sample_blocks(
        self, g: DistGraph, seeds: Any, exclude_eids: Any = None
    ) -> tuple[Any, Any, list[Block]]:
        """Input nodes, output nodes and blocks of seeds."""
        batch = self.draw(g, seeds, exclude_eids=exclude_eids)
        return batch.input_nodes, batch.output_nodes, batch.blocks

    def __repr__(self) -> str:
        return f"NeighborSampler({self.fanouts})"


MultiLayerNeighborSampler = NeighborSampler


class MultiLayerFullNeighborSampler(NeighborSampler):
    """Takes every neighbour in each of `num_layers` layers."""

    def __init__(self, num_layers: int) -> None:
        super().__init__([-1] * num_layers)


class LaborSampler(NeighborSampler):
    """LABOR-0: nodes of a batch prefer the same neighbours, so the batch has fewer of them.

    Each source node has a random number in a layer, and a node keeps its in-edges with the smallest
    ones (Balin and Catalyurek, NeurIPS 2023). The draw of each node alone is even.

    Parameters
    ----------
    fanouts, mask : as of `NeighborSampler`.
    poisson : bool
        Keep each edge whose number is below fanout / in-degree: so many in the mean.
    """

    def __init__(
        self,
        fanouts: Sequence[Fanout],
        edge_dir: str = "in",
        mask: str | None = None,
        *,
        poisson: bool = False,
    ) -> None:
        super().__init__(fanouts, edge_dir, mask=mask)
        self.poisson = poisson

    @property
    def is_plain(self) -> bool:
        """Never: the way to draw is said too."""
        return False

    def spec(self, graph: DistGraph) -> Any:
        """What is drawn, as the library takes it."""
        spec = super().spec(graph)
        kind = lib.TR_SAMPLER_LABOR_POISSON if self.poisson else lib.TR_SAMPLER_LABOR
        call(lib.tr_sample_spec_set_sampler, spec, kind)
        return spec

    def __repr__(self) -> str:
        return f"LaborSampler({self.fanouts})"


def whole_fanout(fanout: Any) -> int:
    """A fanout that the library can be told, which says itself what is too large."""
    try:
        number = operator.index(fanout)
    except TypeError:
        raise TypeError(
            f"fanout={fanout!r}: give a whole number of edges; -1: all, 0: none"
        ) from None
    return max(-(2**31), min(number, 2**31 - 1))


def excluded_edges(g: DistGraph, edges: Any) -> tuple[Ids, np.ndarray[Any, Any]]:
    """Edges that a draw leaves out: their global IDs, and the numbers of their types."""
    if edges is None:
        edges = {}
    if not isinstance(edges, Mapping):
        edges = {g.types.canonical_etypes[g.types.etype(None)]: edges}
    ids, etypes = [np.empty(0, np.int64)], [np.empty(0, np.uint32)]
    for name, given in edges.items():
        if given is None:
            continue
        number = g.types.etype(name)
        ids.append(g.checked_ids(given, True, number))
        etypes.append(np.full(len(ids[-1]), number, np.uint32))
    return np.concatenate(ids), np.concatenate(etypes)


def take_batch(waiter: Any, layout: Layout, function: Any, *args: Any) -> Batch:
    """A batch of a call that gives one; nothing is left behind where a signal comes between."""
    box = ffi.new("struct tr_batch **")
    try:
        waiter.call(function, *args, box)
        pointer, box[0] = box[0], ffi.NULL
        return Batch(pointer, layout)
    except BaseException:
        lib.tr_batch_release(box[0])
        raise


def batch_table(g: DistGraph, batch: Batch, number: int, table: TableWanted) -> tuple[Any, Any]:
    """IDs and rows of the table of that number among those that came along with a draw."""
    content, of_edges, kind = batch.content, table.of_edges, table.type_number
    info = g.tables_of(of_edges, kind)[table.name]
    rows = content.table_rows(number, table.where if of_edges else 0, info.dtype, info.row)
    if of_edges:
        block = content.block(table.where, kind)
        return content.array(block.edge_ids, "int64", (int(block.num_edges),)), rows
    return content.node_ids(kind, len(rows)), rows


def _picked(ids: Any, places: Any) -> Any:
    """The IDs at places, an array or tensor as they are."""
    if isinstance(ids, np.ndarray):
        return ids[places]
    import torch

    return ids[torch.from_numpy(places.astype(np.int64))]


class SampledEdges:
    """Edges that `sample_neighbors` drew, in global IDs."""

    def __init__(self, batch: Batch) -> None:
        self.batch = batch

    def _block(self, number: int) -> Any:
        return self.batch.content.block(0, number)

    def num_edges(self, etype: EtypeName = None) -> int:
        """Edges of a type; None: of all."""
        types = self.batch.content.layout.types
        wanted = range(len(types.etypes)) if etype is None else [types.etype(etype)]
        return sum(int(self._block(number).num_edges) for number in wanted)

    def edges(self, etype: EtypeName = None) -> tuple[Any, Any]:
        """Global IDs of sources and destinations: int64, shape ``(num_edges,)`` each."""
        content = self.batch.content
        types = content.layout.types
        number = types.etype(etype)
        block = self._block(number)
        count, rows = int(block.num_edges), int(block.num_dst)
        index = np.asarray(content.array(block.index, "int32", (rows + 1,)))
        places = np.asarray(content.array(block.sources, "int32", (count,)))
        out = bool(block.direction)
        drew, neighbours = (
            content.node_ids(ntype, content.num_nodes(layer, ntype))
            for layer, ntype in zip((1, 0), types.ends[number][:: 1 if out else -1], strict=True)
        )
        into = np.repeat(np.arange(rows), np.diff(index))
        found = _picked(drew, into), _picked(neighbours, places)
        return found if out else found[::-1]

    def edge_ids(self, etype: EtypeName = None) -> Any:
        """Global IDs of the edges: int64, shape ``(num_edges,)``."""
        block = self._block(self.batch.content.layout.types.etype(etype))
        return self.batch.content.array(block.edge_ids, "int64", (int(block.num_edges),))

    def __repr__(self) -> str:
        return f"SampledEdges({self.num_edges()} edges)"


def sample_neighbors(
    g: DistGraph,
    nodes: Any,
    fanout: Fanout,
    edge_dir: str = "in",
    prob: str | None = None,
    replace: bool = False,
    *,
    seed: int | None = None,
    exclude_edges: Any = None,
) -> SampledEdges:
    """Draws edges of nodes: of each edge type `fanout`, or as a mapping says; -1: all.

    Parameters
    ----------
    g : the graph.
    nodes : global IDs, repeats allowed; or a mapping of one node type to them.
    edge_dir : "in": their in-edges; "out": their out-edges, as of `NeighborSampler`.
    prob : an edge feature that edges are drawn by, or a mask, as of `NeighborSampler`.
    seed : of the random choices; None: the graph's next.
    exclude_edges : edges that are left out before the draw, as of `NeighborSampler.draw`.
    """
    sampler = NeighborSampler([fanout], edge_dir, prob, None, replace)
    drawn = sampler.draw(g, nodes, seed=seed, exclude_eids=exclude_edges, orig_ids=False)
    return SampledEdges(drawn)
