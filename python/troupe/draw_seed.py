# SPDX-License-Identifier: Apache-2.0
"""Random choices of a loader's batch: keyed by its place, whichever thread draws it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

_place = threading.local()


@contextmanager
def of_batch(key: tuple[int, ...]) -> Iterator[None]:
    """In the block, draws of this thread are those of a batch."""
    before = getattr(_place, "key", None)
    _place.key, _place.calls = key, 0
    try:
        yield
    finally:
        _place.key = before


def next_seed() -> int | None:
    """The seed of the next draw of the batch that this thread makes; None: it makes none."""
    key = getattr(_place, "key", None)
    if key is None:
        return None
    _place.calls += 1
    words = np.random.SeedSequence([*key, _place.calls]).generate_state(1, np.uint64)
    return int(words[0]) or 1
