"""One fixed token per start of an engine, before it serves; what it shows, and how often it may be asked for."""

import asyncio
from collections.abc import Iterator

import pytest
from msgspec.structs import replace
from service_support import PROFILE, Surroundings, example

from gateway.domain.canary import CANARY_REQUEST
from gateway.domain.completion import Completion
from gateway.domain.errors import LedgerUnavailable
from gateway.domain.operation import State
from gateway.domain.outcome import Charged, Completed, NoEffect, Outcome, Unknown
from gateway.domain.principal import SYSTEM_TENANT
from gateway.domain.profile import Profile
from gateway.domain.refusal import Code, Refusal
from gateway.domain.usage import Usage
from gateway.ports.events import Faulted
from gateway.ports.transport import Readiness
from gateway.service.readiness import NEVER_CHECKED, time_to_live_s

SELF_HOSTED = example().profiles[PROFILE]
TTL_US = int(time_to_live_s(SELF_HOSTED) * 1_000_000)
ENGINE = SELF_HOSTED.engine
assert ENGINE is not None
STARTUP_US = ENGINE.readiness.startup_s * 1_000_000


def an_answer(usage: Usage | None) -> Completed:
    return Completed(Completion(SELF_HOSTED.accepted_models[0], "Yes", "length", usage))


@pytest.fixture
def world() -> Iterator[Surroundings]:
    """The engine has gone, and nobody has noticed that it is back."""
    world = Surroundings()
    world.transport.canaries.clear()
    world.probe.told[PROFILE] = Readiness("unready", "unreachable")
    look(world)
    assert not world.board.is_ready(world.profile)
    del world.probe.told[PROFILE]
    return world


def look(world: Surroundings, later_us: int = TTL_US) -> Readiness:
    world.clock.us += later_us
    asyncio.run(world.services.watch.look())
    return world.board.of(world.profile)


def states(world: Surroundings) -> list[State]:
    """Of canaries."""
    return [
        world.rows.attempts[id_][-1].state
        for id_, row in world.rows.operations.items()
        if row.identity.tenant == SYSTEM_TENANT
    ]


def test_an_engine_that_has_come_back_answers_one_canary_and_serves(world: Surroundings) -> None:
    assert look(world) == Readiness("ready", facts=("alias",))
    assert look(world).state == "ready"
    (canary,) = world.transport.canaries
    assert (canary.request, canary.output_cap) == (CANARY_REQUEST, 1)
    assert (canary.tenant, canary.principal) == ("system", "canary")
    assert states(world) == [State.COMPLETED]
    assert world.answered().body


def test_it_is_counted_in_the_scopes_of_the_profile_and_of_no_tenant(world: Surroundings) -> None:
    look(world)
    used = {one.scope.kind: one.sums.day_tokens for one in asyncio.run(world.store.accounts.usage())}
    assert used == {"profile": 23, "quota_scope": 23}
    assert asyncio.run(world.store.accounts.verify()) == ()


def test_policy_is_not_asked(world: Surroundings) -> None:
    world.calls.clear()
    look(world)
    assert [call for call in world.calls if call.startswith("policy")] == []
    assert world.called("ledger.claim") == world.called("ledger.dispatch") == world.called("ledger.settle") == 1


def test_a_hosted_profile_gets_none() -> None:
    world = Surroundings()
    hosted = [profile.id for profile in world.snapshot.profiles.values() if profile.engine is None]
    assert hosted
    assert {canary.profile.id for canary in world.transport.canaries} == world.snapshot.profiles.keys() - set(hosted)


def test_one_whose_profile_says_so_gets_none() -> None:
    assert ENGINE is not None
    without = replace(SELF_HOSTED, engine=replace(ENGINE, readiness=replace(ENGINE.readiness, canary=False)))
    world = Surroundings(replace(example(), profiles={**example().profiles, PROFILE: without}))
    assert world.board.is_ready(without)
    assert PROFILE not in {canary.profile.id for canary in world.transport.canaries}


@pytest.mark.parametrize(
    ("outcome", "expected", "state"),
    [
        (an_answer(Usage(20, 1)), Readiness("ready", facts=("alias",)), State.COMPLETED),
        (an_answer(None), Readiness("ready", facts=("alias",)), State.COMPLETED),
        (an_answer(Usage(21, 1)), Readiness("mismatch", "counts_more"), State.COMPLETED),
        (Charged("other_model", Usage(1, 1)), Readiness("mismatch", "other_model"), State.CHARGED),
        (Charged("other_fingerprint"), Readiness("mismatch", "other_fingerprint"), State.CHARGED),
        (Charged("answer_too_large"), Readiness("unready", "canary_failed"), State.CHARGED),
        (NoEffect("busy"), Readiness("unready", "canary_refused"), State.NO_EFFECT),
        (NoEffect("connect_refused"), Readiness("unready", "canary_refused"), State.NO_EFFECT),
        (Unknown("connection_lost"), Readiness("unready", "canary_unknown"), State.UNKNOWN),
    ],
)
def test_what_a_canary_comes_to(world: Surroundings, outcome: Outcome, expected: Readiness, state: State) -> None:
    world.transport.canary = outcome
    assert look(world) == expected
    assert states(world) == [state]
    ready = expected.state == "ready"
    assert world.board.is_ready(world.profile) is ready
    if not ready:
        assert world.refused().code is Code.NO_READY_ROUTE
        assert world.transport.received == []


@pytest.mark.parametrize("outcome", [an_answer(Usage(21, 1)), Charged("other_model"), Charged("other_fingerprint")])
def test_another_engine_is_quarantined_and_not_asked_again(world: Surroundings, outcome: Outcome) -> None:
    world.transport.canary = outcome
    look(world)
    (mark,) = asyncio.run(world.store.profiles.marks())
    (canary,) = world.transport.canaries
    assert (mark.kind, mark.profile, mark.dispatch_id) == ("quarantined", PROFILE, canary.dispatch_id)
    world.transport.canary = None
    assert look(world, STARTUP_US + TTL_US) == Readiness("unknown", "canary_due")
    assert len(world.transport.canaries) == 1
    assert world.board.shown(world.profile).state == "quarantined"


def test_an_unknown_one_keeps_its_reservation_and_is_followed_by_another_after_the_startup_budget(
    world: Surroundings,
) -> None:
    world.transport.canary = Unknown("connection_lost")
    look(world)
    for _ in range(3):
        assert look(world, STARTUP_US // 4) == Readiness("unready", "canary_unknown")
    assert len(world.transport.canaries) == 1
    world.transport.canary = None
    assert look(world, STARTUP_US // 4).state == "ready"
    assert sorted(states(world)) == [State.COMPLETED, State.UNKNOWN]
    stranded = asyncio.run(world.store.accounts.stranded())
    assert {(hold.scope.kind, hold.tokens) for hold in stranded} == {("profile", 21), ("quota_scope", 21)}


def test_an_engine_that_answered_none_for_hours_serves_once_it_answers_one(world: Surroundings) -> None:
    world.transport.canary = Unknown("timeout_after_send")
    for _ in range(10):
        look(world, STARTUP_US)
    world.transport.canary = None
    assert look(world, STARTUP_US).state == "ready"
    assert world.answered().body


def test_a_restart_of_the_engine_is_no_way_round_that_pause(world: Surroundings) -> None:
    world.transport.canary = Unknown("connection_lost")
    for _ in range(3):
        look(world, 1_000_000)
        world.probe.told[PROFILE] = Readiness("starting", "loading")
        look(world, 1_000_000)
        del world.probe.told[PROFILE]
    assert len(world.transport.canaries) == 1


def test_one_that_the_engine_refused_is_followed_by_another_in_seconds(world: Surroundings) -> None:
    world.transport.canary = NoEffect("busy")
    look(world)
    look(world, 4_000_000)
    assert len(world.transport.canaries) == 1
    world.transport.canary = None
    assert look(world, 1_000_000).state == "ready"


def test_without_a_ledger_there_is_none(world: Surroundings) -> None:
    world.notebook.at("ledger.claim", _unavailable)
    assert look(world) == Readiness("unready", "canary_not_started")
    assert world.transport.canaries == []


def test_what_cannot_be_counted_is_not_asked(world: Surroundings) -> None:
    world.counter.tokens = None
    assert look(world) == Readiness("unready", "canary_uncountable")
    assert world.transport.canaries == []


def test_a_drained_profile_gets_none_until_it_is_resumed(world: Surroundings) -> None:
    drain(world, "drain")
    assert look(world) == Readiness("unknown", "canary_due")
    assert world.transport.canaries == []
    drain(world, "resume")
    assert look(world).state == "ready"


def test_one_that_had_answered_before_it_was_drained_need_not_answer_again(world: Surroundings) -> None:
    look(world)
    drain(world, "drain")
    look(world)
    drain(world, "resume")
    assert world.board.is_ready(world.profile)
    assert len(world.transport.canaries) == 1


def test_a_gateway_that_is_ending_asks_for_none(world: Surroundings) -> None:
    world.services.running.draining = True
    assert look(world) == Readiness("unknown", "canary_due")
    assert world.transport.canaries == []


@pytest.mark.parametrize("outcome", [an_answer(Usage(21, 1)), Charged("other_model"), Charged("answer_too_large")])
def test_after_a_release_another_one_decides_and_not_what_the_earlier_one_was(
    world: Surroundings, outcome: Outcome
) -> None:
    world.transport.canary = outcome
    look(world)
    if outcome == Charged("answer_too_large"):
        world.probe.told[PROFILE] = Readiness("mismatch", "other_alias")
        look(world, 1_000_000)
        del world.probe.told[PROFILE]
    world.transport.canary = None
    drain(world, "release")
    assert look(world, 1_000_000).state == "ready"
    assert world.board.is_ready(world.profile)
    assert len(world.transport.canaries) == 2


def test_what_was_asked_before_a_release_says_nothing_after_it(world: Surroundings) -> None:
    mismatch = world.probe.told[PROFILE] = Readiness("mismatch", "other_alias")
    look(world)

    async def released_meanwhile() -> Readiness:
        await act(world, "release")
        return mismatch

    world.notebook.once("probe.check", released_meanwhile)
    look(world, 1_000_000)  # the others are not due
    assert world.board.shown(world.profile) == NEVER_CHECKED
    del world.probe.told[PROFILE]
    assert look(world, 0).state == "ready"


def test_a_canary_from_before_a_release_stands_for_none_after_it(world: Surroundings) -> None:
    async def quarantined_and_released() -> None:
        await world.services.quarantines.find(world.profile, "other_model")
        await act(world, "release")

    world.notebook.once("transport.send", quarantined_and_released)
    assert look(world) == NEVER_CHECKED
    assert look(world, 0).state == "ready"
    assert len(world.transport.canaries) == 2


def test_an_engine_that_comes_and_goes_gets_one_in_five_seconds_at_most(world: Surroundings) -> None:
    for _ in range(60):
        world.board.doubt(PROFILE)
        world.probe.told[PROFILE] = Readiness("unready", "unreachable")
        look(world, 1_000_000)
        del world.probe.told[PROFILE]
        look(world, 1_000_000)
    assert 20 <= len(world.transport.canaries) <= 24


def test_one_that_is_drained_meanwhile_is_not_sent(world: Surroundings) -> None:
    world.notebook.once("counter.count", lambda: act(world, "drain"))
    assert look(world).state == "unready"
    assert world.transport.canaries == []


@pytest.mark.parametrize("of_it", [{PROFILE: replace(SELF_HOSTED, endpoint="http://127.0.0.1:9999/v1")}, {}])
def test_nor_is_one_to_what_a_reload_has_changed_or_dropped_meanwhile(
    world: Surroundings, of_it: dict[str, Profile]
) -> None:
    others = {id_: one for id_, one in world.snapshot.profiles.items() if id_ != PROFILE}

    def reload() -> None:
        world.put_in_force(profiles=others | of_it)

    world.notebook.once("counter.count", reload)
    world.clock.us += 1_000_000
    asyncio.run(world.services.watch.look())
    assert world.called("counter.count") == 1
    assert world.transport.canaries == []
    assert [event for event in world.events.events if isinstance(event, Faulted)] == []


@pytest.mark.parametrize("step", ["ledger.claim", "ledger.dispatch"])
def test_nor_is_one_that_is_drained_right_before_it(world: Surroundings, step: str) -> None:
    world.notebook.once(step, lambda: act(world, "drain"))
    look(world)
    assert world.transport.canaries == []
    assert State.DISPATCHING not in states(world)


async def act(world: Surroundings, kind: str) -> None:
    admin = world.services.admin
    permit = await admin.administer(await admin.authenticate("gw_operator"), "profiles", "change")
    assert not isinstance(await admin.lifecycle.act(permit, kind, PROFILE, "a test"), Refusal)


def drain(world: Surroundings, kind: str) -> None:
    asyncio.run(act(world, kind))


def _unavailable() -> None:
    raise LedgerUnavailable("made to fail")
