"""An operator's act on the ledger in memory."""

from gateway.domain.budget import Reservation
from gateway.domain.errors import IllegalMove
from gateway.domain.operation import State
from gateway.domain.principal import Caller
from gateway.domain.reconciliation import Act, ActResult, Done, NoSuchOperation, NotLegal, TooEarly, conclude
from gateway.testkit.fakes.rows import Rows


def name_of(caller: Caller) -> str:
    """A principal as tenant/principal."""
    return f"{caller.principal.tenant}/{caller.principal.id}"


def perform(rows: Rows, act: Act, now_us: int) -> ActResult:
    """:raises IllegalMove: if the act is not well formed."""
    if not act.is_well_formed:
        raise IllegalMove("an act has words within the bound, and charged alone says what was used")
    if act.operation_id not in rows.attempts:
        return NoSuchOperation()
    last = rows.attempts[act.operation_id][-1]
    if last.state is not State.UNKNOWN:
        return NotLegal(last.state)
    who = {"by": name_of(act.actor), "os_user": act.os_user, "act": act.kind, "words": act.words}
    settlement = conclude(act, Reservation(last.reserved_input, last.reserved_output))
    if settlement is None:
        if last.dispatch_id in rows.freed:
            return NotLegal(State.UNKNOWN)
        rows.freed.add(last.dispatch_id)
        rows.note_of(last, now_us, "slot_freed", **who)
        return Done(State.UNKNOWN)
    mine = rows.owners[last.dispatch_id][1] == rows.incarnation
    not_before_us = last.unknown_after_us if mine and last.unknown_after_us is not None else 0
    if act.kind == "no_effect" and now_us < not_before_us:
        return TooEarly(not_before_us)
    if settlement.debt_tokens:
        rows.debts[last.dispatch_id] = settlement.debt_tokens
    rows.note_end(rows.settle(last, settlement, now_us), now_us, **who)
    return Done(settlement.state)
