"""The directory of sources: read on the event loop, changed through the writer."""

import sqlite3
from collections.abc import Sequence

import msgspec
from sqlalchemy import bindparam, select
from sqlalchemy.dialects.sqlite import insert

from adapters.store.batch import Batch
from adapters.store.statements import sql
from adapters.store.tables import source
from adapters.store.writer import Rank, Transition, Writer
from gateway.domain.request import SourceRef
from gateway.domain.source import KnownSource, SourceFact, unknown_source
from gateway.ports.reads import SourceChange

_US = 1_000_000
_encode = msgspec.json.Encoder().encode
_groups = msgspec.json.Decoder(tuple[str, ...]).decode
_COLUMNS = ("revision", "tenant", "groups", "privacy_class", "released_us", "withdrawn")
_READ = sql(select(source.c.version, *(source.c[name] for name in _COLUMNS)).where(source.c.id == bindparam("id")))
_insert = insert(source).values(
    {"id": bindparam("id"), "version": bindparam("one")} | {name: bindparam(name) for name in _COLUMNS}
)
_PUT = sql(
    _insert.on_conflict_do_update(
        index_elements=["id"],
        set_={"version": source.c.version.op("+")(_insert.excluded.version)}
        | {name: _insert.excluded[name] for name in _COLUMNS},
    )
)


def _put(batch: Batch, changes: Sequence[SourceChange]) -> list[None]:
    """Every change raises the row's version, also one to the same values."""
    for change in changes:
        batch.connection.execute(
            _PUT,
            {
                "id": change.id,
                "one": 1,
                "revision": change.revision,
                "tenant": change.tenant,
                "groups": _encode(change.groups),
                "privacy_class": change.privacy_class,
                "released_us": change.released_s * _US,
                "withdrawn": int(change.withdrawn),
            },
        )
        actor = change.actor.principal if change.actor else None
        batch.audit(
            "source_changed",
            tenant=actor.tenant if actor else None,
            principal=actor.id if actor else None,
            code=change.id,
        )
    return [None] * len(changes)


_PUT_TRANSITION: Transition[SourceChange, None] = Transition(Rank.OTHER, _put)


class StoredSources:
    """Implements ``gateway.ports.reads.Sources``."""

    def __init__(self, connection: sqlite3.Connection, writer: Writer) -> None:
        self._connection = connection
        self._writer = writer

    async def facts(self, refs: Sequence[SourceRef]) -> tuple[KnownSource, ...]:
        return tuple(self._fact(ref) for ref in refs)

    async def put(self, change: SourceChange) -> None:
        """Add or change a source; durable with its audit row when it returns.

        :raises LedgerUnavailable: if nothing was stored.
        """
        await self._writer.run(_PUT_TRANSITION, change)

    def _fact(self, ref: SourceRef) -> KnownSource:
        rows = self._connection.execute(_READ, {"id": ref.id}).fetchall()
        if not rows:
            return unknown_source(ref)
        version, revision, tenant, groups, privacy_class, released_us, withdrawn = rows[0]
        fact = SourceFact(
            known=True,
            cited=ref.revision,
            revision=revision,
            tenant=tenant,
            groups=_groups(groups),
            privacy_class=privacy_class,
            released_s=released_us // _US,
            withdrawn=bool(withdrawn),
        )
        return KnownSource(ref=ref, fact=fact, version=version)
