"""One thread, one writing connection, group commit.

Tasks hand in a transition and await its commit. The thread takes everything that was queued during the
last commit, applies it in one transaction, commits, and wakes all waiting tasks with one call into the loop.
"""

import asyncio
import sqlite3
import threading
import time
from collections import defaultdict, deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from enum import IntEnum
from typing import Any, Generic, TypeVar

from msgspec import Struct

from adapters.store.batch import Batch
from adapters.store.connection import Connection
from adapters.store.errors import STATEMENT_ERRORS, translated
from gateway.domain.errors import LedgerUnavailable, LedgerUncertain
from gateway.ports.clock import Clock
from gateway.ports.events import Committed, Events, Faulted

Item = TypeVar("Item")
Result = TypeVar("Result")

QUEUE_BOUND = 4_096
"""Transitions that may wait before new work is refused."""


class Rank(IntEnum):
    """Order within a batch: what has happened counts before what is about to happen."""

    T3 = 0
    T2 = 1
    T1 = 2
    OTHER = 3


class Transition(Struct, Generic[Item, Result], frozen=True, eq=False):
    """A kind of transition: ``apply`` writes all of a batch's items and answers each, in their order."""

    rank: Rank
    apply: Callable[[Batch, Sequence[Item]], Sequence[Result | Exception]]


class Queued(Struct, eq=False):
    """A transition that somebody waits for."""

    transition: Transition[Any, Any]
    item: Any
    future: asyncio.Future[Any]


class Writer:
    """``on_fatal`` is called once, from the writer's thread, if it ends before it is closed."""

    def __init__(
        self,
        connection: Connection,
        *,
        incarnation: int,
        clock: Clock,
        events: Events,
        on_fatal: Callable[[], None],
        queue_bound: int = QUEUE_BOUND,
    ) -> None:
        self._connection = connection
        self._incarnation = incarnation
        self._clock = clock
        self._events = events
        self._on_fatal = on_fatal
        self._queue_bound = queue_bound
        self._last_seq = 0
        self._queues: tuple[deque[Queued], ...] = tuple(deque() for _ in Rank)
        self._changed = threading.Condition(threading.Lock())
        self._closing = False
        self._ended = False
        self._in_hand: Sequence[Queued] = ()
        self._fault = "program_fault"
        self._thread = threading.Thread(target=self._work, name="store-writer", daemon=True)
        self._thread.start()

    def run(self, transition: Transition[Item, Result], item: Item) -> asyncio.Future[Result]:
        """Queue a transition; the future ends when its batch has been committed.

        :raises LedgerUnavailable: if the writer has ended, or the queue is full and this is not a T2 or T3.
        """
        future: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
        with self._changed:
            if self._ended or self._closing:
                raise LedgerUnavailable("the writer has ended")
            if transition.rank >= Rank.T1 and sum(map(len, self._queues)) >= self._queue_bound:
                raise LedgerUnavailable("the writer's queue is full")
            self._queues[transition.rank].append(Queued(transition, item, future))
            self._changed.notify()
        return future

    def queued(self) -> int:
        """Transitions that wait for their commit to begin. For any thread: a length is read in one step."""
        return sum(map(len, self._queues))

    def close(self) -> None:
        """Commit what is queued, then end the thread and its connection."""
        with self._changed:
            self._closing = True
            self._changed.notify()
        self._thread.join()

    def _work(self) -> None:
        try:
            while batch := self._take():
                self._in_hand = batch
                if not self._commit(batch):
                    return
                self._in_hand = ()
        finally:
            self._end()

    def _take(self) -> list[Queued]:
        """All that is queued, in order of rank; empty when the writer is to end."""
        with self._changed:
            while not any(self._queues) and not self._closing:
                self._changed.wait()
            taken = [queued for queue in self._queues for queued in queue]
            for queue in self._queues:
                queue.clear()
        return taken

    def _commit(self, queued: Sequence[Queued]) -> bool:
        """One transaction. False: its COMMIT failed, and nobody can say what is stored."""
        started_s = time.perf_counter()
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            batch, answers = self._apply(queued)
        except STATEMENT_ERRORS as error:
            self._roll_back()
            if len(queued) > 1:
                return all(self._commit([one]) for one in queued)
            self._wake(queued, [translated(error)], None)
            return True
        # The one place where transitions become durable: failpoints before and after COMMIT belong here.
        try:
            self._connection.execute("COMMIT")
        except sqlite3.Error:
            self._fault = "commit_failed"
            return False
        finally:
            batch.committed()
        self._last_seq = batch.last_seq
        self._wake(queued, answers, Committed(len(queued), time.perf_counter() - started_s))
        return True

    def _apply(self, queued: Sequence[Queued]) -> tuple[Batch, list[Any]]:
        batch = Batch(
            self._connection, now_us=self._clock.now_us(), incarnation=self._incarnation, last_seq=self._last_seq
        )
        groups: defaultdict[Transition[Any, Any], list[int]] = defaultdict(list)
        for position, one in enumerate(queued):
            groups[one.transition].append(position)
        answers: list[Any] = [None] * len(queued)
        for transition, positions in groups.items():
            results = transition.apply(batch, [queued[position].item for position in positions])
            for position, result in zip(positions, results, strict=True):
                answers[position] = result
        batch.finish()
        return batch, answers

    def _roll_back(self) -> None:
        if self._connection.in_transaction:
            # SQLite itself has rolled back after some errors, such as a full disk.
            with suppress(sqlite3.OperationalError):
                self._connection.execute("ROLLBACK")

    def _wake(self, queued: Sequence[Queued], answers: Sequence[Any], event: Committed | Faulted | None) -> None:
        def resolve() -> None:
            for one, answer in zip(queued, answers, strict=True):
                if one.future.done():
                    continue
                if isinstance(answer, Exception):
                    one.future.set_exception(answer)
                else:
                    one.future.set_result(answer)
            if event is not None:
                self._events.emit(event)

        # A loop that has been closed has nobody left who waits.
        with suppress(RuntimeError):
            queued[0].future.get_loop().call_soon_threadsafe(resolve)

    def _end(self) -> None:
        """Nobody is left waiting. Reached after close(), a failed COMMIT, or a fault of the program."""
        with self._changed:
            self._ended = True
            unstarted = [queued for queue in self._queues for queued in queue]
        if self._in_hand:
            uncertain = [LedgerUncertain("it is not known whether the transition is stored") for _ in self._in_hand]
            self._wake(self._in_hand, uncertain, Faulted("store_writer", self._fault))
        if unstarted:
            self._wake(unstarted, [LedgerUnavailable("the writer has ended") for _ in unstarted], None)
        with suppress(sqlite3.Error):
            self._connection.close()
        if not self._closing:
            self._on_fatal()
