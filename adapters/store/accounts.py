"""The ledger as a whole, read aside: on a thread and a connection of their own, because it may take seconds."""

import asyncio
import sqlite3
from functools import partial
from pathlib import Path

from sqlalchemy import select, text

from adapters.store.database import aside, snapshot
from adapters.store.outcomes import outcomes
from adapters.store.statements import sql, word
from adapters.store.tables import NOT_COMPLETED, attempt, budget, hold, names, operation
from adapters.store.verify import verify
from gateway.domain.budget import Scope
from gateway.domain.limits import Sums
from gateway.domain.operation import HOLDING, State
from gateway.ports.reads import InUse, OutcomeFilter, OutcomeSums, ScopeSums, StrandedHold

_STRANDED = sql(
    select(
        hold.c.op_id,
        hold.c.n,
        hold.c.scope_kind,
        hold.c.scope_id,
        hold.c.tokens,
        hold.c.slot,
        attempt.c.dispatching_us,
    )
    .join_from(attempt, hold, (hold.c.op_id == attempt.c.op_id) & (hold.c.n == attempt.c.n))
    .where(attempt.c.state == word(State.UNKNOWN), text(NOT_COMPLETED))
    .order_by(attempt.c.dispatching_us, hold.c.op_id, hold.c.scope_kind, hold.c.scope_id)
)
_OPEN = sql(
    select(operation.c.tenant, operation.c.principal, attempt.c.profile)
    .distinct()
    .join_from(attempt, operation, operation.c.op_id == attempt.c.op_id)
    .where(text(f"attempt.state IN ({names(HOLDING)})"), text(NOT_COMPLETED))
)
# The counters stand for the holds, of which there are too many to look through.
_COUNTED = sql(select(budget.c.scope_kind, budget.c.scope_id).where(text("held_tokens > 0 OR slots_used > 0")))
_USAGE = sql(select(budget).order_by(budget.c.scope_kind, budget.c.scope_id))


class StoredAccounts:
    """Implements ``gateway.ports.reads.Accounts``."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    async def verify(self) -> tuple[str, ...]:
        return tuple(await asyncio.to_thread(aside, self._directory, verify))

    async def stranded(self) -> tuple[StrandedHold, ...]:
        return await asyncio.to_thread(aside, self._directory, _stranded)

    async def usage(self) -> tuple[ScopeSums, ...]:
        return await asyncio.to_thread(aside, self._directory, _usage)

    async def outcomes(self, wanted: OutcomeFilter) -> tuple[OutcomeSums, ...]:
        return await asyncio.to_thread(aside, self._directory, partial(outcomes, wanted=wanted))

    async def in_use(self) -> InUse:
        return await asyncio.to_thread(aside, self._directory, _in_use)


def _stranded(connection: sqlite3.Connection) -> tuple[StrandedHold, ...]:
    return tuple(
        StrandedHold(
            operation_id=op_id,
            attempt=n,
            scope=Scope(kind, scope_id),
            tokens=tokens,
            slot_held=slot == "held",
            since_us=since_us,
        )
        for op_id, n, kind, scope_id, tokens, slot, since_us in connection.execute(_STRANDED).fetchall()
    )


def _usage(connection: sqlite3.Connection) -> tuple[ScopeSums, ...]:
    return tuple(
        ScopeSums(Scope(kind, scope_id), Sums(*sums)) for kind, scope_id, *sums in connection.execute(_USAGE).fetchall()
    )


def _in_use(connection: sqlite3.Connection) -> InUse:
    with snapshot(connection):
        attempts = connection.execute(_OPEN).fetchall()
        counted = connection.execute(_COUNTED).fetchall()
    scopes = {
        of_kind: {scope_id for kind, scope_id in counted if kind == of_kind}
        for of_kind in ("tenant", "profile", "quota_scope")
    }
    return InUse(
        tenants=frozenset(scopes["tenant"].union(tenant for tenant, _, _ in attempts)),
        principals=frozenset((tenant, principal) for tenant, principal, _ in attempts),
        profiles=frozenset(scopes["profile"].union(profile for _, _, profile in attempts)),
        quota_scopes=frozenset(scopes["quota_scope"]),
    )
