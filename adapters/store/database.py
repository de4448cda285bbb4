"""One SQLite database per directory, for one process.

SQLite 3.7.0 to 3.51.2 can lose commits where two connections write or checkpoint, so there is exactly one
connection that writes; all others are read-only. A second process is refused by the lock.
"""

import fcntl
import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TypeVar

from sqlalchemy import create_engine
from sqlalchemy.pool import NullPool

from gateway.domain.errors import DirectoryInUse, StartRefused

T = TypeVar("T")

FILE = "gateway.db"
REVISIONS = ("0001",)
"""Schema revisions, oldest first. The last one is what this version of the gateway works with."""

_BUSY_MS = 5_000
# The command line holds the lock for the blink of an eye, to see whether somebody else does.
_LOCK_TRIES = 5
_LOCK_WAIT_S = 0.02
_STATEMENTS_KEPT = 512
_IN_USE = (
    "Another gateway process uses this data directory. Stop it first, or give this one a data directory of its own."
)
_NEWER = (
    "The store was written by a newer version of the gateway. "
    "Start that version, or restore a backup from before the upgrade."
)
_FOREIGN = (
    "The database in the data directory is not a store of the gateway, or is damaged. "
    "Give the gateway an empty data directory, or restore a backup."
)


def exists(directory: Path) -> bool:
    """Whether a store was ever opened in this directory."""
    return (directory / FILE).is_file()


class DirectoryLock:
    """Held while the process lives; the kernel gives it back even after kill -9."""

    def __init__(self, directory: Path) -> None:
        """
        :raises DirectoryInUse: if another process holds it.
        :raises StartRefused: if the directory cannot be made or written.
        """
        try:
            directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._descriptor = os.open(directory / "lock", os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise StartRefused(
                f"The data directory GATEWAY_DATA cannot be used ({error.strerror}). "
                "Name a folder that this user may create and write."
            ) from None
        for tries_left in reversed(range(_LOCK_TRIES)):
            try:
                fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if not tries_left:
                    os.close(self._descriptor)
                    raise DirectoryInUse(_IN_USE) from None
                time.sleep(_LOCK_WAIT_S)
            else:
                return

    def release(self) -> None:
        os.close(self._descriptor)


def open_writable(directory: Path) -> sqlite3.Connection:
    """The one connection that writes and checkpoints. Transactions are begun and ended by its user."""
    connection = sqlite3.connect(
        directory / FILE, isolation_level=None, check_same_thread=False, cached_statements=_STATEMENTS_KEPT
    )
    for pragma in ("journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON", f"busy_timeout = {_BUSY_MS}"):
        connection.execute(f"PRAGMA {pragma}")
    return connection


def open_readable(directory: Path) -> sqlite3.Connection:
    """A connection that cannot write."""
    connection = sqlite3.connect(
        f"{(directory / FILE).absolute().as_uri()}?mode=ro",
        uri=True,
        isolation_level=None,
        check_same_thread=False,
        cached_statements=_STATEMENTS_KEPT,
    )
    for pragma in ("query_only = ON", f"busy_timeout = {_BUSY_MS}"):
        connection.execute(f"PRAGMA {pragma}")
    return connection


def aside(directory: Path, read: Callable[[sqlite3.Connection], T]) -> T:
    """A read that may take long, on a connection of its own, for any thread."""
    with closing(open_readable(directory)) as connection:
        return read(connection)


@contextmanager
def snapshot(connection: sqlite3.Connection) -> Iterator[None]:
    """All reads within see one state of the database."""
    connection.execute("BEGIN")
    try:
        yield
    finally:
        connection.execute("ROLLBACK")


def prepare(directory: Path) -> None:
    """Create the database, or bring it to this version's schema.

    :raises StartRefused: if it belongs to a newer version, or is no store at all.
    """
    file = directory / FILE
    # SQLite gives its -wal and -shm files the same permissions.
    os.close(os.open(file, os.O_RDWR | os.O_CREAT, 0o600))
    try:
        revision = _revision(directory)
    except sqlite3.DatabaseError:
        raise StartRefused(_FOREIGN) from None
    if revision == REVISIONS[-1]:
        return
    if revision is not None and revision not in REVISIONS:
        raise StartRefused(_NEWER)
    _migrate(directory)


def _revision(directory: Path) -> str | None:
    """None for an empty database.

    :raises sqlite3.DatabaseError: if it is not a database, or another program's.
    """
    connection = open_writable(directory)
    try:
        tables = {row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        if not tables:
            return None
        found: str = connection.execute("SELECT version_num FROM alembic_version").fetchone()[0]
        return found
    finally:
        connection.close()


def _migrate(directory: Path) -> None:
    # Eight megabytes and a third of a second, needed only when the schema changes.
    from alembic import command
    from alembic.config import Config

    # hide_parameters: the text of an SQL error must not carry what a caller sent.
    engine = create_engine(
        "sqlite://", creator=lambda: open_writable(directory), poolclass=NullPool, hide_parameters=True
    )
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations").replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    with engine.connect() as connection:
        connection.exec_driver_sql("BEGIN IMMEDIATE")
        config.attributes["connection"] = connection
        command.upgrade(config, "head")
        connection.commit()
    engine.dispose()
