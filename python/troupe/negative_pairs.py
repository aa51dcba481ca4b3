# SPDX-License-Identifier: Apache-2.0
"""Negative pairs, put together of the ends of pairs and of the ends that were drawn for them."""

from __future__ import annotations

import numpy as np

from .arrays import Ids

# Which ends are drawn, in the order of C's enum tr_negative_ends.
ENDS = ("destinations", "sources", "either", "both")


def drawn_of(ends: str, k: int) -> tuple[int, int]:
    """How many of the k negatives of a pair have their destination drawn, and their source."""
    if ends == "either":
        return k - k // 2, k // 2
    return (0 if ends == "sources" else k), (0 if ends == "destinations" else k)


def joined(pairs: tuple[Ids, Ids], drawn: tuple[Ids, Ids], ends: str, k: int) -> tuple[Ids, Ids]:
    """Sources and destinations of the k negatives of each pair, pair by pair.

    Parameters
    ----------
    pairs : sources and destinations of the pairs.
    drawn : sources and destinations that were drawn: for each pair, or as many as one pair has,
        which all of them share.
    """
    num_destinations, num_sources = drawn_of(ends, k)
    count = len(pairs[0])
    sources = _per_pair(drawn[0], count, num_sources)
    targets = _per_pair(drawn[1], count, num_destinations)
    if ends != "both":
        own = np.repeat(pairs[0], num_destinations).reshape(count, num_destinations)
        kept = np.repeat(pairs[1], num_sources).reshape(count, num_sources)
        sources = np.concatenate([own, sources], axis=1)
        targets = np.concatenate([targets, kept], axis=1)
    else:  # views of what was drawn, which are not to be written to
        sources, targets = sources.copy(), targets.copy()
    return sources.reshape(-1), targets.reshape(-1)


def _per_pair(drawn: Ids, count: int, each: int) -> Ids:
    """Shape ``(count, each)``."""
    if each == 0:
        return np.empty((count, 0), drawn.dtype)
    return np.broadcast_to(drawn.reshape(-1, each), (count, each))
