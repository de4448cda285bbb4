"""What must hold after every round: invariants of the database, and the database against what was seen outside.

Each check answers with sentences; none is as it must be. The gateway's own ``verify`` gives I1-I3, I5-I10.
"""

import hashlib
import sqlite3
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from adapters.store.database import open_readable
from adapters.store.verify import verify
from gateway.testkit.faults.budgets_kept import counters_are_sums, refused_left_nothing, used_is_within_limits
from gateway.testkit.faults.evidence import Evidence, read_attempts
from gateway.testkit.faults.illegal import i16_illegal_moves_raise
from gateway.testkit.faults.outside import OUTSIDE
from gateway.testkit.faults.records import Seen


def check(data: Path, evidence: Evidence) -> list[str]:
    """Every violation, as a sentence."""
    connection = open_readable(data)
    try:
        attempts = read_attempts(connection)
        return [
            *verify(connection),
            *i4_settled_is_what_was_used(connection),
            *i8_audit_knows_every_dispatch(connection, evidence.seen),
            *(sentence for compare in OUTSIDE for sentence in compare(attempts, evidence)),
            *i13_answers_are_stored(connection, evidence),
            *counters_are_sums(connection),
            *used_is_within_limits(connection, evidence),
            *refused_left_nothing(connection, evidence),
            *i16_illegal_moves_raise(connection),
        ]
    finally:
        connection.close()


def i4_settled_is_what_was_used(connection: sqlite3.Connection) -> list[str]:
    """In every scope an attempt's settlement is what it used, up to the reservation, and the rest is a debt."""
    rows = connection.execute(
        "SELECT a.op_id FROM attempt AS a JOIN hold AS h ON h.op_id = a.op_id AND h.n = a.n "
        "WHERE a.used_input IS NOT NULL AND (h.spend <> 'settled' "
        "OR h.settled_tokens <> min(a.used_input + a.used_output, a.reserved_input + a.reserved_output) "
        "OR h.debt_tokens < a.used_input + a.used_output - h.settled_tokens "
        "OR h.settled_cost <> min(a.used_cost, a.reserved_cost) OR h.debt_cost < a.used_cost - h.settled_cost)"
    ).fetchall()
    return [f"I4: operation {row[0]} was not settled at what it used" for row in rows]


def i8_audit_knows_every_dispatch(connection: sqlite3.Connection, seen: Sequence[Seen]) -> list[str]:
    """What the provider has seen has a row in the audit."""
    rows = connection.execute(
        "SELECT a.dispatch_id FROM audit AS u JOIN attempt AS a ON a.op_id = u.op_id AND a.n = u.n "
        "WHERE u.kind = 'dispatching'"
    ).fetchall()
    audited = {row[0] for row in rows}
    return [f"I8: the audit has no dispatch {one.dispatch_id}" for one in seen if one.dispatch_id not in audited]


def i13_answers_are_stored(connection: sqlite3.Connection, evidence: Evidence) -> Iterator[str]:
    """Every answer that a client has is stored with the same bytes, and all its callers have the same."""
    stored = dict(connection.execute("SELECT op_id, digest FROM result").fetchall())
    for operation in evidence.operations.values():
        answers = {(call.operation_id, call.body) for call in operation.calls if call.status == 200}
        if len(answers) > 1:
            yield f"I13: {operation.label} was given {len(answers)} different answers"
        for operation_id, body in answers:
            if stored.get(operation_id) != hashlib.sha256(body).hexdigest():
                yield f"I13: the answer of {operation.label} was acknowledged and is not what is stored"


def states(data: Path) -> Counter[str]:
    """How many operations are in each state: that of their last attempt."""
    connection = open_readable(data)
    try:
        last = {row.op_id: row.state for row in sorted(read_attempts(connection).values(), key=lambda row: row.n)}
    finally:
        connection.close()
    return Counter(last.values())


def held_after_all(data: Path) -> list[str]:
    """G9: once every unknown is reconciled nothing is held and no slot is taken."""
    connection = open_readable(data)
    try:
        budgets = connection.execute(
            "SELECT scope_kind, scope_id FROM budget WHERE held_tokens <> 0 OR slots_used <> 0 OR slots_stranded <> 0"
        ).fetchall()
        holds = connection.execute("SELECT op_id FROM hold WHERE spend = 'held' OR slot = 'held'").fetchall()
        open_ = connection.execute(
            "SELECT op_id, state FROM attempt WHERE state IN ('granted', 'dispatching', 'unknown')"
        ).fetchall()
    finally:
        connection.close()
    return [
        *(f"G9: {kind} {scope} still holds something when nothing is open" for kind, scope in budgets),
        *(f"G9: a hold of operation {row[0]} is left when nothing is open" for row in holds),
        *(f"operation {op_id} is still {state} at the end" for op_id, state in open_),
    ]
