"""Decisions of policy, found in the audit rows of the time that their ids tell.

There is no index for them, which every request would pay for and hardly anybody would use. Audit rows of one
start are in the order of time, so a binary search over their numbers finds where to look.
"""

import asyncio
import sqlite3
from bisect import bisect_left
from collections.abc import Callable, Generator
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any
from uuid import UUID

import msgspec
from msgspec import Struct
from sqlalchemy import bindparam, func, select, text

from adapters.store.database import aside, snapshot
from adapters.store.statements import sql
from adapters.store.tables import DISCLOSED, REFUSED, audit, replica
from gateway.domain.operation import State
from gateway.domain.questions import Decision
from gateway.ports.reads import RecordedDecision

_SECOND_US = 1_000_000
_BEFORE_US = 5 * _SECOND_US
"""An audit row is dated by the gateway, the id by a library: their clocks may be read apart."""
_AFTER_US = 180 * _SECOND_US
"""From a decision to its row: counting, selecting, and another round if something has changed."""
_SET_BACK_US = 60 * _SECOND_US
"""By so much in all the clock may have been set back during one start; its rows are out of order by no more."""


class Granted(Struct, frozen=True):
    """Data of the audit row of a grant."""

    access: Decision | None
    routes: Decision | None
    """None: a canary, about which policy was not asked."""


class Disclosed(Struct, frozen=True):
    """Data of the audit row of a disclosure."""

    decision: Decision


class Refused(Struct, frozen=True):
    """Data of the audit row of a refusal."""

    decisions: tuple[Decision, ...]


_granted = msgspec.json.Decoder(Granted).decode
_disclosed = msgspec.json.Decoder(Disclosed).decode
_refused = msgspec.json.Decoder(Refused).decode
_DECISIONS_OF: dict[str, Callable[[bytes], tuple[Decision, ...]]] = {
    State.GRANTED: lambda data: tuple(one for one in msgspec.structs.astuple(_granted(data)) if one is not None),
    DISCLOSED: lambda data: (_disclosed(data).decision,),
    REFUSED: lambda data: _refused(data).decisions,
}
"""By kind of audit row."""

_LAST = (
    select(func.max(audit.c.seq))
    .where(audit.c.incarnation == replica.c.incarnation)
    .correlate(replica)
    .scalar_subquery()
)
_STARTS = sql(select(replica.c.incarnation, _LAST).order_by(replica.c.incarnation))
_DATED = (
    sql(
        select(audit.c.at_us)
        .where(audit.c.incarnation == bindparam("incarnation"), audit.c.seq >= bindparam("seq"))
        .order_by(audit.c.seq)
    )
    + " LIMIT 1"
)
_ROWS = sql(
    select(audit.c.at_us, audit.c.kind, audit.c.code, audit.c.tenant, audit.c.principal, audit.c.op_id, audit.c.data)
    .where(
        audit.c.incarnation == bindparam("incarnation"),
        audit.c.seq >= bindparam("first"),
        audit.c.seq < bindparam("end"),
        audit.c.at_us.between(bindparam("since_us"), bindparam("until_us")),
        text("instr(audit.data, :id) > 0"),
    )
    .order_by(audit.c.seq)
)


class StoredDecisions:
    """Implements ``gateway.ports.reads.Decisions``."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    async def find(self, decision_id: str) -> RecordedDecision | None:
        made_us = _made_us(decision_id)
        if made_us is None:
            return None
        return await asyncio.to_thread(aside, self._directory, partial(find, decision_id=decision_id, made_us=made_us))


def find(connection: sqlite3.Connection, *, decision_id: str, made_us: int) -> RecordedDecision | None:
    """The first audit row that names a decision which was made at ``made_us``, with the decision itself."""
    rows = _rows(connection, decision_id, made_us - _BEFORE_US, made_us + _AFTER_US)
    with snapshot(connection), closing(rows):
        for row in rows:
            if (found := _recorded(row, decision_id)) is not None:
                return found
    return None


def _made_us(decision_id: str) -> int | None:
    """When an id was made: the first 48 bits of a uuid7 are milliseconds. None for what is no uuid at all."""
    try:
        return (UUID(decision_id).int >> 80) * 1_000
    except ValueError:
        return None


def _rows(
    connection: sqlite3.Connection, decision_id: str, since_us: int, until_us: int
) -> Generator[tuple[Any, ...], None, None]:
    """Audit rows of that time in whose data the id stands."""
    wanted = {"id": decision_id.encode(), "since_us": since_us, "until_us": until_us}
    for incarnation, last in connection.execute(_STARTS).fetchall():
        numbers, dated = range(1, (last or 0) + 1), partial(_dated, connection, incarnation)
        first = bisect_left(numbers, since_us - _SET_BACK_US, key=dated) + 1
        end = bisect_left(numbers, until_us + _SET_BACK_US + 1, key=dated) + 1
        if first < end:
            within = {"incarnation": incarnation, "first": first, "end": end}
            yield from connection.execute(_ROWS, wanted | within)


def _dated(connection: sqlite3.Connection, incarnation: int, seq: int) -> int:
    """When the audit row of this number was written."""
    at_us: int = connection.execute(_DATED, {"incarnation": incarnation, "seq": seq}).fetchone()[0]
    return at_us


def _recorded(row: tuple[Any, ...], decision_id: str) -> RecordedDecision | None:
    at_us, kind, code, tenant, principal, op_id, data = row
    if kind not in _DECISIONS_OF:
        return None
    for decision in _DECISIONS_OF[kind](data):
        if decision.id == decision_id:
            return RecordedDecision(
                decision=decision,
                at_us=at_us,
                event=kind,
                code=code,
                tenant=tenant,
                principal=principal,
                operation_id=op_id,
            )
    return None
