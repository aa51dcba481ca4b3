# SPDX-License-Identifier: Apache-2.0
"""How rows of a tensor lie in partitions: as the nodes, or the edges, of a type."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..types import DEFAULT_ETYPE, DEFAULT_NTYPE

if TYPE_CHECKING:
    from .partition_book import GraphPartitionBook


class HeteroDataName:
    """The name of a tensor of a type, as DGL writes it: "node~TYPE~NAME" or "edge~S:R:D~NAME"."""

    def __init__(self, is_node: bool, entity_type: Any, data_name: str) -> None:
        if not is_node and (isinstance(entity_type, str) or len(entity_type) != 3):
            raise ValueError(f"{entity_type!r}: an edge type is (source, relation, destination)")
        self._is_node, self._type, self.data_name = is_node, entity_type, data_name
        self.policy_str = f"node~{entity_type}" if is_node else f"edge~{':'.join(entity_type)}"

    def is_node(self) -> bool:
        """Whether the rows are of nodes."""
        return self._is_node

    def is_edge(self) -> bool:
        """Whether the rows are of edges."""
        return not self._is_node

    def get_type(self) -> Any:
        """The type; of edges the canonical one."""
        return self._type

    def get_name(self) -> str:
        """The tensor's own name."""
        return self.data_name

    def __str__(self) -> str:
        return f"{self.policy_str}~{self.data_name}"


def parse_hetero_data_name(name: str) -> HeteroDataName:
    """A written name taken apart."""
    kind, entity, data_name = name.split("~", 2)
    if kind not in ("node", "edge"):
        raise ValueError(f'{name!r}: begin with "node~" or "edge~"')
    is_node = kind == "node"
    return HeteroDataName(is_node, entity if is_node else tuple(entity.split(":")), data_name)


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

    def get_data_name(self, name: str) -> HeteroDataName:
        """The name of a tensor among those of all types."""
        return HeteroDataName(self.is_node, self.type_name, name)

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
        if isinstance(etype, str) and etype.count(":") != 2:
            # As DGL's raises it.
            raise AssertionError(f"{etype!r}: an edge type is (source, relation, destination)")
        name = etype if isinstance(etype, str) else ":".join(etype)
        super().__init__(f"edge~{name}", partition_book)
