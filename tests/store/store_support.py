"""A real store in a folder of its own, and a look into its file."""

import asyncio
import sqlite3
import tempfile
import threading
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from contract.ledger_ends import ManualClock, ScriptedStanding, put_keys

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
        self.profiles = self.store.profiles

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


class FailingDisk:
    """A connection whose statements fail where a test wants it."""

    def __init__(self) -> None:
        self.before: tuple[str, ...] = ()
        """Fail before a statement that begins so."""
        self.after: tuple[str, ...] = ()
        """Fail after one that begins so."""
        self.failed = 0

    def wrap(self, connection: sqlite3.Connection) -> "FailingDisk":
        self._connection = connection
        return self

    @property
    def in_transaction(self) -> bool:
        return self._connection.in_transaction

    def execute(self, sql: str, parameters: Mapping[str, Any] = {}, /) -> sqlite3.Cursor:
        self._fail(self.before, sql)
        done = self._connection.execute(sql, parameters)
        self._fail(self.after, sql)
        return done

    def executemany(self, sql: str, parameters: Iterable[Any], /) -> sqlite3.Cursor:
        self._fail(self.before, sql)
        return self._connection.executemany(sql, parameters)

    def close(self) -> None:
        self._connection.close()

    def _fail(self, where: tuple[str, ...], sql: str) -> None:
        if sql.startswith(where):
            self.failed += 1
            raise sqlite3.OperationalError("disk I/O error")


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
            await put_keys(ends)
            return await use(ends)

        return asyncio.run(run())


@cache
def empty_database() -> bytes:
    """A migrated database: making one takes longer than most tests."""
    with tempfile.TemporaryDirectory() as folder:
        database.prepare(Path(folder))
        return (Path(folder) / database.FILE).read_bytes()
