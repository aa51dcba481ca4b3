# SPDX-License-Identifier: Apache-2.0
"""``python -m troupe.dgl SCRIPT [ARGUMENTS]``: runs a script that imports dgl, as it is."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

from .installed import install


def main() -> None:
    """Puts Troupe's names into dgl, and runs the script."""
    if len(sys.argv) < 2:
        sys.exit("usage: python -m troupe.dgl SCRIPT [ARGUMENTS]")
    script = sys.argv[1]
    if not Path(script).is_file():
        sys.exit(f"python -m troupe.dgl: {script}: there is no such file")
    install()
    sys.argv = sys.argv[1:]
    sys.path[0] = str(Path(script).resolve().parent)
    runpy.run_path(script, run_name="__main__")


if __name__ == "__main__":
    main()
