"""Failures of other systems around stores and secrets, by the ids of the collection of cases."""

from collections import Counter

from gateway.testkit.doors.http import HttpWorld
from gateway.testkit.provider.behaviours import error
from gateway.testkit.world import Ask


def test_db_01_fifty_at_once_are_never_refused_by_the_store(world: HttpWorld) -> None:
    rounds = [world.ask_at_once([Ask(key=f"{round_}-{n}") for n in range(50)]) for round_ in range(6)]
    codes = Counter(reply.code for replies in rounds for reply in replies)
    assert codes == {None: 300}
    assert len(world.engine_calls()) == 300
    assert world.held_tokens() == 0
    assert world.booked_tokens() == 300 * 23  # what the engine says of each
    assert world.verify_ledger() == []


def test_obs_03_what_a_provider_says_in_an_error_is_told_to_nobody(world: HttpWorld) -> None:
    for status in (400, 401, 404, 429, 500, 503):
        world.engine_fails(error(status, type_="CANARY-T", code="CANARY-C", message="CANARY-M Authorization: Bearer x"))
        reply = world.ask(Ask(key=f"k-{status}"))
        assert reply.code is not None
        assert b"CANARY" not in reply.body
    assert world.stored_places("CANARY") == []
    assert "CANARY" not in world.log.getvalue()
    assert b"CANARY" not in world.request("GET", "/metrics", {})[2]


def test_dup_02_a_timeout_tries_no_second_engine(world: HttpWorld) -> None:
    world.approve_spare_engine()
    world.engine_does("hang")
    first, again = world.ask(Ask()), world.ask(Ask())
    assert (first.code, again.code) == ("outcome_unknown", "outcome_unknown")
    assert (len(world.engine_calls()), world.spare_engine_calls()) == (1, 0)
