"""What the database itself refuses, whoever asks."""

import sqlite3
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy.dialects import sqlite
from sqlalchemy.schema import CreateIndex, CreateTable
from store_support import empty_database

from adapters.store import database
from adapters.store.guards import triggers
from adapters.store.tables import metadata
from gateway.domain.operation import HOLDING, LEGAL_MOVES, REACHED_T2, REPEATABLE, State
from gateway.domain.reconciliation import LONGEST_WORDS

MOVES = sorted(product(State, State))


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    (tmp_path / database.FILE).write_bytes(empty_database())
    opened = database.open_writable(tmp_path)
    opened.execute("PRAGMA synchronous = OFF")
    opened.execute("INSERT INTO replica VALUES (1, 1)")
    opened.execute(
        "INSERT INTO operation VALUES ('op', 't', 'p', zeroblob(32), 1, 'f', x'', 'a', 'g', x'', 'b@1', 'd', 3, 1)"
    )
    yield opened
    opened.close()


def begin(connection: sqlite3.Connection, n: int = 1, state: str = "granted", dispatch_id: str | None = None) -> None:
    connection.execute(
        "INSERT INTO attempt (op_id, n, state, dispatch_id, incarnation, profile, profile_digest, bundle_digest, "
        "policy_revision, snapshot_digest, decisions, reserved_input, reserved_output, reserved_cost, tariff, "
        "total_timeout_ms, granted_us) VALUES ('op', ?, ?, ?, 1, 'p', 'd', 'd', 'r', 's', x'', 1, 1, 1, x'', 1, 1)",
        (n, state, f"dispatch-{n}" if dispatch_id is None else dispatch_id),
    )


def move(connection: sqlite3.Connection, state: State, **changes: Any) -> None:
    spent = state in {State.COMPLETED, State.CHARGED, State.CLOSED}
    values = {
        "state": state.value,
        "dispatching_us": 1 if state in REACHED_T2 else None,
        "finished_us": None if state in HOLDING else 1,
        "used_input": 1 if spent else None,
        "used_output": 1 if spent else None,
        "used_cost": 1 if spent else None,
        "usage_basis": "provider" if spent else None,
        "result_digest": "d" if state is State.COMPLETED else None,
    } | changes
    assignments = ", ".join(f"{name} = ?" for name in values)
    connection.execute(f"UPDATE attempt SET {assignments}", tuple(values.values()))


def reach(connection: sqlite3.Connection, state: State) -> None:
    begin(connection)
    paths = {
        State.GRANTED: [],
        State.RELEASED: [State.RELEASED],
        State.UNKNOWN: [State.DISPATCHING, State.UNKNOWN],
        State.CLOSED: [State.DISPATCHING, State.UNKNOWN, State.CLOSED],
        State.DISPATCHING: [State.DISPATCHING],
    }
    for step in paths.get(state, [State.DISPATCHING, state]):
        move(connection, step)


@pytest.mark.parametrize(("origin", "target"), [m for m in MOVES if m in LEGAL_MOVES])
def test_a_move_of_the_table_is_made(connection: sqlite3.Connection, origin: State, target: State) -> None:
    reach(connection, origin)
    move(connection, target)
    assert connection.execute("SELECT state FROM attempt").fetchall() == [(target.value,)]


@pytest.mark.parametrize(("origin", "target"), [m for m in MOVES if m not in LEGAL_MOVES])
def test_any_other_move_is_refused(connection: sqlite3.Connection, origin: State, target: State) -> None:
    reach(connection, origin)
    with pytest.raises(sqlite3.IntegrityError, match="illegal move"):
        move(connection, target)


@pytest.mark.parametrize("state", [state for state in State if state is not State.GRANTED])
def test_an_attempt_begins_as_granted(connection: sqlite3.Connection, state: State) -> None:
    with pytest.raises(sqlite3.IntegrityError, match="illegal move"):
        begin(connection, state=state.value)


@pytest.mark.parametrize("state", list(State))
def test_another_attempt_follows_only_one_without_effect(connection: sqlite3.Connection, state: State) -> None:
    reach(connection, state)
    if state in REPEATABLE:
        begin(connection, 2)
    else:
        with pytest.raises(sqlite3.IntegrityError, match="illegal move"):
            begin(connection, 2)


def test_attempts_leave_no_gap(connection: sqlite3.Connection) -> None:
    reach(connection, State.RELEASED)
    with pytest.raises(sqlite3.IntegrityError, match="illegal move"):
        begin(connection, 3)


@pytest.mark.parametrize("state", [state for state in State if state not in REPEATABLE])
def test_the_index_alone_forbids_a_second_attempt_with_an_effect(connection: sqlite3.Connection, state: State) -> None:
    reach(connection, state)
    connection.execute("DROP TRIGGER attempt_begins")
    with pytest.raises(sqlite3.IntegrityError, match=r"UNIQUE constraint failed: attempt\.op_id"):
        begin(connection, 2)


def test_the_index_covers_a_state_that_is_yet_to_come(connection: sqlite3.Connection) -> None:
    reach(connection, State.DISPATCHING)
    for trigger in ("attempt_begins", "attempt_moves"):
        connection.execute(f"DROP TRIGGER {trigger}")
    connection.execute("PRAGMA ignore_check_constraints = ON")
    connection.execute("UPDATE attempt SET state = 'a_state_to_come'")
    with pytest.raises(sqlite3.IntegrityError, match=r"UNIQUE constraint failed: attempt\.op_id"):
        begin(connection, 2)


@pytest.mark.parametrize(
    ("state", "changes"),
    [
        (State.DISPATCHING, {"dispatching_us": None}),
        (State.DISPATCHING, {"finished_us": 1}),
        (State.DISPATCHING, {"used_input": 1, "used_output": 1, "usage_basis": "provider"}),
        (State.DISPATCHING, {"result_digest": "d"}),
        (State.RELEASED, {"finished_us": None}),
        (State.RELEASED, {"dispatching_us": 1}),
    ],
)
def test_a_state_has_the_columns_that_belong_to_it(
    connection: sqlite3.Connection, state: State, changes: dict[str, Any]
) -> None:
    begin(connection)
    with pytest.raises(sqlite3.IntegrityError, match="CHECK"):
        move(connection, state, **changes)


@pytest.mark.parametrize(
    "changes",
    [
        {"result_digest": None},
        {"finished_us": None},
        {"used_input": None, "used_output": None, "usage_basis": None},
        {"used_output": None},
        {"usage_basis": None},
        {"usage_basis": "guessed"},
        {"used_input": -1},
        {"used_input": 2**53 + 1},
    ],
)
def test_a_completed_attempt_has_result_end_and_amounts(
    connection: sqlite3.Connection, changes: dict[str, Any]
) -> None:
    reach(connection, State.DISPATCHING)
    with pytest.raises(sqlite3.IntegrityError, match="CHECK"):
        move(connection, State.COMPLETED, **changes)


@pytest.mark.parametrize("dispatch_id", ["", "dispatch-1"])
def test_a_dispatch_id_is_there_and_is_never_used_twice(connection: sqlite3.Connection, dispatch_id: str) -> None:
    reach(connection, State.RELEASED)
    with pytest.raises(sqlite3.IntegrityError, match="dispatch_id"):
        begin(connection, 2, dispatch_id=dispatch_id)


def test_an_amount_that_overflows_is_refused_and_never_becomes_a_float(connection: sqlite3.Connection) -> None:
    with pytest.raises(sqlite3.IntegrityError):
        connection.execute("UPDATE operation SET max_attempts = 9223372036854775807 + 1")


@pytest.mark.parametrize("column", ["dispatch_id = 'x'", "reserved_output = 9", "profile = 'x'", "bundle_digest = 'x'"])
def test_what_was_granted_is_fixed(connection: sqlite3.Connection, column: str) -> None:
    begin(connection)
    with pytest.raises(sqlite3.IntegrityError, match="illegal move"):
        connection.execute(f"UPDATE attempt SET state = 'dispatching', dispatching_us = 1, {column}")


@pytest.mark.parametrize("change", ["UPDATE {} SET {}", "DELETE FROM {}"])
@pytest.mark.parametrize(("table", "assignment"), [("audit", "code = 'x'"), ("evidence", "kind = 'x'")])
def test_audit_and_evidence_only_grow(connection: sqlite3.Connection, table: str, assignment: str, change: str) -> None:
    begin(connection)
    connection.execute("INSERT INTO audit VALUES (1, 1, 1, 'refused', NULL, NULL, NULL, NULL, 'c', x'')")
    connection.execute(
        "INSERT INTO evidence VALUES (1, 'dispatch-1', 'charged', NULL, NULL, NULL, NULL, 'sender', '', 1)"
    )
    with pytest.raises(sqlite3.IntegrityError, match=f"{table} is append-only"):
        connection.execute(change.format(table, assignment))


def test_a_stored_result_never_changes(connection: sqlite3.Connection) -> None:
    reach(connection, State.COMPLETED)
    connection.execute("INSERT INTO result VALUES ('op', 1, x'00', 'd', 1)")
    for change in ("UPDATE result SET body = x'01'", "UPDATE result SET digest = 'e'", "DELETE FROM result"):
        with pytest.raises(sqlite3.IntegrityError, match="result is append-only"):
            connection.execute(change)


def test_a_withdrawal_is_never_taken_back(connection: sqlite3.Connection) -> None:
    connection.execute("INSERT INTO source VALUES ('s', 1, 'r', 't', x'', 'c', 1, 1)")
    connection.execute("INSERT INTO withdrawal VALUES ('s', 'r', 1)")
    for change in ("UPDATE withdrawal SET revision = 'other'", "DELETE FROM withdrawal"):
        with pytest.raises(sqlite3.IntegrityError, match="withdrawal is append-only"):
            connection.execute(change)
    with pytest.raises(sqlite3.IntegrityError, match="FOREIGN KEY"):
        connection.execute("INSERT INTO withdrawal VALUES ('nothing', 'r', 1)")


def test_a_source_has_a_version_from_one_on(connection: sqlite3.Connection) -> None:
    with pytest.raises(sqlite3.IntegrityError, match="version BETWEEN 1"):
        connection.execute("INSERT INTO source VALUES ('s', 0, 'r', 't', x'', 'c', 1, 1)")


def test_words_of_operators_have_their_bound(connection: sqlite3.Connection) -> None:
    begin(connection)
    insert = "INSERT INTO evidence VALUES (NULL, 'dispatch-1', 'write_off', NULL, NULL, NULL, NULL, 'a/b', ?, 1)"
    connection.execute(insert, ("x" * LONGEST_WORDS,))
    with pytest.raises(sqlite3.IntegrityError, match="ck_evidence_words"):
        connection.execute(insert, ("x" * (LONGEST_WORDS + 1),))


def test_every_table_is_strict(connection: sqlite3.Connection) -> None:
    loose = connection.execute(
        "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND strict = 0"
    ).fetchall()
    assert {name for (name,) in loose} == {"alembic_version", "sqlite_schema"}


def test_the_migrations_make_the_tables_and_guards_of_the_code(connection: sqlite3.Connection) -> None:
    dialect = sqlite.dialect()
    wanted = list(triggers().values())
    for table in metadata.sorted_tables:
        wanted.append(str(CreateTable(table).compile(dialect=dialect)))
        wanted += [str(CreateIndex(index).compile(dialect=dialect)) for index in table.indexes]
    made = connection.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL AND tbl_name <> 'alembic_version'")
    assert {_tidy(sql) for (sql,) in made.fetchall()} == {_tidy(sql) for sql in wanted}


def steps(connection: sqlite3.Connection, statement: str, **values: object) -> list[str]:
    """How SQLite goes about a statement."""
    return [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {statement}", values).fetchall()]


@pytest.mark.parametrize("given", [(), ("tenant",), ("profile",), ("before",), ("before", "profile", "tenant")])
@pytest.mark.parametrize("state", [None, *State])
def test_a_search_walks_along_an_index_and_sorts_nothing(
    connection: sqlite3.Connection, state: State | None, given: tuple[str, ...]
) -> None:
    from adapters.store import search

    values = {"tenant": "t", "profile": "p", "before": "z", "limit": 50}
    plan = steps(connection, search._page(state, frozenset(given)), **values)
    assert not [step for step in plan if "B-TREE" in step or (step.startswith("SCAN") and "INDEX" not in step)]
    if state is None:
        assert "operation USING INDEX sqlite_autoindex_operation_1" in plan[0]
    elif state is not State.COMPLETED:
        assert "attempt USING INDEX ix_attempt_state (state=?" in plan[0]


def test_a_timeline_and_the_stranded_holds_are_found_by_an_index(connection: sqlite3.Connection) -> None:
    from adapters.store import accounts, timeline

    for statement in (timeline._ATTEMPTS, timeline._HOLDS, timeline._AUDIT, accounts._STRANDED):
        plan = steps(connection, statement, id="op")
        assert not [step for step in plan if step.startswith("SCAN")]


@pytest.mark.parametrize("given", [(), ("tenant",), ("after", "group", "tenant", "withdrawn")])
def test_a_list_of_sources_walks_along_their_ids(connection: sqlite3.Connection, given: tuple[str, ...]) -> None:
    from adapters.store import directory_search

    values = {"tenant": "t", "group": "g", "withdrawn": 1, "after": "a", "limit": 50}
    plan = steps(connection, directory_search._sources(frozenset(given)), **values)
    assert "source USING INDEX sqlite_autoindex_source_1" in plan[0]
    assert not [step for step in plan if "B-TREE" in step]


@pytest.mark.parametrize("given", [(), ("tenant",), ("active", "before", "principal", "tenant")])
def test_a_list_of_keys_walks_along_their_ids(connection: sqlite3.Connection, given: tuple[str, ...]) -> None:
    from adapters.store import directory_search

    values = {"tenant": "t", "principal": "p", "active": 1, "before": "z", "limit": 50}
    plan = steps(connection, directory_search._keys(frozenset(given)), **values)
    assert "key USING INDEX sqlite_autoindex_key_1" in plan[0]
    assert not [step for step in plan if "B-TREE" in step]


@pytest.mark.parametrize("given", [(), ("tenant",), ("profile",), ("profile", "tenant")])
def test_outcomes_are_counted_along_the_ids_since_then(connection: sqlite3.Connection, given: tuple[str, ...]) -> None:
    from adapters.store import outcomes

    plan = steps(connection, outcomes.statement(frozenset(given)), first_id="0", tenant="t", profile="p")
    assert "attempt USING INDEX sqlite_autoindex_attempt_1 (op_id>?)" in plan[0]
    assert not [step for step in plan if step.startswith("SCAN")]


def test_what_is_in_use_is_found_without_reading_all_attempts_or_holds(connection: sqlite3.Connection) -> None:
    from adapters.store import accounts

    plan = steps(connection, accounts._OPEN) + steps(connection, accounts._COUNTED)
    assert "attempt USING INDEX ix_attempt_state (state=?" in plan[0]
    assert [step for step in plan if step.startswith("SCAN")] == ["SCAN budget"]


def test_a_decision_is_looked_for_along_the_numbers_of_the_audit(connection: sqlite3.Connection) -> None:
    from adapters.store import decisions

    values = {"incarnation": 1, "seq": 1, "first": 1, "end": 2, "since_us": 1, "until_us": 2, "id": b"x"}
    for statement in (decisions._DATED, decisions._ROWS):
        (step,) = steps(connection, statement, **values)
        assert step.startswith("SEARCH audit USING INDEX sqlite_autoindex_audit_1 (incarnation=? AND seq>?")
    plan = steps(connection, decisions._STARTS)
    assert [step for step in plan if step.startswith("SCAN")] == ["SCAN replica"]


def test_a_sweep_does_not_read_all_attempts(connection: sqlite3.Connection) -> None:
    from adapters.store import sweep

    for statement in (sweep._MINE, sweep._ALL):
        assert steps(connection, statement, mine=1) == ["SEARCH attempt USING INDEX ix_attempt_state (state=?)"]


def _tidy(sql: str) -> str:
    return "".join(sql.split())
