"""Audit rows that are transitions of their own: a disclosure, a refusal, a reload."""

from collections.abc import Sequence

from adapters.store.batch import Batch
from adapters.store.claim import CREDENTIAL_INACTIVE, SOURCE_CHANGED
from adapters.store.directory import Directory
from adapters.store.tables import DISCLOSED, REFUSED, RELOADED
from gateway.ports.ledger import Disclosure, RefusalRecord, ReloadRecord, Stale, Standing

REGISTRY_CHANGED = "registry_changed"


class Disclosures:
    """A durable row before a saved body is shown, unless what was decided upon has changed since (G6)."""

    def __init__(self, standing: Standing | None) -> None:
        self._standing = standing

    def apply(self, batch: Batch, disclosures: Sequence[Disclosure]) -> list[Stale | None]:
        directory = Directory(batch.connection)
        return [self._disclose(batch, directory, item) for item in disclosures]

    def _disclose(self, batch: Batch, directory: Directory, item: Disclosure) -> Stale | None:
        if (objection := self._objection(directory, item)) is not None:
            return Stale(objection)
        reader = item.reader.principal
        batch.audit(
            DISCLOSED,
            tenant=reader.tenant,
            principal=reader.id,
            op_id=item.operation_id,
            data={"decision": item.decision, "source_versions": item.source_versions},
        )
        return None

    def _objection(self, directory: Directory, item: Disclosure) -> str | None:
        """As at T1: the reader's credential, the sources, the revision."""
        reader = item.reader
        if not directory.owns(reader.principal.tenant, reader.principal.id, reader.credential_hash):
            return CREDENTIAL_INACTIVE
        if not directory.unchanged(item.sources, item.source_versions):
            return SOURCE_CHANGED
        if self._standing is not None and not self._standing.is_in_force(item.policy_revision):
            return REGISTRY_CHANGED
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


def reloaded(batch: Batch, records: Sequence[ReloadRecord]) -> list[Exception | None]:
    """One row for each reload that was asked for, also for one that was refused."""
    directory = Directory(batch.connection)
    return [_reloaded(batch, directory, record) for record in records]


def _reloaded(batch: Batch, directory: Directory, record: ReloadRecord) -> Exception | None:
    if (refusal := directory.refusal_of(record.actor)) is not None:
        return refusal
    batch.audit(
        RELOADED,
        tenant=record.actor.principal.tenant,
        principal=record.actor.principal.id,
        code="taken" if record.taken else "refused",
        data={"registry_digest": record.registry_digest, "policy_revision": record.policy_revision},
    )
    return None
