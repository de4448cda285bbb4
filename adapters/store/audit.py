"""Audit rows that are transitions of their own: a disclosure, a refusal, a reload."""

from collections.abc import Sequence

from adapters.store.batch import Batch
from adapters.store.claim import SOURCE_CHANGED
from adapters.store.directory import Directory
from adapters.store.tables import DISCLOSED, REFUSED, RELOADED
from gateway.ports.ledger import Disclosure, RefusalRecord, ReloadRecord, Stale


def disclose(batch: Batch, disclosures: Sequence[Disclosure]) -> list[Stale | None]:
    """A durable row before a saved body is shown, unless a source has changed since the decision (G6)."""
    directory = Directory(batch.connection)
    return [_disclose(batch, directory, item) for item in disclosures]


def _disclose(batch: Batch, directory: Directory, item: Disclosure) -> Stale | None:
    if not directory.unchanged(item.sources, item.source_versions):
        return Stale(SOURCE_CHANGED)
    reader = item.reader.principal
    batch.audit(
        DISCLOSED,
        tenant=reader.tenant,
        principal=reader.id,
        op_id=item.operation_id,
        data={"decision": item.decision, "source_versions": item.source_versions},
    )
    return None


def refuse(batch: Batch, records: Sequence[RefusalRecord]) -> list[None]:
    """One row for each refusal from authorise on."""
    for record in records:
        batch.audit(
            REFUSED,
            tenant=record.caller.principal.tenant,
            principal=record.caller.principal.id,
            op_id=record.operation_id,
            code=record.code,
            data={"policy_codes": record.policy_codes, "decisions": record.decisions},
        )
    return [None] * len(records)


def reloaded(batch: Batch, records: Sequence[ReloadRecord]) -> list[None]:
    """One row for each reload that was asked for, also for one that was refused."""
    for record in records:
        batch.audit(
            RELOADED,
            tenant=record.actor.principal.tenant,
            principal=record.actor.principal.id,
            code="taken" if record.taken else "refused",
            data={"registry_digest": record.registry_digest, "policy_revision": record.policy_revision},
        )
    return [None] * len(records)
