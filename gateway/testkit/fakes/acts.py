"""An operator's act on the ledger in memory."""

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
    hold = rows.budgets.holds[last.dispatch_id]
    settlement = conclude(act, hold.reserved, hold.tariff)
    if settlement is None:
        if not hold.slot_held:
            return NotLegal(State.UNKNOWN)
        rows.budgets.of(last.dispatch_id, now_us).slot_held = False
        rows.note_of(last, now_us, "slot_freed", **who)
        return Done(State.UNKNOWN)
    mine = rows.owners[last.dispatch_id][1] == rows.incarnation
    not_before_us = last.unknown_after_us if mine and last.unknown_after_us is not None else 0
    if act.kind == "no_effect" and now_us < not_before_us:
        return TooEarly(not_before_us)
    rows.note_end(rows.settle(last, settlement, now_us), now_us, **who)
    return Done(settlement.state)
