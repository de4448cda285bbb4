"""Changes of the directory of sources, each with its audit row. What a change does is said by the domain."""

from collections.abc import Sequence

import msgspec
from msgspec import Struct
from msgspec.structs import asdict
from sqlalchemy import bindparam, select
from sqlalchemy.dialects.sqlite import insert

from adapters.store.batch import Batch
from adapters.store.directory import Directory
from adapters.store.source_rows import BY_ID, US, source_from
from adapters.store.statements import sql
from adapters.store.tables import source, withdrawal
from gateway.domain.principal import Caller
from gateway.domain.source import GrantSource, RevokeSource, Source, SourceAct, SourceActResult, WithdrawSource, changed

_encode = msgspec.json.Encoder().encode
_KINDS: dict[type[SourceAct], str] = {
    GrantSource: "source_granted",
    RevokeSource: "source_revoked",
    WithdrawSource: "source_withdrawn",
}
"""Kinds of audit rows."""

_insert = insert(source).values({column.name: bindparam(column.name) for column in source.columns})
_PUT = sql(
    _insert.on_conflict_do_update(
        index_elements=["id"],
        set_={column.name: _insert.excluded[column.name] for column in source.columns if not column.primary_key},
    )
)
_WITHDRAW = sql(
    insert(withdrawal)
    .values({column.name: bindparam(column.name) for column in withdrawal.columns})
    .on_conflict_do_nothing()
)
_IS_TAKEN_BACK = sql(
    select(withdrawal.c.at_us).where(
        withdrawal.c.source_id == bindparam("id"), withdrawal.c.revision == bindparam("revision")
    )
)


class SourceChange(Struct, frozen=True):
    """A change that somebody asks for."""

    act: SourceAct
    actor: Caller
    os_user: str | None


def change(batch: Batch, changes: Sequence[SourceChange]) -> list[SourceActResult | Exception]:
    """One after the other: each sees what those before it have left."""
    directory = Directory(batch.connection)
    return [directory.refusal_of(item.actor) or _change(batch, item) for item in changes]


def _change(batch: Batch, item: SourceChange) -> SourceActResult:
    act = item.act
    found = batch.connection.execute(BY_ID, {"id": act.id}).fetchone()
    row = None if found is None else source_from(found)
    result = changed(row, act, is_taken_back=_is_taken_back(batch, act))
    if not isinstance(result, Source) or result is row:
        return result
    _put(batch, result)
    if isinstance(act, WithdrawSource):
        batch.connection.execute(
            _WITHDRAW, {"source_id": result.id, "revision": result.revision, "at_us": batch.now_us}
        )
    _note(batch, item, result)
    return result


def _is_taken_back(batch: Batch, act: SourceAct) -> bool:
    if not isinstance(act, GrantSource):
        return False
    return batch.connection.execute(_IS_TAKEN_BACK, {"id": act.id, "revision": act.revision}).fetchone() is not None


def _put(batch: Batch, row: Source) -> None:
    batch.connection.execute(
        _PUT,
        {
            "id": row.id,
            "version": row.version,
            "revision": row.revision,
            "tenant": row.tenant,
            "groups": _encode(row.groups),
            "privacy_class": row.privacy_class,
            "released_us": row.released_s * US,
            "as_of_us": row.as_of_s * US,
        },
    )


def _note(batch: Batch, item: SourceChange, row: Source) -> None:
    """Who did it, and the row as it then is."""
    actor = item.actor.principal
    facts = asdict(row)
    del facts["id"]
    batch.audit(
        _KINDS[type(item.act)],
        tenant=actor.tenant,
        principal=actor.id,
        code=row.id,
        data=facts | {"os_user": item.os_user},
    )
