# SPDX-License-Identifier: Apache-2.0
"""Arguments of PyG's loader and sampler that cannot be honoured: refused by name, with the reason.

What changes nothing in Troupe is taken as it is given, and documented where it is taken.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from .. import errors


class _Refusal(NamedTuple):
    # The values that mean what Troupe does.
    taken: tuple[Any, ...]
    reason: str


_NO_TIMES = "draws that respect times of nodes and edges are not there yet"
_REFUSALS = {
    "input_time": _Refusal((None,), _NO_TIMES),
    "edge_label_time": _Refusal((None,), _NO_TIMES),
    "time_attr": _Refusal((None,), _NO_TIMES),
    "temporal_strategy": _Refusal(("uniform",), _NO_TIMES),
    "disjoint": _Refusal(
        (False, None),
        "the seeds of a batch share their nodes; batch_size=1 gives each seed a graph of its own",
    ),
    "subgraph_type": _Refusal(
        ("directional",),
        "batches have the edges that were drawn; neither their reverses nor those between the "
        "drawn nodes are looked up. transform=torch_geometric.transforms.ToUndirected() adds the "
        "reverse of each",
    ),
    "directed": _Refusal((True,), "batches have the edges that were drawn, and no others"),
    "sample_direction": _Refusal(
        ("forward",),
        "batches have in-edges; for those along out-edges, draw along the in-edges of reverse edge "
        "types, which troupe import edges --reverse-types makes, or give "
        'troupe.NeighborSampler(edge_dir="out")',
    ),
    "transform_sampler_output": _Refusal(
        (None,),
        "rows are filled in by the threads that draw; PyG's NodeLoader over troupe.pyg.stores() "
        "and troupe.pyg.NeighborSampler calls it",
    ),
    "batch_sampler": _Refusal(
        (None,), "batches are of batch_size= seeds; their order may be that of a sampler="
    ),
    "generator": _Refusal((None,), "give seed=: each batch draws by it and by its own number"),
    "worker_init_fn": _Refusal(
        (None,), "batches are made by threads of the library and of this process, not by workers"
    ),
    "in_order": _Refusal((True,), "batches are delivered in their order"),
}
# They say how worker processes are run or how an edge list in memory is sorted: there are neither.
WITHOUT_EFFECT = frozenset(
    {
        "collate_fn",
        "dataset",
        "filter_per_worker",
        "is_sorted",
        "multiprocessing_context",
        "persistent_workers",
        "pin_memory_device",
        "prefetch_factor",
        "share_memory",
    }
)


def _plain(value: Any) -> Any:
    """The value of a member of an enumeration of PyG's."""
    return getattr(value, "value", value)


def _shown(value: Any) -> str:
    """A value for a message, which a whole tensor would drown."""
    plain = _plain(value)
    return repr(plain) if isinstance(plain, (str, int, float)) else f"a {type(value).__name__}"


def check_arguments(what: str, given: Mapping[str, Any]) -> None:
    """Refuses what cannot be honoured.

    Raises
    ------
    Unsupported
        A NotImplementedError: the message names the argument and has the reason.
    TypeError
        PyG has no such argument.
    """
    for name, value in given.items():
        refusal = _REFUSALS.get(name)
        if refusal is None:
            if name not in WITHOUT_EFFECT:
                raise TypeError(f"{what}() has no argument {name!r}")
        elif not any(_plain(value) is one or _plain(value) == one for one in refusal.taken):
            raise errors.Unsupported(f"{what}({name}={_shown(value)}): {refusal.reason}")


def check_no_sampler(name: str, sampler: Any) -> None:
    """Refuses a sampler for the job's seeds, which `name` gave."""
    if sampler is not None:
        raise errors.Unsupported(
            f"sampler=a {type(sampler).__name__}: the job's seeds are shared out among its "
            f"trainers and ordered by the library; give {name} as a list of IDs or a mask of "
            "booleans, which are this trainer's own"
        )
