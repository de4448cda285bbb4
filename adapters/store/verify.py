"""Is the ledger in order? Counters against holds, and the invariants of docs/operations.md, in one snapshot.

Each check is a query for rows that must not exist, written out and not derived from the code that it checks.
It says ids and names, never a value of a request.
"""

import sqlite3
from typing import Protocol

from adapters.store.database import snapshot


class Check(Protocol):
    """A named function that finds one kind of disorder."""

    __name__: str

    def __call__(self, connection: sqlite3.Connection, /) -> list[str]: ...


def verify(connection: sqlite3.Connection) -> list[str]:
    """Every difference as a sentence; an empty list says that the ledger is in order."""
    with snapshot(connection):
        return [sentence for check in CHECKS for sentence in _findings(check, connection)]


def i1_one_attempt_with_an_effect(connection: sqlite3.Connection) -> list[str]:
    """At most one attempt of an operation may have an effect, and it is the last."""
    return _rows(
        connection,
        "SELECT a.op_id FROM attempt AS a JOIN attempt AS b ON b.op_id = a.op_id AND b.n > a.n "
        "WHERE a.state NOT IN ('released', 'no_effect')",
        "operation {} has another attempt after one that may have had an effect",
    )


def i2_slots_are_held_slots(connection: sqlite3.Connection) -> list[str]:
    """Slots in use are the holds whose slot is held; stranded ones are those of unknown attempts."""
    return _counter(connection, "slots_used", "h.slot = 'held'") + _counter(
        connection, "slots_stranded", "h.slot = 'held' AND a.state = 'unknown'"
    )


def i3_sums_are_conserved(connection: sqlite3.Connection) -> list[str]:
    """Every counter is the sum of its holds, debts included, in the window that the counter is in."""
    tokens = "CASE h.spend WHEN 'held' THEN h.tokens ELSE h.settled_tokens + h.debt_tokens END"
    cost = "CASE h.spend WHEN 'held' THEN h.cost ELSE h.settled_cost + h.debt_cost END"
    sums = {
        "held_tokens": ("h.spend = 'held'", "h.tokens"),
        "held_cost": ("h.spend = 'held'", "h.cost"),
        "debt_tokens": ("1", "h.debt_tokens"),
        "debt_cost": ("1", "h.debt_cost"),
        "minute_requests": ("h.minute_us = b.minute_us AND h.spend <> 'released'", "1"),
        "minute_tokens": ("h.minute_us = b.minute_us", tokens),
        "day_tokens": ("h.day_us = b.day_us", tokens),
        "month_tokens": ("h.month_us = b.month_us", tokens),
        "month_cost": ("h.month_us = b.month_us", cost),
    }
    return [
        sentence
        for column, (condition, amount) in sums.items()
        for sentence in _counter(connection, column, condition, amount)
    ]


def i4_used_is_settled(connection: sqlite3.Connection) -> list[str]:
    """What an attempt used is settled in every scope up to the reservation; what is above it is a debt."""
    return _rows(
        connection,
        "SELECT DISTINCT a.op_id FROM attempt AS a JOIN hold AS h ON h.op_id = a.op_id AND h.n = a.n "
        "WHERE a.used_input IS NOT NULL AND (h.settled_tokens <> min(a.used_input + a.used_output, h.tokens) "
        "OR h.debt_tokens < a.used_input + a.used_output - h.tokens "
        "OR h.settled_cost <> min(a.used_cost, h.cost) OR h.debt_cost < a.used_cost - h.cost)",
        "operation {} has used another amount than its holds settle",
    )


def i5_completed_has_its_result(connection: sqlite3.Connection) -> list[str]:
    """A completed attempt has a digest, and its body, where it is not purged, is the one of that digest."""
    return _rows(
        connection,
        "SELECT a.op_id FROM attempt AS a LEFT JOIN result AS r ON r.op_id = a.op_id "
        "WHERE a.state = 'completed' AND (a.result_digest IS NULL OR r.digest IS NOT a.result_digest OR r.n <> a.n)",
        "operation {} is completed without its result",
    ) + _rows(
        connection,
        "SELECT r.op_id FROM result AS r JOIN attempt AS a ON a.op_id = r.op_id AND a.n = r.n "
        "WHERE a.state <> 'completed'",
        "operation {} has a result without being completed",
    )


def i6_open_attempts_hold(connection: sqlite3.Connection) -> list[str]:
    """Granted, dispatching and unknown attempts have their holds, and all of them held, at the reserved amount.

    Only of an unknown the slot may be free.
    """
    return _rows(
        connection,
        "SELECT a.op_id FROM attempt AS a WHERE a.state IN ('granted', 'dispatching', 'unknown') AND (NOT EXISTS "
        "(SELECT 1 FROM hold AS h WHERE h.op_id = a.op_id AND h.n = a.n) OR EXISTS "
        "(SELECT 1 FROM hold AS h WHERE h.op_id = a.op_id AND h.n = a.n "
        "AND (h.spend <> 'held' OR (h.slot <> 'held' AND a.state <> 'unknown') "
        "OR h.tokens <> a.reserved_input + a.reserved_output OR h.cost <> a.reserved_cost)))",
        "operation {} is open without all its holds",
    )


def i7_ended_attempts_hold_nothing(connection: sqlite3.Connection) -> list[str]:
    """No hold of an ended attempt is held, nor its slot; it is settled if something was used, else released."""
    return _rows(
        connection,
        "SELECT DISTINCT a.op_id FROM attempt AS a JOIN hold AS h ON h.op_id = a.op_id AND h.n = a.n "
        "WHERE (a.state IN ('completed', 'charged', 'closed') AND h.spend <> 'settled') "
        "OR (a.state IN ('released', 'no_effect') AND h.spend <> 'released') "
        "OR (a.state NOT IN ('granted', 'dispatching', 'unknown') AND h.slot <> 'free')",
        "operation {} has ended and its holds have not",
    )


def i8_audit_agrees_on_dispatches(connection: sqlite3.Connection) -> list[str]:
    """Every attempt that reached T2 has its audit row, and no other has one."""
    return _rows(
        connection,
        "SELECT a.op_id FROM attempt AS a LEFT JOIN (SELECT op_id, n, count(*) AS rows FROM audit "
        "WHERE kind = 'dispatching' GROUP BY op_id, n) AS u ON u.op_id = a.op_id AND u.n = a.n "
        "WHERE coalesce(u.rows, 0) <> (a.dispatching_us IS NOT NULL)",
        "operation {} and the audit disagree on its dispatch",
    )


def i9_one_operation_per_key(connection: sqlite3.Connection) -> list[str]:
    """A key of a principal names one operation, and every operation has an attempt."""
    return _rows(
        connection,
        "SELECT min(op_id) FROM operation GROUP BY tenant, principal, key_hash HAVING count(*) > 1",
        "operation {} shares its key with another",
    ) + _rows(
        connection,
        "SELECT op_id FROM operation WHERE op_id NOT IN (SELECT op_id FROM attempt)",
        "operation {} has no attempt",
    )


def i10_database_is_sound(connection: sqlite3.Connection) -> list[str]:
    """SQLite's own checks of its pages and of references between tables."""
    found = [row[0] for row in connection.execute("PRAGMA integrity_check").fetchall()]
    broken = connection.execute("PRAGMA foreign_key_check").fetchall()
    return ([] if found == ["ok"] else ["the database file is damaged"]) + [
        f"a row of table {row[0]} refers to a missing row of {row[2]}" for row in broken
    ]


CHECKS: tuple[Check, ...] = (
    i1_one_attempt_with_an_effect,
    i2_slots_are_held_slots,
    i3_sums_are_conserved,
    i4_used_is_settled,
    i5_completed_has_its_result,
    i6_open_attempts_hold,
    i7_ended_attempts_hold_nothing,
    i8_audit_agrees_on_dispatches,
    i9_one_operation_per_key,
    i10_database_is_sound,
)


def _findings(check: Check, connection: sqlite3.Connection) -> list[str]:
    try:
        return check(connection)
    except sqlite3.DatabaseError:
        return [f"the database file is damaged: {check.__name__} could not be read"]


def _rows(connection: sqlite3.Connection, query: str, sentence: str) -> list[str]:
    return [sentence.format(row[0]) for row in connection.execute(query).fetchall()]


def _counter(connection: sqlite3.Connection, column: str, condition: str, amount: str = "1") -> list[str]:
    """``column`` against the sum of ``amount`` over the holds of each scope that meet ``condition``."""
    query = (  # S608: only names and conditions from above get into it
        f"SELECT b.scope_kind, b.scope_id, b.{column}, "  # noqa: S608
        f"coalesce(sum(CASE WHEN {condition} THEN {amount} ELSE 0 END), 0) AS expected "
        "FROM budget AS b LEFT JOIN hold AS h ON h.scope_kind = b.scope_kind AND h.scope_id = b.scope_id "
        "LEFT JOIN attempt AS a ON a.op_id = h.op_id AND a.n = h.n "
        f"GROUP BY b.scope_kind, b.scope_id HAVING b.{column} <> expected"
    )
    return [
        f"{kind} {scope}: {column} is {counted}, its holds say {expected}"
        for kind, scope, counted, expected in connection.execute(query).fetchall()
    ]
