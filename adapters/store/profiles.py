"""States of profiles: read on the event loop, changed through the writer."""

import sqlite3

from sqlalchemy import select

from adapters.store.profile_change import Change, act, quarantine
from adapters.store.profile_rows import mark_from
from adapters.store.statements import sql
from adapters.store.tables import profile_mark
from adapters.store.writer import Rank, Transition, Writer
from gateway.domain.principal import Caller
from gateway.domain.profile_state import ActNotLegal, Mark, ProfileAct, Quarantine

_ACT: Transition[Change, ActNotLegal | None] = Transition(Rank.OTHER, act)
_QUARANTINE: Transition[Quarantine, bool] = Transition(Rank.T3, quarantine)
_ALL = sql(select(profile_mark).order_by(profile_mark.c.profile, profile_mark.c.kind))


class StoredProfiles:
    """Implements ``gateway.ports.profiles.Profiles``."""

    def __init__(self, connection: sqlite3.Connection, writer: Writer) -> None:
        self._connection = connection
        self._writer = writer

    async def marks(self) -> tuple[Mark, ...]:
        return tuple(map(mark_from, self._connection.execute(_ALL).fetchall()))

    async def act(self, act: ProfileAct, *, actor: Caller, os_user: str | None) -> ActNotLegal | None:
        return await self._writer.run(_ACT, Change(act, actor, os_user))

    async def quarantine(self, found: Quarantine) -> bool:
        return await self._writer.run(_QUARANTINE, found)
