"""The directory of sources: read on the event loop, changed through the writer."""

import asyncio
import sqlite3
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from adapters.store.database import aside
from adapters.store.directory_search import search_sources
from adapters.store.source_change import SourceChange, change
from adapters.store.source_rows import BY_ID, source_from
from adapters.store.writer import Rank, Transition, Writer
from gateway.domain.principal import Caller
from gateway.domain.request import SourceRef
from gateway.domain.source import KnownSource, Source, SourceAct, SourceActResult, SourceFact, unknown_source
from gateway.ports.reads import SourceFilter

_CHANGE: Transition[SourceChange, SourceActResult] = Transition(Rank.OTHER, change)


class StoredSources:
    """Implements ``gateway.ports.reads.Sources``."""

    def __init__(self, connection: sqlite3.Connection, writer: Writer, directory: Path) -> None:
        self._connection = connection
        self._writer = writer
        self._directory = directory

    async def facts(self, refs: Sequence[SourceRef]) -> tuple[KnownSource, ...]:
        return tuple(self._fact(ref) for ref in refs)

    async def search(self, wanted: SourceFilter) -> tuple[Source, ...]:
        return await asyncio.to_thread(aside, self._directory, partial(search_sources, wanted=wanted))

    async def change(self, act: SourceAct, *, actor: Caller, os_user: str | None) -> SourceActResult:
        return await self._writer.run(_CHANGE, SourceChange(act, actor, os_user))

    def _fact(self, ref: SourceRef) -> KnownSource:
        rows = self._connection.execute(BY_ID, {"id": ref.id}).fetchall()
        if not rows:
            return unknown_source(ref)
        row = source_from(rows[0])
        fact = SourceFact(
            known=True,
            cited=ref.revision,
            revision=row.revision,
            tenant=row.tenant,
            groups=row.groups,
            privacy_class=row.privacy_class,
            released_s=row.released_s,
            withdrawn=row.withdrawn,
            as_of_s=row.as_of_s,
        )
        return KnownSource(ref=ref, fact=fact, version=row.version)
