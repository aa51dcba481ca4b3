# SPDX-License-Identifier: Apache-2.0
"""Node types and edge types of a graph, and the ways in which users name them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

from . import errors

NTYPE = ETYPE = "_TYPE"
NID = EID = "_ID"
DEFAULT_NTYPE = "_N"
DEFAULT_ETYPE = ("_N", "_E", "_N")

CanonicalEtype = tuple[str, str, str]
EtypeName = str | CanonicalEtype | None
T = TypeVar("T")


class Types:
    """The types of a graph, in the order of their numbers.

    Parameters
    ----------
    ntypes : names of node types.
    etypes : names of edge types, "source:relation:destination".
    """

    def __init__(self, ntypes: Iterable[str], etypes: Iterable[str]) -> None:
        self.ntypes = list(ntypes)
        self.canonical_etypes: list[CanonicalEtype] = []
        for name in etypes:
            source, relation, destination = name.split(":")
            self.canonical_etypes.append((source, relation, destination))
        self.etypes = [relation for _, relation, _ in self.canonical_etypes]
        self._ntype_numbers = {name: i for i, name in enumerate(self.ntypes)}
        self._etype_numbers = {name: i for i, name in enumerate(self.canonical_etypes)}
        self.ends = [
            (self._ntype_numbers[s], self._ntype_numbers[d]) for s, _, d in self.canonical_etypes
        ]

    @property
    def is_homogeneous(self) -> bool:
        """Whether there is one node type and at most one edge type."""
        return len(self.ntypes) == 1 and len(self.etypes) <= 1

    def ntype(self, name: str | None) -> int:
        """The number of a node type; None: the only one."""
        if name is None:
            if len(self.ntypes) == 1:
                return 0
            raise errors.NotFound(f"the graph has node types {_listed(self.ntypes)}: name one")
        number = self._ntype_numbers.get(name) if isinstance(name, str) else None
        if number is None:
            raise errors.NotFound(f"no node type {name!r}: there are {_listed(self.ntypes)}")
        return number

    def etype(self, name: EtypeName) -> int:
        """The number of an edge type.

        A tuple (source, relation, destination), "source:relation:destination", or a relation that
        one edge type alone has; None: the only edge type.
        """
        if name is None:
            if len(self.etypes) == 1:
                return 0
            known = _listed(self.canonical_etypes)
            raise errors.NotFound(f"the graph has edge types {known}: name one")
        if isinstance(name, str) and name.count(":") == 2:
            source, relation, destination = name.split(":")
            name = (source, relation, destination)
        if isinstance(name, str):
            found = [i for i, relation in enumerate(self.etypes) if relation == name]
            if len(found) == 1:
                return found[0]
            if found:
                known = _listed(self.canonical_etypes[i] for i in found)
                raise errors.NotFound(f"edge type {name!r} may be {known}: say which")
        number = self._etype_numbers.get((name[0], name[1], name[2])) if len(name) == 3 else None
        if number is None:
            known = _listed(self.canonical_etypes)
            raise errors.NotFound(f"no edge type {name!r}: there are {known}")
        return number

    def turned(self, out: Iterable[bool]) -> Types:
        """The types of edges that lead the other way where `out` says so, by their numbers."""
        names = [
            (d, relation, s) if turn else (s, relation, d)
            for (s, relation, d), turn in zip(self.canonical_etypes, out, strict=True)
        ]
        found = Types(self.ntypes, map(":".join, names))
        twice = [name for i, name in enumerate(names) if found._etype_numbers[name] != i]
        if twice:
            raise errors.Unsupported(
                f"edges drawn along out-edges would be of type {twice[0]!r}, which other edges "
                "have: draw the two in calls of their own"
            )
        return found

    def node_name(self, ntype: int) -> str:
        """ "node of type 'paper'", for messages."""
        return f"node of type {self.ntypes[ntype]!r}"

    def edge_name(self, etype: int) -> str:
        """The same of an edge type."""
        return f"edge of type {':'.join(self.canonical_etypes[etype])!r}"

    def per_ntype(self, values: Mapping[int, T]) -> T | dict[str, T]:
        """One value a node type as DGL gives it: alone in a graph of one type, else by name."""
        if len(self.ntypes) == 1:
            return values[0]
        return {self.ntypes[i]: value for i, value in values.items()}


def _listed(names: Iterable[Any]) -> str:
    return ", ".join(repr(name) for name in names)
