"""A key, as it is read from its row. The hash of its token never leaves the table."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import select

from adapters.store.tables import key
from gateway.ports.reads import Key

KEYS = select(key.c.id, key.c.tenant, key.c.principal, key.c.active, key.c.created_us, key.c.label)


def key_from(row: Sequence[Any]) -> Key:
    """A key from a row of ``KEYS``."""
    key_id, tenant, principal, active, created_us, label = row
    return Key(id=key_id, tenant=tenant, principal=principal, active=bool(active), created_us=created_us, label=label)
