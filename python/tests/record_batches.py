# SPDX-License-Identifier: Apache-2.0
"""Runs a program whose loaders note every batch that they give, also those of processes that died.

    python3 record_batches.py FOLDER BATCH_SIZE PROGRAM [its arguments]

FOLDER/RANK gets a line a batch of the loaders of that size, when the loop takes it: epoch, number
in the epoch, digest.
"""

from __future__ import annotations

import os
import runpy
import sys
from pathlib import Path
from typing import Any

import troupe

folder, batch_size, program = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3]


class Recording(troupe.DistNodeDataLoader):
    """A loader that notes its batches."""

    def __next__(self) -> Any:
        batch = super().__next__()
        if self.batch_size == batch_size:
            line = f"{batch.epoch} {batch.index} {batch.digest():x}\n".encode()
            # One write, so that a process that is killed leaves whole lines or none.
            file = os.open(folder / str(troupe.rank()), os.O_WRONLY | os.O_CREAT | os.O_APPEND)
            os.write(file, line)
            os.close(file)
        return batch


troupe.DistNodeDataLoader = Recording
sys.argv = sys.argv[3:]
runpy.run_path(program, run_name="__main__")
