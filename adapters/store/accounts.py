"""The ledger as a whole, read aside: on a thread and a connection of their own, because it may take seconds."""

import asyncio
import sqlite3
from pathlib import Path

from sqlalchemy import select, text

from adapters.store.database import aside
from adapters.store.statements import sql, word
from adapters.store.tables import NOT_COMPLETED, attempt, hold
from adapters.store.verify import verify
from gateway.domain.budget import Scope
from gateway.domain.operation import State
from gateway.ports.reads import StrandedHold

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


class StoredAccounts:
    """Implements ``gateway.ports.reads.Accounts``."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    async def verify(self) -> tuple[str, ...]:
        return tuple(await asyncio.to_thread(aside, self._directory, verify))

    async def stranded(self) -> tuple[StrandedHold, ...]:
        return await asyncio.to_thread(aside, self._directory, _stranded)


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
