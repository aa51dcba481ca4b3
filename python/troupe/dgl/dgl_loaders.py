# SPDX-License-Identifier: Apache-2.0
"""DGL's distributed loaders: batches of a list of IDs, drawn ahead of the loop by threads.

What is drawn is `collate_fn`'s: a sampler's of Troupe spends its time in the library, without the
interpreter; a program's own runs on the same threads. Batches are delivered in the order of the
epoch, and their random choices are keyed by epoch and batch, so that threads change nothing.
"""

from __future__ import annotations

import itertools
import sys
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import numpy as np

from .. import draw_seed
from . import context
from .dgl_samplers import as_ids
from .rows_ahead import ReadAhead, Waiting, drawn_with

# Batches that are drawn at once; each waits for the library, whose samplers are as many as suit.
THREADS = 2
QUEUE = 4

_numbers = itertools.count()


class DistDataLoader:
    """Batches of a data set, each what `collate_fn` makes of a list of its items.

    Parameters
    ----------
    dataset : anything with a length and items by number: a tensor of IDs, a list of (type, ID).
    batch_size : int
    shuffle, drop_last : a new order each epoch; leave out a last batch that is not full.
    collate_fn : called on threads, several batches at once.
    queue_size : batches that are drawn ahead; None: 4; 0: none, in the loop's own thread.

    Attributes
    ----------
    expected_idxs : int
        Batches an epoch; ``len(loader)`` is the same.
    """

    def __init__(
        self,
        dataset: Any,
        batch_size: int,
        shuffle: bool = False,
        collate_fn: Callable[[Any], Any] | None = None,
        drop_last: bool = False,
        queue_size: int | None = None,
    ) -> None:
        if batch_size < 1:
            raise ValueError(f"batch_size={batch_size}: at least 1")
        self.dataset = dataset
        self.batch_size = batch_size
        self.shuffle = shuffle
        self.drop_last = drop_last
        self.collate_fn = collate_fn
        self.queue_size = QUEUE if queue_size is None else queue_size
        count = len(dataset)
        self.expected_idxs = count // batch_size if drop_last else -(-count // batch_size)
        self.recv_idxs = 0
        self.current_pos = 0
        self.num_pending = 0
        self.data_idx: Any = np.arange(count)
        self.number = next(_numbers)
        self.name = f"dataloader-{self.number}"
        self._epoch = -1
        self._begun = False
        self._queue: deque[Future[Any]] = deque()
        self._threads: ThreadPoolExecutor | None = None
        self._ahead = ReadAhead()

    def __len__(self) -> int:
        return self.expected_idxs

    def _key(self, *more: int) -> tuple[int, ...]:
        """What random choices of an epoch are keyed by."""
        return (context.seed(), context.get_rank(), self.number, self._epoch, *more)

    def _drop(self) -> None:
        """Leaves an epoch: what was drawn ahead belongs to nobody."""
        for future in self._queue:
            future.cancel()
        self._queue.clear()
        self.num_pending = 0
        self._ahead.deliver(None, {})

    def __iter__(self) -> Any:
        self._drop()
        self._epoch += 1
        self._begun = True
        self.recv_idxs = self.current_pos = 0
        if self.shuffle:
            rng = np.random.default_rng(self._key())
            self.data_idx = rng.permutation(len(self.dataset))
        return self

    def _next_data(self) -> Any:
        """The items of the next batch; None: there is none."""
        if self.current_pos >= self.expected_idxs * self.batch_size:
            return None
        end = min(self.current_pos + self.batch_size, len(self.dataset))
        if self.current_pos >= end:
            return None
        places = self.data_idx[self.current_pos : end]
        self.current_pos = end
        return self._items(places)

    def _items(self, places: Any) -> Any:
        """Items by their places: a list of numbers or of (type, number)."""
        take = getattr(self.dataset, "take_items", None)
        if take is not None:
            return take(places)
        items = [self.dataset[int(place)] for place in places]
        return [(i[0], _number(i[1])) if isinstance(i, tuple) else _number(i) for i in items]

    def _collate(self, items: Any, batch: int) -> Any:
        if self.collate_fn is None:
            return items
        with draw_seed.of_batch(self._key(batch)):
            return self.collate_fn(items)

    def _collate_ahead(self, items: Any, batch: int) -> tuple[Any, Waiting]:
        """A batch, and the rows that the loop is expected to read."""
        with drawn_with(self._ahead) as waiting:
            result = self._collate(items, batch)
        return result, self._ahead.rows_of(result, waiting)

    def _next_number(self) -> int:
        """The number in the epoch of the batch that is drawn next.

        A program's own class may have its own ``__iter__`` and positions, and sets the two counts
        to 0 there: with its first batch an epoch begins.
        """
        number = self.recv_idxs + self.num_pending
        if number == 0:
            self._drop()
            self._epoch += 0 if self._begun else 1
            self._begun = False
        return number

    def _request_next_batch(self) -> bool:
        """Has the next batch drawn; False: there is none."""
        batch = self._next_number()
        items = self._next_data()
        if items is None:
            return False
        if self._threads is None:
            self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix=self.name)
        self._queue.append(self._threads.submit(self._collate_ahead, items, batch))
        self.num_pending += 1
        return True

    def __next__(self) -> Any:
        if self._epoch < 0:
            iter(self)
        if self.queue_size == 0:
            batch = self._next_number()
            items = self._next_data()
            if items is None:
                raise StopIteration
            self.recv_idxs += 1
            return self._collate(items, batch)
        while self.num_pending < self.queue_size and self._request_next_batch():
            pass
        if not self._queue:
            self._ahead.deliver(None, {})
            raise StopIteration
        result, waiting = self._queue.popleft().result()
        self._ahead.deliver(result, waiting)
        self.num_pending -= 1
        self.recv_idxs += 1
        return result

    def close(self) -> None:
        """Ends the loader's threads; batches stay."""
        self._drop()
        if self._threads is not None:
            self._threads.shutdown(wait=False, cancel_futures=True)
            self._threads = None

    def __del__(self, is_finalizing: Callable[[], bool] = sys.is_finalizing) -> None:
        # An interpreter that ends has ended the threads itself, and its modules are gone.
        if getattr(self, "_threads", None) is not None and not is_finalizing():
            self.close()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self)} batches of {self.batch_size})"


def _number(item: Any) -> Any:
    """A number of an array or a tensor as Python's own."""
    return item.item() if hasattr(item, "item") else item


class SeedList:
    """Seeds of a loader: IDs, or IDs of several types one after the other."""

    def __init__(self, seeds: Any) -> None:
        self._types: list[Any] | None = None
        if isinstance(seeds, Mapping):
            self._types = list(seeds)
            pieces = [np.asarray(as_ids(ids)).reshape(-1) for ids in seeds.values()]
            self._ids = np.concatenate(pieces or [np.empty(0)]).astype(np.int64)
            self._starts = np.cumsum([0, *map(len, pieces)])
        else:
            self._ids = np.asarray(as_ids(seeds)).reshape(-1).astype(np.int64, copy=False)

    def __len__(self) -> int:
        return len(self._ids)

    def __getitem__(self, place: int) -> Any:
        if self._types is None:
            return int(self._ids[place])
        kind = int(np.searchsorted(self._starts, place, side="right")) - 1
        return self._types[kind], int(self._ids[place])

    def __iter__(self) -> Iterator[Any]:
        return (self[place] for place in range(len(self)))

    def take_items(self, places: Any) -> Any:
        """Seeds by their places: a tensor, or tensors by type."""
        import torch

        ids = torch.from_numpy(self._ids[places])
        if self._types is None:
            return ids
        kinds = torch.from_numpy(np.searchsorted(self._starts, places, side="right") - 1)
        found = {name: ids[kinds == kind] for kind, name in enumerate(self._types)}
        return {name: of_type for name, of_type in found.items() if len(of_type)}


def ids_of_items(items: Any) -> Any:
    """Items of a data set as tensors: IDs, or (type, ID) each, or IDs by type."""
    if isinstance(items, list) and items and isinstance(items[0], tuple):
        by_type: dict[Any, list[int]] = {}
        for name, number in items:
            by_type.setdefault(name, []).append(int(number))
        items = by_type
    return as_ids(items)


class NodeCollator:
    """Makes a batch of seeds: input nodes, output nodes and blocks."""

    def __init__(self, g: Any, nids: Any, graph_sampler: Any, gb_padding: int = 1) -> None:
        self.g = g
        self.nids = nids
        self.graph_sampler = graph_sampler
        self._dataset = SeedList(nids)

    @property
    def dataset(self) -> SeedList:
        """The seeds."""
        return self._dataset

    def collate(self, items: Any) -> Any:
        """A batch of these seeds: IDs, or (type, ID) each, or IDs by type."""
        return self.graph_sampler.sample(self.g, ids_of_items(items))


class DistNodeDataLoader(DistDataLoader):
    """Batches of nodes: ``(input_nodes, output_nodes, blocks)``, the blocks DGLBlocks.

    Parameters
    ----------
    g : DistGraph
    nids : IDs, or a mapping of node types to them; each rank gives its own (`node_split`).
    graph_sampler : a sampler of DGL, or anything with ``sample(g, seeds)``.
    device : None or "cpu"
    batch_size, shuffle, drop_last, queue_size : as `DistDataLoader`.
    **others
        num_workers, pin_memory and their kin are accepted and ignored.
    """

    def __init__(
        self,
        g: Any,
        nids: Any,
        graph_sampler: Any,
        device: Any = None,
        batch_size: int = 1,
        shuffle: bool = False,
        drop_last: bool = False,
        queue_size: int | None = None,
        **others: Any,
    ) -> None:
        if device is not None and str(device) != "cpu":
            raise ValueError(f"device={device!r}: batches are made in the CPU's memory")
        unknown = others.keys() - IGNORED
        if unknown:
            raise TypeError(f"DistNodeDataLoader has no option {sorted(unknown)[0]!r}")
        self.collator = NodeCollator(g, nids, graph_sampler)
        super().__init__(
            self.collator.dataset,
            batch_size,
            shuffle,
            self.collator.collate,
            drop_last,
            queue_size,
        )


IGNORED = {
    "gb_padding",
    "num_workers",
    "persistent_workers",
    "pin_memory",
    "prefetch_factor",
    "use_ddp",
    "ddp_seed",
    "use_uva",
}
