"""What happened to one operation, told from its audit rows, whose numbers are in the order in which it happened."""

import sqlite3
from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import Any

import msgspec
from msgspec import Struct
from sqlalchemy import bindparam, select

from adapters.store.database import snapshot
from adapters.store.statements import sql
from adapters.store.tables import (
    DISCLOSED,
    EVIDENCE,
    REFUSED,
    SLOT_FREED,
    SWEPT_DETAIL,
    attempt,
    audit,
    hold,
    operation,
)
from gateway.domain.operation import State
from gateway.ports.reads import TimelineEntry

Facts = dict[str, Any]

_decode = msgspec.json.Decoder(Facts).decode
_ATTEMPTS = sql(
    select(
        attempt.c.n,
        operation.c.bundle,
        attempt.c.bundle_digest,
        attempt.c.policy_revision,
        attempt.c.dispatch_id,
        attempt.c.used_input,
        attempt.c.used_output,
        attempt.c.usage_basis,
        attempt.c.result_digest,
        attempt.c.provider_ref,
    )
    .join_from(operation, attempt, attempt.c.op_id == operation.c.op_id)
    .where(operation.c.op_id == bindparam("id"))
)
_HOLDS = sql(
    select(hold.c.n, hold.c.scope_kind, hold.c.scope_id, hold.c.tokens)
    .where(hold.c.op_id == bindparam("id"))
    .order_by(hold.c.scope_kind, hold.c.scope_id)
)
_AUDIT = sql(
    select(audit.c.at_us, audit.c.kind, audit.c.n, audit.c.tenant, audit.c.principal, audit.c.code, audit.c.data)
    .where(audit.c.op_id == bindparam("id"))
    .order_by(audit.c.incarnation, audit.c.seq)
)


class Part(Struct, frozen=True):
    """An attempt as it is now. Fields in the order of the columns that are read."""

    n: int
    bundle: str
    bundle_digest: str
    policy_revision: str
    dispatch_id: str
    used_input: int | None
    used_output: int | None
    usage_basis: str | None
    result_digest: str | None
    provider_ref: str | None
    reserved: dict[str, int]
    """Tokens by scope."""


class Row(Struct, frozen=True):
    """An audit row. ``n`` is None where it is about the operation and not about one of its attempts."""

    at_us: int
    kind: str
    n: int | None
    tenant: str | None
    principal: str | None
    code: str
    data: Facts

    @property
    def who(self) -> str:
        return f"{self.tenant}/{self.principal}"


def timeline(connection: sqlite3.Connection, operation_id: str) -> tuple[TimelineEntry, ...]:
    """Every audit row of the operation, with what the rows of its attempts add to it."""
    key = {"id": operation_id}
    with snapshot(connection):
        attempts = connection.execute(_ATTEMPTS, key).fetchall()
        holds = connection.execute(_HOLDS, key).fetchall()
        rows = connection.execute(_AUDIT, key).fetchall()
    if not attempts:
        return ()
    reserved: defaultdict[int, dict[str, int]] = defaultdict(dict)
    for n, kind, scope_id, tokens in holds:
        reserved[n][f"{kind} {scope_id}"] = tokens
    parts = {row[0]: Part(*(*row, reserved[row[0]])) for row in attempts}
    return tuple(_entry(Row(*(*row, _decode(data))), parts) for *row, data in rows)


def _entry(row: Row, parts: Mapping[int, Part]) -> TimelineEntry:
    if row.n is None:
        event, facts = row.kind, _OF_OPERATION[row.kind](row)
    else:
        event, tell = _OF_ATTEMPT[row.kind]
        facts = tell(row, parts[row.n])
    return TimelineEntry(at_us=row.at_us, event=event, attempt=row.n, facts=facts)


def _claimed(row: Row, part: Part) -> Facts:
    return {
        "profile": row.code,
        "bundle": part.bundle,
        "bundle_digest": part.bundle_digest,
        "policy_revision": part.policy_revision,
        "access": _id(row.data["access"]),
        "routes": _id(row.data["routes"]),
        "reserved": part.reserved,
    }


def _id(decision: Facts | None) -> str | None:
    """None: a canary, about which policy was not asked."""
    return None if decision is None else decision["id"]


def _dispatching(row: Row, part: Part) -> Facts:
    return {"profile": row.code, "dispatch_id": part.dispatch_id}


def _ended(row: Row, part: Part) -> Facts:
    """``settled`` and ``closed``. By an operator where the row has a principal."""
    return {
        "state": row.kind,
        **(_acted(row, part) if row.principal is not None else {"by": "sender", "detail": row.code}),
        "used_input": part.used_input,
        "used_output": part.used_output,
        "usage_basis": part.usage_basis,
        "result_digest": part.result_digest,
        "provider_ref": part.provider_ref,
    }


def _told(row: Row, _: Part) -> Facts:
    """``unknown`` and ``released``: the sweep says so, or the task that owned the attempt."""
    return {"by": "sweep" if row.code == SWEPT_DETAIL else "sender", "detail": row.code}


def _acted(row: Row, _: Part) -> Facts:
    return {"by": row.who, "os_user": row.data["os_user"], "act": row.code, "words": row.data["words"]}


def _evidence(row: Row, _: Part) -> Facts:
    return {"by": "sender", "state": row.code, **row.data}


def _disclosed(row: Row) -> Facts:
    return {"to": row.who, "replay": row.data["decision"]["id"]}


def _refused(row: Row) -> Facts:
    return {
        "to": row.who,
        "code": row.code,
        "policy_codes": row.data["policy_codes"],
        "decisions": [decision["id"] for decision in row.data["decisions"]],
    }


_OF_ATTEMPT: Mapping[str, tuple[str, Callable[[Row, Part], Facts]]] = {
    State.GRANTED: ("claimed", _claimed),
    State.DISPATCHING: ("dispatching", _dispatching),
    State.COMPLETED: ("settled", _ended),
    State.CHARGED: ("settled", _ended),
    State.NO_EFFECT: ("settled", _ended),
    State.UNKNOWN: ("unknown", _told),
    State.RELEASED: ("released", _told),
    State.CLOSED: ("closed", _ended),
    SLOT_FREED: ("slot_freed", _acted),
    EVIDENCE: ("evidence", _evidence),
}
"""Kind of an audit row about an attempt: its event, and what is told of it."""

_OF_OPERATION: Mapping[str, Callable[[Row], Facts]] = {DISCLOSED: _disclosed, REFUSED: _refused}
