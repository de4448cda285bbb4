"""A profile serves while its last readiness says so and is young enough; the watch keeps it current."""

import asyncio
import copy
from typing import Any

import pytest
from contract.ledger_ends import ManualClock
from msgspec.structs import replace
from service_support import PROFILE, Surroundings, example, with_another_profile

from gateway.domain.profile import Profile
from gateway.domain.refusal import Code
from gateway.ports.events import Faulted, ReadinessChanged
from gateway.ports.transport import Readiness
from gateway.service.readiness import (
    HOSTED_TTL_S,
    NEVER_CHECKED,
    RETRY_S,
    ReadinessBoard,
    time_to_live_s,
)
from gateway.service.standing import ProcessStanding
from gateway.service.watch import ReadinessWatch

SELF_HOSTED = example().profiles[PROFILE]
TTL_US = int(time_to_live_s(SELF_HOSTED) * 1_000_000)
READY = Readiness("ready")
MISMATCH = Readiness("mismatch", "other_model_file")


class NoCanary:
    """Takes every probe's word."""

    async def confirm(self, profile: Profile, found: Readiness) -> Readiness:  # noqa: ARG002 - as Canary's
        return found


def a_watch(world: Surroundings, board: ReadinessBoard, probe: Any) -> ReadinessWatch:
    canary: Any = NoCanary()
    quarantines = world.services.quarantines
    return ReadinessWatch(
        board=board,
        probe=probe,
        canary=canary,
        quarantines=quarantines,
        in_force=world.in_force,
        events=world.events,
    )


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def board(clock: ManualClock) -> ReadinessBoard:
    return ReadinessBoard(clock)


def test_a_profile_that_was_never_looked_at_is_not_ready(board: ReadinessBoard) -> None:
    assert board.of(SELF_HOSTED) == NEVER_CHECKED
    assert not board.is_ready(SELF_HOSTED)
    assert board.due(SELF_HOSTED)


def test_a_readiness_counts_to_the_end_of_its_time_to_live_and_no_longer(
    board: ReadinessBoard, clock: ManualClock
) -> None:
    board.note(SELF_HOSTED, READY)
    clock.us += TTL_US
    assert board.is_ready(SELF_HOSTED)
    clock.us += 1_000
    assert board.of(SELF_HOSTED) == Readiness("unknown", "outdated")
    assert not board.is_ready(SELF_HOSTED)


def test_a_fault_is_outdated_too(board: ReadinessBoard, clock: ManualClock) -> None:
    board.note(SELF_HOSTED, MISMATCH)
    assert board.of(SELF_HOSTED) == MISMATCH
    clock.us += TTL_US + 1_000
    assert board.of(SELF_HOSTED) == Readiness("unknown", "outdated")


def test_a_hosted_profile_has_a_time_to_live_of_its_own() -> None:
    assert time_to_live_s(replace(SELF_HOSTED, engine=None)) == HOSTED_TTL_S
    assert time_to_live_s(SELF_HOSTED) == SELF_HOSTED.engine.readiness.ttl_s


@pytest.mark.parametrize("state", ["unknown", "starting", "unready", "mismatch"])
def test_only_ready_is_ready(board: ReadinessBoard, state: Any) -> None:
    board.note(SELF_HOSTED, Readiness(state))
    assert not board.is_ready(SELF_HOSTED)


def test_a_ready_profile_is_due_at_half_its_time_to_live(board: ReadinessBoard, clock: ManualClock) -> None:
    board.note(SELF_HOSTED, READY)
    clock.us += TTL_US // 2 - 1_000
    assert not board.due(SELF_HOSTED)
    clock.us += 1_000
    assert board.due(SELF_HOSTED)


def test_a_profile_that_is_not_ready_is_due_soon(board: ReadinessBoard, clock: ManualClock) -> None:
    board.note(SELF_HOSTED, MISMATCH)
    clock.us += int(RETRY_S * 1_000_000) - 1_000
    assert not board.due(SELF_HOSTED)
    clock.us += 1_000
    assert board.due(SELF_HOSTED)


def test_a_note_says_whether_anything_changed(board: ReadinessBoard) -> None:
    notes = [READY, READY, MISMATCH, Readiness("mismatch", "other_context"), READY]
    assert [board.note(SELF_HOSTED, readiness) for readiness in notes] == [True, False, True, True, True]


def test_the_watch_asks_what_is_due_and_tells_each_change_once() -> None:
    world = Surroundings(with_another_profile(example()))
    world.probe.told["another"] = Readiness("unready", "unreachable")
    steps = [
        (0, 0, []),
        (RETRY_S, 0, []),
        (TTL_US / 2e6, len(world.snapshot.profiles), [ReadinessChanged("another", "unready", "unreachable")]),
        (RETRY_S, 1, []),
    ]
    for wait_s, asked, events in steps:
        world.clock.us += int(wait_s * 1_000_000)
        asyncio.run(world.services.watch.look())
        assert (world.called("probe.check"), world.events.events) == (asked, events), wait_s
        world.calls.clear()
        world.events.events.clear()


def test_the_watch_goes_on_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gateway.service.watch.RETRY_S", 0.002)
    world = Surroundings()

    async def watch() -> None:
        watching = asyncio.ensure_future(world.services.watch.run())
        while world.called("probe.check") < 3:
            world.clock.us += TTL_US
            await asyncio.sleep(0)
        watching.cancel()
        await asyncio.wait([watching])
        assert watching.cancelled()

    asyncio.run(watch())


def test_an_engine_with_other_weights_gets_no_request() -> None:
    world = Surroundings()
    world.probe.told[PROFILE] = MISMATCH
    world.clock.us += TTL_US
    asyncio.run(world.services.watch.look())
    assert world.refused().code is Code.NO_READY_ROUTE
    assert world.transport.received == []


def test_an_engine_that_nobody_looked_at_for_too_long_gets_no_request() -> None:
    world = Surroundings()
    world.clock.us += TTL_US + 1_000
    assert world.refused().code is Code.NO_READY_ROUTE


# What T1 and T2 look at again


def test_nothing_is_objected_to_a_ready_profile_of_the_registry_in_force() -> None:
    world = Surroundings()
    assert world.standing.objection(world.policy.revision, PROFILE) is None
    assert world.standing.objection(None, PROFILE) is None


def test_another_registry_is_an_objection_where_the_registry_counts() -> None:
    world = Surroundings()
    decided_upon = world.policy.revision
    world.put_in_force()
    assert world.standing.objection(decided_upon, PROFILE) == "registry_changed"
    assert world.standing.objection(None, PROFILE) is None


@pytest.mark.parametrize("revision", ["in force", None])
def test_a_profile_that_is_not_ready_or_not_there_is_an_objection(revision: str | None) -> None:
    world = Surroundings()
    standing: ProcessStanding = world.standing
    asked = None if revision is None else world.policy.revision
    assert standing.objection(asked, "elsewhere") == "profile_not_ready"
    world.clock.us += TTL_US + 1_000
    assert standing.objection(asked, PROFILE) == "profile_not_ready"


# Another registry


def test_a_readiness_is_one_of_the_profiles_contents(board: ReadinessBoard) -> None:
    board.note(SELF_HOSTED, READY)
    moved = replace(SELF_HOSTED, endpoint="http://127.0.0.1:9999/v1")
    assert board.of(moved) == NEVER_CHECKED
    assert board.due(moved)
    assert not board.due(SELF_HOSTED)
    assert board.note(moved, READY), "the first that is known of it"
    assert board.of(SELF_HOSTED) == NEVER_CHECKED


def test_a_profile_that_a_reload_changed_serves_only_after_a_look_at_it() -> None:
    world = Surroundings()
    moved = replace(SELF_HOSTED, endpoint="http://127.0.0.1:9999/v1")
    world.put_in_force(profiles={**world.snapshot.profiles, PROFILE: moved})
    assert world.standing.objection(None, PROFILE) == "profile_not_ready"
    assert world.refused().code is Code.NO_READY_ROUTE
    asyncio.run(world.services.watch.look())
    assert world.standing.objection(None, PROFILE) is None
    assert world.answered().body


def test_a_profile_that_a_reload_left_as_it_was_goes_on_serving() -> None:
    world = Surroundings()
    world.put_in_force(profiles={PROFILE: copy.deepcopy(SELF_HOSTED)})
    assert world.standing.objection(None, PROFILE) is None
    assert world.answered().body
    assert world.called("probe.check") == 0


def test_what_the_registry_has_no_more_is_forgotten_and_told_once() -> None:
    world = Surroundings(with_another_profile(example()))
    world.put_in_force(profiles={PROFILE: SELF_HOSTED})
    for _ in range(2):
        asyncio.run(world.services.watch.look())
    gone = [event.profile for event in world.events.events if isinstance(event, ReadinessChanged)]
    assert sorted(gone) == sorted({"another", *example().profiles} - {PROFILE})
    assert {event.state for event in world.events.events if isinstance(event, ReadinessChanged)} == {"gone"}
    assert not world.board.is_ready(replace(SELF_HOSTED, id="another"))


def test_what_was_found_of_a_profile_that_was_changed_meanwhile_counts_for_nothing() -> None:
    world = Surroundings()
    moved = replace(SELF_HOSTED, endpoint="http://127.0.0.1:9999/v1")
    world.clock.us += TTL_US

    async def reload_in_between() -> None:
        world.put_in_force(profiles={PROFILE: moved})
        world.board.note(moved, MISMATCH)

    world.notebook.at("probe.check", reload_in_between)
    asyncio.run(world.services.watch.look())
    assert world.board.of(moved) == MISMATCH
    assert not any(isinstance(event, ReadinessChanged) and event.state == "ready" for event in world.events.events)


def test_every_profile_of_the_registry_can_be_looked_at_by_its_contents() -> None:
    assert len({*example().profiles.values()}) == len(example().profiles)


class HalfBrokenProbe:
    """One engine hangs, breaks or is fine, by the profile's id."""

    def __init__(self, **does: str) -> None:
        self._does = does
        self.asked: list[str] = []
        self.thrice = asyncio.Event()
        """The profile that is fine was looked at three times."""

    async def check(self, profile: Profile) -> Readiness:
        self.asked.append(profile.id)
        if self.asked.count(PROFILE) == 3:
            self.thrice.set()
        match self._does.get(profile.id):
            case "hang":
                await asyncio.Event().wait()
            case "break":
                raise RecursionError("CANARY")
        return READY


def watched(probe: HalfBrokenProbe, world: Surroundings, board: ReadinessBoard) -> None:
    """Watch until the profile that is fine was looked at three times."""

    async def a_while() -> None:
        watch = a_watch(world, board, probe)
        running = asyncio.ensure_future(watch.run())
        async with asyncio.timeout(10):
            await probe.thrice.wait()
        running.cancel()
        await asyncio.wait([running])

    asyncio.run(a_while())


def two_profiles() -> Surroundings:
    world = Surroundings()
    world.put_in_force(profiles={PROFILE: SELF_HOSTED, "slow": replace(SELF_HOSTED, id="slow")})
    return world


def test_an_engine_that_hangs_keeps_no_other_from_being_looked_at(
    board: ReadinessBoard, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gateway.service.watch.RETRY_S", 0.002)
    world, probe = two_profiles(), HalfBrokenProbe(slow="hang")
    monkeypatch.setattr(board, "due", lambda _: True)
    watched(probe, world, board)
    assert board.is_ready(SELF_HOSTED)
    assert probe.asked.count("slow") == 1, "a look that has not ended is not begun again"


def test_a_probe_that_breaks_makes_its_profile_unready_and_ends_nothing(
    board: ReadinessBoard, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gateway.service.watch.RETRY_S", 0.002)
    monkeypatch.setattr(board, "due", lambda _: True)
    world, probe = two_profiles(), HalfBrokenProbe(slow="break")
    watched(probe, world, board)
    assert board.is_ready(SELF_HOSTED)
    assert board.of(replace(SELF_HOSTED, id="slow")) == Readiness("unready", "probe_failed")
    assert Faulted("probe", "RecursionError") in world.events.events
    assert "CANARY" not in repr(world.events.events)


def test_a_look_that_hangs_at_what_a_profile_was_keeps_nobody_from_looking_at_what_it_is(
    board: ReadinessBoard, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gateway.service.watch.RETRY_S", 0.002)
    world = Surroundings()
    moved = replace(SELF_HOSTED, endpoint="http://127.0.0.1:9999/v1")
    looked = asyncio.Event()

    class HangsOnce:
        async def check(self, profile: Profile) -> Readiness:
            if profile == SELF_HOSTED:
                world.put_in_force(profiles={PROFILE: moved})
                await asyncio.Event().wait()
            looked.set()
            return READY

    async def watch() -> None:
        world.put_in_force(profiles={PROFILE: SELF_HOSTED})
        watching = asyncio.ensure_future(a_watch(world, board, HangsOnce()).run())
        async with asyncio.timeout(10):
            await looked.wait()
            await asyncio.sleep(0.01)
        watching.cancel()
        await asyncio.wait([watching])

    asyncio.run(watch())
    assert board.is_ready(moved)


# Starting


def test_an_engine_may_load_for_its_startup_budget_and_has_then_failed(
    board: ReadinessBoard, clock: ManualClock
) -> None:
    loading = Readiness("starting", "loading")
    engine = SELF_HOSTED.engine
    assert engine is not None
    board.note(SELF_HOSTED, loading)
    since_us = clock.us
    clock.us += engine.readiness.startup_s * 1_000_000
    board.note(SELF_HOSTED, loading)
    assert (board.of(SELF_HOSTED), board.since_us(SELF_HOSTED)) == (loading, since_us)
    clock.us += 1_000
    for _ in range(2):
        board.note(SELF_HOSTED, loading)
        assert board.of(SELF_HOSTED) == Readiness("unready", "startup_exceeded")
    assert board.since_us(SELF_HOSTED) == clock.us


def test_the_budget_begins_anew_once_the_engine_was_something_else(board: ReadinessBoard, clock: ManualClock) -> None:
    loading = Readiness("starting", "loading")
    for found in (loading, Readiness("unready", "unreachable"), loading):
        board.note(SELF_HOSTED, found)
        clock.us += 40_000_000
    board.note(SELF_HOSTED, loading)
    assert board.of(SELF_HOSTED) == loading


def test_what_is_ready_comes_with_until_when_it_counts(board: ReadinessBoard, clock: ManualClock) -> None:
    assert board.until_us(SELF_HOSTED) is None
    board.note(SELF_HOSTED, READY)
    until_us = board.until_us(SELF_HOSTED)
    assert until_us == clock.us + TTL_US
    clock.us += TTL_US // 2
    assert board.until_us(SELF_HOSTED) == pytest.approx(until_us, abs=2)
