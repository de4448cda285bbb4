"""Holds: taken by T1, settled or released by T3, kept while the outcome is unknown."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct
from sqlalchemy import bindparam, select, update

from adapters.store.batch import Batch
from adapters.store.statements import Inserter, sql, within, word
from adapters.store.tables import hold
from gateway.domain.budget import Reservation, Settlement
from gateway.domain.limits import Budget
from gateway.domain.windows import Windows

_encode = msgspec.json.Encoder().encode
_insert = Inserter(hold)
_COLUMNS = (
    hold.c.op_id,
    hold.c.n,
    hold.c.scope_kind,
    hold.c.scope_id,
    hold.c.tokens,
    hold.c.cost,
    hold.c.minute_us,
    hold.c.day_us,
    hold.c.month_us,
    hold.c.slot,
    hold.c.settled_tokens,
    hold.c.settled_cost,
    hold.c.debt_tokens,
    hold.c.debt_cost,
)
_READ_HELD = sql(select(*_COLUMNS).where(within(hold.c.op_id, "ids"), hold.c.spend == word("held")))
_OF_ATTEMPT = (hold.c.op_id == bindparam("id"), hold.c.n == bindparam("number"))
_READ_ATTEMPT = sql(select(*_COLUMNS).where(*_OF_ATTEMPT))
_END = sql(
    update(hold)
    .where(*_OF_ATTEMPT, hold.c.spend == word("held"))
    .values(
        spend=bindparam("new_spend"),
        slot=word("free"),
        settled_tokens=bindparam("new_settled"),
        settled_cost=bindparam("new_cost"),
        debt_tokens=bindparam("new_debt_tokens"),
        debt_cost=bindparam("new_debt_cost"),
    )
)
_FREE_SLOTS = sql(update(hold).where(*_OF_ATTEMPT, hold.c.spend == word("held")).values(slot=word("free")))
_BOOK_DEBT = sql(
    update(hold)
    .where(*_OF_ATTEMPT)
    .values(debt_tokens=bindparam("new_debt_tokens"), debt_cost=bindparam("new_debt_cost"))
)


class Hold(Struct, frozen=True):
    """A hold as stored. Fields in the order of the columns that are read."""

    op_id: str
    n: int
    scope_kind: str
    scope_id: str
    tokens: int
    cost: int
    minute_us: int
    day_us: int
    month_us: int
    slot: str
    settled_tokens: int
    settled_cost: int
    debt_tokens: int
    debt_cost: int

    @property
    def holds_slot(self) -> bool:
        return self.slot == "held"

    @property
    def taken_in(self) -> Windows:
        return Windows(self.minute_us, self.day_us, self.month_us)


class Ending(Struct, frozen=True, kw_only=True):
    """How the holds of one attempt end. ``settlement`` None, or without usage: all is given back."""

    op_id: str
    n: int
    settlement: Settlement | None
    was_stranded: bool = False


class Debt(Struct, frozen=True):
    """What was proved above what is settled, in tokens and micro-units."""

    tokens: int = 0
    cost: int = 0


def take(batch: Batch, op_id: str, n: int, budgets: Iterable[Budget], reserved: Reservation) -> list[Mapping[str, Any]]:
    """Count an attempt in all its scopes; returns its rows for ``insert``."""
    rows: list[Mapping[str, Any]] = []
    for budget in budgets:
        scope = budget.scope
        taken_in = batch.budgets.of(scope.kind, scope.id).take(reserved)
        rows.append(
            {
                "op_id": op_id,
                "n": n,
                "scope_kind": scope.kind,
                "scope_id": scope.id,
                "tokens": reserved.tokens,
                "cost": reserved.cost,
                "minute_us": taken_in.minute_us,
                "day_us": taken_in.day_us,
                "month_us": taken_in.month_us,
                "spend": "held",
                "slot": "held",
                "settled_tokens": 0,
                "settled_cost": 0,
                "debt_tokens": 0,
                "debt_cost": 0,
            }
        )
    return rows


def insert(batch: Batch, rows: Sequence[Mapping[str, Any]]) -> None:
    """Store the rows that ``take`` made."""
    _insert(batch.connection, rows)


def end(batch: Batch, endings: Sequence[Ending]) -> None:
    """Settle or release the holds of attempts, and correct the counters in the windows of each hold."""
    held = _held(batch, [ending.op_id for ending in endings])
    updates = []
    for ending in endings:
        booked = ending.settlement
        used = None if booked is None else booked.used
        tokens, cost, debt = 0, 0, Debt()
        if booked is not None and used is not None:
            debt = Debt(booked.debt_tokens, booked.debt_cost)
            tokens, cost = used.input + used.output - debt.tokens, booked.cost - debt.cost
        for row in held[ending.op_id]:
            counters = batch.budgets.of(row.scope_kind, row.scope_id)
            counters.correct(
                row.taken_in,
                requests=-1 if used is None else 0,
                tokens=tokens + debt.tokens - row.tokens,
                cost=cost + debt.cost - row.cost,
            )
            counters.held_tokens -= row.tokens
            counters.held_cost -= row.cost
            counters.debt_tokens += debt.tokens
            counters.debt_cost += debt.cost
            if row.holds_slot:  # free_slot may have freed it before
                counters.slots_used -= 1
                counters.slots_stranded -= ending.was_stranded
        updates.append(
            {
                "id": ending.op_id,
                "number": ending.n,
                "new_spend": "released" if used is None else "settled",
                "new_settled": tokens,
                "new_cost": cost,
                "new_debt_tokens": debt.tokens,
                "new_debt_cost": debt.cost,
            }
        )
    batch.connection.executemany(_END, updates)


def strand(batch: Batch, op_ids: Sequence[str]) -> None:
    """Count the slots of attempts whose outcome has become unknown. The holds stay as they are."""
    for rows in _held(batch, op_ids).values():
        for row in rows:
            batch.budgets.of(row.scope_kind, row.scope_id).slots_stranded += 1


def free_slots(batch: Batch, op_id: str, n: int) -> bool:
    """Free the slots of an attempt whose outcome is unknown; its spend stays held. False: they are free already."""
    slots = [row for row in _held(batch, [op_id])[op_id] if row.holds_slot]
    for row in slots:
        counters = batch.budgets.of(row.scope_kind, row.scope_id)
        counters.slots_used -= 1
        counters.slots_stranded -= 1
    batch.connection.execute(_FREE_SLOTS, {"id": op_id, "number": n})
    return bool(slots)


def book_debt(batch: Batch, op_id: str, n: int, proved: Debt) -> Debt:
    """Book usage proved above what was settled, in the windows of the hold; the same proof again adds nothing.

    :param proved: all that was used.
    :returns: what is added, in each scope.
    """
    key = {"id": op_id, "number": n}
    added = Debt()
    for row in (Hold(*found) for found in batch.connection.execute(_READ_ATTEMPT, key).fetchall()):
        tokens = max(row.debt_tokens, proved.tokens - row.settled_tokens)
        cost = max(row.debt_cost, proved.cost - row.settled_cost)
        added = Debt(tokens - row.debt_tokens, cost - row.debt_cost)
        counters = batch.budgets.of(row.scope_kind, row.scope_id)
        counters.debt_tokens += added.tokens
        counters.debt_cost += added.cost
        counters.correct(row.taken_in, requests=0, tokens=added.tokens, cost=added.cost)
        batch.connection.execute(_BOOK_DEBT, key | {"new_debt_tokens": tokens, "new_debt_cost": cost})
    return added


def _held(batch: Batch, op_ids: Sequence[str]) -> Mapping[str, list[Hold]]:
    """By operation: at most one attempt of an operation holds anything."""
    held: defaultdict[str, list[Hold]] = defaultdict(list)
    for row in batch.connection.execute(_READ_HELD, {"ids": _encode(op_ids)}).fetchall():
        held[row[0]].append(Hold(*row))
    return held
