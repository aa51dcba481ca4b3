# SPDX-License-Identifier: Apache-2.0
"""The partition book with the names and defaults that DGL's has."""

from __future__ import annotations

import itertools
import os
import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from ..book import PartitionBook
from ..types import DEFAULT_ETYPE, DEFAULT_NTYPE
from .policy import PartitionPolicy
from .type_names import DGLTypes

if TYPE_CHECKING:
    from ..graph import DistGraph


class GraphPartitionBook(PartitionBook):
    """As `troupe.PartitionBook`; IDs are tensors.

    Where a graph has several types, a function that is given no type takes homogeneous IDs, as with
    the default type of DGL.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        partid: int = 0,
        tensors: str = "torch",
        graph: DistGraph | None = None,
        opened: Any = None,
    ) -> None:
        super().__init__(path, partid, tensors, graph, opened)
        self.types = DGLTypes(self.types)
        if not 0 <= partid < self.num_partitions():
            raise ValueError(f"part_id={partid}: {path} has {self.num_partitions()} partitions")

    def _type(self, of_edges: bool, name: Any) -> int:
        if of_edges and name in (DEFAULT_ETYPE, DEFAULT_ETYPE[1]):
            name = name if DEFAULT_ETYPE in self.canonical_etypes else None
        elif not of_edges and name == DEFAULT_NTYPE and DEFAULT_NTYPE not in self.ntypes:
            name = None
        return super()._type(of_edges, name)

    def shared_memory(self, graph_name: str) -> None:
        """Does nothing: files are mapped."""

    @property
    def global_nid_dtype(self) -> Any:
        """int64."""
        import torch

        return torch.int64

    global_eid_dtype = global_nid_dtype

    def _offsets(self, of_edges: bool) -> list[int]:
        number = len(self.etypes if of_edges else self.ntypes)
        counts = (len(self._range(of_edges, t, self.partid)) for t in range(number))
        return list(itertools.accumulate(counts, initial=0))

    @property
    def local_ntype_offset(self) -> list[int]:
        """Where nodes of each type begin among those that this partition owns, and their end."""
        return self._offsets(False)

    @property
    def local_etype_offset(self) -> list[int]:
        """The same of edges."""
        return self._offsets(True)

    @property
    def _max_node_ids(self) -> np.ndarray[Any, Any]:
        return np.cumsum([part["num_nodes"] for part in self.metadata()])

    @property
    def _max_edge_ids(self) -> np.ndarray[Any, Any]:
        return np.cumsum([part["num_edges"] for part in self.metadata()])

    def _num_nodes(self, ntype: str = DEFAULT_NTYPE) -> int:
        return self.num_nodes(None if ntype == DEFAULT_NTYPE else ntype)

    def _num_edges(self, etype: Any = DEFAULT_ETYPE) -> int:
        is_default = etype in (DEFAULT_ETYPE, DEFAULT_ETYPE[1])
        return self.num_edges(None if is_default else etype)

    def _id_dtype(self, of_edges: bool) -> str:
        return "int64"

    def map_to_per_ntype(self, ids: Any) -> tuple[Any, Any]:
        """The type's number and the per-type ID of homogeneous node IDs."""
        _check_dtype(ids, self._id_dtype(False))
        return super().map_to_per_ntype(ids)

    def map_to_per_etype(self, ids: Any) -> tuple[Any, Any]:
        """The type's number and the per-type ID of homogeneous edge IDs."""
        _check_dtype(ids, self._id_dtype(True))
        return super().map_to_per_etype(ids)

    def node_policy(self, ntype: str | None) -> PartitionPolicy:
        """How rows of a node type lie."""
        return PartitionPolicy(f"node~{self.ntypes[self.types.ntype(ntype)]}", self)

    def edge_policy(self, etype: Any) -> PartitionPolicy:
        """How rows of an edge type lie."""
        return PartitionPolicy(f"edge~{':'.join(self.to_canonical_etype(etype))}", self)

    def __reduce__(self) -> tuple[Any, ...]:
        return GraphPartitionBook, (self.path, self.partid, self._tensors, None)


def _check_dtype(ids: Any, wanted: str) -> None:
    """Refuses tensors of another type than the book's, as DGL's books do."""
    found = str(getattr(ids, "dtype", "")).removeprefix("torch.")
    if found in ("int32", "int64") and found != wanted:
        raise _dtype_error(f"IDs of {found}: the partition book has {wanted}")


def _dtype_error(message: str) -> TypeError:
    """A TypeError, and where DGL is loaded its own exception as well, which programs may catch."""
    internal: Any = sys.modules.get("dgl.utils.internal")
    if internal is None:
        return TypeError(message)
    theirs = internal.InconsistentDtypeException
    error: TypeError = type(theirs.__name__, (theirs, TypeError), {})(message)
    return error
