# SPDX-License-Identifier: Apache-2.0
"""Makes PyG's data of batches that were drawn, on the threads of a loader."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..pyg_data import to_pyg
from .data_source import Attribute, Attributes, Source

if TYPE_CHECKING:
    from ..arrays import Ids
    from ..batch import Batch


class BatchFill:
    """Fills `custom_cls`, or ``Data`` or ``HeteroData``, with what `attributes` says."""

    def __init__(self, source: Source, cls: Any, pin_memory: bool, is_hetero: bool) -> None:
        self._source, self._cls, self._pin_memory = source, cls, pin_memory
        types = source.graph.types
        self.is_hetero = is_hetero or len(types.ntypes) > 1 or len(types.etypes) > 1
        self.attributes = Attributes([], [])

    def __call__(self, batch: Batch, input_id: Ids | None = None) -> Any:
        """Data of a batch of nodes, which `input_id` names; None: by their IDs."""
        import torch

        data = self.drawn(batch)
        for ntype in batch.content.layout.types.ntypes:
            store = data[ntype] if self.is_hetero else data
            if "batch_size" in store:
                own = None if input_id is None else torch.from_numpy(input_id)
                store.input_id = store.n_id[: store.batch_size] if own is None else own
        weight = batch.weight if input_id is None else 1.0
        return self.finished(data, batch.padded, weight)

    def drawn(self, batch: Batch) -> Any:
        """Data with what was drawn, and the attributes of nodes and edges."""
        types, wanted = batch.content.layout.types, self.attributes
        data = to_pyg(batch, self._cls, self.is_hetero)
        for number, ntype in enumerate(types.ntypes):
            store = data[ntype] if self.is_hetero else data
            came = store.x if "x" in store else None
            if came is not None:
                del store.x
            for one in wanted.of_nodes[number]:
                is_here = came is not None and self._comes_along(one, number)
                store[one.name] = came if is_here else _value(one, store.n_id)
        for number, etype in enumerate(types.canonical_etypes):
            store = data[etype] if self.is_hetero else data
            for one in wanted.of_edges[number]:
                store[one.name] = _value(one, store.e_id)
            if self._source.edge_numbers is not None:
                store.e_id = self._source.edge_numbers[number][store.e_id]
        return data

    def finished(self, data: Any, padded: bool, weight: float) -> Any:
        """The same with a batch's place in the job, in the memory that was asked for."""
        import torch

        for name, value in {"padded": padded, "weight": weight}.items():
            # A program's own attribute of that name stays.
            if name not in data:
                setattr(data, name, value)
        return data.pin_memory() if self._pin_memory and torch.cuda.is_available() else data

    def _comes_along(self, one: Attribute, number: int) -> bool:
        """Whether the rows of an attribute are those that came with the draw."""
        if one.feature is None or one.feature.attr != "x":
            return False
        selection = self._source.selection
        return selection.of_nodes[number].get("x") == selection.features


def _value(one: Attribute, ids: Any) -> Any:
    return one.value if one.rows is None else one.rows(ids)
