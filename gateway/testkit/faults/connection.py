"""The writer's connection, with failpoints within its transactions, and a way in for seeded bugs."""

import sqlite3
from collections.abc import Iterable, Mapping
from typing import Any

from adapters.store.tables import SWEPT
from gateway.testkit.faults.failpoints import Failpoints

_MARKS = (
    ("t1", "INSERT INTO attempt", ""),
    ("t2", "UPDATE attempt SET state='dispatching'", ""),
    ("t3", "UPDATE attempt SET state=:new_state", "result_digest"),
    ("sweep", "SELECT", SWEPT),
    ("reconcile", "SELECT", "ORDER BY attempt.n DESC"),
)
"""A transition, what one of its statements begins with, and what that also holds. A test keeps them true."""


def transition_of(statement: str) -> str | None:
    """The transition that a statement gives away, or None."""
    return next((name for name, start, part in _MARKS if statement.startswith(start) and part in statement), None)


class FaultyConnection:
    """Implements ``adapters.store.connection.Connection``."""

    def __init__(self, connection: sqlite3.Connection, failpoints: Failpoints) -> None:
        self._connection = connection
        self._failpoints = failpoints
        self._kinds: set[str] = set()
        self._smuggled: list[tuple[str, Mapping[str, Any]]] = []

    @property
    def in_transaction(self) -> bool:
        return self._connection.in_transaction

    def smuggle(self, statements: Iterable[tuple[str, Mapping[str, Any]]]) -> None:
        """Let statements of a seeded bug into the next transaction."""
        self._smuggled.extend(statements)

    def execute(self, sql: str, parameters: Mapping[str, Any] = {}, /) -> sqlite3.Cursor:
        if sql == "COMMIT":
            return self._commit()
        if sql.startswith(("BEGIN", "ROLLBACK")):
            self._kinds.clear()
        self._note(sql)
        return self._connection.execute(sql, parameters)

    def executemany(self, sql: str, parameters: Iterable[Any], /) -> sqlite3.Cursor:
        rows = list(parameters)
        if rows:
            self._note(sql)
        return self._connection.executemany(sql, rows)

    def close(self) -> None:
        self._connection.close()

    def _note(self, sql: str) -> None:
        kind = transition_of(sql)
        if kind is not None and kind not in self._kinds:
            self._kinds.add(kind)
            self._failpoints.reach(f"{kind}.statement")

    def _commit(self) -> sqlite3.Cursor:
        for statement, parameters in self._smuggled:
            self._connection.execute(statement, parameters)
        self._smuggled.clear()
        kinds = sorted(self._kinds)
        self._kinds.clear()
        for kind in kinds:
            self._failpoints.reach(f"{kind}.commit")
        done = self._connection.execute("COMMIT")
        for kind in kinds:
            self._failpoints.reach(f"{kind}.committed")
        return done
