# SPDX-License-Identifier: Apache-2.0
"""What loaders of nodes and of links share: epochs, data, state, and the way to another process."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from torch.utils.data import DataLoader
from torch_geometric.data import Data, HeteroData

from .. import errors
from ..epoch import Epochs
from .batch_fill import BatchFill
from .data_source import Attributes, Source, attributes_of, data_of, selected, source_of
from .selection import Attrs, Selection

if TYPE_CHECKING:
    from ..graph import DistGraph
    from ..loader import DistNodeDataLoader
    from .own_seeds import OwnSeeds


class EpochLoader:
    """Goes before the class of PyG's that a loader derives from, whose DataLoader is never begun.

    A loader sets `_source`, which gives its batches, and calls `_take_data` before.
    """

    batch_size: int | None
    transform: Callable[[Any], Any] | None
    _source: DistNodeDataLoader | OwnSeeds

    def _take_data(
        self,
        data: Any,
        attrs: Attrs,
        edge_attrs: Attrs,
        custom_cls: Any,
        pin_memory: bool,
        weight_attr: str | None = None,
    ) -> None:
        """Notes where batches are drawn from, and what they have."""
        self._of = source = source_of(type(self).__name__, data, weight_attr)
        self.graph: DistGraph = source.graph
        if attrs is not None or edge_attrs is not None:
            if isinstance(data, (Data, HeteroData)):
                raise errors.InvalidArgument(
                    "attrs, edge_attrs: batches have what the data have; name them to graph_data()"
                )
            self._of = source._replace(selection=Selection(self.graph, attrs, edge_attrs))
        self._data = data if isinstance(data, (Data, HeteroData)) else None
        self._fill = BatchFill(self._of, custom_cls, pin_memory, isinstance(data, HeteroData))
        self._epochs = Epochs()
        self._made_of: dict[str, Any] = {}

    def _look_like_pytorchs(
        self,
        count: int,
        *,
        shuffle: bool,
        drop_last: bool,
        num_workers: int,
        pin_memory: bool,
        sampler: Any,
        options: Mapping[str, Any],
    ) -> None:
        """Sets the attributes of PyTorch's DataLoader, which Lightning and scripts read.

        PyTorch's is given no workers, of which it would ask for more than there are.
        """
        own: Any = self
        places: Any = range(count)
        DataLoader.__init__(
            own,
            places,
            self.batch_size,
            shuffle and count > 0 and sampler is None,
            sampler,
            drop_last=drop_last,
        )
        # PyTorch's own would stand before the method.
        del own.collate_fn
        self.num_workers, self.pin_memory = num_workers, pin_memory
        self.prefetch_factor = options.get("prefetch_factor")
        # PyTorch lets nobody set it later.
        self.__dict__["persistent_workers"] = bool(options.get("persistent_workers", False))

    def __call__(self, index: Any) -> Any:
        """A batch of these seeds: positions in `dataset`."""
        raise NotImplementedError

    def collate_fn(self, index: Any) -> Any:
        """As a call: what PyG draws here and fills later is made at once."""
        return self(index)

    def filter_fn(self, out: Any) -> Any:
        """The same: what `collate_fn` gave is whole."""
        return out

    def __len__(self) -> int:
        return len(self._source)

    @property
    def data(self) -> Any:
        """What batches are filled from, as PyG's data."""
        if self._data is None:
            self._data = data_of(self.graph, self._of.selection)
        return self._data

    def _attributes(self) -> Attributes:
        source: Source = self._of
        return selected(source) if self._data is None else attributes_of(self._data, source)

    @property
    def epoch(self) -> int:
        """The epoch under way, or that the next ``for`` begins; from 0."""
        return self._source.epoch

    def set_epoch(self, epoch: int) -> None:
        """The next ``for`` begins this epoch."""
        self._source.begin(epoch)

    def __iter__(self) -> Iterator[Any]:
        self._fill.attributes = self._attributes()
        iter(self._source)
        return self._epochs.begin(self._take)

    def _take(self) -> Any:
        data = next(self._source)
        return data if self.transform is None else self.transform(data)

    def state_dict(self) -> dict[str, int]:
        """Where it stands: its epoch, the batches of it that were taken, and all."""
        return self._source.state_dict()

    def load_state_dict(self, state: Mapping[str, int]) -> None:
        """Goes to where `state_dict` was taken; the next ``for`` goes on from there."""
        self._source.load_state_dict(state)

    def close(self) -> None:
        """Ends its threads; batches stay."""
        self._source.close()

    def __enter__(self) -> EpochLoader:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __reduce__(self) -> tuple[Any, ...]:
        return _loader_of, (type(self), self._made_of)

    def __repr__(self) -> str:
        name = type(self).__name__
        return f"{name}({len(self)} batches of {self.batch_size}, {self.graph!r})"


def _loader_of(cls: Any, made_of: dict[str, Any]) -> Any:
    return cls(**made_of)
