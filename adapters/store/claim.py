"""T1, the point of decision: claim, decisions, holds and grant in one transaction (design, section 3)."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from sqlalchemy import bindparam, select

from adapters.store import holds
from adapters.store.batch import Batch
from adapters.store.directory import Directory
from adapters.store.statements import Inserter, sql
from adapters.store.tables import attempt, operation
from gateway.domain.operation import REACHED_T2, REPEATABLE, State
from gateway.ports.ledger import AlreadyExists, Claim, Claimed, Granted, Stale, Standing

CREDENTIAL_INACTIVE = "credential_inactive"
SOURCE_CHANGED = "source_changed"

_encode = msgspec.json.Encoder().encode
_insert_operations = Inserter(operation)
_insert_attempts = Inserter(attempt)
_EXISTING = sql(
    select(
        operation.c.op_id,
        operation.c.fingerprint_v,
        operation.c.fingerprint,
        operation.c.bundle_digest,
        operation.c.max_attempts,
    ).where(
        operation.c.tenant == bindparam("tenant"),
        operation.c.principal == bindparam("principal"),
        operation.c.key_hash == bindparam("key_hash"),
    )
)
_ATTEMPTS = sql(select(attempt.c.n, attempt.c.state).where(attempt.c.op_id == bindparam("id")).order_by(attempt.c.n))


class Claims:
    """Takes claims in arrival order: of two with one key the first is granted, and so of two for the last room."""

    def __init__(self, standing: Standing | None) -> None:
        self._standing = standing

    def apply(self, batch: Batch, claims: Sequence[Claim]) -> list[Claimed]:
        directory = Directory(batch.connection)
        granted_now: set[tuple[str, str, bytes]] = set()
        operations: list[Mapping[str, Any]] = []
        attempts: list[Mapping[str, Any]] = []
        held: list[Mapping[str, Any]] = []
        answers: list[Claimed] = []
        for claim in claims:
            identity = claim.identity
            name = (identity.tenant, identity.principal, identity.key_hash)
            place = AlreadyExists() if name in granted_now else _place(batch, claim)
            if isinstance(place, AlreadyExists):
                answers.append(place)
                continue
            refused = self._objection(directory, claim) or batch.budgets.short(claim.budgets, claim.reserved)
            if refused is not None:
                answers.append(refused)
                continue
            granted_now.add(name)
            if place.attempt == 1:
                operations.append(_operation_row(batch, claim))
            decisions = _encode({"access": claim.access, "routes": claim.routes})
            attempts.append(_attempt_row(batch, claim, place, decisions))
            held.extend(holds.take(batch, place.operation_id, place.attempt, claim.budgets, claim.reserved))
            batch.audit(
                State.GRANTED,
                tenant=identity.tenant,
                principal=identity.principal,
                op_id=place.operation_id,
                n=place.attempt,
                code=claim.profile,
                data=decisions,
            )
            answers.append(place)
        _insert_operations(batch.connection, operations)
        _insert_attempts(batch.connection, attempts)
        holds.insert(batch, held)
        return answers

    def _objection(self, directory: Directory, claim: Claim) -> Stale | None:
        """Conditions 2 to 5."""
        identity = claim.identity
        if not claim.is_canary and not directory.owns(identity.tenant, identity.principal, claim.credential_hash):
            return Stale(CREDENTIAL_INACTIVE)
        if not directory.unchanged(claim.sources, claim.source_versions):
            return Stale(SOURCE_CHANGED)
        if self._standing is None:
            return None
        reason = self._standing.objection(claim.policy_revision, None if claim.is_canary else claim.profile)
        return None if reason is None else Stale(reason)


def _place(batch: Batch, claim: Claim) -> Granted | AlreadyExists:
    """Condition 1: where this attempt would stand, or that the key is taken."""
    identity = claim.identity
    row = batch.connection.execute(
        _EXISTING, {"tenant": identity.tenant, "principal": identity.principal, "key_hash": identity.key_hash}
    ).fetchone()
    if row is None:
        return Granted(claim.operation_id, 1)
    op_id, version, digest, bundle_digest, max_attempts = row
    earlier = batch.connection.execute(_ATTEMPTS, {"id": op_id}).fetchall()
    dispatched = sum(state in REACHED_T2 for _, state in earlier)
    last_n, last_state = earlier[-1]
    same = (version, digest, bundle_digest) == (
        claim.fingerprint.version,
        claim.fingerprint.digest,
        claim.bundle_digest,
    )
    if same and last_state in REPEATABLE and dispatched < max_attempts:
        return Granted(op_id, last_n + 1)
    return AlreadyExists()


def _operation_row(batch: Batch, claim: Claim) -> Mapping[str, Any]:
    return {
        "op_id": claim.operation_id,
        "tenant": claim.identity.tenant,
        "principal": claim.identity.principal,
        "key_hash": claim.identity.key_hash,
        "fingerprint_v": claim.fingerprint.version,
        "fingerprint": claim.fingerprint.digest,
        "fingerprint_fields": _encode(claim.fingerprint.fields),
        "alias": claim.alias,
        "purpose": claim.purpose,
        "sources": _encode(claim.sources),
        "bundle": claim.bundle,
        "bundle_digest": claim.bundle_digest,
        "max_attempts": claim.max_attempts,
        "created_us": batch.now_us,
    }


def _attempt_row(batch: Batch, claim: Claim, place: Granted, decisions: bytes) -> Mapping[str, Any]:
    return {
        "op_id": place.operation_id,
        "n": place.attempt,
        "state": State.GRANTED.value,
        "dispatch_id": claim.dispatch_id,
        "incarnation": batch.incarnation,
        "profile": claim.profile,
        "profile_digest": claim.profile_digest,
        "bundle_digest": claim.bundle_digest,
        "policy_revision": claim.policy_revision,
        "snapshot_digest": claim.snapshot_digest,
        "decisions": decisions,
        "reserved_input": claim.reserved.input,
        "reserved_output": claim.reserved.output,
        "reserved_cost": claim.reserved.cost,
        "tariff": _encode(claim.tariff),
        "total_timeout_ms": claim.total_timeout_ms,
        "granted_us": batch.now_us,
        "dispatching_us": None,
        "finished_us": None,
        "used_input": None,
        "used_output": None,
        "used_cost": None,
        "usage_basis": None,
        "detail": None,
        "provider_ref": None,
        "result_digest": None,
    }
