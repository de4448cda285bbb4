"""I16: a move that the table of legal moves does not have raises, whoever makes it. Tried on a copy of the database."""

import sqlite3
from collections.abc import Iterator

from gateway.domain.operation import LEGAL_MOVES, REPEATABLE, State

_APPEND_ONLY = (
    ("a changed answer", "result", "UPDATE result SET digest = 'x'"),
    ("a changed audit row", "audit", "UPDATE audit SET code = 'x'"),
    ("a deleted audit row", "audit", "DELETE FROM audit"),
    ("a deleted piece of evidence", "evidence", "DELETE FROM evidence"),
    ("a changed dispatch id", "attempt", "UPDATE attempt SET dispatch_id = 'x' || dispatch_id"),
)
_CLEARED = {
    "dispatching_us",
    "finished_us",
    "used_input",
    "used_output",
    "used_cost",
    "usage_basis",
    "detail",
    "result_digest",
}


def i16_illegal_moves_raise(connection: sqlite3.Connection) -> Iterator[str]:
    """Every illegal move from every state that there is, and writes to what is append-only."""
    copy = sqlite3.connect(":memory:", isolation_level=None)
    try:
        connection.backup(copy)
        for state, target in _illegal_moves():
            row = copy.execute("SELECT dispatch_id FROM attempt WHERE state = ? LIMIT 1", (state,)).fetchone()
            move = "UPDATE attempt SET state = ? WHERE dispatch_id = ?"
            if row is not None and not _raises(copy, move, target, row[0]):
                yield f"I16: the database allows {state} -> {target}"
        for state in sorted(frozenset(State) - REPEATABLE):
            row = copy.execute("SELECT dispatch_id FROM attempt WHERE state = ? LIMIT 1", (state,)).fetchone()
            if row is not None and not _raises(copy, _next_attempt(copy), row[0]):
                yield f"I16: the database allows another attempt after one that is {state}"
        for what, table, statement in _APPEND_ONLY:
            if copy.execute(f"SELECT 1 FROM {table} LIMIT 1").fetchone() and not _raises(copy, statement):
                yield f"I16: the database allows {what}"
    finally:
        copy.close()


def _illegal_moves() -> Iterator[tuple[str, str]]:
    for state in State:
        for target in State:
            if (state, target) not in LEGAL_MOVES:
                yield state.value, target.value


def _next_attempt(copy: sqlite3.Connection) -> str:
    """Inserts a grant after an attempt, as T1 would, with whatever columns the table has."""
    changed = {"n": "n + 1", "state": "'granted'", "dispatch_id": "dispatch_id || '+'"} | dict.fromkeys(
        _CLEARED, "NULL"
    )
    columns = [row[1] for row in copy.execute("PRAGMA table_info(attempt)").fetchall()]
    values = ", ".join(changed.get(column, column) for column in columns)
    return f"INSERT INTO attempt ({', '.join(columns)}) SELECT {values} FROM attempt WHERE dispatch_id = ?"


def _raises(copy: sqlite3.Connection, statement: str, *parameters: object) -> bool:
    copy.execute("BEGIN")
    try:
        copy.execute(statement, parameters)
    except sqlite3.IntegrityError as refused:
        return "illegal move" in str(refused) or "append-only" in str(refused)
    finally:
        copy.execute("ROLLBACK")
    return False
