"""The application owns the work: callers may go, the drain waits, and what is left is swept."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar

import pytest
from service_support import Surroundings, breaking

from gateway.domain.errors import LedgerUnavailable, LedgerUncertain, WorkAbandoned
from gateway.domain.operation import State
from gateway.ports.events import AttemptsSwept, Faulted
from gateway.service.running import Running

T = TypeVar("T")


def on_a_loop(use: Callable[[Running], Awaitable[None]]) -> None:
    async def run() -> None:
        await use(Running())

    asyncio.run(run())


async def soon(done: list[str] | None = None) -> str:
    await asyncio.sleep(0.01)
    if done is not None:
        done.append("done")
    return "done"


async def owning(running: Running, work: Coroutine[Any, Any, T]) -> T:
    """Work that has reserved something, so that the drain waits for it."""
    running.adopt("d")
    return await work


async def never() -> None:
    await asyncio.Event().wait()


def test_work_gives_its_result_or_its_error_to_its_caller() -> None:
    async def use(running: Running) -> None:
        async def fail() -> None:
            raise ValueError("told")

        assert await running.own(soon()) == "done"
        with pytest.raises(ValueError, match="told"):
            await running.own(fail())

    on_a_loop(use)


def test_a_caller_that_goes_away_changes_nothing() -> None:
    async def use(running: Running) -> None:
        done: list[str] = []
        caller = asyncio.ensure_future(running.own(owning(running, soon(done))))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        caller.cancel()
        with pytest.raises(asyncio.CancelledError):
            await caller
        assert done == []
        assert await running.drain(5.0) == 0
        assert done == ["done"]

    on_a_loop(use)


def test_the_drain_waits_for_what_runs() -> None:
    async def use(running: Running) -> None:
        caller = asyncio.ensure_future(running.own(owning(running, soon())))
        await asyncio.sleep(0)
        assert not running.draining
        drain = asyncio.ensure_future(running.drain(5.0))
        await asyncio.sleep(0)
        assert running.draining
        assert (await drain, await caller) == (0, "done")

    on_a_loop(use)


def test_what_does_not_end_in_time_is_cut_off_and_its_caller_told() -> None:
    async def use(running: Running) -> None:
        endless = asyncio.ensure_future(running.own(owning(running, never())))
        short = asyncio.ensure_future(running.own(owning(running, soon())))
        await asyncio.sleep(0)
        assert await running.drain(0.05) == 1
        assert await short == "done"
        with pytest.raises(WorkAbandoned) as abandoned:
            await endless
        assert abandoned.value.owned_attempt

    on_a_loop(use)


def test_what_has_reserved_nothing_is_new_work_and_cut_off_at_once() -> None:
    async def use(running: Running) -> None:
        waiting = asyncio.ensure_future(running.own(never()))
        owner = asyncio.ensure_future(running.own(owning(running, soon())))
        await asyncio.sleep(0)
        assert await running.drain(5.0) == 0
        assert await owner == "done"
        with pytest.raises(WorkAbandoned) as abandoned:
            await waiting
        assert not abandoned.value.owned_attempt

    on_a_loop(use)


def test_a_drain_with_nothing_to_wait_for_ends_at_once() -> None:
    async def use(running: Running) -> None:
        assert await running.drain(60.0) == 0

    on_a_loop(use)


def test_a_later_drain_waits_for_the_end_of_the_first() -> None:
    async def use(running: Running) -> None:
        abandoned = asyncio.ensure_future(running.own(owning(running, never())))
        await asyncio.sleep(0)
        first = asyncio.ensure_future(running.drain(0.02))
        await asyncio.sleep(0)
        assert await running.drain(60.0) == 1
        assert await first == 1
        await asyncio.wait([abandoned])
        assert isinstance(abandoned.exception(), WorkAbandoned)

    on_a_loop(use)


def test_whoever_stops_waiting_for_the_drain_does_not_stop_it() -> None:
    async def use(running: Running) -> None:
        caller = asyncio.ensure_future(running.own(owning(running, soon())))
        await asyncio.sleep(0)
        drain = asyncio.ensure_future(running.drain(5.0))
        await asyncio.sleep(0)
        drain.cancel()
        await asyncio.wait([drain])
        assert await caller == "done"
        assert await running.drain(5.0) == 0

    on_a_loop(use)


def test_an_attempt_is_alive_from_its_adoption_to_the_end_of_its_task() -> None:
    async def use(running: Running) -> None:
        seen: list[frozenset[str]] = []

        async def work() -> None:
            seen.append(running.alive())
            running.adopt("d-1")
            seen.append(running.alive())
            running.adopt("d-2")
            await asyncio.sleep(0)
            seen.append(running.alive())

        await running.own(work())
        assert seen == [frozenset(), {"d-1"}, {"d-1", "d-2"}]
        await asyncio.sleep(0)
        assert running.alive() == frozenset()

    on_a_loop(use)


def test_an_attempt_whose_task_failed_or_was_cut_off_is_not_alive() -> None:
    async def use(running: Running) -> None:
        async def fail() -> None:
            running.adopt("d-1")
            raise ValueError("told")

        async def hang() -> None:
            running.adopt("d-2")
            await never()

        with pytest.raises(ValueError, match="told"):
            await running.own(fail())
        hanging = asyncio.ensure_future(running.own(hang()))
        await asyncio.sleep(0.01)
        assert running.alive() == {"d-2"}
        await running.drain(0.0)
        assert running.alive() == frozenset()
        await asyncio.wait([hanging])
        assert isinstance(hanging.exception(), WorkAbandoned)

    on_a_loop(use)


# Sweeps


def test_a_sweep_leaves_what_still_has_its_task() -> None:
    world = Surroundings()

    async def sweep_while_it_runs() -> State:
        sent = asyncio.Event()
        world.transport.hold()
        world.notebook.once("transport.send", sent.set)
        asking = asyncio.ensure_future(world.asking())
        await sent.wait()
        await world.services.sweeper.sweep()
        state = world.attempts[-1].state
        world.transport.let_go()
        await asking
        return state

    assert asyncio.run(sweep_while_it_runs()) is State.DISPATCHING
    assert world.attempts[-1].state is State.COMPLETED
    assert not [event for event in world.events.events if isinstance(event, AttemptsSwept)]


@pytest.mark.parametrize(("left", "swept"), [(State.GRANTED, State.RELEASED), (State.DISPATCHING, State.UNKNOWN)])
def test_a_sweep_resolves_what_has_no_task_and_says_so(left: State, swept: State) -> None:
    world = Surroundings()
    world.answered()
    world.put_state(left)
    world.events.events.clear()
    asyncio.run(world.services.sweeper.sweep())
    assert world.attempts[-1].state is swept
    moved = (world.attempts[-1].dispatch_id,)
    released, unknown = (moved, ()) if swept is State.RELEASED else ((), moved)
    assert world.events.events == [AttemptsSwept(released, unknown)]


def test_only_the_sweep_at_start_resolves_what_earlier_processes_left() -> None:
    world = Surroundings()
    world.answered()
    world.put_state(State.DISPATCHING)
    world.store.restart()
    asyncio.run(world.services.sweeper.sweep())
    assert world.attempts[-1].state is State.DISPATCHING
    asyncio.run(world.services.sweeper.sweep(earlier_incarnations=True))
    assert world.attempts[-1].state is State.UNKNOWN


def test_a_ledger_that_cannot_sweep_now_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gateway.service.running.SWEEP_EVERY_S", 0.001)
    world = Surroundings()
    world.notebook.once("ledger.sweep", breaking(LedgerUnavailable("full")))

    async def until_the_third() -> None:
        third = asyncio.Event()
        world.notebook.at("ledger.sweep", lambda: third.set() if world.called("ledger.sweep") == 3 else None)
        sweeping = asyncio.ensure_future(world.services.sweeper.run())
        await third.wait()
        sweeping.cancel()
        await asyncio.wait([sweeping])

    asyncio.run(until_the_third())
    assert world.events.events == [Faulted("sweep", "LedgerUnavailable")]


def test_a_ledger_that_has_failed_ends_the_sweeps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gateway.service.running.SWEEP_EVERY_S", 0.001)
    world = Surroundings()
    world.notebook.at("ledger.sweep", breaking(LedgerUncertain("failed")))
    with pytest.raises(LedgerUncertain):
        asyncio.run(world.services.sweeper.run())


@pytest.mark.parametrize("error", [LedgerUnavailable("ended"), LedgerUncertain("failed")])
def test_the_last_sweep_tolerates_a_ledger_that_has_failed(error: Exception) -> None:
    world = Surroundings()
    world.notebook.at("ledger.sweep", breaking(error))
    asyncio.run(world.services.sweeper.sweep_at_end())
    assert world.events.events == [Faulted("sweep", type(error).__name__)]


def test_an_attempt_that_was_handed_over_lives_as_long_as_its_new_owner() -> None:
    async def use(running: Running) -> None:
        let_go = asyncio.Event()

        async def heir() -> None:
            running.adopt("d-1")
            await let_go.wait()

        async def first() -> None:
            running.adopt("d-1")
            running.begin(heir())
            await asyncio.sleep(0.01)

        await running.own(first())
        await asyncio.sleep(0)
        assert running.alive() == {"d-1"}, "a sweep would take it from the task that still saves its answer"
        let_go.set()
        await asyncio.sleep(0.01)
        assert running.alive() == frozenset()

    on_a_loop(use)
