"""An operation with its last attempt, as it is read from its rows."""

from collections.abc import Sequence
from typing import Any

import msgspec
from sqlalchemy import func, select

from adapters.store.tables import attempt, operation
from gateway.domain.fingerprint import Fingerprint
from gateway.domain.operation import Attempt, Identity, Operation, State
from gateway.domain.request import SourceRef

SEND_BY_AND_MARGIN_US = (2 + 60) * 1_000_000
"""On top of the total timeout (design, section 4)."""

_fields = msgspec.json.Decoder(dict[str, str]).decode
_sources = msgspec.json.Decoder(tuple[SourceRef, ...]).decode

_earlier = attempt.alias("earlier")
_DISPATCHED = (
    select(func.count())
    .where(_earlier.c.op_id == operation.c.op_id, _earlier.c.dispatching_us.is_not(None))
    .scalar_subquery()
)
_LAST_N = select(func.max(_earlier.c.n)).where(_earlier.c.op_id == operation.c.op_id).scalar_subquery()
OPERATIONS = (
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
        attempt.c.reserved_cost,
        attempt.c.used_input,
        attempt.c.used_output,
        attempt.c.used_cost,
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


def unknown_after_us(dispatching_us: int, total_timeout_ms: int) -> int:
    """From when on a dispatch that is still open counts as unknown: nobody can still be sending."""
    return dispatching_us + total_timeout_ms * 1_000 + SEND_BY_AND_MARGIN_US


def operation_from(row: Sequence[Any]) -> Operation:
    """An operation from a row of ``OPERATIONS``."""
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
    ) = row
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
        reserved_cost,
        used_input,
        used_output,
        used_cost,
        usage_basis,
        detail,
        total_timeout_ms,
        granted_us,
        dispatching_us,
        finished_us,
    ) = row
    return Attempt(
        n=n,
        state=State(state),
        dispatch_id=dispatch_id,
        profile=profile,
        profile_digest=profile_digest,
        policy_revision=policy_revision,
        reserved_input=reserved_input,
        reserved_output=reserved_output,
        reserved_cost=reserved_cost,
        used_input=used_input,
        used_output=used_output,
        used_cost=used_cost,
        usage_basis=usage_basis,
        detail=detail,
        unknown_after_us=None if dispatching_us is None else unknown_after_us(dispatching_us, total_timeout_ms),
        granted_us=granted_us,
        dispatching_us=dispatching_us,
        finished_us=finished_us,
    )
