# SPDX-License-Identifier: Apache-2.0
"""Batches that a program's own sampler draws, or that its own function makes of what was drawn.

The library deals out the seeds: its loader draws nothing but them, so epochs, ranks and positions
are those of any loader. What is a program's runs on threads, or in processes that are started anew;
batches are delivered in their order, and random choices of the library's samplers are keyed by the
batch, so neither changes a batch.
"""

from __future__ import annotations

import multiprocessing
import threading
import weakref
from collections import deque
from collections.abc import Callable, Mapping
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, NamedTuple

from . import draw_seed
from .batch import Batch
from .binding import lib

if TYPE_CHECKING:
    from .graph import DistGraph

# Where num_workers says nothing.
THREADS = 2

Key = tuple[int, ...]


class Making(NamedTuple):
    """What is done to seeds."""

    graph: DistGraph
    sampler: Any
    collate_fn: Callable[[Any], Any] | None
    delivered: Callable[[Batch], Any] | None = None

    def made(self, seeds: Any, key: Key) -> Any:
        """The batch of these seeds."""
        with draw_seed.of_batch(key):
            drawn = self.sampler.sample_blocks(self.graph, seeds)
            return drawn if self.collate_fn is None else self.collate_fn(drawn)

    def finished(self, batch: Batch, key: Key) -> Any:
        """What becomes of a batch that the library drew."""
        with draw_seed.of_batch(key):
            shown = batch if self.delivered is None else self.delivered(batch)
            return shown if self.collate_fn is None else self.collate_fn(shown)


_making: Making | None = None


def _begin_process(making: Making) -> None:
    global _making
    _making = making


def _made_in_process(seeds: Any, key: Key) -> Any:
    assert _making is not None
    return _making.made(seeds, key)


def _seeds_of(batch: Batch) -> Any:
    """The seeds of a batch: edges, or nodes; of several node types those that it has any of, of
    several edge types all."""
    edges = batch.seed_edges
    if edges is not None:
        return edges
    seeds = batch.output_nodes
    if not isinstance(seeds, Mapping):
        return seeds
    return {name: ids for name, ids in seeds.items() if len(ids)}


class OwnDraws:
    """A queue of batches under way.

    Parameters
    ----------
    making : what is done to seeds.
    own_sampler : bool
        Whether the library's batches are of seeds alone.
    workers : int
        How many batches are made at once; 0: 2.
    processes : bool
        In processes of their own, which take pickles: `collate_fn` makes what can be one.
    seed : of random choices.
    """

    def __init__(
        self,
        making: Making,
        own_sampler: bool,
        workers: int,
        processes: bool,
        seed: int,
    ) -> None:
        self._making, self._own_sampler = making, own_sampler
        self._workers, self._processes, self._seed = workers or THREADS, processes, seed
        self._queue: deque[Future[Any]] = deque()
        self._executor: Executor | None = None
        self._at_end = False
        _open.add(self)

    def _start(self) -> Executor:
        if self._processes:
            context = multiprocessing.get_context("spawn")
            given = (self._making,)
            return ProcessPoolExecutor(self._workers, context, _begin_process, given)
        return ThreadPoolExecutor(self._workers, "troupe-draws")

    def _submit(self, batch: Batch) -> None:
        if self._executor is None:
            self._executor = self._start()
        key = (self._seed, batch.rank, batch.epoch, batch.index)
        if self._processes:
            future = self._executor.submit(_made_in_process, _seeds_of(batch), key)
        elif self._own_sampler:
            future = self._executor.submit(self._making.made, _seeds_of(batch), key)
        else:
            future = self._executor.submit(self._making.finished, batch, key)
        self._queue.append(future)

    def next(self, take: Callable[[], Batch]) -> Future[Any]:
        """The next batch, or the exception of the program's own in its place; it is there.

        `take` gives the library's next, and raises StopIteration behind the last.
        """
        while not self._at_end and len(self._queue) < 2 * self._workers:
            try:
                self._submit(take())
            except StopIteration:
                self._at_end = True
        if not self._queue:
            self._at_end = False
            raise StopIteration
        # A signal that ends the wait leaves the batch where it is.
        self._queue[0].exception()
        return self._queue.popleft()

    def drop(self) -> None:
        """Leaves the epoch: what is under way belongs to nobody."""
        for future in self._queue:
            future.cancel()
        self._queue.clear()
        self._at_end = False

    def abandon(self) -> None:
        """Ends draws that wait, and with them every wait on the session; no batch follows."""
        waiting = any(not future.done() for future in self._queue)
        self.drop()
        if waiting and self._making.graph.session.is_open:
            lib.tr_session_interrupt(self._making.graph.session.pointer())

    def close(self) -> None:
        """Ends the threads or processes."""
        self.drop()
        if self._executor is not None:
            self._executor.shutdown(wait=self._processes, cancel_futures=True)
            self._executor = None


_open: weakref.WeakSet[OwnDraws] = weakref.WeakSet()


def _abandon_all() -> None:
    """The interpreter waits for the threads of every executor before it runs what `atexit` has,
    which closes sessions: a draw from servers that are lost would keep it until its deadline."""
    for draws in list(_open):
        draws.abandon()


# The functions that run before those threads are waited for; the last that came is the first.
_before_threads: Callable[[Callable[[], None]], None] = vars(threading)["_register_atexit"]
_before_threads(_abandon_all)
