"""What attempts came to, and what of them counts: one grouped read, along the ids of operations.

An id begins with the time at which its operation was first asked for, so that the key of attempts is the index; one on
the time of the attempt would cost every claim something.
"""

import sqlite3
from functools import cache
from typing import Any

from sqlalchemy import bindparam, literal_column, select, text

from adapters.store.statements import sql
from adapters.store.tables import attempt, names, operation
from gateway.domain.operation import HOLDING
from gateway.ports.reads import OutcomeFilter, OutcomeSums

_HELD = f"attempt.state IN ({names(HOLDING)})"
# The detail of a completed attempt is its finish reason.
_OUTCOME = (
    "CASE WHEN attempt.state = 'completed' AND attempt.detail = 'content_filter' THEN 'content_filter' "
    "ELSE attempt.state END"
)


def outcomes(connection: sqlite3.Connection, wanted: OutcomeFilter) -> tuple[OutcomeSums, ...]:
    """In the order of profiles and outcomes."""
    values = {"first_id": wanted.first_id, "profile": wanted.profile, "tenant": wanted.tenant}
    given = frozenset(name for name, value in values.items() if value is not None)
    rows = connection.execute(statement(given), values).fetchall()
    return tuple(OutcomeSums(**dict(zip(OutcomeSums.__struct_fields__, row, strict=True))) for row in rows)


@cache
def statement(given: frozenset[str]) -> str:
    """The read, with the filters that are given."""
    conditions: list[Any] = [attempt.c.op_id >= bindparam("first_id")]
    read = select(
        attempt.c.profile,
        literal_column(_OUTCOME).label("outcome"),
        literal_column("count(*)"),
        literal_column(f"sum({_HELD} OR attempt.usage_basis IS 'reserved')"),
        *(_counted(amount) for amount in ("input", "output", "cost")),
    )
    if "profile" in given:
        conditions.append(attempt.c.profile == bindparam("profile"))
    if "tenant" in given:
        read = read.join_from(attempt, operation, operation.c.op_id == attempt.c.op_id)
        # The plus keeps SQLite from an index, by which it would walk over all that the tenant ever asked.
        conditions.append(text("+operation.tenant = :tenant"))
    return sql(
        read.where(*conditions)
        .group_by(attempt.c.profile, text("outcome"))
        .order_by(attempt.c.profile, text("outcome"))
    )


def _counted(amount: str) -> Any:
    """What was used; while that is not known what is reserved; nothing where there was no effect."""
    reserved = f"CASE WHEN {_HELD} THEN attempt.reserved_{amount} ELSE 0 END"
    return literal_column(f"sum(coalesce(attempt.used_{amount}, {reserved}))")
