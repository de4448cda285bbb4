"""Decisions are remembered by their question: the same is asked once, and nobody gets another question's answer."""

import asyncio
import gc
from typing import Any

import msgspec
import pytest
from memo_support import (
    ACCESS,
    CODES,
    NO,
    QUESTIONS,
    YES,
    Fixture,
    decision,
    in_loop,
)
from msgspec.structs import replace
from service_support import Recorded, example

from gateway.domain.errors import PolicyUnavailable
from gateway.ports.events import Denied, Recalled
from gateway.ports.policy import Decided
from gateway.service.active import Active, InForce
from gateway.service.memo import MOST_ENTRIES
from gateway.testkit.fakes.policy import ScriptedPolicy

REMEMBERED = sorted(QUESTIONS.keys() - {"operate"})


@pytest.mark.parametrize("entrypoint", REMEMBERED)
@in_loop
async def test_the_same_question_is_asked_once_and_every_use_has_an_id_of_its_own(entrypoint: str) -> None:
    made = Fixture()
    uses = [await made.ask(entrypoint) for _ in range(3)]
    assert made.policy.asked == [QUESTIONS[entrypoint]]
    assert {use.answer for use in map(_comparable, uses)} == {msgspec.json.encode(YES[entrypoint])}
    assert len({use.decision.id for use in uses}) == 3
    expected = decision(entrypoint, QUESTIONS[entrypoint])
    assert all(replace(use.decision, id=expected.id) == expected for use in uses)
    assert made.events.events == [Recalled(entrypoint, "decided")] * 2


def _comparable(decided: Decided[Any]) -> Any:
    return replace(decided, answer=msgspec.json.encode(decided.answer))


@pytest.mark.parametrize("entrypoint", QUESTIONS)
@in_loop
async def test_another_value_of_any_field_is_another_question(entrypoint: str) -> None:
    made = Fixture()
    question = QUESTIONS[entrypoint]
    await made.ask(entrypoint)
    for field in question.__struct_fields__:
        before = getattr(question, field)
        other: Any = before + 1 if isinstance(before, int) else "else" if isinstance(before, str) else ("else",)
        await made.ask(entrypoint, replace(question, **{field: other}))
    assert len(made.policy.asked) == 1 + len(question.__struct_fields__)
    assert made.events.events == []


@in_loop
async def test_questions_of_two_kinds_with_equal_fields_are_two_questions() -> None:
    """Two structs are equal only if they are of one type, so the question alone is the key."""
    made = Fixture()
    for entrypoint, question in QUESTIONS.items():
        await made.ask(entrypoint, question)
    assert len(made.policy.asked) == len(QUESTIONS)
    alike = msgspec.defstruct("Alike", [(name, Any) for name in ACCESS.__struct_fields__], frozen=True)
    assert alike(*(getattr(ACCESS, name) for name in ACCESS.__struct_fields__)) != ACCESS


@in_loop
async def test_who_may_administer_is_asked_every_time() -> None:
    """The question has no time in it: an answer that was kept would outlive the policy's silence."""
    made = Fixture()
    assert (await made.ask("operate")).answer.allow
    made.policy.failing = lambda _: PolicyUnavailable("timeout")
    with pytest.raises(PolicyUnavailable):
        await made.ask("operate")
    made.policy.failing = lambda _: None
    made.policy.answers = NO
    assert not (await made.ask("operate")).answer.allow
    assert made.events.events == [Denied("operate", code) for code in CODES["operate"]]


@pytest.mark.parametrize("entrypoint", REMEMBERED)
@in_loop
async def test_every_use_of_a_denial_is_told_by_its_codes(entrypoint: str) -> None:
    made = Fixture()
    made.policy.answers = NO
    for _ in range(2):
        assert (await made.ask(entrypoint)).answer == NO[entrypoint]
    denied = [event for event in made.events.events if isinstance(event, Denied)]
    assert denied == [Denied(entrypoint, code) for code in CODES[entrypoint]] * 2
    assert len(made.policy.asked) == 1


@in_loop
async def test_those_who_ask_together_are_answered_by_one_evaluation() -> None:
    made = Fixture()
    made.policy.open.clear()
    asking = [asyncio.ensure_future(made.ask("access")) for _ in range(64)]
    await asyncio.sleep(0)
    made.policy.open.set()
    uses = await asyncio.gather(*asking)
    assert len(made.policy.asked) == 1
    assert len({use.decision.id for use in uses}) == 64
    assert made.events.events == [Recalled("access", "in_flight")] * 63


@in_loop
async def test_whoever_asked_first_may_go_away_and_the_others_are_answered() -> None:
    made = Fixture()
    made.policy.open.clear()
    first, second = (asyncio.ensure_future(made.ask("access")) for _ in range(2))
    await asyncio.sleep(0)
    first.cancel()
    await asyncio.wait([first])
    assert first.cancelled()
    made.policy.open.set()
    assert (await second).answer == YES["access"]
    assert len(made.policy.asked) == 1


@in_loop
async def test_a_failure_goes_to_all_who_waited_and_is_not_kept() -> None:
    made = Fixture()
    made.policy.failing = lambda _: PolicyUnavailable("timeout")
    ends = await asyncio.gather(*(made.ask("access") for _ in range(3)), return_exceptions=True)
    assert [type(end) for end in ends] == [PolicyUnavailable] * 3
    assert len(made.policy.asked) == 1
    made.policy.failing = lambda _: None
    assert (await made.ask("access")).answer == YES["access"]
    assert len(made.policy.asked) == 2


@in_loop
async def test_a_failure_that_nobody_waits_for_any_more_is_not_reported_as_lost() -> None:
    made = Fixture()
    lost: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: lost.append(context))
    made.policy.failing = lambda _: PolicyUnavailable("timeout")
    made.policy.open.clear()
    alone = asyncio.ensure_future(made.ask("access"))
    await asyncio.sleep(0)
    alone.cancel()
    await asyncio.wait([alone])
    made.policy.open.set()
    await asyncio.sleep(0.01)
    assert made.memo._asking == {}
    del alone
    gc.collect()  # a task says that its exception was lost when it is thrown away
    assert lost == []


@in_loop
async def test_whoever_asks_in_the_instant_after_a_failure_is_asked_for_again() -> None:
    made = Fixture()
    made.policy.failing = lambda _: PolicyUnavailable("timeout") if len(made.policy.asked) == 1 else None
    first = asyncio.ensure_future(made.ask("access"))
    await asyncio.sleep(0)  # the first has made its task
    (task,) = made.memo._asking.values()
    while not task.done():  # noqa: ASYNC110 - to be there in the very turn of the loop in which it ends
        await asyncio.sleep(0)
    assert (await made.ask("access")).answer == YES["access"]
    with pytest.raises(PolicyUnavailable):
        await first


@in_loop
async def test_the_bound_is_never_exceeded_and_what_was_decided_first_is_dropped_first() -> None:
    made = Fixture(most=8)
    for n in range(50):
        await made.ask("access", replace(ACCESS, alias=f"a{n}"))
        assert made.kept <= 8
    made.events.events.clear()
    for n in range(42, 50):
        await made.ask("access", replace(ACCESS, alias=f"a{n}"))
    assert made.events.events == [Recalled("access", "decided")] * 8
    assert MOST_ENTRIES == 4_096


@in_loop
async def test_what_was_decided_in_another_second_is_dropped_two_for_each_that_comes() -> None:
    made = Fixture()
    for n in range(10):
        await made.ask("access", replace(ACCESS, alias=f"a{n}"))
    sizes = []
    for n in range(12):
        await made.ask("access", replace(ACCESS, time_s=101, alias=f"a{n}"))
        sizes.append(made.kept)
    assert sizes == [9, 8, 7, 6, 5, 6, 7, 8, 9, 10, 11, 12]


@in_loop
async def test_a_clock_that_is_set_back_leaves_a_memo_that_works() -> None:
    made = Fixture()
    await made.ask("access")
    for _ in range(2):
        await made.ask("access", replace(ACCESS, time_s=7))
    assert made.events.events == [Recalled("access", "decided")]


@in_loop
async def test_all_else_is_the_policys_own() -> None:
    made = Fixture()
    assert (made.memo.revision, made.memo.is_up) == ("sha256:r", True)
    made.policy.is_up = False
    assert not made.memo.is_up
    assert made.memo.explain("route", "region") == made.policy.explain("route", "region")


@in_loop
async def test_every_policy_in_force_has_a_memo_of_its_own_which_goes_with_it() -> None:
    snapshot, events = example(), Recorded()
    first, second = ScriptedPolicy(snapshot), ScriptedPolicy(snapshot, "sha256:later")
    put = Active(snapshot, first)
    in_force = InForce(put, events)
    for _ in range(2):
        await in_force.active.policy.access(ACCESS)
    assert in_force.swap(Active(snapshot, second)) is put
    for _ in range(2):
        await in_force.active.policy.access(ACCESS)
    assert (len(first.asked), len(second.asked)) == (1, 1)
    assert in_force.active.policy.revision == "sha256:later"
