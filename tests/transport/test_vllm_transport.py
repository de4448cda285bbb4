"""The contract of Transport for vLLM, with its own error where it is busy, over a salted profile."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import msgspec
from contract.transport_contract import TransportContract, What
from recorded_vllm import recorded
from test_transport_contract import RealEnds
from transport_support import open_transports, profile

from gateway.domain.grant import Dispatch
from gateway.testkit.provider.behaviours import Behaviour
from gateway.testkit.provider.server import Provider


class VllmEnds(RealEnds):
    """The same provider behind a profile of vLLM."""

    async def provider_will(self, what: What) -> None:
        await super().provider_will(what)
        if what == "busy":
            self._provider.default = Behaviour(status=503, body=recorded("error_503_queue.json").decode())

    def dispatch(self, dispatch_id: str, *, late: bool = False) -> Dispatch:
        one = super().dispatch(dispatch_id, late=late)
        engine = msgspec.to_builtins(one.profile.engine) | {"prefix_cache": "salted", "salted_by": "tenant"}
        to = profile(
            one.profile.endpoint, adapter="vllm", timeouts=msgspec.to_builtins(one.profile.timeouts), engine=engine
        )
        return msgspec.structs.replace(one, profile=to)


class TestVllm(TransportContract):
    @asynccontextmanager
    async def ends(self) -> AsyncIterator[VllmEnds]:
        async with Provider() as provider, open_transports() as transports:
            yield VllmEnds(transports, provider)
