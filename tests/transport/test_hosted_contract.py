"""The contract of Transport for each hosted family, over real sockets."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from contract.transport_contract import TransportContract, What
from hosted_support import IDS, hosted, hosted_profile
from msgspec.structs import replace
from transport_support import dispatch

from adapters.transport.transports import Transports
from gateway.domain.grant import Dispatch
from gateway.domain.outcome import Completed, Unknown
from gateway.domain.profile import Profile
from gateway.testkit.provider.behaviours import Behaviour, aborted, called, refused
from gateway.testkit.provider.hosted import MODELS, HostedFamily, answer, error
from gateway.testkit.provider.server import Provider


def _said(family: HostedFamily) -> dict[What, Behaviour]:
    """What a model may answer beside text, in the family's shape."""
    if family == "anthropic":
        call = {"type": "tool_use", "id": "call_scripted", "name": "weather", "input": {}}
        return {
            "call": answer(family, content=[call], stop_reason="tool_use"),
            "decline": answer(family, content=[], stop_reason="refusal"),
            "abort": answer(family, stop_reason="abort"),
        }
    behaviours: dict[What, Behaviour] = {
        "call": called("weather", "{}"),
        "decline": refused("I may not."),
        "abort": aborted(),
    }
    return {what: replace(behaviour, model=MODELS[family]) for what, behaviour in behaviours.items()}


class HostedEnds:
    def __init__(self, family: HostedFamily, transport: Transports, provider: Provider, to: Profile) -> None:
        self.transport = transport
        self._family = family
        self._provider = provider
        self._to = to
        self._total_ms = 5000

    async def provider_will(self, what: What) -> None:
        if what == "refuse":
            await self._provider.refuse()
        self._total_ms = 300 if what == "hang" else 5000
        self._provider.default = {
            **_said(self._family),
            "busy": error(self._family, 429, "rate_limit_error"),
            "hang": Behaviour(delivery="hang"),
            "other_model": answer(self._family, model="other@1"),
            "answer_later": Behaviour(delay_ms=60_000),
        }.get(what, answer(self._family))

    def received(self) -> list[str]:
        return [request.headers[IDS[self._family]] for request in self._provider.generations]

    def dispatch(self, dispatch_id: str, *, late: bool = False) -> Dispatch:
        timeouts = {"connect_ms": 500, "total_ms": self._total_ms}
        to = hosted_profile(self._family, self._to.endpoint, timeouts=timeouts)
        return dispatch(to, dispatch_id=dispatch_id, send_by_s=0.0 if late else float("inf"))


class HostedContract(TransportContract):
    family: HostedFamily

    @asynccontextmanager
    async def ends(self) -> AsyncIterator[HostedEnds]:
        async with hosted(self.family) as (transports, provider, to):
            yield HostedEnds(self.family, transports, provider, to)


class TestOpenAi(HostedContract):
    family = "openai"


class TestAzure(HostedContract):
    family = "azure"


class TestAnthropic(HostedContract):
    family = "anthropic"

    def test_a_model_that_declines_has_answered(self):
        """Without a sentence of its own: a stop reason says it."""
        outcome, received = self._one("decline")
        assert isinstance(outcome, Completed)
        completion = outcome.completion
        assert (completion.content, completion.refusal, completion.finish_reason) == ("", None, "content_filter")
        assert received == ["d1"]

    def test_an_aborted_generation_is_charged(self):
        """A word of engines of one's own, which this provider does not have."""
        assert self._one("abort") == (Unknown("unknown_finish_reason"), ["d1"])
