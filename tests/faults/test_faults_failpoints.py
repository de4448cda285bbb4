"""A failpoint strikes where and when it is planned, and says so before it strikes."""

import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from adapters.store import act, claim, dispatch, settle, sweep
from gateway.testkit.faults.connection import FaultyConnection, transition_of
from gateway.testkit.faults.failpoints import Failpoints, read_fired
from gateway.testkit.faults.plan import Failpoint, Place, ServerPlan


def planned(tmp_path: Path, *failpoints: Failpoint) -> Failpoints:
    return Failpoints(ServerPlan(log=str(tmp_path / "strikes"), failpoints=failpoints))


def test_it_strikes_at_its_pass_and_as_often_as_planned(tmp_path: Path) -> None:
    failpoints = planned(tmp_path, Failpoint(point="t1.commit", action="eio", nth=3, times=2))
    struck = []
    for number in range(1, 8):
        failpoints.reach("t2.commit")
        try:
            failpoints.reach("t1.commit")
        except sqlite3.OperationalError as error:
            struck.append((number, str(error)))
    assert struck == [(3, "disk I/O error"), (4, "disk I/O error")]
    fired = read_fired(tmp_path / "strikes")
    assert [one.place for one in fired] == [Place("t1.commit", "eio")] * 2
    assert all(abs(one.at_s - time.monotonic()) < 60 for one in fired)


def test_a_slow_commit_takes_its_time_and_then_happens(tmp_path: Path) -> None:
    failpoints = planned(tmp_path, Failpoint(point="t3.commit", action="slow", nth=1, seconds=0.2))
    began_s = time.monotonic()
    failpoints.reach("t3.commit")
    assert time.monotonic() - began_s >= 0.2


def test_a_process_that_kills_itself_has_said_so(tmp_path: Path) -> None:
    program = (
        "from gateway.testkit.faults.failpoints import Failpoints\n"
        "from gateway.testkit.faults.plan import Failpoint, ServerPlan\n"
        f"plan = ServerPlan(log={str(tmp_path / 'strikes')!r}, "
        "failpoints=(Failpoint(point='t1.before', action='kill', nth=1),))\n"
        "Failpoints(plan).reach('t1.before')\n"
    )
    ended = subprocess.run([sys.executable, "-c", program], check=False, timeout=60)
    assert ended.returncode == -signal.SIGKILL
    assert [one.place for one in read_fired(tmp_path / "strikes")] == [Place("t1.before", "kill")]


def test_no_strikes_are_read_where_none_were_written(tmp_path: Path) -> None:
    assert read_fired(tmp_path / "strikes") == []


@pytest.mark.parametrize(
    ("statement", "transition"),
    [
        (claim._insert_attempts._text, "t1"),
        (dispatch._DISPATCH, "t2"),
        (settle._SETTLE, "t3"),
        (sweep._MINE, "sweep"),
        (sweep._ALL, "sweep"),
        (act._LAST, "reconcile"),
        (act._CONCLUDE, None),
        (claim._ATTEMPTS, None),
        (claim._EXISTING, None),
    ],
)
def test_a_statement_gives_its_transition_away(statement: str, transition: str | None) -> None:
    assert transition_of(statement) == transition


@pytest.fixture
def connection() -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    connection.execute("CREATE TABLE attempt (state)")
    return connection


def strike(tmp_path: Path, connection: sqlite3.Connection, point: str) -> FaultyConnection:
    failpoints = planned(tmp_path, Failpoint(point=point, action="enospc", nth=1))
    return FaultyConnection(connection, failpoints)


def test_a_statement_that_fails_leaves_a_transaction_to_roll_back(
    tmp_path: Path, connection: sqlite3.Connection
) -> None:
    faulty = strike(tmp_path, connection, "t2.statement")
    faulty.execute("BEGIN IMMEDIATE")
    with pytest.raises(sqlite3.OperationalError, match="full"):
        faulty.execute("UPDATE attempt SET state='dispatching'")
    assert faulty.in_transaction
    faulty.execute("ROLLBACK")
    connection.close()


@pytest.mark.parametrize(("point", "stored"), [("t1.commit", 0), ("t1.committed", 1)])
def test_a_commit_fails_before_or_after_it_was_done(
    tmp_path: Path, connection: sqlite3.Connection, point: str, stored: int
) -> None:
    faulty = strike(tmp_path, connection, point)
    faulty.execute("BEGIN IMMEDIATE")
    faulty.executemany("INSERT INTO attempt VALUES (?)", [("granted",)])
    with pytest.raises(sqlite3.OperationalError, match="full"):
        faulty.execute("COMMIT")
    if connection.in_transaction:
        connection.execute("ROLLBACK")
    assert connection.execute("SELECT count(*) FROM attempt").fetchone() == (stored,)
    connection.close()


def test_a_commit_without_the_transition_is_left_alone(tmp_path: Path, connection: sqlite3.Connection) -> None:
    faulty = strike(tmp_path, connection, "t2.commit")
    faulty.execute("BEGIN IMMEDIATE")
    faulty.executemany("INSERT INTO attempt VALUES (?)", [("granted",)])
    faulty.execute("COMMIT")
    assert not faulty.in_transaction
    connection.close()
