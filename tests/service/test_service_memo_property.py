"""Whatever is asked, cancelled and fails at the same time: nobody gets the answer to another question."""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Coroutine
from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st
from memo_support import QUESTIONS, YES, Deciding, Fixture, decision, digest
from msgspec.structs import replace

from gateway.domain.errors import PolicyUnavailable
from gateway.ports.events import Recalled
from gateway.ports.policy import Decided
from gateway.service.memo import Memo


class Asker(msgspec.Struct, frozen=True):
    entrypoint: str
    tenant: str
    second: int
    after: int
    """Turns of the loop before it asks."""
    cancelled_after: int | None

    @property
    def question(self) -> Any:
        return replace(QUESTIONS[self.entrypoint], tenant=self.tenant, time_s=self.second)


TENANTS = ["a", "b", "c"]
ASKERS = st.builds(
    Asker,
    st.sampled_from(["access", "routes", "replay", "visible"]),
    st.sampled_from(TENANTS),
    st.integers(0, 1),
    st.integers(0, 12),
    st.none() | st.integers(0, 8),
)


class Slow(Deciding):
    """Takes some turns of the loop for each question, and never decides one twice at the same time."""

    def __init__(self, turns: dict[str, int], failing: set[str]) -> None:
        super().__init__()
        self._turns = turns
        self._failing = failing
        self._running: set[Any] = set()

    def __getattr__(self, entrypoint: str) -> Callable[[Any], Coroutine[Any, Any, Any]]:
        async def decide(question: Any) -> Decided[Any]:
            assert question not in self._running
            self.asked.append(question)
            self._running.add(question)
            for _ in range(self._turns[question.tenant]):
                await asyncio.sleep(0)
            self._running.remove(question)
            if question.tenant in self._failing:
                raise PolicyUnavailable(digest(question))
            return Decided(YES[entrypoint], decision(entrypoint, question))

        return decide


@given(
    askers=st.lists(ASKERS, min_size=1, max_size=60),
    turns=st.fixed_dictionaries({tenant: st.integers(0, 6) for tenant in TENANTS}),
    failing=st.sets(st.sampled_from(TENANTS), max_size=2),
    most=st.sampled_from([1, 2, 5, 100]),
)
def test_whatever_happens_every_asker_gets_the_answer_to_its_own_question(
    askers: list[Asker], turns: dict[str, int], failing: set[str], most: int
) -> None:
    made = Fixture(most=most)
    policy = Slow(turns, failing)
    memo = Memo(policy, made.events, most=most)
    ids: list[str] = []
    reasons: defaultdict[Asker, set[str]] = defaultdict(set)

    async def ask(asker: Asker) -> None:
        for _ in range(asker.after):
            await asyncio.sleep(0)
        asking = asyncio.ensure_future(getattr(memo, asker.entrypoint)(asker.question))
        if asker.cancelled_after is not None:
            for _ in range(asker.cancelled_after):
                await asyncio.sleep(0)
            asking.cancel()
        try:
            use = await asking
        except asyncio.CancelledError:
            assert asker.cancelled_after is not None
        except PolicyUnavailable as failure:
            reasons[asker].add(failure.reason)
        else:
            assert asker.tenant not in failing
            assert use.answer == YES[asker.entrypoint]
            assert (use.decision.entrypoint, use.decision.question_digest) == (asker.entrypoint, digest(asker.question))
            ids.append(use.decision.id)
        assert len(memo._kept) <= most

    async def all_of_them() -> None:
        await asyncio.gather(*map(ask, askers))
        if memo._asking:
            await asyncio.wait(memo._asking.values())
        await asyncio.sleep(0)
        assert memo._asking == {}

    asyncio.run(all_of_them())
    assert len(set(ids)) == len(ids)
    assert all(asker.tenant in failing and told == {digest(asker.question)} for asker, told in reasons.items())
    assert all(question.tenant not in failing for question in memo._kept)
    recalled = sum(isinstance(event, Recalled) for event in made.events.events)
    assert len(policy.asked) + recalled <= len(askers)
    if most == 100 and len({asker.second for asker in askers}) == 1:
        good = [question for question in policy.asked if question.tenant not in failing]
        assert len(good) == len(set(good)), "what was decided was asked again within its second"
