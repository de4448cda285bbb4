"""Every durable change of an operation. All methods await the commit of their transition.

They raise LedgerUnavailable (nothing stored), LedgerUncertain (a COMMIT failed) or IllegalMove. A change by an
actor looks at the actor's credential again: CredentialRevoked, and nothing is stored, if it does not count any more.
"""

from collections.abc import Callable
from typing import Protocol

from msgspec import Struct

from gateway.domain.budget import Reservation, Settlement
from gateway.domain.fingerprint import Fingerprint
from gateway.domain.limits import Budget, BudgetShort
from gateway.domain.money import Tariff
from gateway.domain.operation import Identity, State, StoredResult
from gateway.domain.principal import CANARY, SYSTEM_TENANT, Caller
from gateway.domain.questions import Decision
from gateway.domain.reconciliation import Act, ActResult
from gateway.domain.request import SourceRef


class Claim(Struct, frozen=True, kw_only=True):
    """T1: claim, decisions, holds and grant in one transaction (design, section 3)."""

    operation_id: str
    """Used if the operation is new; a uuid7."""
    identity: Identity
    credential_hash: bytes | None
    """None: a canary, whose owner has none. Any other claim without one is refused."""
    fingerprint: Fingerprint
    alias: str
    purpose: str
    sources: tuple[SourceRef, ...]
    source_versions: tuple[int, ...]
    """Versions that were decided upon, in the order of ``sources``."""
    snapshot_digest: str
    profile: str
    profile_digest: str
    bundle: str
    bundle_digest: str
    policy_revision: str
    access: Decision | None
    routes: Decision | None
    """Policy is asked about every claim but the canary's, in which there is nothing of a request."""
    dispatch_id: str
    reserved: Reservation
    tariff: Tariff
    """Prices of the profile, kept with the attempt: it is settled at those that it was reserved at."""
    budgets: tuple[Budget, ...]
    """Every scope that the attempt counts in, with its limits (condition 6). All of them, or none."""
    max_attempts: int
    total_timeout_ms: int

    @property
    def is_canary(self) -> bool:
        """Whether it is a readiness canary. Conditions 2 and 5, and T2's look at the profile, are left out for it
        alone: it is how a profile becomes ready, and nobody's credential stands behind it."""
        return (self.identity.tenant, self.identity.principal) == (SYSTEM_TENANT, CANARY)


class Granted(Struct, frozen=True):
    """T1 is durable: holds taken, provably unsent."""

    operation_id: str
    attempt: int


class AlreadyExists(Struct, frozen=True):
    """Condition 1 failed: back to look up."""


class Stale(Struct, frozen=True):
    """Conditions 2-5 failed: once more from authenticate. ``reason`` is one of a closed set."""

    reason: str


Claimed = Granted | AlreadyExists | Stale | BudgetShort
"""What becomes of a claim, in the order of T1's conditions: that the key exists wins over all others."""


class Dispatching(Struct, frozen=True):
    """T2 is durable: from here on the request may have been sent."""


class GrantLost(Struct, frozen=True):
    """T2's guard failed, so nothing may be sent; the attempt is ``released`` or never was."""

    reason: str


class Settled(Struct, frozen=True):
    """T3 is durable."""


class Superseded(Struct, frozen=True):
    """T3 lost its compare-and-set: the attempt is already in this state. The outcome went to evidence."""

    state: State


class Settle(Struct, frozen=True, kw_only=True):
    """T3: result and settlement in one transaction."""

    dispatch_id: str
    settlement: Settlement
    result: StoredResult | None
    provider_ref: str | None


class Disclosure(Struct, frozen=True, kw_only=True):
    """A saved body is about to be shown; the row is durable before the body leaves."""

    operation_id: str
    reader: Caller
    policy_revision: str
    """Under which it was decided."""
    decision: Decision
    sources: tuple[SourceRef, ...]
    source_versions: tuple[int, ...]


class RefusalRecord(Struct, frozen=True, kw_only=True):
    """A refusal from authorise on. Codes and ids only."""

    caller: Caller
    code: str
    policy_codes: tuple[str, ...]
    operation_id: str | None
    decisions: tuple[Decision, ...]


class ReloadRecord(Struct, frozen=True, kw_only=True):
    """Somebody has asked for a reload. The row is durable before he is told; without it the files do not stay."""

    actor: Caller
    taken: bool
    registry_digest: str
    """What is in force afterwards, with the revision below."""
    policy_revision: str


class Swept(Struct, frozen=True):
    """What a sweep moved."""

    released: tuple[str, ...]
    """Dispatch ids."""
    unknown: tuple[str, ...]


class Standing(Protocol):
    """T1's conditions 4 and 5, T2's look at the profile, and a disclosure's at the revision.

    Called from the writer's thread.
    """

    def objection(self, policy_revision: str | None, profile: str | None) -> str | None:
        """Why the transition must not happen now, or None. The revision is that of registry and rules together;
        ``None`` leaves them out, and so a profile."""

    def is_marked(self, profile: str) -> bool:
        """Whether it is drained or quarantined. Then a canary, which waits for no readiness, is not sent either."""

    def is_in_force(self, policy_revision: str) -> bool:
        """Whether what was decided under this revision still holds."""


class Ledger(Protocol):
    """The transitions."""

    async def claim(self, claim: Claim) -> Claimed:
        """T1. Claims are admitted in the order in which they arrive; a refused one takes nothing."""

    async def dispatch(self, dispatch_id: str) -> Dispatching | GrantLost:
        """T2. A grant older than 5 s, or one whose profile is no longer ready, is released instead."""

    async def settle(self, settle: Settle) -> Settled | Superseded: ...

    async def release(self, dispatch_id: str) -> None:
        """Give a grant back unsent. Nothing happens if the attempt is not ``granted`` any more."""

    async def disclose(self, disclosure: Disclosure) -> Stale | None:
        """None: the row is durable; credential, sources and revision are those decided upon."""

    async def refuse(self, record: RefusalRecord) -> None: ...

    async def reloaded(self, record: ReloadRecord) -> None:
        """:raises CredentialRevoked: the actor's credential does not count any more."""

    async def act(self, act: Act) -> ActResult:
        """An operator's act on an unknown, with its audit row and a row of evidence.

        ``no_effect`` is refused as too early until the sender has provably ended: an earlier incarnation, or
        the attempt's ``unknown_after_us`` has passed. ``free_slot`` frees the slot part of the holds alone.

        :raises CredentialRevoked: the actor's credential does not count any more.
        """

    async def sweep(self, alive: Callable[[], frozenset[str]], *, earlier_incarnations: bool) -> Swept:
        """Resolve attempts without a task: granted -> released, dispatching -> unknown.

        ``alive`` names the dispatch ids that this process still works on. It is called within the
        transaction: a set taken earlier would miss a grant that was committed since, and give it back
        under its owner's hands. At start ``earlier_incarnations`` is True and nothing is alive: whoever
        owned them has ended, for this process holds the lock.
        """
