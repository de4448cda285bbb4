"""The application owns a dispatch, not the connection.

Work runs in tasks of its own, so a client that goes away changes nothing. An attempt is adopted before its
T1 is queued: whatever the store holds without a task here has been abandoned, and the sweep resolves it.
"""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar
from weakref import WeakSet

from gateway.domain.errors import LedgerUnavailable, LedgerUncertain, WorkAbandoned
from gateway.ports.events import AttemptsSwept, Events, Faulted
from gateway.ports.ledger import Ledger

T = TypeVar("T")
SWEEP_EVERY_S = 1.0


class Running:
    """Tasks of this process and the attempts that they own."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[Any]] = set()
        self._attempts: dict[str, asyncio.Task[Any]] = {}
        self._owners: WeakSet[asyncio.Task[Any]] = WeakSet()
        """Tasks that have ever adopted an attempt."""
        self._drain: asyncio.Task[int] | None = None
        self.draining = False

    async def own(self, work: Coroutine[Any, Any, T]) -> T:
        """Run work to its end, whatever becomes of the caller that awaits it.

        :raises WorkAbandoned: if the drain ended it.
        """
        task = self.begin(work)
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            if task.cancelled():
                raise WorkAbandoned(owned_attempt=task in self._owners) from None
            raise

    def begin(self, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        """Run work in a task of the application's own, for which the drain waits."""
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def adopt(self, dispatch_id: str) -> None:
        """The current task owns this attempt from now until the task ends, or another one adopts it."""
        task = asyncio.current_task()
        assert task is not None, "an attempt is adopted by a task"
        self._attempts[dispatch_id] = task
        self._owners.add(task)

        def abandon(ended: asyncio.Task[Any]) -> None:
            if self._attempts.get(dispatch_id) is ended:
                del self._attempts[dispatch_id]

        task.add_done_callback(abandon)

    def alive(self) -> frozenset[str]:
        """Attempts with a task. Also called from the writer's thread; copying a dict's keys is one step."""
        return frozenset(self._attempts)

    async def drain(self, within_s: float) -> int:
        """Take no new work, wait for what runs, cancel the rest; returns how many owned an attempt then.

        Work that has reserved nothing yet is new work, and ends at once. A later call waits for the first
        one's end.
        """
        self.draining = True
        if self._drain is None:
            self._drain = asyncio.ensure_future(self._wait(within_s))
        return await asyncio.shield(self._drain)

    async def _wait(self, within_s: float) -> int:
        await self._cancel(self._tasks - set(self._owners))
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=within_s)
        unfinished = set(self._tasks)
        await self._cancel(unfinished)
        return len(unfinished)

    async def _cancel(self, tasks: set[asyncio.Task[Any]]) -> None:
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)


class Sweeper:
    """Resolves attempts that nobody works on any more."""

    def __init__(self, ledger: Ledger, running: Running, events: Events) -> None:
        self._ledger = ledger
        self._running = running
        self._events = events

    async def run(self) -> None:
        """Sweep this process's own attempts every second, for ever."""
        while True:
            await asyncio.sleep(SWEEP_EVERY_S)
            try:
                await self.sweep()
            except LedgerUnavailable:
                # Nothing was stored; the next second tries again.
                self._events.emit(Faulted("sweep", LedgerUnavailable.__name__))

    async def sweep(self, *, earlier_incarnations: bool = False) -> None:
        """Sweep once; at start also what earlier processes left."""
        swept = await self._ledger.sweep(self._running.alive, earlier_incarnations=earlier_incarnations)
        if swept.released or swept.unknown:
            self._events.emit(AttemptsSwept(swept.released, swept.unknown))

    async def sweep_at_end(self) -> None:
        """Say what becomes of the work that the drain cut off. A store that has failed says it at the next start."""
        try:
            await self.sweep()
        except (LedgerUnavailable, LedgerUncertain) as error:
            self._events.emit(Faulted("sweep", type(error).__name__))
