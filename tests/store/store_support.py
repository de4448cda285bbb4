"""A real store in a folder of its own, and a look into its file."""

import asyncio
import sqlite3
import tempfile
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from contract.ledger_ends import CREDENTIAL, ManualClock, ScriptedStanding, a_key

from adapters.store import Store, Wrap, database, open_store, unwrapped
from adapters.store.writer import QUEUE_BOUND
from gateway.ports.events import Committed, Event

T = TypeVar("T")


class Recorded:
    """Keeps events."""

    def __init__(self) -> None:
        self.events: list[Event] = []

    def emit(self, event: Event) -> None:
        self.events.append(event)

    @property
    def commits(self) -> list[Committed]:
        return [event for event in self.events if isinstance(event, Committed)]


class StoreEnds:
    """A store on SQLite with everything around it."""

    def __init__(
        self, directory: Path, *, queue_bound: int = QUEUE_BOUND, clock: Any = None, wrap: Wrap = unwrapped
    ) -> None:
        self.directory = directory
        self.clock = clock or ManualClock()
        self.standing = ScriptedStanding()
        self.events = Recorded()
        self.fatal = threading.Event()
        self._queue_bound = queue_bound
        self._wrap = wrap
        self._open()

    def _open(self) -> None:
        self.store: Store = open_store(
            self.directory,
            events=self.events,
            clock=self.clock,
            standing=self.standing,
            on_fatal=self.fatal.set,
            queue_bound=self._queue_bound,
            wrap=self._wrap,
        )
        self.ledger = self.store.ledger
        self.operations = self.store.operations
        self.accounts = self.store.accounts
        self.decisions = self.store.decisions
        self.sources = self.store.sources
        self.keys = self.store.keys

    def restart(self) -> None:
        self.store.close()
        self._open()

    def rows(self, query: str, *parameters: Any) -> list[tuple[Any, ...]]:
        """What is committed, seen from outside."""
        connection = sqlite3.connect(self.directory / database.FILE)
        try:
            return connection.execute(query, parameters).fetchall()
        finally:
            connection.close()


@contextmanager
def store_ends(**options: Any) -> Iterator[StoreEnds]:
    """A store with an empty ledger, which is in order when the test has ended."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / database.FILE).write_bytes(empty_database())
        ends = StoreEnds(Path(folder), **options)
        try:
            yield ends
            assert ends.store.verify() == []
        finally:
            ends.store.close()


def with_store(use: Callable[[StoreEnds], Awaitable[T]], **options: Any) -> T:
    """Run a coroutine with a store that knows one credential."""
    with store_ends(**options) as ends:

        async def run() -> T:
            await ends.keys.create(a_key(), CREDENTIAL, actor=None)
            return await use(ends)

        return asyncio.run(run())


@cache
def empty_database() -> bytes:
    """A migrated database: making one takes longer than most tests."""
    with tempfile.TemporaryDirectory() as folder:
        database.prepare(Path(folder))
        return (Path(folder) / database.FILE).read_bytes()
