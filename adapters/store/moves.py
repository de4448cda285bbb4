"""Moves of attempts that several transitions make: found by dispatch id, given back, left unknown."""

from collections.abc import Sequence

import msgspec
from msgspec import Struct
from sqlalchemy import bindparam, select, update

from adapters.store import holds
from adapters.store.batch import Batch
from adapters.store.connection import Connection
from adapters.store.statements import sql, within, word
from adapters.store.tables import SLOT_FREED, attempt, operation
from gateway.domain.errors import IllegalMove
from gateway.domain.operation import State
from gateway.domain.principal import CANARY, SYSTEM_TENANT

FREED_BY_CANARY = "a later canary decides"
"""The words of that act."""

_encode = msgspec.json.Encoder().encode
COLUMNS = (
    attempt.c.op_id,
    attempt.c.n,
    attempt.c.state,
    attempt.c.dispatch_id,
    attempt.c.incarnation,
    attempt.c.profile,
    attempt.c.granted_us,
)
_FIND = sql(select(*COLUMNS).where(within(attempt.c.dispatch_id, "ids")))
_GIVE_BACK = sql(
    update(attempt)
    .where(within(attempt.c.dispatch_id, "ids"), attempt.c.state == word(State.GRANTED))
    .values(state=word(State.RELEASED), finished_us=bindparam("now"), detail=bindparam("new_detail"))
)
_LEAVE_UNKNOWN = sql(
    update(attempt)
    .where(within(attempt.c.dispatch_id, "ids"), attempt.c.state == word(State.DISPATCHING))
    .values(state=word(State.UNKNOWN), detail=bindparam("new_detail"))
)
_CANARIES = sql(
    select(operation.c.op_id).where(
        within(operation.c.op_id, "ids"),
        operation.c.tenant == word(SYSTEM_TENANT),
        operation.c.principal == word(CANARY),
    )
)


class Found(Struct):
    """An attempt within a batch. ``state`` follows the moves that the batch makes."""

    op_id: str
    n: int
    state: State
    dispatch_id: str
    incarnation: int
    profile: str
    granted_us: int


def found_from(rows: Sequence[tuple[str, int, str, str, int, str, int]]) -> dict[str, Found]:
    """Rows of ``COLUMNS``, by dispatch id."""
    return {row[3]: Found(row[0], row[1], State(row[2]), *row[3:]) for row in rows}


def find(connection: Connection, dispatch_ids: Sequence[str]) -> dict[str, Found]:
    """Attempts by dispatch id; one that does not exist is left out."""
    return found_from(connection.execute(_FIND, {"ids": _encode(dispatch_ids)}).fetchall())


def move(batch: Batch, statement: str, dispatch_ids: Sequence[str], **values: object) -> None:
    """Compare and set the state of a set of attempts.

    :raises IllegalMove: if one of them is not in the state that the statement starts from.
    """
    if not dispatch_ids:
        return
    moved = batch.connection.execute(statement, {"ids": _encode(dispatch_ids), **values}).rowcount
    if moved != len(dispatch_ids):
        raise IllegalMove("an attempt is not in the state that this move starts from")


def give_back(batch: Batch, attempts: Sequence[Found], detail: str) -> None:
    """granted -> released: provably unsent, so the holds end at zero."""
    if not attempts:
        return
    move(batch, _GIVE_BACK, [a.dispatch_id for a in attempts], now=batch.now_us, new_detail=detail)
    holds.end(batch, [holds.Ending(op_id=a.op_id, n=a.n, settlement=None) for a in attempts])
    _note(batch, attempts, State.RELEASED, detail)


def leave_unknown(batch: Batch, attempts: Sequence[Found], detail: str) -> None:
    """dispatching -> unknown: it may have been sent, so the holds stay (promise G5)."""
    if not attempts:
        return
    move(batch, _LEAVE_UNKNOWN, [a.dispatch_id for a in attempts], new_detail=detail)
    holds.strand(batch, [a.op_id for a in attempts])
    _note(batch, attempts, State.UNKNOWN, detail)
    free_slots_of_canaries(batch, attempts)


def canaries(batch: Batch, attempts: Sequence[Found]) -> list[Found]:
    """Which of these attempts are readiness canaries."""
    rows = batch.connection.execute(_CANARIES, {"ids": _encode([a.op_id for a in attempts])}).fetchall()
    ids = {op_id for (op_id,) in rows}
    return [a for a in attempts if a.op_id in ids]


def free_slots_of_canaries(batch: Batch, unknown: Sequence[Found]) -> None:
    """A canary takes one token, and nobody is served before a later one has been answered: what one of unknown outcome
    may still keep busy is looked at before a slot counts. Else an engine that hangs for an hour would leave a profile
    without slots, and a person with an act for each canary."""
    for a in canaries(batch, unknown):
        holds.free_slots(batch, a.op_id, a.n)
        batch.audit(
            SLOT_FREED,
            tenant=SYSTEM_TENANT,
            principal=CANARY,
            op_id=a.op_id,
            n=a.n,
            code="free_slot",
            data={"words": FREED_BY_CANARY, "os_user": None},
        )


def _note(batch: Batch, attempts: Sequence[Found], state: State, detail: str) -> None:
    for a in attempts:
        a.state = state
        batch.audit(state, op_id=a.op_id, n=a.n, code=detail)
