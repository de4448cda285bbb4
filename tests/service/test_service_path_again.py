"""T1 is the point of decision: what it finds changed sends the request back, and not for ever."""

import asyncio

from msgspec.structs import replace
from service_support import ASKED, CITING, Surroundings, handbook

from gateway.domain.operation import State
from gateway.domain.refusal import Answer, Code, Refusal
from gateway.domain.source import RevokeSource
from gateway.ports.ledger import AlreadyExists, Stale
from gateway.ports.transport import Readiness
from gateway.service.pipeline import WALKS


def test_whoever_loses_the_race_for_a_key_gets_the_winners_answer() -> None:
    world = Surroundings()
    won: list[Answer | Refusal] = []

    async def another_wins() -> None:
        won.append(await world.asking())

    world.notebook.once("ledger.claim", another_wins)
    answer = world.answered()
    (winner,) = won
    assert isinstance(winner, Answer)
    assert answer == replace(winner, replayed=True)
    assert len(world.transport.received) == 1
    assert world.called("ledger.disclose") == 1


def test_whoever_loses_the_race_while_the_winner_runs_is_told_so() -> None:
    world = Surroundings()

    async def race() -> Refusal | Answer:
        running: list[asyncio.Task[object]] = []
        sent = asyncio.Event()

        async def another_begins() -> None:
            running.append(asyncio.ensure_future(world.asking()))
            await sent.wait()

        world.transport.hold()
        world.notebook.once("transport.send", sent.set)
        world.notebook.once("ledger.claim", another_begins)
        loser = await world.asking()
        world.transport.let_go()
        await running[0]
        return loser

    loser = asyncio.run(race())
    assert isinstance(loser, Refusal)
    assert (loser.code, loser.operation_state) == (Code.OPERATION_IN_PROGRESS, State.DISPATCHING)
    assert len(world.transport.received) == 1


def test_whoever_loses_the_race_to_another_request_has_reused_its_key() -> None:
    world = Surroundings()

    async def another_wins() -> None:
        assert isinstance(await world.asking(replace(ASKED, seed=4)), Answer)

    world.notebook.once("ledger.claim", another_wins)
    refusal = world.refused()
    assert (refusal.code, refusal.fields) == (Code.OPERATION_KEY_REUSED, ("seed",))
    assert len(world.transport.received) == 1


def test_a_source_that_changes_before_the_reservation_is_decided_upon_again() -> None:
    world = Surroundings()
    world.put_source()
    world.notebook.once("ledger.claim", lambda: world.change_source(RevokeSource(id="handbook", groups=())))
    assert isinstance(world.ask(CITING), Answer)
    assert world.calls.count("body.read") == 1
    for step in ["operations.find", "policy.access", "counter.count", "ledger.claim"]:
        assert world.called(step) == 2, step
    # The third time is at the hand-over.
    assert (world.called("keys.find"), world.called("sources.facts")) == (4, 3)
    asked_first, _, asked_again = world.policy.asked
    assert (asked_first.sources[0].groups, asked_again.sources[0].groups) == (("staff",), ())
    assert world.rows.audit == []


def test_a_registry_that_changes_before_the_reservation_is_the_one_that_counts() -> None:
    world = Surroundings()
    world.notebook.once("ledger.claim", lambda: world.put_in_force() and None)
    answer = world.answered()
    assert answer.policy_revision == "sha256:later"
    assert world.attempts[-1].policy_revision == "sha256:later"
    assert len(world.transport.received) == 1


def test_a_credential_that_is_revoked_before_the_reservation_is_not_let_in_again() -> None:
    world = Surroundings()
    world.notebook.once("ledger.claim", lambda: world.put_key("assistant", active=False))
    assert world.refused() == Refusal(code=Code.UNAUTHENTICATED)
    assert world.calls[-2:] == ["ledger.claim", "keys.find"]
    assert world.rows.attempts == {}
    assert world.rows.audit == []


def test_an_engine_that_is_lost_before_the_reservation_serves_nobody() -> None:
    world = Surroundings()

    def lose() -> None:
        world.board.note(world.profile, Readiness("unready", "unreachable"))

    world.notebook.once("ledger.claim", lose)
    assert world.refused().code is Code.NO_READY_ROUTE
    assert world.rows.attempts == {}


def test_what_changes_twice_is_given_up_with_one_row() -> None:
    world = Surroundings()
    world.put_source()
    world.notebook.at("ledger.claim", lambda: world.change_source(handbook()))
    refusal = world.refused(CITING)
    assert (refusal, refusal.meaning.status) == (Refusal(code=Code.NOT_STARTED), 503)
    assert (world.called("ledger.claim"), world.called("keys.find")) == (2, 3)
    assert [row.code for row in world.refusals] == [Code.NOT_STARTED]
    assert world.transport.received == []
    assert world.rows.attempts == {}


def test_a_change_and_a_lost_race_are_both_walked_again() -> None:
    world = Surroundings()
    answers = iter([Stale("source_changed"), AlreadyExists(), None])
    world.notebook.at("ledger.claim", lambda: next(answers))
    assert isinstance(world.ask(), Answer)
    assert (world.called("operations.find"), world.called("keys.find")) == (3, 4)


def test_no_request_walks_for_ever() -> None:
    world = Surroundings()
    world.notebook.at("ledger.claim", AlreadyExists)
    assert world.refused() == Refusal(code=Code.NOT_STARTED)
    assert (world.called("ledger.claim"), world.called("keys.find")) == (WALKS, 2)
    assert [row.code for row in world.refusals] == [Code.NOT_STARTED]
