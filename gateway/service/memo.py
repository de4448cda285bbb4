"""Decisions are remembered by their question: one that was decided a moment ago is not asked of OPA again.

A decision is a pure function of question and revision, and time is in the question in whole seconds. So an entry
serves for a second at most, and no expiry is ever judged by an older clock than that.
"""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, Generic, TypeVar

import uuid_utils
from msgspec import Struct
from msgspec.structs import replace

from gateway.domain.questions import (
    AccessAnswer,
    AccessQuestion,
    OperateAnswer,
    OperateQuestion,
    ReplayAnswer,
    ReplayQuestion,
    RoutesAnswer,
    RoutesQuestion,
    VisibleAnswer,
    VisibleQuestion,
)
from gateway.domain.refusal import PolicyCode
from gateway.ports.events import Denied, Events, Recalled
from gateway.ports.policy import Decided, Policy
from gateway.service.policy_codes import denied_codes

Question = AccessQuestion | RoutesQuestion | ReplayQuestion | VisibleQuestion
Q = TypeVar("Q", AccessQuestion, RoutesQuestion, ReplayQuestion, VisibleQuestion)
A = TypeVar("A", AccessAnswer, RoutesAnswer, ReplayAnswer, VisibleAnswer)

MOST_ENTRIES = 4_096
"""More than OPA decides in a second, so nothing is dropped that could be asked again. 32 sources each: 80 MB."""


class Memo:
    """A Policy in front of another one of the same revision, with which it comes and goes.

    It is one class and the whole protocol, because those who ask must not be able to tell it from the policy itself.
    """

    def __init__(self, policy: Policy, events: Events, *, most: int = MOST_ENTRIES) -> None:
        self._policy = policy
        self._events = events
        self._most = most
        self._second = 0
        """That of the question which was decided last."""
        self._kept: dict[Question, _Kept[Any]] = {}
        """In the order in which they were decided, so the first are those that nobody will ask again."""
        self._asking: dict[Question, asyncio.Task[_Kept[Any]]] = {}

    @property
    def revision(self) -> str:
        return self._policy.revision

    @property
    def is_up(self) -> bool:
        return self._policy.is_up

    def explain(self, level: str, check: str) -> PolicyCode:
        """See Policy.explain."""
        return self._policy.explain(level, check)

    async def access(self, question: AccessQuestion) -> Decided[AccessAnswer]:
        return await self._use("access", question, self._policy.access)

    async def routes(self, question: RoutesQuestion) -> Decided[RoutesAnswer]:
        return await self._use("routes", question, self._policy.routes)

    async def replay(self, question: ReplayQuestion) -> Decided[ReplayAnswer]:
        return await self._use("replay", question, self._policy.replay)

    async def visible(self, question: VisibleQuestion) -> Decided[VisibleAnswer]:
        return await self._use("visible", question, self._policy.visible)

    async def operate(self, question: OperateQuestion) -> Decided[OperateAnswer]:
        # Not remembered: it is asked seldom, and without a time in it an answer would outlive the policy's silence.
        decided = await self._policy.operate(question)
        for code in denied_codes(self._policy, decided.answer):
            self._events.emit(Denied("operate", code))
        return decided

    async def _use(
        self, entrypoint: str, question: Q, ask: Callable[[Q], Coroutine[Any, Any, Decided[A]]]
    ) -> Decided[A]:
        kept: _Kept[A] | None = self._kept.get(question)
        if kept is not None:
            self._events.emit(Recalled(entrypoint, "decided"))
        else:
            kept = await self._ask(entrypoint, question, ask)
        for code in kept.denied:
            self._events.emit(Denied(entrypoint, code))
        decided = kept.decided
        # An id for every use: the audit tells apart who was answered, whoever it was that OPA was asked for.
        return Decided(decided.answer, replace(decided.decision, id=str(uuid_utils.uuid7())))

    async def _ask(
        self, entrypoint: str, question: Q, ask: Callable[[Q], Coroutine[Any, Any, Decided[A]]]
    ) -> "_Kept[A]":
        asking = self._asking.get(question)
        if asking is not None and not asking.done():
            self._events.emit(Recalled(entrypoint, "in_flight"))
        else:
            # A task of its own: whoever asked first may go away, and those who came later still get the answer.
            asking = asyncio.ensure_future(self._decide(question, ask))
            self._asking[question] = asking
            asking.add_done_callback(lambda ended: self._forget(question, ended))
        return await asyncio.shield(asking)

    async def _decide(self, question: Q, ask: Callable[[Q], Coroutine[Any, Any, Decided[A]]]) -> "_Kept[A]":
        decided = await ask(question)
        self._second = question.time_s
        kept = _Kept(decided, denied_codes(self._policy, decided.answer), self._second)
        self._make_room()
        self._kept[question] = kept
        return kept

    def _make_room(self) -> None:
        """Drop two entries of another second, or one of this second where the bound is reached.

        Two for each that comes: so their number shrinks, and no request pays for all of them.
        """
        for oldest in [question for question, _ in zip(self._kept, range(2), strict=False)]:
            if self._kept[oldest].second != self._second or len(self._kept) >= self._most:
                del self._kept[oldest]

    def _forget(self, question: Question, ended: "asyncio.Task[_Kept[Any]]") -> None:
        if self._asking.get(question) is ended:
            del self._asking[question]
        if not ended.cancelled():
            # A failure went to all who waited; where nobody did any more, it must not be reported as lost.
            ended.exception()


class _Kept(Struct, Generic[A], frozen=True):
    decided: Decided[A]
    denied: tuple[str, ...]
    """Codes for which policy said no; none where it said yes."""
    second: int
    """In which it was decided, by the questions' own time."""
