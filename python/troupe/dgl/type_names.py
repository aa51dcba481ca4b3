# SPDX-License-Identifier: Apache-2.0
"""Types of a graph whose unknown names raise DGL's error, too."""

from __future__ import annotations

import sys
from typing import NoReturn

from .. import errors
from ..types import EtypeName, Types


def refuse(error: errors.NotFound) -> NoReturn:
    """Raises the error as one that is also a ``dgl.DGLError``, where DGL was imported."""
    dgl = sys.modules.get("dgl")
    base = getattr(dgl, "DGLError", None)
    if base is None:
        raise error
    raise type("UnknownType", (errors.NotFound, base), {})(error.message) from None


class DGLTypes(Types):
    """As `troupe.types.Types`."""

    def __init__(self, types: Types) -> None:
        super().__init__(types.ntypes, [":".join(name) for name in types.canonical_etypes])

    def ntype(self, name: str | None) -> int:
        """The number of a node type; None: the only one."""
        try:
            return super().ntype(name)
        except errors.NotFound as error:
            refuse(error)

    def etype(self, name: EtypeName) -> int:
        """The number of an edge type by any of its names; None: the only one."""
        try:
            return super().etype(name)
        except errors.NotFound as error:
            refuse(error)
