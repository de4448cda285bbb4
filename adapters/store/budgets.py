"""Counters per scope, for the length of one batch. Holds are the truth, counters a cache of their sums.

Each row is read once per batch, changed in memory in arrival order, and written once.
"""

from collections.abc import Sequence

import msgspec
from sqlalchemy import bindparam, select, update

from adapters.store.connection import Connection
from adapters.store.statements import Inserter, sql
from adapters.store.tables import budget
from gateway.domain.budget import Reservation
from gateway.domain.limits import Budget, BudgetShort, Sums, fits, lasts, shortages
from gateway.domain.windows import Windows, windows

_KEY = (budget.c.scope_kind == bindparam("kind"), budget.c.scope_id == bindparam("id"))
_COUNTERS = [column for column in budget.columns if not column.primary_key]
_READ = sql(select(*_COUNTERS).where(*_KEY))
_WRITE = sql(update(budget).where(*_KEY).values({column.name: bindparam(f"new_{column.name}") for column in _COUNTERS}))
_insert = Inserter(budget)


class Counters(Sums):
    """One budget row without its key. Fields as the table's columns, in their order."""

    def take(self, reserved: Reservation) -> Windows:
        """Count a new hold; returns the windows that it counts in."""
        tokens, cost = reserved.tokens, reserved.cost
        self.minute_requests += 1
        self.minute_tokens += tokens
        self.day_tokens += tokens
        self.month_tokens += tokens
        self.month_cost += cost
        self.held_tokens += tokens
        self.held_cost += cost
        self.slots_used += 1
        return self.windows

    def correct(self, taken: Windows, *, requests: int, tokens: int, cost: int) -> None:
        """Correct the sums by what a settled hold, with its debt, differs from its reservation.

        A window that has passed since is left alone: its sums are no longer kept.
        """
        if taken.minute_us == self.minute_us:
            self.minute_requests += requests
            self.minute_tokens += tokens
        if taken.day_us == self.day_us:
            self.day_tokens += tokens
        if taken.month_us == self.month_us:
            self.month_tokens += tokens
            self.month_cost += cost


class Budgets:
    """The budget rows that a batch touches."""

    def __init__(self, connection: Connection, now_us: int) -> None:
        self._connection = connection
        self._now_us = now_us
        self._now = windows(now_us)
        self._rows: dict[tuple[str, str], Counters] = {}

    def of(self, kind: str, scope_id: str) -> Counters:
        """The counters of a scope, in the windows of this batch. A scope that is new begins at zero."""
        found = self._rows.get((kind, scope_id))
        if found is None:
            found = self._rows[kind, scope_id] = self._read(kind, scope_id)
            found.roll(self._now)
        return found

    def short(self, budgets: Sequence[Budget], asked: Reservation) -> BudgetShort | None:
        """Condition 6 of T1: None if one more request fits into every scope, else the shortage that lasts longest."""
        found = [
            short
            for budget in budgets
            if not fits(budget.limits, sums := self.of(budget.scope.kind, budget.scope.id), asked)
            for short in shortages(budget, sums, asked, self._now_us)
        ]
        return max(found, key=lasts) if found else None

    def write(self) -> None:
        """Write all rows that were touched."""
        self._connection.executemany(
            _WRITE,
            [
                {"kind": kind, "id": scope_id}
                | {f"new_{name}": value for name, value in msgspec.structs.asdict(counters).items()}
                for (kind, scope_id), counters in sorted(self._rows.items(), key=lambda row: row[0])
            ],
        )

    def _read(self, kind: str, scope_id: str) -> Counters:
        row = self._connection.execute(_READ, {"kind": kind, "id": scope_id}).fetchone()
        if row is not None:
            return Counters(*row)
        new = Counters(self._now.minute_us, day_us=self._now.day_us, month_us=self._now.month_us)
        # At once, because the holds that follow refer to it.
        _insert(self._connection, [{"scope_kind": kind, "scope_id": scope_id} | msgspec.structs.asdict(new)])
        return new
