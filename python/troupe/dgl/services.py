# SPDX-License-Identifier: Apache-2.0
"""``dgl.distributed.rpc`` and ``kvstore`` as far as scripts touch them.

Writes are acknowledged and servers are Troupe's own, so what libraries send there to flush their
writes has nobody to go to: there are no servers. Services of a program's own cannot be ported; an
actor in C stands in their place.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any, NoReturn

from . import context
from .later import not_yet


class Request:
    """The base of requests of a program's own, which cannot be sent."""

    def __getstate__(self) -> Any:
        raise NotImplementedError

    def __setstate__(self, state: Any) -> None:
        raise NotImplementedError

    def process_request(self, server_state: Any) -> Any:
        """What a server would do."""
        raise NotImplementedError


class Response:
    """The base of their answers."""

    def __getstate__(self) -> Any:
        raise NotImplementedError

    def __setstate__(self, state: Any) -> None:
        raise NotImplementedError


def register_service(service_id: int, request: Any, response: Any = None) -> None:
    """Accepted: nobody asks for the service."""


def get_num_server() -> int:
    """0: what would be sent to each server is sent to none."""
    return 0


def _no_servers(*args: Any, **options: Any) -> NoReturn:
    not_yet("services of a program's own (rpc)", "write an actor in C; there are no DGL servers")


send_request = recv_response = send_request_to_machine = remote_call = _no_servers


def close_kvstore() -> None:
    """Does nothing: tensors end with their graph."""


def get_kvstore() -> NoReturn:
    """There is none."""
    not_yet("get_kvstore()", "read and write tensors by DistTensor")


def init_kvstore(*args: Any, **options: Any) -> None:
    """Does nothing."""


def module(name: str, doc: str, names: dict[str, Any]) -> ModuleType:
    """A module of DGL's by its name."""
    made = ModuleType(f"troupe.dgl.distributed.{name}", doc)

    def later(missing: str) -> NoReturn:
        """Refuses names of DGL that are not there; Python's own probes find none."""
        if missing.startswith("_"):
            raise AttributeError(f"module {made.__name__!r} has no attribute {missing!r}")
        not_yet(f"dgl.distributed.{name}.{missing}", "see the porting page")

    made.__dict__.update(names, __getattr__=later)
    return made


rpc = module(
    "rpc",
    "Services of a program's own, which cannot be ported.",
    {
        "Request": Request,
        "Response": Response,
        "register_service": register_service,
        "get_num_server": get_num_server,
        "get_num_client": context.get_num_client,
        "get_num_machines": context.get_num_machines,
        "get_rank": context.get_rank,
        "send_request": send_request,
        "recv_response": recv_response,
        "send_request_to_machine": send_request_to_machine,
        "remote_call": remote_call,
        "client_barrier": context.client_barrier,
    },
)
kvstore = module(
    "kvstore",
    "The store of tensors, as far as scripts touch it.",
    {"close_kvstore": close_kvstore, "get_kvstore": get_kvstore, "init_kvstore": init_kvstore},
)
