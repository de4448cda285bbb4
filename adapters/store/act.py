"""An operator's act on an unknown, which is closed by evidence or by a named operator, never by time (promise G5)."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct
from sqlalchemy import bindparam, select, update

from adapters.store import holds
from adapters.store.batch import Batch
from adapters.store.directory import Directory
from adapters.store.rows import unknown_after_us
from adapters.store.statements import Inserter, sql, word
from adapters.store.tables import SLOT_FREED, attempt, evidence
from gateway.domain.budget import Reservation, Settlement
from gateway.domain.errors import IllegalMove
from gateway.domain.money import Tariff
from gateway.domain.operation import State
from gateway.domain.reconciliation import Act, ActResult, Done, NoSuchOperation, NotLegal, TooEarly, conclude

_LAST = sql(
    select(
        attempt.c.op_id,
        attempt.c.n,
        attempt.c.state,
        attempt.c.dispatch_id,
        attempt.c.incarnation,
        attempt.c.reserved_input,
        attempt.c.reserved_output,
        attempt.c.reserved_cost,
        attempt.c.tariff,
        attempt.c.dispatching_us,
        attempt.c.total_timeout_ms,
    )
    .where(attempt.c.op_id == bindparam("id"))
    .order_by(attempt.c.n.desc())
)
_CONCLUDE = sql(
    update(attempt)
    .where(attempt.c.dispatch_id == bindparam("id"), attempt.c.state == word(State.UNKNOWN))
    .values(
        {
            name: bindparam(f"new_{name}")
            for name in ("state", "finished_us", "used_input", "used_output", "used_cost", "usage_basis", "detail")
        }
    )
)
_insert_evidence = Inserter(evidence)
_tariff = msgspec.json.Decoder(Tariff).decode


class Last(Struct, frozen=True):
    """The last attempt of an operation. Fields in the order of the columns that are read."""

    op_id: str
    n: int
    state: str
    dispatch_id: str
    incarnation: int
    reserved_input: int
    reserved_output: int
    reserved_cost: int
    tariff: bytes
    dispatching_us: int | None
    total_timeout_ms: int


def act(batch: Batch, acts: Sequence[Act]) -> list[ActResult | Exception]:
    """One after the other: each sees what those before it have left."""
    directory = Directory(batch.connection)
    return [directory.refusal_of(item.actor) or _act(batch, item) for item in acts]


def _act(batch: Batch, item: Act) -> ActResult | Exception:
    if not item.is_well_formed:
        return IllegalMove("an act has words within the bound, and charged alone says what was used")
    row = batch.connection.execute(_LAST, {"id": item.operation_id}).fetchone()
    if row is None:
        return NoSuchOperation()
    last = Last(*row)
    if last.state != State.UNKNOWN:
        return NotLegal(State(last.state))
    reserved = Reservation(last.reserved_input, last.reserved_output, last.reserved_cost)
    settlement = conclude(item, reserved, _tariff(last.tariff))
    if settlement is None:
        if not holds.free_slots(batch, last.op_id, last.n):
            return NotLegal(State.UNKNOWN)
    else:
        if item.kind == "no_effect" and (not_before_us := _sender_ends(batch, last)) > batch.now_us:
            return TooEarly(not_before_us)
        _conclude(batch, last, settlement)
    _note(batch, item, last, settlement)
    return Done(State.UNKNOWN if settlement is None else settlement.state)


def _sender_ends(batch: Batch, last: Last) -> int:
    """From when on nobody can still be sending; 0 if its process has ended, for this one has the lock."""
    if last.incarnation < batch.incarnation:
        return 0
    assert last.dispatching_us is not None, "the database has it so for every unknown"
    return unknown_after_us(last.dispatching_us, last.total_timeout_ms)


def _conclude(batch: Batch, last: Last, settlement: Settlement) -> None:
    used = settlement.used
    assert used is not None, "closed and charged are settled"
    moved = batch.connection.execute(
        _CONCLUDE,
        {
            "id": last.dispatch_id,
            "new_state": settlement.state.value,
            "new_finished_us": batch.now_us,
            "new_used_input": used.input,
            "new_used_output": used.output,
            "new_used_cost": settlement.cost,
            "new_usage_basis": settlement.basis,
            "new_detail": settlement.detail,
        },
    ).rowcount
    if moved != 1:
        raise IllegalMove("an attempt is not in the state that this move starts from")
    holds.end(batch, [holds.Ending(op_id=last.op_id, n=last.n, settlement=settlement, was_stranded=True)])


def _note(batch: Batch, item: Act, last: Last, settlement: Settlement | None) -> None:
    """Who, why, and on what evidence, in the transaction of the act itself."""
    actor = item.actor.principal
    row: Mapping[str, Any] = {
        "id": None,
        "dispatch_id": last.dispatch_id,
        "kind": item.kind,
        "used_input": item.used.input if item.used else None,
        "used_output": item.used.output if item.used else None,
        "digest": None,
        "provider_ref": None,
        "who": f"{actor.tenant}/{actor.id}",
        "words": item.words,
        "at_us": batch.now_us,
    }
    _insert_evidence(batch.connection, [row])
    batch.audit(
        SLOT_FREED if settlement is None else settlement.state,
        tenant=actor.tenant,
        principal=actor.id,
        op_id=last.op_id,
        n=last.n,
        code=item.kind,
        data={"words": item.words, "os_user": item.os_user},
    )
