"""Fakes of the ports that touch engines: Transport, Probe and Counter. They pass the contracts of the real ones."""

import asyncio
from collections import deque
from typing import get_args

from gateway.domain.canary import CANARY_REQUEST
from gateway.domain.completion import Completion
from gateway.domain.grant import Dispatch
from gateway.domain.outcome import Completed, NoEffect, NotSent, Outcome
from gateway.domain.profile import Profile
from gateway.domain.request import Request
from gateway.domain.usage import Usage
from gateway.ports.clock import Clock
from gateway.ports.transport import Readiness

NOT_SENT: frozenset[str] = frozenset(get_args(NotSent))


class FakeTransport:
    """Answers as it was told, well by default, and keeps what it sent."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._script: deque[Outcome] = deque()
        self._default: Outcome | None = None
        self._open = asyncio.Event()
        self._open.set()
        self.received: list[Dispatch] = []
        """What a provider would have received from callers, so nothing of a dispatch that was not sent."""
        self.canaries: list[Dispatch] = []
        """Readiness canaries, of which no script knows."""
        self.canary: Outcome | None = None
        """What they come to; None: a good answer."""

    def script(self, *outcomes: Outcome) -> None:
        """Outcomes for the next dispatches, one each; afterwards good answers again."""
        self._script.extend(outcomes)

    def default(self, outcome: Outcome) -> None:
        """Outcome of every dispatch for which nothing is scripted, instead of a good answer."""
        self._default = outcome

    def hold(self) -> None:
        """Let dispatches hang, as sent, until ``let_go``."""
        self._open.clear()

    def let_go(self) -> None:
        self._open.set()

    async def send(self, dispatch: Dispatch) -> Outcome:
        """See Transport.send."""
        if self._clock.boot_s() > dispatch.send_by_s:
            return NoEffect("send_by_passed")
        if dispatch.request == CANARY_REQUEST:
            self.canaries.append(dispatch)
            return self.canary or good_answer(dispatch.profile, "Yes")
        outcome = self._script.popleft() if self._script else self._default or good_answer(dispatch.profile)
        if isinstance(outcome, NoEffect) and outcome.reason in NOT_SENT:
            return outcome
        self.received.append(dispatch)
        await self._open.wait()
        return outcome


class FakeProbe:
    """Finds every profile ready, but for those that it was told otherwise of."""

    def __init__(self) -> None:
        self.told: dict[str, Readiness] = {}
        """By the profile's id."""

    async def check(self, profile: Profile) -> Readiness:
        """See Probe.check."""
        return self.told.get(profile.id, Readiness("ready"))


class FakeCounter:
    """Counts every request the same. ``tokens`` None: uncountable."""

    def __init__(self, tokens: int | None = 20) -> None:
        self.tokens = tokens

    async def count(self, profile: Profile, request: Request, *, enough: int | None = None) -> int | None:  # noqa: ARG002 - the port's signature
        """See Counter.count."""
        return self.tokens


def good_answer(profile: Profile, content: str = "Hello.") -> Completed:
    """A complete answer from the profile's model, with the usage that the scripted provider reports."""
    completion = Completion(
        model=profile.accepted_models[0], content=content, finish_reason="stop", usage=Usage(input=20, output=3)
    )
    return Completed(completion, provider_ref="chatcmpl-scripted")
