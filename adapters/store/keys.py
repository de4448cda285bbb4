"""Credentials: found by the hash of their token at every request, created and revoked through the writer."""

import asyncio
import sqlite3
from functools import partial
from pathlib import Path

from sqlalchemy import bindparam

from adapters.store.database import aside
from adapters.store.directory_search import search_keys
from adapters.store.key_change import KeyChanges, NewKey, Revocation
from adapters.store.key_memory import Remembered, keep
from adapters.store.key_rows import KEYS, key_from
from adapters.store.statements import sql
from adapters.store.tables import key
from adapters.store.writer import Rank, Transition, Writer
from gateway.domain.principal import Caller
from gateway.ports.reads import Key, KeyFilter

_BY_HASH = sql(KEYS.where(key.c.credential_hash == bindparam("hash")))


class StoredKeys:
    """Implements ``gateway.ports.reads.Keys``."""

    def __init__(self, connection: sqlite3.Connection, writer: Writer, directory: Path) -> None:
        self._connection = connection
        self._writer = writer
        self._directory = directory
        self._remembered = Remembered()
        changes = KeyChanges(self._remembered.forget)
        self._create: Transition[NewKey, None] = Transition(Rank.OTHER, changes.create)
        self._revoke: Transition[Revocation, Key | None] = Transition(Rank.OTHER, changes.revoke)

    async def find(self, credential_hash: bytes) -> Key | None:
        generation = self._remembered.now
        if (kept := generation.get(credential_hash)) is not None:
            return kept
        # fetchall, and reads one after the other: a statement that is left half read, or that another thread is in
        # the middle of, would let this one see what was committed before it began.
        rows = self._connection.execute(_BY_HASH, {"hash": credential_hash}).fetchall()
        if not rows:
            return None
        found = key_from(rows[0])
        keep(generation, credential_hash, found)
        return found

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
        await self._writer.run(self._create, NewKey(key, credential_hash, actor, os_user, alone))

    async def revoke(self, key_id: str, *, actor: Caller, os_user: str | None) -> Key | None:
        return await self._writer.run(self._revoke, Revocation(key_id, actor, os_user))
