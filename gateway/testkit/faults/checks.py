"""What must hold after every round: invariants of the database, and the database against what was seen outside.

Each check answers with sentences; none is as it must be. The gateway's own ``verify`` gives I1-I3, I5-I10.
"""

import hashlib
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from adapters.store.database import open_readable
from adapters.store.verify import verify
from gateway.domain.operation import REACHED_T2, REPEATABLE, State
from gateway.testkit.faults import misbehaviour
from gateway.testkit.faults.illegal import i16_illegal_moves_raise
from gateway.testkit.faults.records import Acted, Operation, Seen
from gateway.testkit.faults.witness import NOT_READ

NO_EFFECT_CODES = frozenset({"not_started", "provider_busy", "provider_unreachable"})
"""Refusals with 503 that speak of an attempt: it has had no effect."""
_FINAL = frozenset(State) - {State.GRANTED, State.DISPATCHING, State.UNKNOWN}


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


def check(data: Path, evidence: Evidence) -> list[str]:
    """Every violation, as a sentence."""
    connection = open_readable(data)
    try:
        attempts = read_attempts(connection)
        return [
            *verify(connection),
            *i4_settled_is_what_was_used(connection),
            *i8_audit_knows_every_dispatch(connection, evidence.seen),
            *(sentence for outside in OUTSIDE for sentence in outside(attempts, evidence)),
            *i13_answers_are_stored(connection, evidence),
            *i16_illegal_moves_raise(connection),
        ]
    finally:
        connection.close()


def read_attempts(connection: sqlite3.Connection) -> dict[str, AttemptRow]:
    """All attempts by dispatch id."""
    rows = connection.execute(
        "SELECT op_id, n, state, dispatch_id, reserved_input + reserved_output, used_input + used_output, "
        "usage_basis, result_digest FROM attempt"
    ).fetchall()
    return {row[3]: AttemptRow(*row) for row in rows}


def i4_settled_is_what_was_used(connection: sqlite3.Connection) -> list[str]:
    """In every scope an attempt's settlement is what it used, up to the reservation, and the rest is a debt."""
    rows = connection.execute(
        "SELECT a.op_id FROM attempt AS a JOIN hold AS h ON h.op_id = a.op_id AND h.n = a.n "
        "WHERE a.used_input IS NOT NULL AND (h.spend <> 'settled' "
        "OR h.settled_tokens <> min(a.used_input + a.used_output, a.reserved_input + a.reserved_output) "
        "OR h.debt_tokens < a.used_input + a.used_output - h.settled_tokens)"
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


def i11_one_request_per_attempt(attempts: Mapping[str, AttemptRow], evidence: Evidence) -> Iterator[str]:
    """The provider saw each dispatch at most once."""
    del attempts
    for dispatch_id, count in Counter(one.dispatch_id for one in evidence.seen).items():
        if count > 1 or not dispatch_id:
            yield f"I11: the provider saw dispatch {dispatch_id} {count} times"


def i12_only_what_was_dispatching(attempts: Mapping[str, AttemptRow], evidence: Evidence) -> Iterator[str]:
    """When a request arrived its attempt was dispatching for every reader, and it has been since."""
    for one in evidence.seen:
        attempt = attempts.get(one.dispatch_id)
        if one.state not in (NOT_READ, State.DISPATCHING):
            yield f"I12: dispatch {one.dispatch_id} arrived while its attempt was {one.state or 'nowhere'}"
        if attempt is None or State(attempt.state) not in REACHED_T2:
            yield f"I12: dispatch {one.dispatch_id} was sent and its attempt is {attempt.state if attempt else 'lost'}"


def one_effect_per_operation(attempts: Mapping[str, AttemptRow], evidence: Evidence) -> Iterator[str]:
    """G1: of all requests for an operation the provider executed at most one, and no attempt is taken back after it."""
    executed = Counter(one.label for one in evidence.seen if one.executed)
    for label, count in executed.items():
        if count > 1:
            yield f"G1: the provider executed {label} {count} times"
    for one in evidence.seen:
        attempt = attempts.get(one.dispatch_id)
        if one.executed and attempt is not None and State(attempt.state) in REPEATABLE:
            yield f"G1: {one.label} was executed, and its attempt counts as {attempt.state}"


def outcomes_are_what_happened(attempts: Mapping[str, AttemptRow], evidence: Evidence) -> Iterator[str]:
    """What was concluded is what the provider did. A strike may leave it unknown, or to an operator."""
    seen = {one.dispatch_id: one for one in evidence.seen}
    concluded_by_operators = {one.operation_id for one in evidence.acted}
    for attempt in attempts.values():
        one = seen.get(attempt.dispatch_id)
        if one is None:
            if attempt.state in (State.COMPLETED, State.CHARGED) and attempt.op_id not in concluded_by_operators:
                yield f"operation {attempt.op_id} is {attempt.state}, and the provider has seen nothing of it"
            continue
        allowed = {misbehaviour.ALL[one.behaviour].concludes, State.UNKNOWN, State.CLOSED, State.DISPATCHING}
        if attempt.op_id in concluded_by_operators:
            allowed.add(State.CHARGED)
        if attempt.state not in allowed:
            yield f"operation {attempt.op_id} is {attempt.state}, and the provider did this: {one.behaviour}"


def terminal_states_stay(attempts: Mapping[str, AttemptRow], evidence: Evidence) -> Iterator[str]:
    """The first terminal outcome stands, with its amounts and its digest."""
    for dispatch_id, before in evidence.final.items():
        now = attempts.get(dispatch_id)
        if now != before:
            yield f"operation {before.op_id} was {before.state} and is {now.state if now else 'lost'}, or was changed"
    evidence.final.update({id_: row for id_, row in attempts.items() if State(row.state) in _FINAL})


def acts_are_durable(attempts: Mapping[str, AttemptRow], evidence: Evidence) -> Iterator[str]:
    """What an operator was told is done is done."""
    states: dict[str, str] = {}
    for row in sorted(attempts.values(), key=lambda row: row.n):
        states[row.op_id] = row.state
    for act in evidence.acted:
        if act.state != State.UNKNOWN and states.get(act.operation_id) != act.state:
            yield f"an operator made operation {act.operation_id} {act.state}, and it is {states.get(act.operation_id)}"


def promises_of_503(attempts: Mapping[str, AttemptRow], evidence: Evidence) -> Iterator[str]:
    """503 says that this attempt had no effect, so the provider has executed nothing of the operation before.

    Only where calls came one after the other: with several at once another attempt may have begun since.
    """
    del attempts
    first: dict[str, float] = {}
    for one in evidence.seen:
        if one.executed:
            first.setdefault(one.label, one.at_s)
    for operation in evidence.operations.values():
        for call in operation.calls:
            executed_s = first.get(operation.label)
            if call.code in NO_EFFECT_CODES and not operation.crowded and executed_s is not None:
                ended_s = call.ended_s or call.started_s
                if call.started_s <= executed_s <= ended_s:
                    yield f"503: {operation.label} was told {call.code}, and the provider had executed it"


def i13_answers_are_stored(connection: sqlite3.Connection, evidence: Evidence) -> Iterator[str]:
    """Every answer that a client has is stored with the same bytes, and all its callers have the same."""
    stored = dict(connection.execute("SELECT op_id, digest FROM result").fetchall())
    for operation in evidence.operations.values():
        answers = {call.body for call in operation.calls if call.status == 200}
        ids = {call.operation_id for call in operation.calls if call.operation_id}
        if len(ids) > 1:
            yield f"I9: {operation.label} was given {len(ids)} operations"
        if len(answers) > 1:
            yield f"I13: {operation.label} was given {len(answers)} different answers"
        for body in answers:
            if stored.get(operation.operation_id) != hashlib.sha256(body).hexdigest():
                yield f"I13: the answer of {operation.label} was acknowledged and is not what is stored"


OUTSIDE: tuple[Callable[[Mapping[str, AttemptRow], Evidence], Iterator[str]], ...] = (
    i11_one_request_per_attempt,
    i12_only_what_was_dispatching,
    one_effect_per_operation,
    outcomes_are_what_happened,
    terminal_states_stay,
    acts_are_durable,
    promises_of_503,
)


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
