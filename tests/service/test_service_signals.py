"""What no request tells: the process and the accounts, every few seconds, whatever becomes of a reading."""

import asyncio
import time

import pytest
from service_support import PROFILE, Surroundings, breaking

from gateway.ports.events import Accounted, Faulted, Sampled
from gateway.service import signals
from gateway.service.signals import Signals


def of(world: Surroundings, queued: int = 0) -> Signals:
    return Signals(
        accounts=world.watched(world.store.accounts, "accounts"),
        in_force=world.in_force,
        running=world.services.running,
        settling=world.services.settling,
        queued=lambda: queued,
        events=world.events,
    )


def test_a_look_tells_what_waits_and_what_runs() -> None:
    world = Surroundings()
    world.services.settling.unsaved_bytes = 7

    async def look() -> None:
        world.services.running.adopt("d-1")
        of(world, queued=3).look(0.25)

    asyncio.run(look())
    assert world.events.events == [Sampled(loop_lag_s=0.25, queued=3, running=1, unsaved_bytes=7)]


def test_a_clock_that_is_early_is_no_lag() -> None:
    world = Surroundings()
    of(world).look(-0.001)
    (sampled,) = world.events.events
    assert isinstance(sampled, Sampled)
    assert sampled.loop_lag_s == 0


def test_accounts_are_told_of_profiles_and_quota_scopes_and_of_no_tenant() -> None:
    world = Surroundings()
    world.answered()
    world.events.events.clear()
    asyncio.run(of(world).account())
    (told,) = world.events.events
    assert isinstance(told, Accounted)
    scopes = {(one.scope.kind, one.scope.id) for one in told.scopes}
    assert {("profile", PROFILE), ("quota_scope", world.profile.quota_scope)} <= scopes
    assert {kind for kind, _ in scopes} == {"profile", "quota_scope"}


def test_a_scope_that_the_registry_has_no_more_is_not_told() -> None:
    world = Surroundings()
    world.answered()
    world.put_in_force(profiles={})
    world.events.events.clear()
    asyncio.run(of(world).account())
    (told,) = world.events.events
    assert isinstance(told, Accounted)
    assert {one.scope.kind for one in told.scopes} == {"quota_scope"}


def test_accounts_that_cannot_be_read_end_nothing() -> None:
    world = Surroundings()
    world.notebook.at("accounts.usage", breaking(OSError("CANARY")))
    asyncio.run(of(world).account())
    assert world.events.events == [Faulted("signals", "OSError")]


def test_a_look_comes_every_second_and_the_accounts_with_every_tenth(monkeypatch: pytest.MonkeyPatch) -> None:
    world = Surroundings()
    monkeypatch.setattr(signals, "LOOK_EVERY_S", 0.002)

    async def run() -> None:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(of(world).run(), 0.5)

    asyncio.run(run())
    kinds = [type(event) for event in world.events.events]
    assert kinds[: signals.ACCOUNTS_EVERY + 2] == [Accounted, *[Sampled] * signals.ACCOUNTS_EVERY, Accounted]


def test_a_loop_that_was_held_up_lags(monkeypatch: pytest.MonkeyPatch) -> None:
    world = Surroundings()
    monkeypatch.setattr(signals, "LOOK_EVERY_S", 0.01)

    async def run() -> None:
        watching = asyncio.ensure_future(of(world).run())
        await asyncio.sleep(0.005)
        time.sleep(0.2)  # noqa: ASYNC251 - what holds it up
        await asyncio.sleep(0.05)
        watching.cancel()

    asyncio.run(run())
    assert max(event.loop_lag_s for event in world.events.events if isinstance(event, Sampled)) > 0.1
