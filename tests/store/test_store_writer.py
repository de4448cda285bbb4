"""Group commit: few commits, each transition with its own fate, and a writer that fails loudly."""

import asyncio
import sqlite3
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from contract.ledger_ends import (
    CALLER,
    a_claim,
    decision,
    dispatched,
    granted,
    key_hash,
    outcome,
    state_of,
)
from msgspec.structs import replace
from store_support import Recorded, StoreEnds, empty_database, with_store

from adapters.store import database, moves
from adapters.store.batch import Batch
from adapters.store.errors import translated
from adapters.store.writer import Rank, Transition
from gateway.domain.budget import Reservation, Settlement
from gateway.domain.errors import IllegalMove, LedgerUnavailable, LedgerUncertain
from gateway.domain.operation import Identity, State
from gateway.ports.events import Faulted
from gateway.ports.ledger import Dispatching, Granted, GrantLost, RefusalRecord, Settled


def test_64_keys_at_once_take_three_transitions_each_in_few_commits() -> None:
    async def use(ends: StoreEnds) -> None:
        before = len(ends.events.commits)
        claims = [a_claim(str(n)) for n in range(64)]

        async def live(claim: Any) -> None:
            assert isinstance(await ends.ledger.claim(claim), Granted)
            assert await ends.ledger.dispatch(claim.dispatch_id) == Dispatching()
            assert await ends.ledger.settle(outcome(claim.dispatch_id, State.COMPLETED)) == Settled()

        await asyncio.gather(*(live(claim) for claim in claims))
        await asyncio.sleep(0)
        commits = ends.events.commits[before:]
        assert sum(commit.transitions for commit in commits) == 192
        assert len(commits) <= 24
        assert ends.rows("SELECT state, count(*) FROM attempt GROUP BY state") == [("completed", 64)]
        assert ends.rows("SELECT commit_seq FROM meta") == [(before + len(commits),)]

    with_store(use)


def test_a_bad_transition_harms_only_itself() -> None:
    async def use(ends: StoreEnds) -> None:
        sent = [await dispatched(ends, str(n)) for n in range(3)]
        broken = outcome(sent[1].dispatch_id, State.COMPLETED)
        broken = replace(broken, settlement=Settlement(state=State.COMPLETED, used=None, basis=None))
        results = await asyncio.gather(
            ends.ledger.settle(outcome(sent[0].dispatch_id, State.COMPLETED)),
            ends.ledger.settle(broken),
            ends.ledger.settle(outcome(sent[2].dispatch_id, State.CHARGED)),
            ends.ledger.claim(a_claim("new")),
            ends.ledger.claim(a_claim("too much", reserved=Reservation(2**62, 2**62))),
            return_exceptions=True,
        )
        assert [type(result) for result in results] == [
            Settled,
            LedgerUnavailable,
            Settled,
            Granted,
            LedgerUnavailable,
        ]
        states = [await state_of(ends, claim) for claim in sent]
        assert states == [State.COMPLETED, State.DISPATCHING, State.CHARGED]
        assert await ends.operations.find(Identity("acme", "reports", key_hash("too much"))) is None
        assert not ends.fatal.is_set()

    with_store(use)


def _held_up(until: threading.Event) -> Transition[int, None]:
    """A transition that keeps the writer busy, so that the next batch fills."""

    def apply(_: Batch, __: Sequence[int]) -> list[None]:
        until.wait(10)
        return [None]

    return Transition(Rank.T3, apply)


def test_what_has_happened_counts_before_what_is_about_to() -> None:
    seen: list[str] = []

    def noting(name: str, rank: Rank) -> Transition[int, None]:
        def apply(_: Batch, items: Sequence[int]) -> list[None]:
            seen.extend(f"{name}{item}" for item in items)
            return [None] * len(items)

        return Transition(rank, apply)

    async def use(ends: StoreEnds) -> None:
        writer = ends.store._writer
        held = threading.Event()
        blocking: Transition[int, None] = _held_up(held)
        waiting = [writer.run(blocking, 0)]
        await asyncio.sleep(0.05)
        for name, rank in (("other", Rank.OTHER), ("t1-", Rank.T1), ("t2-", Rank.T2), ("t3-", Rank.T3)):
            kind = noting(name, rank)
            waiting += [writer.run(kind, 1), writer.run(kind, 2)]
        held.set()
        await asyncio.gather(*waiting)

    with_store(use)
    assert seen == ["t3-1", "t3-2", "t2-1", "t2-2", "t1-1", "t1-2", "other1", "other2"]


def test_a_full_queue_refuses_new_work_and_never_an_outcome() -> None:
    async def use(ends: StoreEnds) -> None:
        claim = await dispatched(ends)
        held = threading.Event()
        blocking: Transition[int, None] = _held_up(held)
        writer = ends.store._writer
        waiting = [writer.run(blocking, 0)]
        await asyncio.sleep(0.05)
        queued = [asyncio.ensure_future(ends.ledger.claim(a_claim(str(n)))) for n in range(2)]
        await asyncio.sleep(0)
        with pytest.raises(LedgerUnavailable):
            await ends.ledger.claim(a_claim("one too many"))
        with pytest.raises(LedgerUnavailable):
            await ends.ledger.refuse(
                RefusalRecord(
                    caller=CALLER, code="c", policy_codes=(), operation_id=None, decisions=(decision("access"),)
                )
            )
        settling = asyncio.ensure_future(ends.ledger.settle(outcome(claim.dispatch_id, State.COMPLETED)))
        dispatching = asyncio.ensure_future(ends.ledger.dispatch("nothing"))
        await asyncio.sleep(0)
        held.set()
        await asyncio.gather(*waiting, *queued)
        assert (await settling, await dispatching) == (Settled(), GrantLost("no_such_grant"))

    with_store(use, queue_bound=2)


def _break_commit(batch: Batch, items: Sequence[str]) -> list[None]:
    """A reference to a missing row, looked at only by COMMIT."""
    batch.connection.execute("PRAGMA defer_foreign_keys = ON")
    batch.connection.execute("INSERT INTO result VALUES ('nothing', 1, x'00', 'd', 1)")
    return [None] * len(items)


def test_a_failed_commit_is_uncertain_for_all_and_ends_the_writer(tmp_path: Path) -> None:
    (tmp_path / database.FILE).write_bytes(empty_database())
    ends = StoreEnds(tmp_path)

    async def use() -> None:
        writer = ends.store._writer
        held = threading.Event()
        blocking: Transition[int, None] = _held_up(held)
        waiting = writer.run(blocking, 0)
        await asyncio.sleep(0.05)
        breaking = writer.run(Transition(Rank.T3, _break_commit), "x")
        beside = [asyncio.ensure_future(ends.ledger.dispatch(f"d{n}")) for n in range(3)]
        await asyncio.sleep(0)
        held.set()
        await waiting
        results = await asyncio.gather(breaking, *beside, return_exceptions=True)
        assert [type(result) for result in results] == [LedgerUncertain] * 4
        assert ends.fatal.wait(5)
        with pytest.raises(LedgerUnavailable):
            await ends.ledger.dispatch("later")

    asyncio.run(use())
    assert Faulted("store_writer", "commit_failed") in ends.events.events
    ends.store.close()


# The fault reaches the thread's hook, where it belongs; pytest would make it a warning.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_fault_of_the_program_leaves_nobody_waiting(tmp_path: Path) -> None:
    (tmp_path / database.FILE).write_bytes(empty_database())
    ends = StoreEnds(tmp_path)

    def faulty(_: Batch, __: Sequence[int]) -> list[None]:
        started.wait(10)
        raise KeyError

    started = threading.Event()

    async def use() -> None:
        writer = ends.store._writer
        in_hand = writer.run(Transition(Rank.T3, faulty), 0)
        await asyncio.sleep(0.05)
        queued = asyncio.ensure_future(ends.ledger.dispatch("queued"))
        await asyncio.sleep(0)
        started.set()
        results = await asyncio.gather(in_hand, queued, return_exceptions=True)
        assert [type(result) for result in results] == [LedgerUncertain, LedgerUnavailable]
        assert ends.fatal.wait(5)

    asyncio.run(use())
    ends.store.close()


def test_closing_commits_what_is_queued_and_is_not_fatal() -> None:
    async def use(ends: StoreEnds) -> None:
        claim = a_claim("last")
        waiting = asyncio.ensure_future(ends.ledger.claim(claim))
        await asyncio.sleep(0)
        ends.store._writer.close()
        assert isinstance(await waiting, Granted)
        with pytest.raises(LedgerUnavailable):
            await ends.ledger.claim(a_claim("too late"))
        assert not ends.fatal.is_set()

    with_store(use)


def test_a_caller_that_gave_up_changes_nothing() -> None:
    async def use(ends: StoreEnds) -> None:
        claim = a_claim()
        impatient = asyncio.ensure_future(ends.ledger.claim(claim))
        await asyncio.sleep(0)
        impatient.cancel()
        await granted(ends, "another")
        assert await state_of(ends, claim) is State.GRANTED

    with_store(use)


def test_errors_tell_a_broken_move_from_a_broken_constraint_and_carry_no_value() -> None:
    secret = "sk-this-must-not-be-seen"

    async def use(ends: StoreEnds) -> None:
        await granted(ends, "one", dispatch_id=secret)
        with pytest.raises(LedgerUnavailable) as refused:
            await ends.ledger.claim(a_claim("two", dispatch_id=secret))
        error: BaseException | None = refused.value
        while error is not None:
            assert secret not in f"{error} {error.args}"
            error = error.__cause__ or error.__context__

    with_store(use)
    assert isinstance(translated(sqlite3.IntegrityError("illegal move: not in the table of moves")), IllegalMove)
    assert isinstance(translated(sqlite3.IntegrityError("UNIQUE constraint failed: attempt.op_id")), IllegalMove)
    assert isinstance(
        translated(sqlite3.IntegrityError("UNIQUE constraint failed: attempt.dispatch_id")), LedgerUnavailable
    )
    full = translated(sqlite3.OperationalError("disk is full"))
    assert isinstance(full, LedgerUnavailable)
    assert "disk" not in str(full)


@pytest.mark.parametrize("seen_as", [State.GRANTED, State.DISPATCHING])
def test_a_move_compares_the_state_when_it_sets_it(monkeypatch: pytest.MonkeyPatch, seen_as: State) -> None:
    async def use(ends: StoreEnds) -> None:
        claim = await dispatched(ends)
        await ends.ledger.settle(outcome(claim.dispatch_id, State.NO_EFFECT))

        def outdated(connection: sqlite3.Connection, dispatch_ids: Sequence[str]) -> dict[str, moves.Found]:
            found = find(connection, dispatch_ids)
            for one in found.values():
                one.state = seen_as
            return found

        find = moves.find
        monkeypatch.setattr(moves, "find", outdated)
        charged = outcome(claim.dispatch_id, State.CHARGED)
        moving = {
            State.GRANTED: lambda: ends.ledger.dispatch(claim.dispatch_id),
            State.DISPATCHING: lambda: ends.ledger.settle(charged),
        }[seen_as]
        with pytest.raises(IllegalMove):
            await moving()
        assert await state_of(ends, claim) is State.NO_EFFECT

    with_store(use)


def test_a_batch_wakes_the_loop_once() -> None:
    async def use(ends: StoreEnds) -> None:
        loop = asyncio.get_running_loop()
        calls: list[Any] = []
        original = loop.call_soon_threadsafe
        loop.call_soon_threadsafe = lambda *args, **kwargs: calls.append(args) or original(*args, **kwargs)  # type: ignore[method-assign]
        before = len(ends.events.commits)
        await asyncio.gather(*(ends.ledger.claim(a_claim(str(n))) for n in range(20)))
        await asyncio.sleep(0)
        assert len(calls) == len(ends.events.commits) - before

    with_store(use)


def test_events_are_kept_in_the_loop() -> None:
    threads: set[str] = set()

    class Naming(Recorded):
        def emit(self, _: Any) -> None:
            threads.add(threading.current_thread().name)

    async def use(ends: StoreEnds) -> None:
        ends.store._writer._events = Naming()
        await granted(ends)
        await asyncio.sleep(0)

    with_store(use)
    assert threads == {threading.current_thread().name}
