"""Keys that are created and revoked, each with its audit row."""

from collections.abc import Callable, Sequence

from msgspec import Struct
from msgspec.structs import replace
from sqlalchemy import bindparam, literal_column, update

from adapters.store.batch import Batch
from adapters.store.directory import Directory
from adapters.store.key_rows import KEYS, key_from
from adapters.store.statements import Inserter, sql
from adapters.store.tables import key
from gateway.domain.principal import Caller
from gateway.ports.reads import Key

KEY_CREATED = "key_created"
KEY_REVOKED = "key_revoked"
"""Kinds of audit rows."""

_insert = Inserter(key)
_BY_ID = sql(KEYS.where(key.c.id == bindparam("id")))
_RETIRE = sql(
    update(key)
    .values(active=literal_column("0"))
    .where(key.c.tenant == bindparam("of_tenant"), key.c.principal == bindparam("of_principal"))
)
_REVOKE = sql(update(key).values(active=literal_column("0")).where(key.c.id == bindparam("of_id")))


class NewKey(Struct, frozen=True):
    """A key to be created."""

    key: Key
    credential_hash: bytes
    actor: Caller | None
    os_user: str | None = None
    alone: bool = False
    """Every other key of its principal stops counting."""


class Revocation(Struct, frozen=True):
    """A key that is to count no more."""

    key_id: str
    actor: Caller
    os_user: str | None


class KeyChanges:
    """``forget`` is called on the writer's thread after each COMMIT with changes of keys, whether it ended well or not.

    Each change looks at its actor's credential by itself: the one before it may have ended that.
    """

    def __init__(self, forget: Callable[[], None]) -> None:
        self._forget = forget

    def create(self, batch: Batch, items: Sequence[NewKey]) -> list[Exception | None]:
        """One after the other: of two that are to be alone, the later one is."""
        batch.after_commit(self._forget)
        return [_create(batch, item) for item in items]

    def revoke(self, batch: Batch, items: Sequence[Revocation]) -> list[Key | Exception | None]:
        """One after the other: of two for one key, the first leaves the audit row."""
        batch.after_commit(self._forget)
        return [_revoke(batch, item) for item in items]


def _create(batch: Batch, item: NewKey) -> Exception | None:
    if (refusal := Directory(batch.connection).refusal_of(item.actor)) is not None:
        return refusal
    if item.alone:
        batch.connection.execute(_RETIRE, {"of_tenant": item.key.tenant, "of_principal": item.key.principal})
    row = {
        "id": item.key.id,
        "credential_hash": item.credential_hash,
        "tenant": item.key.tenant,
        "principal": item.key.principal,
        "active": int(item.key.active),
        "label": item.key.label,
        "created_us": item.key.created_us,
    }
    _insert(batch.connection, [row])
    _note(batch, KEY_CREATED, item.key, item.actor, os_user=item.os_user, alone=item.alone)
    return None


def _revoke(batch: Batch, item: Revocation) -> Key | Exception | None:
    if (refusal := Directory(batch.connection).refusal_of(item.actor)) is not None:
        return refusal
    row = batch.connection.execute(_BY_ID, {"id": item.key_id}).fetchone()
    if row is None:
        return None
    found = key_from(row)
    if not found.active:
        return found
    batch.connection.execute(_REVOKE, {"of_id": item.key_id})
    _note(batch, KEY_REVOKED, found, item.actor, os_user=item.os_user)
    return replace(found, active=False)


def _note(batch: Batch, kind: str, of: Key, actor: Caller | None, **facts: str | bool | None) -> None:
    """Whose key it is, never its label: that is free text."""
    principal = actor.principal if actor else None
    batch.audit(
        kind,
        tenant=principal.tenant if principal else None,
        principal=principal.id if principal else None,
        code=of.id,
        data={"tenant": of.tenant, "principal": of.principal, **facts},
    )
