# SPDX-License-Identifier: Apache-2.0
"""Batches of a trainer's own list of seeds, in the order given or shuffled.

The library's loader takes sets of nodes or edges, which it shares out among the trainers of a job
and orders by original IDs. PyG's takes lists whose order and repeats count, and which no other
trainer sees. Threads draw these a batch at a time ahead of the loop; each batch draws by the seed,
its epoch and its number, so nothing depends on which thread draws when.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import errors
from ..arrays import Ids
from ..epoch import check_place, place_of
from ..own_draws import THREADS

if TYPE_CHECKING:
    from ..graph import DistGraph


class OwnSeeds:
    """Batches of a list of seeds; each ``for`` over it is an epoch, as of DistNodeDataLoader.

    Parameters
    ----------
    graph : DistGraph
    count : int
        Seeds in the list.
    make : callable
        Makes of places in the list, int64, and a seed of random choices what is delivered; on a
        thread.
    batch_size, shuffle, drop_last : as of DistNodeDataLoader.
    seed : int
        Of draws and order; 0: the session's.
    workers : int
        How many threads draw; 0: 2.
    sampler : iterable of int with a length, optional
        Gives the places of an epoch in their order, as PyTorch's samplers do, in the place of
        `shuffle`.
    """

    def __init__(
        self,
        graph: DistGraph,
        count: int,
        make: Callable[[Ids, int], Any],
        *,
        batch_size: int,
        shuffle: bool,
        drop_last: bool,
        seed: int,
        workers: int,
        sampler: Any = None,
    ) -> None:
        if batch_size < 1:
            raise errors.InvalidArgument(f"batch_size={batch_size}: at least 1")
        if sampler is not None and shuffle:
            raise errors.InvalidArgument("sampler, shuffle: each gives an order; leave one out")
        self._count, self._make = count, make
        self._sampler = sampler
        self._batch_size, self._shuffle, self._drop_last = batch_size, shuffle, drop_last
        self._key = (seed or int(graph.session.options["seed"]), graph.rank())
        self._workers = workers or THREADS
        self._epoch = self._taken = self._asked = 0
        self._is_under_way = self._is_resumed = False
        self._order: Ids | None = None
        self._queue: deque[Future[Any]] = deque()
        self._executor: ThreadPoolExecutor | None = None

    def __len__(self) -> int:
        return self._batches_of(self._count if self._sampler is None else len(self._sampler))

    def _batches_of(self, count: int) -> int:
        return count // self._batch_size if self._drop_last else -(-count // self._batch_size)

    @property
    def epoch(self) -> int:
        """The epoch under way, or that the next ``for`` begins; from 0."""
        return self._epoch

    def begin(self, epoch: int, batch: int = 0) -> None:
        """Goes to a batch of an epoch; what was under way is dropped.

        Raises
        ------
        OutOfRange
            The epoch has fewer batches.
        """
        check_place(epoch, batch)
        # How many a sampler gives is not known before it is asked.
        if self._sampler is None and batch > len(self):
            raise errors.OutOfRange(
                f"begin: batch {batch}, and an epoch of this loader has {len(self)} batches"
            )
        for future in self._queue:
            future.cancel()
        self._queue.clear()
        self._epoch, self._taken, self._asked = epoch, batch, batch
        self._is_under_way = batch > 0
        self._order = None

    def _order_of(self, epoch: int) -> Ids | None:
        """The places of an epoch; None: all, in their order."""
        if self._sampler is not None:
            order = np.fromiter((int(place) for place in self._sampler), dtype=np.int64)
            wrong = order[(order < 0) | (order >= self._count)]
            if len(wrong):
                raise errors.OutOfRange(
                    f"sampler: place {wrong[0]}, but there are {self._count} seeds; it draws "
                    "places in the list of seeds, not IDs"
                )
            return order
        if not self._shuffle:
            return None
        words = np.random.SeedSequence([*self._key, epoch])
        return np.random.Generator(np.random.PCG64(words)).permutation(self._count)

    def _draw(self, epoch: int, number: int, order: Ids | None) -> Any:
        first = number * self._batch_size
        stop = min(first + self._batch_size, self._count if order is None else len(order))
        places = np.arange(first, stop, dtype=np.int64) if order is None else order[first:stop]
        words = np.random.SeedSequence([*self._key, epoch, number]).generate_state(1, np.uint64)
        return self._make(places, int(words[0]) or 1)

    def __iter__(self) -> OwnSeeds:
        if self._is_resumed:
            self._is_resumed = False
        else:
            self.begin(self._epoch + self._is_under_way)
        return self

    def __next__(self) -> Any:
        if self._executor is None:
            self._executor = ThreadPoolExecutor(self._workers, "troupe-pyg")
        if self._order is None:
            # Not before: a sampler is asked once an epoch.
            self._order = self._order_of(self._epoch)
        drawn = self._count if self._order is None else len(self._order)
        while self._asked < self._batches_of(drawn) and len(self._queue) < 2 * self._workers:
            place = (self._epoch, self._asked, self._order)
            self._queue.append(self._executor.submit(self._draw, *place))
            self._asked += 1
        if not self._queue:
            self.begin(self._epoch + 1)
            raise StopIteration
        self._is_under_way = True
        try:
            batch = self._queue[0].result()
        except Exception:
            # It stands for its batch. A signal ends the wait alone, and the batch stays.
            self._pass()
            raise
        self._pass()
        return batch

    def _pass(self) -> None:
        self._queue.popleft()
        self._taken += 1

    def state_dict(self) -> dict[str, int]:
        """Where it stands: its epoch, the batches of it that were taken, and all."""
        return {"epoch": self._epoch, "batch": self._taken, "batches": len(self)}

    def load_state_dict(self, state: Mapping[str, int]) -> None:
        """Goes to where `state_dict` was taken; the next ``for`` goes on from there.

        Raises
        ------
        Mismatch
            The state is of a loader with another number of batches an epoch.
        Unsupported
            It was taken within an epoch whose order a ``sampler`` gave, which gives another one.
        InvalidArgument
            It is no state.
        """
        epoch, batch = place_of(state)
        batches = int(state.get("batches", len(self)))
        if batches != len(self):
            raise errors.Mismatch(
                f"the state is of a loader of {batches} batches an epoch, and this one has "
                f"{len(self)}: the same seeds and batch size are needed"
            )
        if self._sampler is not None and batch > 0:
            raise errors.Unsupported(
                "the state was taken within an epoch, and sampler= would give that another order: "
                "save between epochs, or use shuffle="
            )
        self.begin(epoch, batch)
        self._is_resumed = self._is_under_way

    def close(self) -> None:
        """Ends the threads; batches stay."""
        self.begin(self._epoch, self._taken)
        if self._executor is not None:
            self._executor.shutdown(wait=False, cancel_futures=True)
            self._executor = None
