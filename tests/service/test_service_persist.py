"""T3, and only then the answer: each outcome with its state, its amounts and what the caller is told."""

import asyncio
import hashlib
import json

import pytest
from msgspec import Struct
from msgspec.structs import replace
from service_support import PROFILE, Surroundings, breaking

from gateway.domain.completion import Completion
from gateway.domain.errors import LedgerUnavailable, LedgerUncertain
from gateway.domain.operation import State
from gateway.domain.outcome import Charged, Completed, NoEffect, Outcome, Unknown
from gateway.domain.profile_state import convicts
from gateway.domain.refusal import Answer, Code, Refusal
from gateway.domain.usage import Usage
from gateway.ports.events import Dispatched
from gateway.ports.ledger import Superseded
from gateway.service.settling import UNSAVED_BYTES_BOUND
from gateway.testkit.fakes.transport import good_answer

RESERVED = (20, 256)
USED = Usage(input=20, output=3)


class Told(Struct, frozen=True):
    """What the caller learns, and what is booked."""

    code: Code
    status: int
    retry: bool
    state: State
    used: tuple[int | None, int | None] = (None, None)
    basis: str | None = None


OUTCOMES: tuple[tuple[Outcome, Told], ...] = (
    *(
        (NoEffect(reason), Told(Code.PROVIDER_UNREACHABLE, 503, True, State.NO_EFFECT))
        for reason in (
            "connect_refused",
            "name_not_resolved",
            "tls_failed",
            "connect_timeout",
            "pool_timeout",
            "send_by_passed",
        )
    ),
    (NoEffect("busy"), Told(Code.PROVIDER_BUSY, 503, True, State.NO_EFFECT)),
    (NoEffect("rejected"), Told(Code.PROVIDER_REJECTED, 502, False, State.NO_EFFECT)),
    (
        Charged("other_model", USED),
        Told(Code.PROVIDER_FAILED_CHARGED, 502, False, State.CHARGED, (20, 3), "provider"),
    ),
    (
        Charged("answer_too_large"),
        Told(Code.PROVIDER_FAILED_CHARGED, 502, False, State.CHARGED, RESERVED, "reserved"),
    ),
    (Unknown("timeout_after_send"), Told(Code.OUTCOME_UNKNOWN, 504, False, State.UNKNOWN)),
    *(
        (Unknown(reason), Told(Code.OUTCOME_UNKNOWN, 502, False, State.UNKNOWN))
        for reason in (
            "connection_lost",
            "truncated_answer",
            "malformed_answer",
            "unlisted_status",
            "redirect",
            "unknown_finish_reason",
            "transport_failed",
        )
    ),
)


@pytest.mark.parametrize(("outcome", "told"), OUTCOMES, ids=lambda one: getattr(one, "reason", None) or "")
def test_an_outcome_without_an_answer_is_told_and_booked(outcome: Outcome, told: Told) -> None:
    world = Surroundings()
    world.transport.script(outcome)
    refusal = world.refused()
    retry = refusal.meaning.retry if refusal.retry is None else refusal.retry
    assert (refusal.code, refusal.status or refusal.meaning.status, retry) == (told.code, told.status, told.retry)
    assert (refusal.operation_id, refusal.operation_state) == (world.operation.id, told.state)
    assert not refusal.replayed
    attempt = world.attempts[-1]
    assert (attempt.state, attempt.detail) == (told.state, outcome.reason)
    assert (attempt.used_input, attempt.used_output) == told.used
    assert attempt.usage_basis == told.basis
    assert world.rows.results == {}
    after = ["profiles.marks"] if convicts(outcome) else []
    assert world.calls[-2 - len(after) :] == ["transport.send", "ledger.settle", *after]


def test_an_answer_is_stored_as_the_bytes_that_are_shown() -> None:
    world = Surroundings()
    answer = world.answered()
    stored = world.rows.results[answer.operation_id]
    assert stored.body == answer.body
    assert stored.digest == hashlib.sha256(answer.body).hexdigest()
    document = json.loads(answer.body)
    assert document["id"] == answer.operation_id
    assert document["created"] == world.clock.now_us() // 1_000_000
    assert document["usage"] == {"prompt_tokens": 20, "completion_tokens": 3, "total_tokens": 23}
    assert (answer.bundle_digest, answer.policy_revision) == (world.operation.bundle_digest, "sha256:scripted")


def test_the_model_is_named_as_the_provider_named_it() -> None:
    world = Surroundings()
    answer = world.answered()
    assert json.loads(answer.body)["model"] == world.profile.accepted_models[0] != "chat"


@pytest.mark.parametrize("content", ["", None])
def test_an_answer_without_text_is_an_answer(content: str | None) -> None:
    world = Surroundings()
    good = good_answer(world.profile)
    world.transport.script(replace(good, completion=replace(good.completion, content=content)))
    document = json.loads(world.answered().body)
    assert document["choices"][0]["message"]["content"] == content


def test_without_usage_the_reservation_is_charged_and_shown() -> None:
    world = Surroundings()
    completion = Completion(world.profile.accepted_models[0], "Yes.", "length", usage=None)
    world.transport.script(Completed(completion))
    document = json.loads(world.answered().body)
    assert document["usage"]["total_tokens"] == sum(RESERVED)
    assert document["choices"][0]["finish_reason"] == "length"
    assert world.attempts[-1].usage_basis == "reserved"


def test_nothing_is_shown_before_it_is_saved() -> None:
    world = Surroundings()
    states: list[State] = []
    world.notebook.at("ledger.settle", lambda: states.append(world.attempts[-1].state))
    world.answered()
    assert states == [State.DISPATCHING]


def test_an_answer_whose_commit_failed_is_not_shown_and_not_tried_again() -> None:
    world = Surroundings()
    world.notebook.at("ledger.settle", breaking(LedgerUncertain("failed")))
    refusal = world.refused()
    assert (refusal.code, refusal.status, refusal.operation_id) == (Code.OUTCOME_UNKNOWN, 502, world.operation.id)
    assert world.called("ledger.settle") == 1


def test_an_answer_that_cannot_be_saved_is_not_shown_and_sent_once() -> None:
    world = Surroundings()
    world.services.settling.answer_within_s = 0.01
    world.notebook.at("ledger.settle", breaking(LedgerUnavailable("full")))
    refusal = world.refused()
    assert (refusal.code, refusal.status) == (Code.OUTCOME_UNKNOWN, 502)
    assert "Hello" not in repr(refusal)
    assert world.attempts[-1].state is State.DISPATCHING
    assert len(world.transport.received) == 1


def test_an_answer_that_could_be_saved_at_the_second_try_is_shown() -> None:
    world = Surroundings()
    world.notebook.once("ledger.settle", breaking(LedgerUnavailable("full")))
    assert not world.answered().replayed
    assert (world.called("ledger.settle"), len(world.transport.received)) == (2, 1)


def test_an_answer_that_is_saved_after_its_caller_gave_up_is_there_for_the_same_key() -> None:
    world = Surroundings()
    world.services.settling.answer_within_s = 0.0

    async def ask_twice() -> tuple[Answer | Refusal, Answer | Refusal]:
        world.notebook.once("ledger.settle", breaking(LedgerUnavailable("full")))
        first = await world.asking()
        assert await world.services.running.drain(5.0) == 0
        return first, await world.asking()

    first, again = asyncio.run(ask_twice())
    assert isinstance(first, Refusal)
    assert isinstance(again, Answer)
    assert again.replayed
    assert len(world.transport.received) == 1


def test_a_commit_that_fails_at_the_second_try_ends_the_trying() -> None:
    world = Surroundings()
    errors = iter([LedgerUnavailable("full"), LedgerUncertain("failed")])

    def fail() -> None:
        raise next(errors)

    world.notebook.at("ledger.settle", fail)
    assert world.refused().code is Code.OUTCOME_UNKNOWN
    assert world.called("ledger.settle") == 2
    assert world.services.settling.unsaved_bytes == 0


def test_while_too_many_answers_wait_to_be_saved_no_other_is_asked_for() -> None:
    world = Surroundings()
    world.services.settling.unsaved_bytes = UNSAVED_BYTES_BOUND
    world.answered(key="at the bound")
    world.services.settling.unsaved_bytes = UNSAVED_BYTES_BOUND + 1
    world.calls.clear()
    refusal = world.refused()
    assert refusal.code is Code.LEDGER_UNAVAILABLE
    assert world.calls[-2:] == ["counter.count", "ledger.refuse"]
    assert len(world.transport.received) == 1


@pytest.mark.parametrize("state", [State.UNKNOWN, State.CLOSED, State.CHARGED])
def test_an_outcome_that_comes_too_late_is_not_shown(state: State) -> None:
    world = Surroundings()
    world.notebook.at("ledger.settle", lambda: Superseded(state))
    refusal = world.refused()
    assert (refusal.code, refusal.status) == (Code.OUTCOME_UNKNOWN, 502)


def test_a_late_answer_that_meets_an_unknown_is_saved_and_shown() -> None:
    world = Surroundings()
    world.notebook.at("ledger.settle", lambda: world.put_state(State.UNKNOWN))
    world.answered()
    assert world.attempts[-1].state is State.COMPLETED


@pytest.mark.parametrize("outcome", [good_answer, lambda _: NoEffect("busy"), lambda _: Unknown("redirect")])
def test_every_dispatch_that_ended_is_one_event(outcome: object) -> None:
    world = Surroundings()
    world.transport.script(outcome(world.profile))
    world.ask()
    (event,) = [event for event in world.events.events if isinstance(event, Dispatched)]
    attempt = world.attempts[-1]
    assert (event.profile, event.state, event.detail) == (PROFILE, attempt.state, attempt.detail)
