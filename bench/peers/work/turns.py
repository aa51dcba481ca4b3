# SPDX-License-Identifier: Apache-2.0
"""The program of one side of a comparison of loaders: it draws batches when it is its turn.

It opens its graph, answers ``{"ready": ...}``, and then reads numbers of batches from its standard
input, a line each. When it has drawn as many it answers how long that took and how many edges the
batches had. The end of the input ends it.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterator
from typing import Any


def arguments() -> Any:
    """What the comparison wants of the program: one argument, in JSON."""
    return json.loads(sys.argv[1])


def claim_answers() -> Any:
    """The standard output for answers alone: what libraries print goes to the standard error."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    return answers


def serve(batches: Iterator[int], answers: Any) -> None:
    """Draws from `batches`, which are endless and give the edges of each, as often as is asked."""
    print(json.dumps({"ready": True}), file=answers, flush=True)
    for line in sys.stdin:
        begin = time.perf_counter()
        edges = sum(next(batches) for _ in range(int(line)))
        said = {"seconds": time.perf_counter() - begin, "edges": edges}
        print(json.dumps(said), file=answers, flush=True)
