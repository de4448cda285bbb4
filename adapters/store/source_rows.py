"""A source, as it is read from its row and from what was withdrawn of it."""

from collections.abc import Sequence
from typing import Any

import msgspec
from sqlalchemy import bindparam, select

from adapters.store.statements import sql
from adapters.store.tables import source, withdrawal
from gateway.domain.source import Source

US = 1_000_000

_groups = msgspec.json.Decoder(tuple[str, ...]).decode

IS_WITHDRAWN = (
    select(withdrawal.c.source_id)
    .where(withdrawal.c.source_id == source.c.id, withdrawal.c.revision == source.c.revision)
    .exists()
)
SOURCES = select(
    source.c.id,
    source.c.tenant,
    source.c.groups,
    source.c.privacy_class,
    source.c.revision,
    source.c.released_us,
    IS_WITHDRAWN,
    source.c.as_of_us,
    source.c.version,
)
BY_ID = sql(SOURCES.where(source.c.id == bindparam("id")))


def source_from(row: Sequence[Any]) -> Source:
    """A source from a row of ``SOURCES``."""
    source_id, tenant, groups, privacy_class, revision, released_us, withdrawn, as_of_us, version = row
    return Source(
        id=source_id,
        tenant=tenant,
        groups=_groups(groups),
        privacy_class=privacy_class,
        revision=revision,
        released_s=released_us // US,
        withdrawn=bool(withdrawn),
        as_of_s=as_of_us // US,
        version=version,
    )
