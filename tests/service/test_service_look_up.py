"""What the same key gets again, for every state that an operation can be in."""

import pytest
from msgspec.structs import replace
from service_support import ASKED, Surroundings

from gateway.domain.operation import State
from gateway.domain.outcome import NoEffect
from gateway.domain.refusal import Answer, Code, Refusal
from gateway.ports.transport import Readiness


def in_state(state: State, **changes: object) -> Surroundings:
    """One operation, whose attempt was dispatched and is now in this state."""
    world = Surroundings()
    world.answered()
    world.put_state(state, **changes)
    world.calls.clear()
    return world


@pytest.mark.parametrize("state", [State.GRANTED, State.DISPATCHING])
def test_what_still_runs_is_told_with_when_to_ask_again(state: State) -> None:
    world = in_state(state)
    assert world.refused() == Refusal(
        code=Code.OPERATION_IN_PROGRESS,
        retry_after_s=1,
        operation_id=world.operation.id,
        operation_state=state,
    )


def test_a_grant_without_a_deadline_is_in_progress_however_late_it_is() -> None:
    world = in_state(State.GRANTED, unknown_after_us=None)
    world.clock.us += 3_600_000_000
    assert world.refused().code is Code.OPERATION_IN_PROGRESS


def test_a_dispatch_past_every_deadline_is_answered_as_unknown() -> None:
    world = in_state(State.DISPATCHING)
    limit = world.attempts[-1].unknown_after_us
    assert limit == world.clock.us + 2_000_000 + world.profile.timeouts.total_ms * 1_000 + 60_000_000
    world.clock.us = limit
    assert world.refused().code is Code.OPERATION_IN_PROGRESS
    world.clock.us = limit + 1
    refusal = world.refused()
    assert (refusal.code, refusal.meaning.status, refusal.operation_state) == (
        Code.OUTCOME_UNKNOWN,
        409,
        State.UNKNOWN,
    )
    assert (refusal.status, refusal.retry_after_s) == (None, None)
    assert world.attempts[-1].state is State.DISPATCHING


def test_an_unknown_is_told_again_and_never_with_when_to_retry() -> None:
    world = in_state(State.UNKNOWN)
    assert world.refused() == Refusal(
        code=Code.OUTCOME_UNKNOWN, operation_id=world.operation.id, operation_state=State.UNKNOWN
    )
    assert not Refusal(code=Code.OUTCOME_UNKNOWN).meaning.retry


@pytest.mark.parametrize(
    ("state", "code"), [(State.CHARGED, Code.PROVIDER_FAILED_CHARGED), (State.CLOSED, Code.OPERATION_CLOSED)]
)
def test_a_definite_failure_is_told_again(state: State, code: Code) -> None:
    world = in_state(state)
    assert world.refused() == Refusal(
        code=code, operation_id=world.operation.id, operation_state=state, replayed=True, retry=False
    )


@pytest.mark.parametrize("state", [state for state in State if state not in (State.RELEASED, State.NO_EFFECT)])
def test_what_may_have_had_an_effect_is_never_sent_again(state: State) -> None:
    world = in_state(state)
    world.ask()
    assert len(world.transport.received) == 1
    assert len(world.attempts) == 1
    assert "ledger.claim" not in world.calls


@pytest.mark.parametrize("state", [State.RELEASED, State.NO_EFFECT])
def test_what_had_no_effect_is_tried_again_after_a_full_new_pass(state: State) -> None:
    world = in_state(state)
    world.rows.results.clear()
    first = world.operation.id
    world.clock.us += 1_000_000  # in another second nothing is remembered
    answer = world.answered()
    assert (answer.operation_id, answer.replayed) == (first, False)
    assert [attempt.n for attempt in world.attempts] == [1, 2]
    for step in ("policy.access", "policy.routes", "counter.count", "ledger.claim"):
        assert world.called(step) == 1


@pytest.mark.parametrize(
    ("reason", "code"),
    [
        ("busy", Code.PROVIDER_BUSY),
        ("rejected", Code.PROVIDER_REJECTED),
        ("connect_refused", Code.PROVIDER_UNREACHABLE),
        ("send_by_passed", Code.PROVIDER_UNREACHABLE),
    ],
)
def test_when_the_attempts_are_used_up_the_last_failure_is_told_and_never_retried(reason: str, code: Code) -> None:
    world = Surroundings()
    world.transport.default(NoEffect(reason))
    most = world.snapshot.bundles["chat@1"].max_attempts
    for n in range(most):
        refusal = world.refused()
        assert (refusal.code, refusal.replayed, len(world.attempts)) == (code, False, n + 1)
    world.calls.clear()
    assert world.refused() == Refusal(
        code=code,
        operation_id=world.operation.id,
        operation_state=State.NO_EFFECT,
        replayed=True,
        retry=False,
    )
    assert (len(world.attempts), world.calls) == (most, ["keys.find", "body.read", "keys.find", "operations.find"])


def test_grants_that_were_given_back_use_up_no_attempts() -> None:
    world = Surroundings()

    def wait() -> None:
        world.clock.us += 5_000_001

    world.notebook.at("ledger.dispatch", wait)
    for _ in range(5):
        world.board.note(world.profile, Readiness("ready"))  # a readiness does not last that long
        assert world.refused().code is Code.NOT_STARTED
    world.board.note(world.profile, Readiness("ready"))
    world.notebook.at("ledger.dispatch", lambda: None)
    assert isinstance(world.ask(), Answer)
    assert world.operation.attempts_dispatched == 1


def test_a_grant_that_was_given_back_after_the_last_attempt_is_told_as_not_started() -> None:
    world = Surroundings()
    world.transport.script(NoEffect("busy"))
    world.refused()
    world.notebook.once("ledger.dispatch", lambda: world.board.note(world.profile, Readiness("unready")) and None)
    assert world.refused().code is Code.NOT_STARTED
    operation = world.operation
    world.rows.operations[operation.id] = replace(operation, max_attempts=1)
    assert world.refused() == Refusal(
        code=Code.NOT_STARTED,
        operation_id=operation.id,
        operation_state=State.RELEASED,
        replayed=True,
        retry=False,
    )


def test_a_later_attempt_stays_with_the_operations_first_bundle() -> None:
    world = Surroundings()
    world.transport.script(NoEffect("busy"))
    world.refused()
    world.put_in_force(bundle_digests=dict.fromkeys(world.snapshot.bundle_digests, "sha256:other"))
    refusal = world.refused()
    assert (refusal.code, refusal.meaning.status) == (Code.BUNDLE_SUPERSEDED, 409)
    assert (refusal.operation_id, refusal.operation_state) == (world.operation.id, State.NO_EFFECT)
    assert len(world.transport.received) == 1
    assert isinstance(world.ask(key="k-2"), Answer)


@pytest.mark.parametrize(
    ("changes", "fields"),
    [
        ({"seed": 4}, ("seed",)),
        ({"temperature": 0.5, "max_output": 9}, ("max_tokens", "temperature")),
        ({"purpose": "answers"}, ("gateway.purpose",)),
    ],
)
def test_a_conflict_names_fields_and_no_values(changes: dict[str, object], fields: tuple[str, ...]) -> None:
    world = Surroundings()
    world.answered()
    refusal = world.refused(replace(ASKED, **changes))
    assert (refusal.code, refusal.meaning.status) == (Code.OPERATION_KEY_REUSED, 422)
    assert (refusal.fields, refusal.param) == (fields, fields[0])
    assert (refusal.operation_id, refusal.operation_state) == (world.operation.id, State.COMPLETED)


def test_whether_it_is_streamed_does_not_tell_two_requests_apart() -> None:
    world = Surroundings()
    world.answered()
    assert world.answered(replace(ASKED, stream=True)).replayed


def test_a_key_of_another_principal_is_another_operation() -> None:
    world = Surroundings()
    first = world.answered()
    second = world.answered(who="reporter")
    assert first.operation_id != second.operation_id
    assert len(world.transport.received) == 2
