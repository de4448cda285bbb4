"""Credentials: found by the hash of their token at every request, created and revoked through the writer."""

import asyncio
import sqlite3
from functools import partial
from pathlib import Path

from sqlalchemy import bindparam

from adapters.store.database import aside
from adapters.store.directory_search import search_keys
from adapters.store.key_change import NewKey, Revocation, create, revoke
from adapters.store.key_rows import KEYS, key_from
from adapters.store.statements import sql
from adapters.store.tables import key
from adapters.store.writer import Rank, Transition, Writer
from gateway.domain.principal import Caller
from gateway.ports.reads import Key, KeyFilter

_BY_HASH = sql(KEYS.where(key.c.credential_hash == bindparam("hash")))
_CREATE: Transition[NewKey, None] = Transition(Rank.OTHER, create)
_REVOKE: Transition[Revocation, Key | None] = Transition(Rank.OTHER, revoke)


class StoredKeys:
    """Implements ``gateway.ports.reads.Keys``."""

    def __init__(self, connection: sqlite3.Connection, writer: Writer, directory: Path) -> None:
        self._connection = connection
        self._writer = writer
        self._directory = directory

    async def find(self, credential_hash: bytes) -> Key | None:
        rows = self._connection.execute(_BY_HASH, {"hash": credential_hash}).fetchall()
        return key_from(rows[0]) if rows else None

    async def search(self, wanted: KeyFilter) -> tuple[Key, ...]:
        return await asyncio.to_thread(aside, self._directory, partial(search_keys, wanted=wanted))

    async def create(
        self,
        key: Key,
        credential_hash: bytes,
        *,
        actor: Caller | None,
        os_user: str | None = None,
        alone: bool = False,
    ) -> None:
        await self._writer.run(_CREATE, NewKey(key, credential_hash, actor, os_user, alone))

    async def revoke(self, key_id: str, *, actor: Caller, os_user: str | None) -> Key | None:
        return await self._writer.run(_REVOKE, Revocation(key_id, actor, os_user))
