"""Lists of operations, newest first, a page at a time: by id, which a uuid7 puts in the order of time."""

import sqlite3
from functools import cache
from typing import Any

from sqlalchemy import bindparam, text

from adapters.store.database import snapshot
from adapters.store.rows import OPERATIONS, operation_from
from adapters.store.statements import sql, word
from adapters.store.tables import NOT_COMPLETED, attempt, operation
from gateway.domain.operation import Operation, State
from gateway.ports.reads import LONGEST_PAGE, OperationFilter


def search(connection: sqlite3.Connection, wanted: OperationFilter) -> tuple[Operation, ...]:
    """At most a page of what is wanted. Without a state it walks back over all operations, matching or not."""
    limit = min(max(wanted.limit, 0), LONGEST_PAGE)
    values = {"tenant": wanted.tenant, "profile": wanted.profile, "before": wanted.before, "limit": limit}
    given = frozenset(name for name, value in values.items() if value is not None)
    # A statement per state: each then walks along one index, and a page of the whole is in their first pages.
    states: list[State | None] = [*sorted(set(wanted.states))] or [None]
    with snapshot(connection):
        found = [row for state in states for row in connection.execute(_page(state, given), values).fetchall()]
    found.sort(key=lambda row: str(row[0]), reverse=True)
    return tuple(operation_from(row) for row in found[:limit])


@cache
def _page(state: State | None, given: frozenset[str]) -> str:
    conditions: list[Any] = []
    op_id = operation.c.op_id
    if state is not None:
        op_id = attempt.c.op_id
        conditions.append(attempt.c.state == word(state))
        if state is not State.COMPLETED:
            conditions.append(text(NOT_COMPLETED))
    if "tenant" in given:
        # The plus keeps SQLite from an index, by which it would collect and sort all that the tenant ever asked.
        conditions.append(text("+operation.tenant = :tenant"))
    if "profile" in given:
        conditions.append(attempt.c.profile == bindparam("profile"))
    if "before" in given:
        conditions.append(op_id < bindparam("before"))
    return f"{sql(OPERATIONS.where(*conditions).order_by(op_id.desc()))} LIMIT :limit"
