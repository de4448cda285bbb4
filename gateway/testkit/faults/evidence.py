"""What is compared: the attempts of the database, and what was seen outside."""

import sqlite3
from collections.abc import Mapping, Sequence

from msgspec import Struct

from gateway.testkit.faults.records import Acted, Operation, Seen
from gateway.testkit.faults.rooms import Limits


class AttemptRow(Struct, frozen=True):
    """An attempt, as far as checks need it. Fields in the order of the columns that are read."""

    op_id: str
    n: int
    state: str
    dispatch_id: str
    reserved: int
    used: int | None
    basis: str | None
    digest: str | None


class Evidence(Struct, kw_only=True):
    """Everything that is compared. ``final`` keeps what earlier rounds have concluded."""

    seen: Sequence[Seen]
    operations: Mapping[str, Operation]
    acted: Sequence[Acted]
    final: dict[str, AttemptRow]
    limits: Limits
    most_slots: Mapping[str, int]
    """By kind of scope, as any reader of the database saw them whenever a request arrived in the last round."""


def read_attempts(connection: sqlite3.Connection) -> dict[str, AttemptRow]:
    """All attempts by dispatch id."""
    rows = connection.execute(
        "SELECT op_id, n, state, dispatch_id, reserved_input + reserved_output, used_input + used_output, "
        "usage_basis, result_digest FROM attempt"
    ).fetchall()
    return {row[3]: AttemptRow(*row) for row in rows}
