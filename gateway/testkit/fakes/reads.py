"""Rows of the ledger in memory, and the reads over them."""

from collections.abc import Sequence

from msgspec.structs import replace

from gateway.domain.operation import REACHED_T2, Attempt, Identity, Operation, StoredResult
from gateway.domain.principal import Caller
from gateway.domain.request import SourceRef
from gateway.domain.source import KnownSource, SourceFact, unknown_source
from gateway.ports.ledger import Disclosure, RefusalRecord, Settle
from gateway.ports.reads import Key, SourceChange


class Rows:
    """All that is stored."""

    def __init__(self) -> None:
        self.incarnation = 1
        self.by_identity: dict[Identity, str] = {}
        self.operations: dict[str, Operation] = {}
        self.attempts: dict[str, list[Attempt]] = {}
        self.owners: dict[str, tuple[str, int, int]] = {}
        """Dispatch id to operation id, incarnation and total timeout in milliseconds."""
        self.results: dict[str, StoredResult] = {}
        self.evidence: list[Settle] = []
        self.audit: list[Disclosure | RefusalRecord] = []
        self.keys: dict[bytes, Key] = {}
        self.sources: dict[str, tuple[SourceChange, int]] = {}

    def attempt(self, dispatch_id: str) -> Attempt:
        attempts = self.attempts[self.owners[dispatch_id][0]]
        return next(attempt for attempt in attempts if attempt.dispatch_id == dispatch_id)

    def put(self, attempt: Attempt) -> None:
        self.attempts[self.owners[attempt.dispatch_id][0]][attempt.n - 1] = attempt

    def version(self, source_id: str) -> int:
        return self.sources[source_id][1] if source_id in self.sources else 0


class FakeOperations:
    """Implements ``gateway.ports.reads.Operations``."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows

    async def find(self, identity: Identity) -> Operation | None:
        operation_id = self._rows.by_identity.get(identity)
        return None if operation_id is None else await self.get(operation_id)

    async def get(self, operation_id: str) -> Operation | None:
        operation = self._rows.operations.get(operation_id)
        if operation is None:
            return None
        attempts = self._rows.attempts[operation_id]
        dispatched = sum(attempt.state in REACHED_T2 for attempt in attempts)
        return replace(operation, last=attempts[-1], attempts_dispatched=dispatched)

    async def result(self, operation_id: str) -> StoredResult | None:
        return self._rows.results.get(operation_id)


class FakeSources:
    """Implements ``gateway.ports.reads.Sources``."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows

    async def facts(self, refs: Sequence[SourceRef]) -> tuple[KnownSource, ...]:
        return tuple(self._fact(ref) for ref in refs)

    async def put(self, change: SourceChange) -> None:
        self._rows.sources[change.id] = (change, self._rows.version(change.id) + 1)

    def _fact(self, ref: SourceRef) -> KnownSource:
        if ref.id not in self._rows.sources:
            return unknown_source(ref)
        row, version = self._rows.sources[ref.id]
        fact = SourceFact(
            known=True,
            cited=ref.revision,
            revision=row.revision,
            tenant=row.tenant,
            groups=row.groups,
            privacy_class=row.privacy_class,
            released_s=row.released_s,
            withdrawn=row.withdrawn,
        )
        return KnownSource(ref=ref, fact=fact, version=version)


class FakeKeys:
    """Implements ``gateway.ports.reads.Keys``."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows

    async def find(self, credential_hash: bytes) -> Key | None:
        return self._rows.keys.get(credential_hash)

    async def create(self, key: Key, credential_hash: bytes, *, actor: Caller | None) -> None:  # noqa: ARG002 - the port's name
        self._rows.keys[credential_hash] = key
