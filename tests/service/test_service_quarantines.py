"""What proves that an engine is another one takes its profile out of service, until a person has looked."""

import asyncio
from typing import Any

import pytest
from administering import permit
from msgspec.structs import replace
from service_support import PROFILE, Surroundings, breaking, example

from gateway.domain.errors import LedgerUnavailable, LedgerUncertain
from gateway.domain.operation import State
from gateway.domain.outcome import Charged, NoEffect, Outcome, Unknown
from gateway.domain.profile_state import Mark, Shortfall
from gateway.domain.refusal import Code
from gateway.ports.events import Faulted, ReadinessChanged
from gateway.ports.transport import Readiness
from gateway.service.readiness import ReadinessBoard, time_to_live_s

TTL_US = int(time_to_live_s(example().profiles[PROFILE]) * 1_000_000)
OTHER = Charged("other_model")
MISMATCH = Readiness("mismatch", "other_model_file")


def look(world: Surroundings) -> None:
    world.clock.us += TTL_US
    asyncio.run(world.services.watch.look())


def marks(world: Surroundings) -> tuple[Mark, ...]:
    return asyncio.run(world.store.profiles.marks())


def test_a_probe_that_finds_another_engine_quarantines_and_a_good_one_later_changes_nothing() -> None:
    world = Surroundings()
    world.probe.told[PROFILE] = MISMATCH
    look(world)
    (mark,) = marks(world)
    assert (mark.kind, mark.reason, mark.who, mark.dispatch_id) == ("quarantined", "other_model_file", "gateway", None)
    assert mark.profile_digest == world.snapshot.profile_digests[PROFILE]
    told = [event for event in world.events.events if isinstance(event, ReadinessChanged)]
    assert told == [ReadinessChanged(PROFILE, "quarantined", "other_model_file")]
    del world.probe.told[PROFILE]
    look(world)
    assert marks(world) == (mark,)
    assert world.refused().code is Code.NO_READY_ROUTE
    assert world.standing.objection(None, PROFILE) == "profile_not_ready"


def test_a_shortfall_is_kept_and_told_with_both_numbers_whatever_is_reported_later() -> None:
    world = Surroundings()
    world.probe.told[PROFILE] = short = Readiness(
        "mismatch", "kv_cache_too_small", shortfall=Shortfall(131_072, 65_536)
    )
    look(world)
    (mark,) = marks(world)
    assert (mark.reason, mark.shortfall) == ("kv_cache_too_small", short.shortfall)
    told = [event for event in world.events.events if isinstance(event, ReadinessChanged)]
    assert told == [ReadinessChanged(PROFILE, "quarantined", "kv_cache_too_small", short.shortfall)]
    world.probe.told[PROFILE] = Readiness("mismatch", "kv_cache_too_small", shortfall=Shortfall(131_072, 131_071))
    look(world)
    assert marks(world) == (mark,)
    assert world.board.shown(world.profile).shortfall == short.shortfall
    assert world.board.of(world.profile).shortfall == Shortfall(131_072, 131_071)
    assert world.refused().code is Code.NO_READY_ROUTE


def test_an_engine_that_is_released_and_still_too_small_is_quarantined_anew_with_its_new_numbers() -> None:
    world = Surroundings()
    for reported in (65_536, 98_304):
        world.probe.told[PROFILE] = Readiness("mismatch", "kv_cache_too_small", shortfall=Shortfall(131_072, reported))
        look(world)
        (mark,) = marks(world)
        assert mark.shortfall == Shortfall(131_072, reported)
        assert world.board.shown(world.profile) == Readiness("quarantined", mark.reason, shortfall=mark.shortfall)
        assert world.refused(key=f"k-{reported}").code is Code.NO_READY_ROUTE
        lifecycle = world.services.admin.lifecycle
        asyncio.run(lifecycle.act(permit(world, "profiles", "change"), "release", PROFILE, "It has more memory now."))
        assert marks(world) == ()
    told = [event.shortfall for event in world.events.events if isinstance(event, ReadinessChanged)]
    assert [one.reported for one in told if one is not None] == [65_536, 98_304]


def test_both_numbers_outlive_a_ledger_that_does_not_take_them() -> None:
    world = Surroundings()
    world.probe.told[PROFILE] = Readiness("mismatch", "too_few_slots", shortfall=Shortfall(64, 32))
    world.notebook.once("profiles.quarantine", breaking(LedgerUnavailable("full")))
    look(world)
    assert marks(world) == ()
    assert world.board.shown(world.profile).shortfall == Shortfall(64, 32)
    asyncio.run(world.services.quarantines.write())
    assert [mark.shortfall for mark in marks(world)] == [Shortfall(64, 32)]


def test_what_was_written_down_and_released_is_not_written_down_once_more() -> None:
    """Of two findings the ledger takes one, and a person ends it before the other one is tried again."""
    world = Surroundings()
    first, second = (world.snapshot.profiles[id_] for id_ in (PROFILE, "smollm2-135m-a"))
    world.notebook.at("profiles.quarantine", breaking(LedgerUnavailable("full")))
    for profile in (first, second):
        asyncio.run(world.services.quarantines.find(profile, "other_model_file"))
    assert marks(world) == ()
    taken = iter((None, LedgerUnavailable("full")))

    def take_one() -> None:
        if (error := next(taken, None)) is not None:
            raise error

    world.notebook.at("profiles.quarantine", take_one)
    asyncio.run(world.services.quarantines.write())
    assert [mark.profile for mark in marks(world)] == [PROFILE]
    lifecycle = world.services.admin.lifecycle
    asyncio.run(lifecycle.act(permit(world, "profiles", "change"), "release", PROFILE, "It was the cable."))
    assert world.board.shown(first).state != "quarantined"
    asyncio.run(world.services.quarantines.write())
    assert [mark.profile for mark in marks(world)] == ["smollm2-135m-a"]
    assert [world.board.shown(one).state == "quarantined" for one in (first, second)] == [False, True]


def test_an_approved_change_of_the_profile_does_not_end_it() -> None:
    world = Surroundings()
    world.probe.told[PROFILE] = MISMATCH
    look(world)
    del world.probe.told[PROFILE]
    changed = replace(world.profile, max_output=7)
    world.put_in_force(profiles={**world.snapshot.profiles, PROFILE: changed})
    look(world)
    assert world.board.shown(changed).state == "quarantined"


@pytest.mark.parametrize("reason", ["other_model", "other_fingerprint"])
def test_an_answer_of_another_engine_is_never_shown_and_is_the_last_one(reason: Any) -> None:
    world = Surroundings()
    world.transport.script(Charged(reason))
    assert world.refused().code is Code.PROVIDER_FAILED_CHARGED
    (mark,) = marks(world)
    assert (mark.reason, mark.dispatch_id) == (reason, world.attempts[-1].dispatch_id)
    assert world.refused(key="k-2").code is Code.NO_READY_ROUTE
    assert len(world.transport.received) == 1


def test_what_an_answer_proves_counts_while_the_ledger_does_not_take_it() -> None:
    world = Surroundings()
    world.services.settling.answer_within_s = 0.01
    world.transport.script(OTHER)
    world.notebook.at("ledger.settle", breaking(LedgerUnavailable("full")))
    world.notebook.at("profiles.quarantine", breaking(LedgerUnavailable("full")))

    async def ask() -> None:
        first = await world.asking()
        assert first.code is Code.OUTCOME_UNKNOWN
        assert (await world.asking(key="k-2")).code is Code.NO_READY_ROUTE
        await world.services.quarantines.write()
        assert Faulted("quarantine", "LedgerUnavailable") in world.events.events
        assert await world.store.profiles.marks() == ()
        assert world.board.shown(world.profile) == Readiness("quarantined", "other_model")

    asyncio.run(ask())
    world.notebook.at("profiles.quarantine", lambda: None)
    asyncio.run(world.services.quarantines.write())
    (mark,) = marks(world)
    assert mark.reason == "other_model"


@pytest.mark.parametrize("error", [LedgerUnavailable("full"), LedgerUncertain("commit")])
def test_a_finding_that_cannot_be_written_down_is_written_down_later(error: Exception) -> None:
    world = Surroundings()
    world.probe.told[PROFILE] = MISMATCH
    world.notebook.once("profiles.quarantine", breaking(error))
    look(world)
    assert marks(world) == ()
    assert world.board.shown(world.profile).state == "quarantined"
    del world.probe.told[PROFILE]
    asyncio.run(world.services.quarantines.write())
    assert [mark.reason for mark in marks(world)] == ["other_model_file"]
    asyncio.run(world.services.quarantines.write())
    assert world.called("profiles.quarantine") == 2


def test_a_start_knows_the_marks_of_earlier_processes() -> None:
    world = Surroundings()
    world.transport.script(OTHER)
    world.refused()
    later = ReadinessBoard(world.clock)
    later.note(world.profile, Readiness("ready"))
    later.mark(marks(world))
    assert not later.is_ready(world.profile)


@pytest.mark.parametrize(
    ("outcome", "looks"),
    [
        (NoEffect("connect_refused"), 1),
        (Unknown("connection_lost"), 1),
        (Unknown("truncated_answer"), 1),
        (Unknown("timeout_after_send"), 0),
        (NoEffect("busy"), 0),
        (Charged("aborted"), 0),
    ],
)
def test_an_engine_that_may_have_gone_is_looked_at_at_once(outcome: Outcome, looks: int) -> None:
    world = Surroundings()
    world.transport.script(outcome)
    world.refused()
    world.calls.clear()
    asyncio.run(world.services.watch.look())
    assert world.called("probe.check") == looks


def test_an_engine_that_may_have_gone_while_it_was_looked_at_is_looked_at_again() -> None:
    world = Surroundings()
    world.board.doubt(PROFILE)
    world.notebook.once("probe.check", lambda: world.board.doubt(PROFILE))
    asyncio.run(world.services.watch.look())
    world.probe.told[PROFILE] = Readiness("unready", "unreachable")
    asyncio.run(world.services.watch.look())
    assert not world.board.is_ready(world.profile)


def test_when_an_engine_dies_all_that_it_was_doing_is_unknown_and_it_serves_nobody() -> None:
    world = Surroundings()
    world.transport.script(*[Unknown("connection_lost")] * 2)
    for key in ("k-1", "k-2"):
        assert world.refused(key=key).code is Code.OUTCOME_UNKNOWN
    assert {attempts[-1].state for attempts in world.rows.attempts.values()} == {State.UNKNOWN}
    world.probe.told[PROFILE] = Readiness("unready", "unreachable")
    asyncio.run(world.services.watch.look())
    assert world.refused(key="k-4").code is Code.NO_READY_ROUTE
