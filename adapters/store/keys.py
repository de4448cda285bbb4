"""Credentials: found by the hash of their token at every request, created through the writer."""

import sqlite3
from collections.abc import Sequence

from msgspec import Struct
from sqlalchemy import bindparam, literal_column, select, update

from adapters.store.batch import Batch
from adapters.store.statements import Inserter, sql
from adapters.store.tables import key
from adapters.store.writer import Rank, Transition, Writer
from gateway.domain.principal import Caller
from gateway.ports.reads import Key

_insert = Inserter(key)
_READ = sql(
    select(key.c.id, key.c.tenant, key.c.principal, key.c.active, key.c.created_us, key.c.label).where(
        key.c.credential_hash == bindparam("hash")
    )
)


_RETIRE = sql(
    update(key)
    .values(active=literal_column("0"))
    .where(key.c.tenant == bindparam("of_tenant"), key.c.principal == bindparam("of_principal"))
)


class NewKey(Struct, frozen=True):
    """A key to be created."""

    key: Key
    credential_hash: bytes
    actor: Caller | None
    alone: bool = False
    """Every other key of its principal stops counting."""


def _create(batch: Batch, items: Sequence[NewKey]) -> list[None]:
    for item in items:
        if item.alone:
            batch.connection.execute(_RETIRE, {"of_tenant": item.key.tenant, "of_principal": item.key.principal})
    _insert(
        batch.connection,
        [
            {
                "id": item.key.id,
                "credential_hash": item.credential_hash,
                "tenant": item.key.tenant,
                "principal": item.key.principal,
                "active": int(item.key.active),
                "label": item.key.label,
                "created_us": item.key.created_us,
            }
            for item in items
        ],
    )
    for item in items:
        actor = item.actor.principal if item.actor else None
        batch.audit(
            "key_created",
            tenant=actor.tenant if actor else None,
            principal=actor.id if actor else None,
            code=item.key.id,
            data={"tenant": item.key.tenant, "principal": item.key.principal},
        )
    return [None] * len(items)


_CREATE: Transition[NewKey, None] = Transition(Rank.OTHER, _create)


class StoredKeys:
    """Implements ``gateway.ports.reads.Keys``."""

    def __init__(self, connection: sqlite3.Connection, writer: Writer) -> None:
        self._connection = connection
        self._writer = writer

    async def find(self, credential_hash: bytes) -> Key | None:
        rows = self._connection.execute(_READ, {"hash": credential_hash}).fetchall()
        if not rows:
            return None
        key_id, tenant, principal, active, created_us, label = rows[0]
        return Key(
            id=key_id, tenant=tenant, principal=principal, active=bool(active), created_us=created_us, label=label
        )

    async def create(self, key: Key, credential_hash: bytes, *, actor: Caller | None, alone: bool = False) -> None:
        await self._writer.run(_CREATE, NewKey(key, credential_hash, actor, alone))
