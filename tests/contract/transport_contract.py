"""What every Transport keeps, the fake and the real one. A subclass provides the two ends."""

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Literal, Protocol

import pytest

from gateway.domain.grant import Dispatch
from gateway.domain.outcome import Charged, Completed, NoEffect, Outcome, Unknown
from gateway.domain.tools import CalledFunction, ToolCall
from gateway.domain.usage import Usage
from gateway.ports.transport import Transport

What = Literal["answer", "call", "decline", "abort", "refuse", "busy", "hang", "other_model", "answer_later"]


class Ends(Protocol):
    """A transport, and the provider behind it."""

    transport: Transport

    async def provider_will(self, what: What) -> None:
        """What it does with every dispatch from now on."""

    def received(self) -> list[str]:
        """Ids of the dispatches that the provider received."""

    def dispatch(self, dispatch_id: str, *, late: bool = False) -> Dispatch:
        """A dispatch to the provider; ``late``: past its send-by deadline."""


class TransportContract:
    """Inherit, and implement ``ends``."""

    ends: Callable[[], AbstractAsyncContextManager[Ends]]

    def _one(self, what: What, *, late: bool = False) -> tuple[Outcome, list[str]]:
        async def run() -> tuple[Outcome, list[str]]:
            async with self.ends() as ends:
                await ends.provider_will(what)
                return await ends.transport.send(ends.dispatch("d1", late=late)), ends.received()

        return asyncio.run(run())

    def test_an_answer_is_completed_with_its_usage_and_was_received_once(self):
        outcome, received = self._one("answer")
        assert isinstance(outcome, Completed)
        assert (outcome.completion.content, outcome.completion.usage) == ("Hello.", Usage(input=20, output=3))
        assert received == ["d1"]

    def test_a_call_of_a_function_is_an_answer_in_the_models_own_words(self):
        outcome, received = self._one("call")
        assert isinstance(outcome, Completed)
        completion = outcome.completion
        assert (completion.content, completion.finish_reason) == (None, "tool_calls")
        assert completion.tool_calls == (ToolCall(id="call_scripted", function=CalledFunction("weather", "{}")),)
        assert received == ["d1"]

    def test_a_model_that_declines_has_answered(self):
        outcome, received = self._one("decline")
        assert isinstance(outcome, Completed)
        assert (outcome.completion.content, outcome.completion.refusal) == (None, "I may not.")
        assert received == ["d1"]

    def test_an_aborted_generation_is_charged(self):
        assert self._one("abort") == (Charged("aborted", Usage(input=20, output=3)), ["d1"])

    def test_a_refused_connection_has_no_effect_and_nothing_is_received(self):
        assert self._one("refuse") == (NoEffect("connect_refused"), [])

    def test_a_busy_provider_has_received_the_request_once_and_done_nothing(self):
        assert self._one("busy") == (NoEffect("busy"), ["d1"])

    def test_a_hang_is_unknown_and_was_received_once(self):
        assert self._one("hang") == (Unknown("timeout_after_send"), ["d1"])

    def test_an_answer_of_another_model_is_charged(self):
        assert self._one("other_model") == (Charged("other_model", Usage(input=20, output=3)), ["d1"])

    def test_nothing_is_sent_after_the_send_by_deadline(self):
        assert self._one("answer", late=True) == (NoEffect("send_by_passed"), [])

    def test_a_cancelled_send_raises_cancelled_error(self):
        async def run() -> list[str]:
            async with self.ends() as ends:
                await ends.provider_will("answer_later")
                task = asyncio.create_task(ends.transport.send(ends.dispatch("d1")))
                for _ in range(400):
                    if ends.received():
                        break
                    await asyncio.sleep(0.005)
                task.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await task
                return ends.received()

        assert asyncio.run(run()) == ["d1"]

    def test_dispatches_at_once_are_one_request_each(self):
        ids = [f"d{n}" for n in range(16)]

        async def run() -> tuple[list[Outcome], list[str]]:
            async with self.ends() as ends:
                await ends.provider_will("answer")
                return await asyncio.gather(*(ends.transport.send(ends.dispatch(i)) for i in ids)), ends.received()

        outcomes, received = asyncio.run(run())
        assert all(isinstance(outcome, Completed) for outcome in outcomes)
        assert sorted(received) == sorted(ids)
