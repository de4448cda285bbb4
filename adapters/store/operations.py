"""Operations as readers see them. Point reads run on the event loop: they cost less than a hand-over."""

import asyncio
import sqlite3
from collections.abc import Mapping
from functools import partial
from pathlib import Path

from sqlalchemy import bindparam, select

from adapters.store.database import aside
from adapters.store.rows import OPERATIONS, operation_from
from adapters.store.search import search
from adapters.store.statements import sql
from adapters.store.tables import operation, result
from adapters.store.timeline import timeline
from gateway.domain.operation import Identity, Operation, StoredResult
from gateway.ports.reads import OperationFilter, TimelineEntry

_BY_ID = sql(OPERATIONS.where(operation.c.op_id == bindparam("id")))
_BY_IDENTITY = sql(
    OPERATIONS.where(
        operation.c.tenant == bindparam("tenant"),
        operation.c.principal == bindparam("principal"),
        operation.c.key_hash == bindparam("key_hash"),
    )
)
_RESULT = sql(select(result.c.body, result.c.digest).where(result.c.op_id == bindparam("id")))


class StoredOperations:
    """Implements ``gateway.ports.reads.Operations``."""

    def __init__(self, connection: sqlite3.Connection, directory: Path) -> None:
        self._connection = connection
        self._directory = directory

    async def search(self, wanted: OperationFilter) -> tuple[Operation, ...]:
        # Aside, unlike the others: what it walks over depends on the filter.
        return await asyncio.to_thread(aside, self._directory, partial(search, wanted=wanted))

    async def timeline(self, operation_id: str) -> tuple[TimelineEntry, ...]:
        return timeline(self._connection, operation_id)

    async def find(self, identity: Identity) -> Operation | None:
        key = {"tenant": identity.tenant, "principal": identity.principal, "key_hash": identity.key_hash}
        return self._one(_BY_IDENTITY, key)

    async def get(self, operation_id: str) -> Operation | None:
        return self._one(_BY_ID, {"id": operation_id})

    async def result(self, operation_id: str) -> StoredResult | None:
        rows = self._connection.execute(_RESULT, {"id": operation_id}).fetchall()
        return StoredResult(*rows[0]) if rows else None

    def _one(self, query: str, key: Mapping[str, object]) -> Operation | None:
        # fetchall, here and above: a statement that is left half read keeps an old snapshot open.
        rows = self._connection.execute(query, key).fetchall()
        return operation_from(rows[0]) if rows else None
