"""Operators close unknown outcomes and read the ledger. The actor is the permit's principal, never a flag."""

import math
from collections.abc import Collection

from msgspec import Struct

from gateway.domain.budget import Scope
from gateway.domain.errors import CredentialRevoked, LedgerUnavailable
from gateway.domain.limits import Ceilings, Sums, ceilings
from gateway.domain.operation import Operation
from gateway.domain.reconciliation import Act, ActKind, Done, NoSuchOperation, NotLegal, TooEarly
from gateway.domain.refusal import Code, Refusal
from gateway.domain.snapshot import Snapshot
from gateway.domain.usage import Usage
from gateway.domain.windows import windows
from gateway.ports.clock import Clock
from gateway.ports.ledger import Ledger
from gateway.ports.reads import Accounts, OperationFilter, Operations, OutcomeFilter, OutcomeSums, StrandedHold
from gateway.service.administer import Permit


class ScopeUsage(Struct, frozen=True):
    """What a scope counts in the windows of now, beside its limits; None where the registry has no such scope."""

    scope: Scope
    limits: Ceilings | None
    sums: Sums


class Operators:
    """What policy permits on operations and on the ledger."""

    def __init__(
        self, ledger: Ledger, operations: Operations, accounts: Accounts, clock: Clock, *, os_user: str | None
    ) -> None:
        self._ledger = ledger
        self._operations = operations
        self._accounts = accounts
        self._clock = clock
        self._os_user = os_user

    async def search(self, permit: Permit, wanted: OperationFilter) -> tuple[Operation, ...]:
        """Operations of all tenants, newest first."""
        permit.actor("operations", "read")
        return await self._operations.search(wanted)

    async def act(
        self, permit: Permit, kind: ActKind, operation_id: str, words: str, used: Usage | None = None
    ) -> Operation | Refusal:
        """Close an unknown, or free its slot; the operation as it then is."""
        actor = permit.actor("operations", "change")
        act = Act(
            kind=kind,
            operation_id=operation_id,
            actor=actor,
            os_user=self._os_user,
            words=words,
            used=used,
        )
        try:
            done = await self._ledger.act(act)
        except LedgerUnavailable:
            return Refusal(code=Code.LEDGER_UNAVAILABLE)
        except CredentialRevoked:
            return Refusal(code=Code.UNAUTHENTICATED)
        match done:
            case NoSuchOperation():
                return Refusal(code=Code.UNKNOWN_OPERATION)
            case NotLegal(state=state):
                return Refusal(code=Code.ACT_NOT_LEGAL, operation_id=operation_id, operation_state=state)
            case TooEarly(not_before_us=not_before_us):
                wait_s = math.ceil((not_before_us - self._clock.now_us()) / 1_000_000)
                return Refusal(code=Code.ACT_TOO_EARLY, operation_id=operation_id, retry_after_s=max(1, wait_s))
            case Done():
                found = await self._operations.get(operation_id)
                assert found is not None, "it was there a moment ago, and nothing deletes operations"
                return found

    async def verify(self, permit: Permit) -> tuple[str, ...]:
        """Differences between counters and holds, and broken invariants; none is as it must be."""
        permit.actor("ledger", "read")
        return await self._accounts.verify()

    async def usage(self, permit: Permit, only: Collection[Scope] = ()) -> tuple[ScopeUsage, ...]:
        """Every scope of the registry and of the ledger, or only some."""
        permit.actor("ledger", "read")
        limits = _limits(permit.snapshot)
        counted = {one.scope: one.sums for one in await self._accounts.usage()}
        now = windows(self._clock.now_us())
        found = []
        for scope in sorted(limits.keys() | counted.keys()):
            if not only or scope in only:
                sums = counted.get(scope, Sums(now.minute_us, day_us=now.day_us, month_us=now.month_us))
                sums.roll(now)
                found.append(ScopeUsage(scope, limits.get(scope), sums))
        return tuple(found)

    async def outcomes(self, permit: Permit, wanted: OutcomeFilter) -> tuple[OutcomeSums, ...]:
        """What attempts came to, by profile, and what of them counts."""
        permit.actor("ledger", "read")
        return await self._accounts.outcomes(wanted)

    async def stranded(self, permit: Permit) -> tuple[StrandedHold, ...]:
        """Holds that only evidence or an operator can end."""
        permit.actor("ledger", "read")
        return await self._accounts.stranded()


def _limits(snapshot: Snapshot) -> dict[Scope, Ceilings]:
    """The limits of every scope of a registry."""
    return (
        {Scope("profile", id_): ceilings(profile.limits) for id_, profile in snapshot.profiles.items()}
        | {Scope("quota_scope", id_): ceilings(scope.limits) for id_, scope in snapshot.quota_scopes.items()}
        | {Scope("tenant", id_): ceilings(tenant.limits) for id_, tenant in snapshot.tenants.items()}
    )
