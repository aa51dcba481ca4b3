# SPDX-License-Identifier: Apache-2.0
"""Which edges the draws for a batch of edges leave out, so that no edge is told by itself."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from .arrays import Ids
from .binding import ffi, lib
from .edge_queries import NO_EDGE, edges_at, edges_between, original_ids
from .errors import InvalidArgument, Mismatch, OutOfRange

if TYPE_CHECKING:
    from .graph import DistGraph

Canonical = tuple[str, str, str]
MODES = ("self", "reverse_id", "reverse_types")
# How the library pairs original IDs: the words for reverse_eids, and its own.
PAIRINGS = {"halves": "TR_REVERSE_HALVES", "adjacent": "TR_REVERSE_ADJACENT"}


class Exclusion:
    """A rule for batches of edges.

    Parameters
    ----------
    exclude : None, "self", "reverse_id", "reverse_types", callable or IDs
        None leaves nothing out; "self" the edges of the batch; "reverse_id" also the edges
        ``reverse_eids[edge]`` of the same type; "reverse_types" also those of the type
        ``reverse_etypes[type]`` that were made of the same edges of the raw graph, with their ends
        swapped. A callable gets the edges of the batch and returns edges; IDs, or a mapping of edge
        types to them, are left out of each batch.
    reverse_eids : an ID for each edge (-1: it has no reverse), a mapping of edge types to such, of
        which types that it does not name have none, or a word
        "halves" where all edges of the graph stand before their reverses, in the same order;
        "adjacent" where each is followed by its reverse, as ``--undirected`` of
        ``troupe import`` leaves them; an edge that stands between two with its ends swapped, as
        among parallel ones, has both left out. Both words are of original IDs; where a program
        draws the batches, they cost questions for the in-edges of the edges' sources.
    reverse_etypes : a mapping of edge types to edge types
    """

    def __init__(
        self, exclude: Any = None, reverse_eids: Any = None, reverse_etypes: Any = None
    ) -> None:
        # An array of IDs compares element by element.
        mode = exclude if isinstance(exclude, str) else None
        if mode is not None and mode not in MODES:
            raise ValueError(f"unsupported mode {mode!r}; give one of {', '.join(MODES)}")
        if mode == "reverse_id" and reverse_eids is None:
            raise InvalidArgument('exclude="reverse_id": give reverse_eids')
        if mode == "reverse_types" and reverse_etypes is None:
            raise InvalidArgument('exclude="reverse_types": give reverse_etypes')
        if isinstance(reverse_eids, str) and reverse_eids not in PAIRINGS:
            raise InvalidArgument(
                f"reverse_eids={reverse_eids!r}: give an ID for each edge, or one of "
                f"{', '.join(PAIRINGS)}"
            )
        given = reverse_eids is not None or reverse_etypes is not None
        if given and (exclude is None or mode == "self"):
            unused = "reverse_eids" if reverse_eids is not None else "reverse_etypes"
            wanted = "reverse_id" if unused == "reverse_eids" else "reverse_types"
            warnings.warn(
                f"{unused} is not used with exclude={exclude!r}, which leaves no reverse out; give "
                f'exclude="{wanted}"',
                stacklevel=3,
            )
        self.exclude = exclude
        self.reverse_eids = reverse_eids
        self.reverse_etypes = reverse_etypes

    def in_library(
        self, g: DistGraph, *etypes: Canonical, listed: bool = False
    ) -> dict[str, Any] | None:
        """What the library calls the rule, for edges of these types; None: it has no such rule.

        listed : whether the edges will bring their reverses, as `reverses` gives them.
        """
        mode, kept = self.exclude, g.get_partition_book().has_original_edge_ids
        if mode is None or (isinstance(mode, str) and mode == "self"):
            return {"exclude": lib.TR_EXCLUDE_NONE if mode is None else lib.TR_EXCLUDE_SELF}
        if not isinstance(mode, str):
            return None
        if mode == "reverse_id" and isinstance(self.reverse_eids, str):
            pairing = getattr(lib, PAIRINGS[self.reverse_eids])
            return {"exclude": lib.TR_EXCLUDE_REVERSE_ID, "reverse_ids": pairing}
        if mode == "reverse_id" and listed:
            if not any(self._named(g, name) is not None for name in etypes):
                return {"exclude": lib.TR_EXCLUDE_SELF}
            pairing = lib.TR_REVERSE_LISTED
            return {"exclude": lib.TR_EXCLUDE_REVERSE_ID, "reverse_ids": pairing}
        if mode != "reverse_types":
            return None
        named = self._reverse_types(g)
        reverse = {name: named[name] for name in etypes if name in named}
        if not reverse:
            return {"exclude": lib.TR_EXCLUDE_SELF}
        if not kept:
            return None
        numbers = ffi.new("uint32_t[]", [lib.TR_ETYPE_NONE] * len(g.canonical_etypes))
        for name, other in reverse.items():
            numbers[g.types.etype(name)] = g.types.etype(other)
        return {"exclude": lib.TR_EXCLUDE_REVERSE_TYPES, "reverse_etypes": numbers}

    def _named(self, g: DistGraph, name: Canonical) -> Any:
        """What the program gave for edges of a type; None: nothing."""
        if not isinstance(self.reverse_eids, Mapping):
            return self.reverse_eids
        return {g.to_canonical_etype(k): v for k, v in self.reverse_eids.items()}.get(name)

    def reverses(self, g: DistGraph, name: Canonical, ids: Ids) -> Ids | None:
        """The reverse of each of these edges of a type, by what a program said; None: they have
        none."""
        given = self._named(g, name)
        return None if given is None else _reversed(g, given, name, ids)

    def check_types(self, *etypes: Canonical) -> None:
        """Refuses a word for the reverses of edges of a type that cannot have any.

        Raises
        ------
        InvalidArgument
            They are of this type alone, and end in another node type than they begin in.
        """
        if isinstance(self.reverse_eids, str) and len(etypes) == 1:
            source, _, target = etypes[0]
            if source != target:
                raise InvalidArgument(
                    f"reverse_eids={self.reverse_eids!r}: edges of {etypes[0]} do not reverse each "
                    "other, since their ends have other types"
                )

    def _by_word(self, g: DistGraph, name: Canonical, ids: Ids) -> Ids | None:
        """The reverses of edges of a type that original IDs pair; None: its edges have none."""
        return paired_edges(g, name, ids, self.reverse_eids) if name[0] == name[2] else None

    def _reverse_types(self, g: DistGraph) -> dict[Canonical, Canonical]:
        return {
            g.to_canonical_etype(name): g.to_canonical_etype(of)
            for name, of in self.reverse_etypes.items()
        }

    def of(self, g: DistGraph, edges: Any) -> Any:
        """What the draws for these edges leave out: IDs by edge type, or as a callable says."""
        if self.exclude is None or not (isinstance(self.exclude, str) or callable(self.exclude)):
            return self.exclude
        if callable(self.exclude):
            return self.exclude(edges)
        seeds = by_type(g, edges)
        found: dict[Canonical, list[Any]] = {name: [ids] for name, ids in seeds.items()}
        by_word = isinstance(self.reverse_eids, str)
        if self.exclude == "reverse_id":
            for name, ids in seeds.items():
                reverses = self._by_word(g, name, ids) if by_word else self.reverses(g, name, ids)
                if reverses is not None:
                    found[name].append(reverses[reverses >= 0])
        if self.exclude == "reverse_types":
            reverse = self._reverse_types(g)
            for name, ids in seeds.items():
                if name in reverse:
                    found.setdefault(reverse[name], []).append(
                        reverse_edges(g, name, ids, reverse[name])
                    )
        return {name: np.concatenate(ids) for name, ids in found.items()}


def by_type(g: DistGraph, edges: Any) -> dict[Canonical, Ids]:
    """Edges as IDs by canonical type."""
    if not isinstance(edges, Mapping):
        edges = {g.to_canonical_etype(None): edges}
    return {g.to_canonical_etype(name): np.asarray(ids) for name, ids in edges.items()}


def _reversed(g: DistGraph, reverse_eids: Any, name: Canonical, ids: Ids) -> Ids:
    """The reverse edges of a type's, by what a program said."""
    if isinstance(reverse_eids, (list, tuple)):
        reverse_eids = np.asarray(reverse_eids)
    if len(reverse_eids) != g.num_edges(name):
        raise Mismatch(
            f"reverse_eids: {len(reverse_eids)} IDs for {g.num_edges(name)} edges of {name}: give "
            "the reverse of each edge by its ID"
        )
    import sys

    # A tensor of PyTorch takes tensors alone as places.
    torch = sys.modules.get("torch")
    if torch is not None and not isinstance(reverse_eids, np.ndarray):
        ids = torch.from_numpy(np.ascontiguousarray(ids))
    found = np.asarray(reverse_eids[ids])
    if found.size and (found.dtype.kind not in "iu" or found.ndim != 1):
        raise TypeError(
            f"reverse_eids of {name}: IDs of edges are whole numbers, one an edge, not "
            f"{found.dtype} of {found.ndim} dimensions"
        )
    if (wrong := found[found < NO_EDGE]).size:
        raise OutOfRange(
            f"reverse_eids of {name}: {wrong[0]} is negative; give an ID, or {NO_EDGE} for none"
        )
    return found


def paired_edges(g: Any, etype: Canonical, eids: Any, pairing: str) -> Ids:
    """The edges of the same type with swapped ends whose original IDs pair them with these.

    Parameters
    ----------
    pairing : "halves" or "adjacent", of `Exclusion`. Edges without one are passed over.
    """
    if len(eids) == 0:
        return np.empty(0, np.int64)
    sources, targets = (np.asarray(ends) for ends in g.find_edges(eids, etype=etype))
    # A reverse goes into the source of its edge.
    others, into, ids = edges_at(g, np.unique(sources), etype, False)
    numbers, own = original_ids(g, ids, etype), original_ids(g, eids, etype)
    found = [np.empty(0, np.int64)]
    for wanted in _paired_numbers(own, g.num_edges(etype), pairing):
        _, there, edge = np.intersect1d(numbers, wanted, return_indices=True)
        swapped = (others[there] == targets[edge]) & (into[there] == sources[edge])
        found.append(ids[there[swapped]])
    return np.concatenate(found)


def _paired_numbers(own: Ids, count: int, pairing: str) -> list[Ids]:
    """Where the reverses of edges may stand in the raw graph; none is there below 0."""
    if pairing == "adjacent":
        return [own - 1, own + 1]
    half = count // 2  # of an odd number the last edge has no counterpart
    return [np.where(own < half, own + half, np.where(own < 2 * half, own - half, NO_EDGE))]


def reverse_edges(g: Any, etype: Canonical, eids: Any, reverse: Canonical) -> Ids:
    """The edges of another type that were made of the same edges of the raw graph, ends swapped.

    Partitions number the edges of each type by themselves, so equal numbers say nothing there. The
    edges of a node stand in the order of the raw graph everywhere: of parallel edges u to v, the
    n-th is made of the same as the n-th of the reverse edges v to u. Edges without one are passed
    over.
    """
    if (etype[2], etype[0]) != (reverse[0], reverse[2]):
        raise InvalidArgument(f"edges of type {reverse} do not reverse those of type {etype}")
    if len(eids) == 0:
        return np.empty(0, np.int64)
    ids = np.asarray(eids)
    sources, targets = (np.asarray(ends) for ends in g.find_edges(eids, etype=etype))
    _, _, first = edges_between(g, sources, targets, etype)
    found = np.full(len(ids), NO_EDGE)
    # The first of parallel edges, as nearly all are, is made of the same as the first of the
    # others.
    one = first == ids
    _, _, found[one] = edges_between(g, targets[one], sources[one], reverse)
    if not one.all():
        rest = ids[~one], sources[~one], targets[~one]
        found[~one] = _reverse_of_parallel(g, etype, rest, reverse)
    reversed_ids: Ids = found[found != NO_EDGE]
    return reversed_ids


def _reverse_of_parallel(
    g: Any, etype: Canonical, edges: tuple[Ids, Ids, Ids], reverse: Canonical
) -> Ids:
    """The reverse of edges, given with their ends, by their places among parallel ones."""
    ids, sources, targets = edges
    own, pairs = _by_pair(g, etype, targets)
    by_id = np.argsort(own)
    wanted = _keys(g, etype, sources, targets)
    # IDs of edges increase in the order of a row, and all parallel edges are of one row.
    place = by_id[np.searchsorted(own[by_id], ids)] - np.searchsorted(pairs, wanted)
    others, pairs = _by_pair(g, reverse, sources)
    wanted = _keys(g, reverse, targets, sources)
    at = np.searchsorted(pairs, wanted) + place
    there = at < np.searchsorted(pairs, wanted, side="right")
    found = np.full(len(ids), NO_EDGE)
    found[there] = others[at[there]]
    return found


def _keys(g: Any, etype: Canonical, sources: Ids, targets: Ids) -> Ids:
    """A number for each pair of ends."""
    keys: Ids = targets * g.num_nodes(etype[0]) + sources
    return keys


def _by_pair(g: Any, etype: Canonical, targets: Ids) -> tuple[Ids, Ids]:
    """The in-edges of nodes, pair by pair, and their keys: those of a pair in their order."""
    sources, into, ids = edges_at(g, np.unique(targets), etype, False)
    pairs = _keys(g, etype, sources, into)
    order = np.lexsort((ids, pairs))
    return ids[order], pairs[order]
