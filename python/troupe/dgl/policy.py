# SPDX-License-Identifier: Apache-2.0
"""How rows of a tensor lie in partitions: as the nodes, or the edges, of a type."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..types import DEFAULT_ETYPE, DEFAULT_NTYPE

if TYPE_CHECKING:
    from .partition_book import GraphPartitionBook


class PartitionPolicy:
    """The policy "node~TYPE" or "edge~SOURCE:RELATION:DESTINATION" of a partition book.

    Attributes
    ----------
    policy_str, type_name, is_node, partition_book, part_id
        As DGL has them; `type_name` of edges is the canonical type.
    """

    def __init__(self, policy_str: str, partition_book: GraphPartitionBook) -> None:
        kind, _, name = policy_str.partition("~")
        if kind not in ("node", "edge"):
            raise ValueError(f'policy {policy_str!r}: begin with "node~" or "edge~"')
        self.is_node = kind == "node"
        self.partition_book = partition_book
        self.part_id = partition_book.partid
        types = partition_book.types
        self.type_name: Any
        if self.is_node:
            default = DEFAULT_NTYPE if DEFAULT_NTYPE in types.ntypes else None
            number = types.ntype(name or default)
            self.type_name = types.ntypes[number]
            self.policy_str = f"node~{self.type_name}"
        else:
            number = types.etype(name or None)
            self.type_name = types.canonical_etypes[number]
            self.policy_str = f"edge~{':'.join(self.type_name)}"
        self.type_number = number

    @property
    def hetero_name(self) -> str:
        """The type as its name in a policy."""
        return self.policy_str.partition("~")[2]

    def get_size(self) -> int:
        """Rows in all partitions."""
        book = self.partition_book
        return book.num_nodes(self.type_name) if self.is_node else book.num_edges(self.type_name)

    def get_part_size(self) -> int:
        """Rows in this process's partition."""
        book, part = self.partition_book, self.part_id
        if self.is_node:
            return len(book.node_range(part, self.type_name))
        return len(book.edge_range(part, self.type_name))

    def to_partid(self, ids: Any) -> Any:
        """The partition of each row."""
        book = self.partition_book
        if self.is_node:
            return book.nid2partid(ids, self.type_name)
        return book.eid2partid(ids, self.type_name)

    def to_local(self, ids: Any) -> Any:
        """The positions of rows in this process's partition."""
        book = self.partition_book
        if self.is_node:
            return book.nid2localnid(ids, self.part_id, self.type_name)
        return book.eid2localeid(ids, self.part_id, self.type_name)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PartitionPolicy) and other.policy_str == self.policy_str

    def __hash__(self) -> int:
        return hash(self.policy_str)

    def __repr__(self) -> str:
        return f"PartitionPolicy({self.policy_str!r})"


class NodePartitionPolicy(PartitionPolicy):
    """The policy of a node type."""

    def __init__(self, partition_book: GraphPartitionBook, ntype: str = DEFAULT_NTYPE) -> None:
        super().__init__(f"node~{ntype}", partition_book)


class EdgePartitionPolicy(PartitionPolicy):
    """The policy of an edge type."""

    def __init__(self, partition_book: GraphPartitionBook, etype: Any = DEFAULT_ETYPE) -> None:
        name = etype if isinstance(etype, str) else ":".join(etype)
        super().__init__(f"edge~{name}", partition_book)
