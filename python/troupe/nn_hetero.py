# SPDX-License-Identifier: Apache-2.0
"""A layer of several edge types: a layer for each, and what comes to a node type put together."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import nn

from .batch import Block
from .nn_layers import GATConv, GraphConv, SAGEConv

# What comes along the edge types into a node type, and its name.
Aggregate = Callable[[list[torch.Tensor], str], torch.Tensor]
TypedRows = Mapping[str, torch.Tensor]
Etype = str | tuple[str, str, str]

_AGGREGATES: dict[str, Callable[[list[torch.Tensor]], torch.Tensor]] = {
    "sum": lambda found: torch.stack(found).sum(0),
    "mean": lambda found: torch.stack(found).mean(0),
    "max": lambda found: torch.stack(found).max(0).values,
    "min": lambda found: torch.stack(found).min(0).values,
    "stack": lambda found: torch.stack(found, 1),
}


def module_key(name: str) -> str:
    """A name as the key of a ModuleDict or ParameterDict, which take no dot and no name of their
    own methods."""
    key = name.replace("%", "%25").replace(".", "%2e")
    own = hasattr(nn.ModuleDict(), key) or hasattr(nn.ParameterDict(), key)
    return f"{key}%" if own else key


class HeteroGraphConv(nn.Module):
    """A layer for each edge type; what they give the nodes of a type is put together.

    As DGL's module of that name, over blocks of several types.

    Parameters
    ----------
    mods : dict
        Of edge types, or of relations alone, to layers. Each is called as ``layer(block, rows,
        etype=edge_type)`` with the rows of the source type, or a pair of these and of the rows of
        destinations where the types differ; a layer of a program's own always has the pair.
    aggregate : "sum", "mean", "max", "min", "stack" or callable
        "stack" gives rows of shape ``(edge types, width)``, in the order of the edge types. A
        callable is given the list of tensors that came to a node type, and its name.
    """

    def __init__(self, mods: Mapping[Any, nn.Module], aggregate: str | Aggregate = "sum") -> None:
        super().__init__()
        if isinstance(aggregate, str) and aggregate not in _AGGREGATES:
            known = ", ".join(map(repr, _AGGREGATES))
            raise ValueError(f"aggregate={aggregate!r}: give one of {known}, or a callable")
        self.aggregate = aggregate
        self.mods = nn.ModuleDict({module_key(str(etype)): m for etype, m in mods.items()})

    def layer_of(self, etype: tuple[str, str, str]) -> nn.Module | None:
        """The layer of an edge type, under its whole name or its relation; None: there is none."""
        for name in (str(etype), etype[1]):
            key = module_key(name)
            if key in self.mods:
                return self.mods[key]
        return None

    def forward(
        self,
        block: Block,
        inputs: TypedRows | tuple[TypedRows, TypedRows],
        mod_args: Mapping[Any, Sequence[Any]] | None = None,
        mod_kwargs: Mapping[Any, Mapping[str, Any]] | None = None,
    ) -> dict[str, torch.Tensor]:
        """What comes to each node type that an edge type with rows leads to.

        Parameters
        ----------
        block : Block
        inputs : dict of node types to rows of sources, or a pair
            Destinations are the first of the sources of their type; a pair has theirs apart. Edge
            types whose ends have no rows here are left out.
        mod_args, mod_kwargs : dict, optional
            What the layer of an edge type, or of a relation, is given more.

        Returns
        -------
        dict of str to tensor
            The rows of destinations by node type.

        Raises
        ------
        KeyError
            An edge type that has edges in the block has no layer.
        """
        sources, own = inputs if isinstance(inputs, tuple) else (inputs, None)
        found: dict[str, list[torch.Tensor]] = {}
        for etype in block.canonical_etypes:
            source, _, into = etype
            if source not in sources or into not in (sources if own is None else own):
                continue
            layer = self.layer_of(etype)
            if layer is None:
                if block.num_edges(etype) == 0:
                    continue
                raise KeyError(f"no layer for the edge type {etype}, which has edges in the block")
            rows = sources[into][: block.num_dst_nodes(into)] if own is None else own[into]
            alone = own is None and source == into
            given = (
                sources[source]
                if isinstance(layer, (SAGEConv, GraphConv, GATConv)) and alone
                else (sources[source], rows)
            )
            more = _of_etype(mod_args, etype, ())
            named = _of_etype(mod_kwargs, etype, {})
            found.setdefault(into, []).append(layer(block, given, *more, etype=etype, **named))
        return {ntype: self._put_together(came, ntype) for ntype, came in found.items()}

    def _put_together(self, came: list[torch.Tensor], ntype: str) -> torch.Tensor:
        if isinstance(self.aggregate, str):
            return _AGGREGATES[self.aggregate](came)
        return self.aggregate(came, ntype)


def _of_etype(given: Mapping[Any, Any] | None, etype: tuple[str, str, str], otherwise: Any) -> Any:
    if given is None:
        return otherwise
    return given[etype] if etype in given else given.get(etype[1], otherwise)
