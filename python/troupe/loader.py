# SPDX-License-Identifier: Apache-2.0
"""Loaders: shuffled epochs of mini-batches, sampled ahead of the training loop."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from . import errors
from .batch import Batch, Layout
from .binding import FOREVER, call, deadline, ffi, filled, lib, made, opened, owned
from .epoch import Epoch, Epochs, check_place, place_of
from .locality import LocalShare, local_share
from .sampler import NeighborSampler, take_batch, whole_fanout
from .seeds import joined, sets_of

if TYPE_CHECKING:
    from .graph import DistGraph
    from .own_draws import OwnDraws
    from .sampler import BlockSampler


# What a loader is opened again with, in another process.
OPTIONS = (
    "batch_size",
    "shuffle",
    "drop_last",
    "features",
    "labels",
    "edge_ids",
    "orig_ids",
    "degrees",
    "prefetch",
    "seed",
    "rank",
    "world",
    "timeout",
    "num_workers",
    "collate_fn",
    "worker_processes",
)


class DistNodeDataLoader:
    """Mini-batches of nodes, drawn by the library's own threads ahead of the loop.

    Each ``for`` over it is an epoch; leaving one early drops the rest of it. The same seed, nodes
    and options give the same batches on any placement, in C and in Python.

    Parameters
    ----------
    g : DistGraph
    nids : NodeSet, Table, list or mapping
        The seeds: of `node_split`, a mask of the graph, global IDs, a mapping of node types to
        these, or None for all nodes. Without `shuffle` they come in the order of original IDs.
    graph_sampler : NeighborSampler, or BlockSampler of the program's own
        Of the second ``sample_blocks(g, seeds)`` draws; what it returns is delivered. Where this
        trainer has no seed in a step, that is what it draws for the first seed of all.
    device : None or "cpu"
    batch_size : int
        Seeds a batch, for each trainer.
    shuffle, drop_last : bool
        A new order each epoch; leave out a last batch that is not full.
    features, labels : str, optional
        A feature of all nodes of a batch, and one of its seeds, to bring along.
    edge_ids, orig_ids, degrees : bool
        Whether batches have IDs of edges, the user's own IDs, and degrees in the whole graph.
    prefetch : int
        Batches in flight or waiting; 0: 2 a sampler.
    seed : int
        Of the random choices; 0: the session's.
    rank, world : int, optional
        This trainer's number and how many there are; None: this process's place in the job.
    timeout : float, optional
        Seconds to wait for a batch; `errors.TimedOut` loses nothing.
    num_workers : int
        Threads for a sampler of the program's own and for `collate_fn`; 0: 2. Batches of the
        library are made by threads without the interpreter.
    collate_fn : callable, optional
        Makes of each batch, or of what a sampler of the program's own returns, what is delivered.
    worker_processes : bool
        Processes that are started anew, instead of those threads, for a sampler of the program's
        own: graph, sampler and `collate_fn` are pickled, and what that returns is.
    pin_memory, persistent_workers, queue_size
        Accepted and ignored.

    Attributes
    ----------
    expected_idxs : int
        Batches an epoch; ``len(loader)`` is the same.
    """

    def __init__(
        self,
        g: DistGraph,
        nids: Any,
        graph_sampler: BlockSampler,
        device: Any = None,
        *,
        batch_size: int = 1,
        shuffle: bool = False,
        drop_last: bool = False,
        features: str | None = None,
        labels: str | None = None,
        edge_ids: bool = True,
        orig_ids: bool = True,
        degrees: bool = False,
        prefetch: int = 0,
        seed: int = 0,
        rank: int | None = None,
        world: int | None = None,
        timeout: float | None = None,
        num_workers: int = 0,
        collate_fn: Any = None,
        worker_processes: bool = False,
        pin_memory: bool = False,
        persistent_workers: bool = False,
        queue_size: int | None = None,
    ) -> None:
        self._made_of = dict(zip(OPTIONS, _values_of(locals()), strict=True))
        if device is not None and str(device) != "cpu":
            raise errors.Unsupported(f"device={device!r}: batches are made in the CPU's memory")
        own_sampler = not draws_in_library(graph_sampler)
        if worker_processes and not own_sampler:
            raise errors.InvalidArgument(
                "worker_processes: only samplers of the program's own use them, not the library's"
            )
        if own_sampler and (features is not None or labels is not None or degrees):
            raise errors.InvalidArgument(
                "features, labels, degrees: a sampler of the program's own brings its rows itself"
            )
        # The seeds alone are the library's where a program draws.
        drawn = NeighborSampler([{}]) if own_sampler else graph_sampler
        assert isinstance(drawn, NeighborSampler)
        self._drawn = drawn
        if batch_size < 1:
            raise errors.InvalidArgument(f"batch_size={batch_size}: at least 1")
        self.graph = g
        self.batch_size = batch_size
        self.shuffle = shuffle
        self.drop_last = drop_last
        self.sampler = graph_sampler
        self._nids = nids
        self._timeout = deadline(timeout)
        self._sets = sets_of(g, nids)
        nodes = joined(g, self._sets)
        options = made(
            "tr_loader_options",
            batch_size=batch_size,
            shuffle=shuffle,
            drop_last=drop_last,
            replace=drawn.replace,
            edge_ids=edge_ids,
            original_ids=orig_ids,
            degrees=degrees,
            features=features,
            labels=labels,
            prefetch=prefetch,
            seed=seed,
            rank=g.rank() if rank is None else rank,
            world=g.world if world is None else world,
        )
        filled(options, links=self._links())
        if not drawn.is_plain:
            filled(options, spec=drawn.spec(g))
        else:
            options.num_layers = drawn.num_layers
            for layer, fanout in enumerate(drawn.fanouts):
                options.fanout[layer] = whole_fanout(fanout)
        box = ffi.new("struct tr_loader **")
        waiter = g.session.waiter
        try:
            waiter.call(lib.tr_loader_open, g.pointer(), nodes, options, FOREVER, box)
        finally:
            self._pointer: Any = owned(box[0], lib.tr_loader_close) if box[0] else None
        self._world = g.world if world is None else world
        shapes = g.row_shapes(features, labels)
        self.layout = Layout(g.types, g.tensors, features, labels, self._world, shapes)
        self._local_share: LocalShare | None = None
        if self._world > 1 and g.session.options["cluster"] is not None:
            self._report_share()
        self._brings: dict[str, Any] = {
            "edge_ids": edge_ids,
            "orig_ids": orig_ids,
            "degrees": degrees,
        }
        self._epoch = 0
        # Batches of the epoch that were taken; None: it has not begun.
        self._taken: int | None = None
        self._epochs = Epochs()
        self._end_code = lib.TR_EEND
        self._own: OwnDraws | None = None
        if own_sampler or collate_fn is not None:
            from .own_draws import Making, OwnDraws

            making = Making(g, graph_sampler, collate_fn, self._delivered)
            number = seed or int(g.session.options["seed"])
            self._own = OwnDraws(making, own_sampler, num_workers, worker_processes, number)

    def pointer(self) -> Any:
        """The library's own loader."""
        return opened(self._pointer, "loader")

    def __len__(self) -> int:
        return int(lib.tr_loader_num_batches(self.pointer()))

    @property
    def expected_idxs(self) -> int:
        """Batches an epoch."""
        return len(self)

    @property
    def epoch(self) -> int:
        """The epoch under way, or that the next ``for`` begins; from 0."""
        return self._epoch

    def set_epoch(self, epoch: int) -> None:
        """The next ``for`` begins this epoch."""
        self.begin(epoch)

    def begin(self, epoch: int, batch: int = 0) -> None:
        """Goes to a batch of an epoch; what was under way is dropped.

        Raises
        ------
        OutOfRange
            The epoch has fewer batches.
        """
        check_place(epoch, batch)
        if self._own is not None:
            self._own.drop()
        call(lib.tr_loader_begin_at, self.pointer(), epoch, batch)
        self._epoch, self._taken = epoch, batch or None

    def __iter__(self) -> Epoch:
        if self._taken is not None and self._resumed:
            self._resumed = False
        elif self._taken is not None:
            self.begin(self._epoch + 1)
        return self._epochs.begin(self.__next__)

    _resumed = False

    def _take(self) -> Batch:
        """The library's next batch; where no seed is this trainer's, one that stands for it."""
        waiter = self.graph.session.waiter
        try:
            batch = take_batch(
                waiter, self.layout, lib.tr_loader_next, self.pointer(), self._timeout
            )
        except errors.Error as error:
            if error.code != self._end_code:
                raise
            raise StopIteration from None
        return batch if self._world == 1 or batch.count_seeds() else self._pad(batch)

    def __next__(self) -> Any:
        try:
            if self._own is None:
                batch: Any = self._take()
            else:
                drawn = self._own.next(self._take)
        except StopIteration:
            self._epoch, self._taken = self._epoch + 1, None
            raise
        # An exception of the program's own stands for its batch; one of a signal's handler, which
        # ended the wait, does not.
        self._taken = (self._taken or 0) + 1
        return self._delivered(batch) if self._own is None else drawn.result()

    def _links(self) -> Any:
        """What a loader of edges asks of the library beside them; None: nothing."""
        return None

    def _delivered(self, batch: Batch) -> Any:
        """What the loop gets of the library's batch."""
        return batch

    def _pad(self, empty: Batch) -> Batch:
        """A batch of the first seed of all, in the place of one without seeds."""
        nodes = next(one for one in self._sets if len(one))
        return self._drawn.draw(
            self.graph,
            {nodes.ntype: nodes.read(0, 1)},
            seed=1,
            features=self.layout.features,
            labels=self.layout.labels,
            **self._brings,
        ).stand_for(empty)

    @property
    def local_share(self) -> LocalShare:
        """How many of the seeds are in partitions of this process, and of its host: 0 .. 1."""
        if self._local_share is None:
            self._local_share = local_share(self.graph, self._sets)
        return self._local_share

    def _report_share(self) -> None:
        share, seeds = self.local_share, sum(len(one) for one in self._sets)
        print(
            f"troupe: trainer {self.graph.rank()} of {self._world}: of {seeds} seeds "
            f"{share.process:.1%} are in partitions of this process, {share.host:.1%} of its host",
            file=sys.stderr,
        )

    def state_dict(self) -> dict[str, int]:
        """Where the loader stands: its epoch, the batches of it that were taken, and all."""
        return {"epoch": self._epoch, "batch": self._taken or 0, "batches": len(self)}

    def load_state_dict(self, state: Mapping[str, int]) -> None:
        """Goes to where `state_dict` was taken; the next ``for`` goes on from there.

        Raises
        ------
        Mismatch
            The state is of a loader with another number of batches an epoch.
        InvalidArgument
            It is no state.
        """
        epoch, batch = place_of(state)
        batches = int(state.get("batches", len(self)))
        if batches != len(self):
            raise errors.Mismatch(
                f"the state is of a loader of {batches} batches an epoch, and this one has "
                f"{len(self)}: the same seeds, batch size and trainers are needed"
            )
        self.begin(epoch, batch)
        self._resumed = self._taken is not None

    def cancel(self) -> None:
        """Wakes a thread that waits for a batch, and drops the epoch."""
        call(lib.tr_loader_cancel, self.pointer())

    def close(self) -> None:
        """Closes the loader; its batches stay."""
        if self._pointer is not None:
            lib.tr_loader_cancel(self._pointer, ffi.NULL)
        self._pointer = None
        if self._own is not None:
            self._own.close()

    def __enter__(self) -> DistNodeDataLoader:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __reduce__(self) -> tuple[Any, ...]:
        return _loader_of, (self.graph, self._nids, self.sampler, self._made_of)

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}({len(self)} batches of {self.batch_size}, {self.sampler!r}, "
            f"epoch {self._epoch})"
        )


def draws_in_library(sampler: Any) -> bool:
    """Whether the library draws what a sampler says; an error where nobody does."""
    if isinstance(sampler, NeighborSampler):
        return type(sampler).sample_blocks is NeighborSampler.sample_blocks
    if not callable(getattr(sampler, "sample_blocks", None)):
        raise TypeError(
            f"{type(sampler).__name__} has no sample_blocks(g, seeds): it is not a sampler"
        )
    return False


def _values_of(given: Mapping[str, Any]) -> list[Any]:
    return [given[name] for name in OPTIONS]


def _loader_of(
    g: DistGraph, nids: Any, sampler: BlockSampler, options: dict[str, Any]
) -> DistNodeDataLoader:
    return DistNodeDataLoader(g, nids, sampler, **options)
