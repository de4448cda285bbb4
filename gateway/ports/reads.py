"""What is read from the store. Reads see committed rows only and never wait for the writer."""

from collections.abc import Sequence
from typing import Any, Protocol

from msgspec import Struct

from gateway.domain.budget import Scope
from gateway.domain.limits import Sums
from gateway.domain.operation import Identity, Operation, State, StoredResult
from gateway.domain.principal import Caller
from gateway.domain.questions import Decision
from gateway.domain.request import SourceRef
from gateway.domain.source import KnownSource, Source, SourceAct, SourceActResult

LONGEST_PAGE = 501
"""What one search gives at most: a page of 500, and one more, which tells that there are more."""


class OperationFilter(Struct, frozen=True, kw_only=True):
    """Which operations to list, newest first."""

    states: tuple[State, ...] = ()
    """States of the last attempt; empty: all."""
    tenant: str | None = None
    profile: str | None = None
    """Profile of the last attempt."""
    before: str | None = None
    """Only operations older than this one: its id, from the page before."""
    limit: int = 50
    """At most LONGEST_PAGE, whatever is asked for."""


class TimelineEntry(Struct, frozen=True, kw_only=True):
    """Something that happened to an operation. ``facts`` hold ids, codes, digests and amounts only."""

    at_us: int
    event: str
    """One of: claimed, dispatching, settled, unknown, released, closed, slot_freed, evidence, disclosed, refused."""
    attempt: int | None
    facts: dict[str, Any]


class StrandedHold(Struct, frozen=True, kw_only=True):
    """A hold that only evidence or an operator can end."""

    operation_id: str
    attempt: int
    scope: Scope
    tokens: int
    slot_held: bool
    since_us: int
    """When the attempt was dispatched."""


class ScopeSums(Struct, frozen=True):
    """What a scope counts, in the windows of its last change."""

    scope: Scope
    sums: Sums


class OutcomeFilter(Struct, frozen=True, kw_only=True):
    """Which attempts to count: those of operations that were first asked for at this time or later."""

    since_us: int
    profile: str | None = None
    """Of the attempt."""
    tenant: str | None = None

    @property
    def first_id(self) -> str:
        """No operation of that time has a smaller id: the first 48 bits of a uuid7 are milliseconds, rounded up here
        so that none before it is counted. Of a time before 1970 it begins with a minus, which stands before digits."""
        milliseconds = f"{-(-self.since_us // 1_000):012x}"
        return f"{milliseconds[:8]}-{milliseconds[8:]}-"


class OutcomeSums(Struct, frozen=True, kw_only=True):
    """Attempts of one profile that came to the same, and what of them counts."""

    profile: str
    outcome: str
    """The state of the attempts; content_filter for completed ones that the provider's filter cut short."""
    attempts: int
    at_reservation: int
    """So many of them count with what was reserved, because what was used is not known (yet)."""
    input: int
    output: int
    cost: int
    """Micro-units of the currency."""


class InUse(Struct, frozen=True, kw_only=True):
    """Ids that operations still count against: open ones, and ones whose holds are still held."""

    tenants: frozenset[str]
    principals: frozenset[tuple[str, str]]
    """Tenant and service account."""
    profiles: frozenset[str]
    quota_scopes: frozenset[str]


class Accounts(Protocol):
    """The ledger as a whole. Each reads one snapshot and may take seconds, so not on the event loop's thread."""

    async def verify(self) -> tuple[str, ...]:
        """Every difference between counters and holds and every broken invariant, as a sentence; none: ()."""

    async def stranded(self) -> tuple[StrandedHold, ...]:
        """Holds of attempts whose outcome is unknown, oldest first."""

    async def usage(self) -> tuple[ScopeSums, ...]:
        """Every scope that ever counted something, in the order of scopes."""

    async def outcomes(self, wanted: OutcomeFilter) -> tuple[OutcomeSums, ...]:
        """What attempts came to, in the order of profiles and outcomes."""

    async def in_use(self) -> InUse:
        """Ids that a registry must not drop now."""


class RecordedDecision(Struct, frozen=True, kw_only=True):
    """A decision of policy, with the audit row that names it."""

    decision: Decision
    at_us: int
    event: str
    """granted, disclosed or refused."""
    code: str
    """Of the refusal, or the profile of the grant; empty for a disclosure."""
    tenant: str
    principal: str
    operation_id: str | None


class Decisions(Protocol):
    """Decisions in the audit."""

    async def find(self, decision_id: str) -> RecordedDecision | None:
        """Walks over the audit rows of that time, so not on the event loop's thread."""


class Operations(Protocol):
    """Operations by identity and by id."""

    async def search(self, wanted: OperationFilter) -> tuple[Operation, ...]: ...

    async def timeline(self, operation_id: str) -> tuple[TimelineEntry, ...]:
        """All that happened, in order; empty for an operation that does not exist."""

    async def find(self, identity: Identity) -> Operation | None: ...

    async def get(self, operation_id: str) -> Operation | None: ...

    async def result(self, operation_id: str) -> StoredResult | None:
        """None: not completed, or the body has been purged."""


class SourceFilter(Struct, frozen=True, kw_only=True):
    """Which sources to list, by id."""

    tenant: str | None = None
    group: str | None = None
    withdrawn: bool | None = None
    after: str | None = None
    """Only sources after this id: the last one of the page before."""
    limit: int = 50
    """At most LONGEST_PAGE, whatever is asked for."""


class Sources(Protocol):
    """The directory of sources."""

    async def facts(self, refs: Sequence[SourceRef]) -> tuple[KnownSource, ...]:
        """One fact for each reference, in order; without a row a fact with ``known`` false."""

    async def search(self, wanted: SourceFilter) -> tuple[Source, ...]: ...

    async def change(self, act: SourceAct, *, actor: Caller, os_user: str | None) -> SourceActResult:
        """Durable with its audit row when it returns. Every change raises the row's version, also one to itself.

        What is withdrawn already is not withdrawn again: the row as it is, without an audit row.

        :raises LedgerUnavailable: nothing was stored.
        :raises CredentialRevoked: the actor's credential does not count any more; nothing was stored.
        """


class Key(Struct, frozen=True, kw_only=True):
    """A credential as stored: whose it is, and whether it still counts."""

    id: str
    tenant: str
    principal: str
    active: bool
    created_us: int
    label: str


class KeyFilter(Struct, frozen=True, kw_only=True):
    """Which keys to list, newest first."""

    tenant: str | None = None
    principal: str | None = None
    active: bool | None = None
    before: str | None = None
    """Only keys older than this one: its id, from the page before."""
    limit: int = 50
    """At most LONGEST_PAGE, whatever is asked for."""


class Keys(Protocol):
    """Credentials by the hash of their token."""

    async def find(self, credential_hash: bytes) -> Key | None:
        """Read at every request. Once a change of keys has been acknowledged, nothing older is found."""

    async def create(
        self,
        key: Key,
        credential_hash: bytes,
        *,
        actor: Caller | None,
        os_user: str | None = None,
        alone: bool = False,
    ) -> None:
        """Durable when it returns, with its audit row. ``actor`` None is the server itself at start.

        With ``alone`` every other key of the same principal stops counting, in the same transaction.

        :raises LedgerUnavailable: nothing was stored.
        :raises CredentialRevoked: the actor's credential does not count any more; nothing was stored.
        """

    async def search(self, wanted: KeyFilter) -> tuple[Key, ...]: ...

    async def revoke(self, key_id: str, *, actor: Caller, os_user: str | None) -> Key | None:
        """The key as it then is, durable with its audit row; None: there is no such key. Twice is once.

        A principal may revoke its own key.

        :raises LedgerUnavailable: nothing was stored.
        :raises CredentialRevoked: the actor's credential does not count any more; nothing was stored.
        """
