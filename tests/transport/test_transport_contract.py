"""The contract of Transport on the fake and on the real one."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import msgspec
from contract.transport_contract import TransportContract, What
from transport_support import BootClock, dispatch, open_transports, profile

from adapters.transport.transports import Transports
from gateway.domain.grant import Dispatch
from gateway.domain.outcome import Charged, Completed, NoEffect, Unknown
from gateway.domain.tools import CalledFunction, ToolCall
from gateway.domain.usage import Usage
from gateway.testkit.fakes.transport import FakeTransport, good_answer
from gateway.testkit.provider.behaviours import Behaviour, aborted, called, error, refused
from gateway.testkit.provider.server import Provider


class RealEnds:
    def __init__(self, transport: Transports, provider: Provider) -> None:
        self.transport = transport
        self._provider = provider
        self._total_ms = 5000

    async def provider_will(self, what: What) -> None:
        if what == "refuse":
            await self._provider.refuse()
        self._total_ms = 150 if what == "hang" else 5000
        self._provider.default = {
            "call": called("weather", "{}"),
            "decline": refused("I may not."),
            "abort": aborted(),
            "busy": error(429),
            "hang": Behaviour(delivery="hang"),
            "other_model": Behaviour(model="other@1"),
            "answer_later": Behaviour(delay_ms=60_000),
        }.get(what, Behaviour())

    def received(self) -> list[str]:
        return [request.headers["x-request-id"] for request in self._provider.generations]

    def dispatch(self, dispatch_id: str, *, late: bool = False) -> Dispatch:
        to = profile(self._provider.url, timeouts={"connect_ms": 500, "total_ms": self._total_ms})
        return dispatch(to, dispatch_id=dispatch_id, send_by_s=0.0 if late else float("inf"))


class FakeEnds:
    def __init__(self) -> None:
        self.transport = FakeTransport(BootClock())
        self._profile = profile("http://127.0.0.1:9/v1")

    async def provider_will(self, what: What) -> None:
        match what:
            case "answer":
                self.transport.script(good_answer(self._profile))
            case "call":
                call = ToolCall(id="call_scripted", function=CalledFunction("weather", "{}"))
                said = {"content": None, "finish_reason": "tool_calls", "tool_calls": (call,)}
                self.transport.script(self._answer(**said))
            case "decline":
                self.transport.script(self._answer(content=None, refusal="I may not."))
            case "abort":
                self.transport.script(Charged("aborted", Usage(input=20, output=3)))
            case "refuse":
                self.transport.script(NoEffect("connect_refused"))
            case "busy":
                self.transport.script(NoEffect("busy"))
            case "hang":
                self.transport.script(Unknown("timeout_after_send"))
            case "other_model":
                self.transport.script(Charged("other_model", Usage(input=20, output=3)))
            case "answer_later":
                self.transport.hold()

    def _answer(self, **said: Any) -> Completed:
        good = good_answer(self._profile)
        return Completed(msgspec.structs.replace(good.completion, **said))

    def received(self) -> list[str]:
        return [sent.dispatch_id for sent in self.transport.received]

    def dispatch(self, dispatch_id: str, *, late: bool = False) -> Dispatch:
        return dispatch(self._profile, dispatch_id=dispatch_id, send_by_s=0.0 if late else float("inf"))


class TestTheRealTransport(TransportContract):
    @asynccontextmanager
    async def ends(self) -> AsyncIterator[RealEnds]:
        async with Provider() as provider, open_transports() as transports:
            yield RealEnds(transports, provider)


class TestTheFakeTransport(TransportContract):
    @asynccontextmanager
    async def ends(self) -> AsyncIterator[FakeEnds]:
        yield FakeEnds()
