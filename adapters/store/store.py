"""The store: one directory, one process, one writer, and a connection for reads."""

import sqlite3
from collections.abc import Callable
from pathlib import Path

import uuid_utils

from adapters.store import database
from adapters.store.accounts import StoredAccounts
from adapters.store.connection import Wrap, unwrapped
from adapters.store.decisions import StoredDecisions
from adapters.store.keys import StoredKeys
from adapters.store.ledger import StoredLedger
from adapters.store.operations import StoredOperations
from adapters.store.profiles import StoredProfiles
from adapters.store.sources import StoredSources
from adapters.store.statements import Inserter
from adapters.store.tables import meta, replica
from adapters.store.verify import verify
from adapters.store.writer import QUEUE_BOUND, Writer
from gateway.ports.clock import Clock
from gateway.ports.events import Events
from gateway.ports.ledger import Standing

_insert_meta = Inserter(meta)
_insert_replica = Inserter(replica)


class Store:
    """What ``open_store`` gives. Reads run on the thread of the event loop, writes on the writer's."""

    def __init__(
        self,
        directory: Path,
        lock: database.DirectoryLock,
        *,
        events: Events,
        clock: Clock,
        standing: Standing | None,
        on_fatal: Callable[[], None],
        queue_bound: int,
        wrap: Wrap,
    ) -> None:
        self._directory = directory
        self._lock = lock
        self._closed = False
        connection = database.open_writable(directory)
        incarnation = _begin(connection, clock.now_us())
        self._reader = database.open_readable(directory)
        self._writer = Writer(
            wrap(connection),
            incarnation=incarnation,
            clock=clock,
            events=events,
            on_fatal=on_fatal,
            queue_bound=queue_bound,
        )
        self.ledger = StoredLedger(self._writer, standing)
        self.operations = StoredOperations(self._reader, directory)
        self.accounts = StoredAccounts(directory)
        self.decisions = StoredDecisions(directory)
        self.sources = StoredSources(self._reader, self._writer, directory)
        self.keys = StoredKeys(self._reader, self._writer, directory)
        self.profiles = StoredProfiles(self._reader, self._writer)

    def queued(self) -> int:
        """Transitions that wait for the writer."""
        return self._writer.queued()

    def verify(self) -> list[str]:
        """Every difference and broken invariant as a sentence; reads the whole ledger, so not on the event loop."""
        return database.aside(self._directory, verify)

    def close(self) -> None:
        """Commit what is queued, close, and let the next process in."""
        if self._closed:
            return
        self._closed = True
        # The reader first: the last connection to close checkpoints, and only the writing one may.
        self._reader.close()
        self._writer.close()
        self._lock.release()


def open_store(
    directory: Path,
    *,
    events: Events,
    clock: Clock,
    standing: Standing | None,
    on_fatal: Callable[[], None],
    queue_bound: int = QUEUE_BOUND,
    wrap: Wrap = unwrapped,
) -> Store:
    """Open the store in a directory, creating or upgrading it.

    :param standing: T1's conditions 4 and 5; called from the writer's thread. None leaves them out.
    :param on_fatal: called from the writer's thread if it ends by itself; the process must then stop.
    :param wrap: puts something around the writer's connection, for the fault tests. The default leaves it as it is.
    :raises StartRefused: if another process holds it, or its schema is newer than this version.
    """
    lock = database.DirectoryLock(directory)
    try:
        database.prepare(directory)
        return Store(
            directory,
            lock,
            events=events,
            clock=clock,
            standing=standing,
            on_fatal=on_fatal,
            queue_bound=queue_bound,
            wrap=wrap,
        )
    except BaseException:
        lock.release()
        raise


def _begin(connection: sqlite3.Connection, now_us: int) -> int:
    """Note this start; returns its incarnation."""
    connection.execute("BEGIN IMMEDIATE")
    if connection.execute("SELECT count(*) FROM meta").fetchone() == (0,):
        _insert_meta(
            connection, [{"id": 1, "store_id": str(uuid_utils.uuid7()), "commit_seq": 0, "last_commit_us": now_us}]
        )
    incarnation: int = connection.execute("SELECT coalesce(max(incarnation), 0) + 1 FROM replica").fetchone()[0]
    _insert_replica(connection, [{"incarnation": incarnation, "started_us": now_us}])
    connection.execute("COMMIT")
    return incarnation
