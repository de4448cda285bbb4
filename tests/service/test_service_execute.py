"""T2, then one call: nothing leaves without a fresh grant whose dispatch is durable."""

import asyncio

import pytest
from service_support import ASKED, Surroundings, breaking

from gateway.domain.budget import Reservation
from gateway.domain.errors import GrantAlreadySpent, LedgerUnavailable, LedgerUncertain
from gateway.domain.grant import FreshGrant
from gateway.domain.operation import Identity, State
from gateway.domain.outcome import Completed
from gateway.domain.refusal import Answer, Code
from gateway.ports.ledger import Dispatching, GrantLost
from gateway.ports.transport import Readiness
from gateway.service.steps.execute import SEND_WITHIN_S


def test_nothing_is_sent_before_the_dispatch_is_durable() -> None:
    world = Surroundings()
    states: list[State] = []
    world.notebook.at("transport.send", lambda: states.append(world.attempts[-1].state))
    world.answered()
    assert states == [State.DISPATCHING]


def test_a_dispatch_that_is_not_taken_is_not_sent_and_the_key_may_be_tried_again() -> None:
    world = Surroundings()
    world.notebook.once("ledger.dispatch", breaking(LedgerUnavailable("full")))
    refusal = world.refused()
    assert (refusal.code, refusal.meaning.status, refusal.meaning.retry) == (Code.NOT_STARTED, 503, True)
    assert refusal.operation_id == world.operation.id
    assert world.called("transport.send") == 0
    assert world.attempts[-1].state is State.RELEASED
    assert world.answered().operation_id == refusal.operation_id
    assert [attempt.state for attempt in world.attempts] == [State.RELEASED, State.COMPLETED]


def test_a_grant_that_cannot_be_given_back_now_is_swept() -> None:
    world = Surroundings()
    world.notebook.once("ledger.dispatch", breaking(LedgerUnavailable("full")))
    world.notebook.once("ledger.release", breaking(LedgerUnavailable("full")))
    assert world.refused().code is Code.NOT_STARTED
    assert world.attempts[-1].state is State.GRANTED
    asyncio.run(world.services.sweeper.sweep())
    assert world.attempts[-1].state is State.RELEASED


def test_a_dispatch_whose_commit_failed_is_unknown_and_not_sent() -> None:
    world = Surroundings()
    world.notebook.at("ledger.dispatch", breaking(LedgerUncertain("failed")))
    refusal = world.refused()
    assert (refusal.code, refusal.status, refusal.operation_id) == (Code.OUTCOME_UNKNOWN, 502, world.operation.id)
    assert world.called("transport.send") == 0


@pytest.mark.parametrize("reason", ["grant_expired", "not_granted", "no_such_grant", "profile_not_ready"])
def test_a_lost_grant_sends_nothing(reason: str) -> None:
    world = Surroundings()
    world.notebook.at("ledger.dispatch", lambda: GrantLost(reason))
    assert world.refused().code is Code.NOT_STARTED
    assert world.called("transport.send") == 0
    assert world.rows.audit == []


def test_a_grant_that_waited_too_long_is_given_back_and_a_fresh_one_may_follow() -> None:
    world = Surroundings()

    def wait() -> None:
        world.clock.us += 5_000_001

    world.notebook.once("ledger.dispatch", wait)
    refusal = world.refused()
    assert (refusal.code, refusal.operation_state) == (Code.NOT_STARTED, State.RELEASED)
    assert world.attempts[-1].state is State.RELEASED
    assert world.transport.received == []
    assert isinstance(world.ask(), Answer)
    assert len(world.transport.received) == 1


def test_an_engine_that_is_lost_after_the_reservation_gets_nothing() -> None:
    world = Surroundings()
    world.notebook.at("ledger.dispatch", lambda: world.board.note(world.profile, Readiness("unready")) and None)
    assert world.refused().code is Code.NOT_STARTED
    assert world.attempts[-1].state is State.RELEASED
    assert world.transport.received == []


def test_the_send_by_deadline_runs_from_before_the_dispatch_is_queued() -> None:
    world = Surroundings()
    began_s = world.clock.boot_s()

    def commit_slowly() -> None:
        world.clock.us += 1_500_000

    world.notebook.at("ledger.dispatch", commit_slowly)
    world.answered()
    assert world.transport.received[0].send_by_s == pytest.approx(began_s + SEND_WITHIN_S, abs=1e-3)


def test_a_dispatch_that_took_longer_than_the_send_by_deadline_has_no_effect() -> None:
    world = Surroundings()

    def pause() -> None:
        world.clock.us += 2_000_001

    world.notebook.at("ledger.dispatch", pause)
    assert world.refused().code is Code.PROVIDER_UNREACHABLE
    assert world.transport.received == []
    assert (world.attempts[-1].state, world.attempts[-1].detail) == (State.NO_EFFECT, "send_by_passed")


def test_the_wire_sees_the_dispatch_id_and_never_the_operation_key() -> None:
    world = Surroundings()
    world.answered(key="the-key")
    (dispatch,) = world.transport.received
    assert dispatch.dispatch_id == world.attempts[-1].dispatch_id
    assert "the-key" not in repr(dispatch)


def test_a_grant_is_spent_once() -> None:
    world = Surroundings()
    grant = FreshGrant(
        identity=Identity("acme", "assistant", bytes(32)),
        operation_id="op",
        attempt=1,
        dispatch_id="d",
        profile=world.profile,
        reserved=Reservation(20, 5),
        made_s=world.clock.boot_s(),
    )
    world.notebook.at("ledger.dispatch", Dispatching)
    execute = world.services.pipeline.execute
    assert isinstance(asyncio.run(execute(grant, ASKED)), Completed)
    with pytest.raises(GrantAlreadySpent):
        asyncio.run(execute(grant, ASKED))
    assert len(world.transport.received) == 1
