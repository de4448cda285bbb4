"""Operations as readers see them. Reads run on the event loop: a point read costs less than a hand-over."""

import sqlite3
from collections.abc import Sequence
from typing import Any

import msgspec
from sqlalchemy import bindparam, func, select

from adapters.store.statements import sql
from adapters.store.tables import attempt, operation, result
from gateway.domain.fingerprint import Fingerprint
from gateway.domain.operation import Attempt, Identity, Operation, State, StoredResult
from gateway.domain.request import SourceRef

UNKNOWN_AFTER_US = (2 + 60) * 1_000_000
"""Send-by deadline and margin, on top of the total timeout (design, section 4)."""

_fields = msgspec.json.Decoder(dict[str, str]).decode
_sources = msgspec.json.Decoder(tuple[SourceRef, ...]).decode

_earlier = attempt.alias("earlier")
_DISPATCHED = (
    select(func.count())
    .where(_earlier.c.op_id == operation.c.op_id, _earlier.c.dispatching_us.is_not(None))
    .scalar_subquery()
)
_LAST_N = select(func.max(_earlier.c.n)).where(_earlier.c.op_id == operation.c.op_id).scalar_subquery()
_LAST = (
    select(
        operation.c.op_id,
        operation.c.tenant,
        operation.c.principal,
        operation.c.key_hash,
        operation.c.fingerprint_v,
        operation.c.fingerprint,
        operation.c.fingerprint_fields,
        operation.c.alias,
        operation.c.purpose,
        operation.c.sources,
        operation.c.bundle,
        operation.c.bundle_digest,
        operation.c.max_attempts,
        operation.c.created_us,
        _DISPATCHED,
        attempt.c.n,
        attempt.c.state,
        attempt.c.dispatch_id,
        attempt.c.profile,
        attempt.c.profile_digest,
        attempt.c.policy_revision,
        attempt.c.reserved_input,
        attempt.c.reserved_output,
        attempt.c.used_input,
        attempt.c.used_output,
        attempt.c.usage_basis,
        attempt.c.detail,
        attempt.c.total_timeout_ms,
        attempt.c.granted_us,
        attempt.c.dispatching_us,
        attempt.c.finished_us,
    )
    .join_from(operation, attempt, attempt.c.op_id == operation.c.op_id)
    .where(attempt.c.n == _LAST_N)
)
_BY_ID = sql(_LAST.where(operation.c.op_id == bindparam("id")))
_BY_IDENTITY = sql(
    _LAST.where(
        operation.c.tenant == bindparam("tenant"),
        operation.c.principal == bindparam("principal"),
        operation.c.key_hash == bindparam("key_hash"),
    )
)
_RESULT = sql(select(result.c.body, result.c.digest).where(result.c.op_id == bindparam("id")))


class StoredOperations:
    """Implements ``gateway.ports.reads.Operations``."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    async def find(self, identity: Identity) -> Operation | None:
        key = {"tenant": identity.tenant, "principal": identity.principal, "key_hash": identity.key_hash}
        return _operation(self._connection.execute(_BY_IDENTITY, key).fetchall())

    async def get(self, operation_id: str) -> Operation | None:
        return _operation(self._connection.execute(_BY_ID, {"id": operation_id}).fetchall())

    async def result(self, operation_id: str) -> StoredResult | None:
        # fetchall, here and above: a statement that is left half read keeps an old snapshot open.
        rows = self._connection.execute(_RESULT, {"id": operation_id}).fetchall()
        return StoredResult(*rows[0]) if rows else None


def _operation(rows: list[tuple[Any, ...]]) -> Operation | None:
    if not rows:
        return None
    (
        op_id,
        tenant,
        principal,
        key_hash,
        fingerprint_v,
        fingerprint,
        fingerprint_fields,
        alias,
        purpose,
        sources,
        bundle,
        bundle_digest,
        max_attempts,
        created_us,
        dispatched,
        *last,
    ) = rows[0]
    return Operation(
        id=op_id,
        identity=Identity(tenant, principal, key_hash),
        fingerprint=Fingerprint(fingerprint_v, fingerprint, _fields(fingerprint_fields)),
        alias=alias,
        purpose=purpose,
        sources=_sources(sources),
        bundle=bundle,
        bundle_digest=bundle_digest,
        max_attempts=max_attempts,
        attempts_dispatched=dispatched,
        created_us=created_us,
        last=_attempt(last),
    )


def _attempt(row: Sequence[Any]) -> Attempt:
    (
        n,
        state,
        dispatch_id,
        profile,
        profile_digest,
        policy_revision,
        reserved_input,
        reserved_output,
        used_input,
        used_output,
        usage_basis,
        detail,
        total_timeout_ms,
        granted_us,
        dispatching_us,
        finished_us,
    ) = row
    unknown_after = None if dispatching_us is None else dispatching_us + total_timeout_ms * 1_000 + UNKNOWN_AFTER_US
    return Attempt(
        n=n,
        state=State(state),
        dispatch_id=dispatch_id,
        profile=profile,
        profile_digest=profile_digest,
        policy_revision=policy_revision,
        reserved_input=reserved_input,
        reserved_output=reserved_output,
        used_input=used_input,
        used_output=used_output,
        usage_basis=usage_basis,
        detail=detail,
        unknown_after_us=unknown_after,
        granted_us=granted_us,
        dispatching_us=dispatching_us,
        finished_us=finished_us,
    )
