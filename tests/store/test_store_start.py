"""Opening a store: the lock, the schema's revision, the files."""

import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from contract.ledger_ends import ManualClock
from store_support import Recorded, StoreEnds, empty_database

from adapters.store import Store, database, open_store
from gateway.domain.errors import StartRefused

OPEN_AND_TELL = """
import sys
from pathlib import Path
from adapters.store import database
from gateway.domain.errors import StartRefused
try:
    database.DirectoryLock(Path(sys.argv[1]))
except StartRefused as refused:
    print(refused)
database.prepare(Path(sys.argv[1]))
print("alembic" in sys.modules)
"""


def opened(directory: Path) -> Store:
    return open_store(directory, events=Recorded(), clock=ManualClock(), standing=None, on_fatal=lambda: None)


def in_another_process(directory: Path) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", OPEN_AND_TELL, str(directory)], capture_output=True, text=True, check=True, timeout=60
    )
    return done.stdout.splitlines()


def test_a_second_process_is_refused_with_a_remedy_and_the_next_one_is_not(tmp_path: Path) -> None:
    store = opened(tmp_path)
    refusal, _ = in_another_process(tmp_path)
    assert refusal == (
        "Another gateway process uses this data directory. Stop it first, or give this one a data directory of its own."
    )
    store.close()
    assert in_another_process(tmp_path) == ["False"]


def test_a_second_store_of_the_same_process_is_refused_too(tmp_path: Path) -> None:
    store = opened(tmp_path)
    with pytest.raises(StartRefused, match="Another gateway process"):
        opened(tmp_path)
    store.close()


def test_a_store_that_could_not_be_opened_gives_the_lock_back(tmp_path: Path) -> None:
    (tmp_path / database.FILE).write_bytes(b"not a database, and long enough to be looked at" * 100)
    for _ in range(2):
        with pytest.raises(StartRefused, match="not a store of the gateway, or is damaged"):
            opened(tmp_path)


def test_the_schema_is_made_once_and_then_alembic_is_not_loaded(tmp_path: Path) -> None:
    assert in_another_process(tmp_path) == ["True"]
    assert in_another_process(tmp_path) == ["False"]


def test_a_database_of_a_newer_version_is_refused(tmp_path: Path) -> None:
    opened(tmp_path).close()
    connection = sqlite3.connect(tmp_path / database.FILE)
    connection.execute("UPDATE alembic_version SET version_num = '9999'")
    connection.commit()
    connection.close()
    with pytest.raises(StartRefused, match="newer version of the gateway"):
        opened(tmp_path)


def test_another_programs_database_is_refused_and_left_alone(tmp_path: Path) -> None:
    connection = sqlite3.connect(tmp_path / database.FILE)
    connection.execute("CREATE TABLE somebody_elses (x)")
    connection.close()
    with pytest.raises(StartRefused, match="not a store of the gateway"):
        opened(tmp_path)
    connection = sqlite3.connect(tmp_path / database.FILE)
    assert connection.execute("SELECT name FROM sqlite_master").fetchall() == [("somebody_elses",)]
    connection.close()


def test_only_the_owner_can_read_the_files(tmp_path: Path) -> None:
    store = opened(tmp_path / "data")
    modes = {path.name: path.stat().st_mode & 0o777 for path in (tmp_path / "data").iterdir()}
    assert modes == dict.fromkeys(("lock", "gateway.db", "gateway.db-wal", "gateway.db-shm"), 384)
    assert (tmp_path / "data").stat().st_mode & 0o777 == 0o700
    store.close()


def test_each_start_is_an_incarnation_of_one_store(tmp_path: Path) -> None:
    (tmp_path / database.FILE).write_bytes(empty_database())
    ends = StoreEnds(tmp_path)
    store_id = ends.rows("SELECT store_id FROM meta")
    ends.restart()
    assert ends.rows("SELECT incarnation FROM replica") == [(1,), (2,)]
    assert ends.rows("SELECT store_id FROM meta") == store_id
    ends.store.close()


def test_the_writing_connection_is_durable_and_the_reading_one_cannot_write(tmp_path: Path) -> None:
    database.prepare(tmp_path)
    writable, readable = database.open_writable(tmp_path), database.open_readable(tmp_path)
    settings = {
        name: writable.execute(f"PRAGMA {name}").fetchone()[0]
        for name in ("journal_mode", "synchronous", "foreign_keys")
    }
    assert settings == {"journal_mode": "wal", "synchronous": 2, "foreign_keys": 1}
    with pytest.raises(sqlite3.OperationalError, match="readonly"):
        readable.execute("INSERT INTO replica VALUES (1, 1)")
    readable.close()
    writable.close()
