"""Reads of the ledger in memory."""

from msgspec.structs import replace

from gateway.domain.operation import HOLDING, REACHED_T2, Attempt, Identity, Operation, State, StoredResult
from gateway.ports.reads import (
    LONGEST_PAGE,
    InUse,
    OperationFilter,
    OutcomeFilter,
    OutcomeSums,
    RecordedDecision,
    ScopeSums,
    StrandedHold,
    TimelineEntry,
)
from gateway.testkit.fakes.rows import Rows


class FakeOperations:
    """Implements ``gateway.ports.reads.Operations``."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows

    async def search(self, wanted: OperationFilter) -> tuple[Operation, ...]:
        found = [await self.get(operation_id) for operation_id in sorted(self._rows.operations, reverse=True)]
        fitting = [one for one in found if one is not None and _fits(one, wanted)]
        return tuple(fitting[: min(max(wanted.limit, 0), LONGEST_PAGE)])

    async def timeline(self, operation_id: str) -> tuple[TimelineEntry, ...]:
        exists = operation_id in self._rows.operations
        return tuple(self._rows.history[operation_id]) if exists else ()

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


def _fits(operation: Operation, wanted: OperationFilter) -> bool:
    return (
        (not wanted.states or operation.last.state in wanted.states)
        and wanted.tenant in (None, operation.identity.tenant)
        and wanted.profile in (None, operation.last.profile)
        and (wanted.before is None or operation.id < wanted.before)
    )


class FakeAccounts:
    """Implements ``gateway.ports.reads.Accounts``. There are no counters here that could differ from the holds."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows

    async def verify(self) -> tuple[str, ...]:
        return ()

    async def stranded(self) -> tuple[StrandedHold, ...]:
        holds = [
            StrandedHold(
                operation_id=operation_id,
                attempt=attempt.n,
                scope=scope,
                tokens=attempt.reserved_input + attempt.reserved_output,
                slot_held=self._rows.budgets.holds[attempt.dispatch_id].slot_held,
                since_us=attempt.dispatching_us or 0,
            )
            for operation_id, attempt in self._rows.open_attempts()
            if attempt.state is State.UNKNOWN
            for scope in self._rows.budgets.holds[attempt.dispatch_id].scopes
        ]
        return tuple(sorted(holds, key=lambda hold: (hold.since_us, hold.operation_id, hold.scope)))

    async def usage(self) -> tuple[ScopeSums, ...]:
        return self._rows.budgets.usage()

    async def outcomes(self, wanted: OutcomeFilter) -> tuple[OutcomeSums, ...]:
        groups: dict[tuple[str, str], list[Attempt]] = {}
        for operation_id, attempts in self._rows.attempts.items():
            tenant = self._rows.operations[operation_id].identity.tenant
            for attempt in attempts:
                if (
                    operation_id >= wanted.first_id
                    and wanted.profile in (None, attempt.profile)
                    and wanted.tenant in (None, tenant)
                ):
                    groups.setdefault((attempt.profile, _outcome(attempt)), []).append(attempt)
        return tuple(_sums(profile, outcome, groups[profile, outcome]) for profile, outcome in sorted(groups))

    async def in_use(self) -> InUse:
        opened = [
            (self._rows.operations[operation_id].identity, attempt)
            for operation_id, attempt in self._rows.open_attempts()
        ]
        holds = self._rows.budgets.holds
        scopes = [scope for _, attempt in opened for scope in holds[attempt.dispatch_id].scopes]
        return InUse(
            tenants=frozenset(identity.tenant for identity, _ in opened),
            principals=frozenset((identity.tenant, identity.principal) for identity, _ in opened),
            profiles=frozenset(attempt.profile for _, attempt in opened),
            quota_scopes=frozenset(scope.id for scope in scopes if scope.kind == "quota_scope"),
        )


def _outcome(attempt: Attempt) -> str:
    is_filtered = attempt.state is State.COMPLETED and attempt.detail == "content_filter"
    return "content_filter" if is_filtered else attempt.state.value


def _sums(profile: str, outcome: str, attempts: list[Attempt]) -> OutcomeSums:
    """What is used; of an open attempt what is reserved; of one without effect nothing."""
    held = [attempt for attempt in attempts if attempt.state in HOLDING]
    return OutcomeSums(
        profile=profile,
        outcome=outcome,
        attempts=len(attempts),
        at_reservation=len(held) + sum(attempt.usage_basis == "reserved" for attempt in attempts),
        input=sum(one.used_input or 0 for one in attempts) + sum(one.reserved_input for one in held),
        output=sum(one.used_output or 0 for one in attempts) + sum(one.reserved_output for one in held),
        cost=sum(one.used_cost or 0 for one in attempts) + sum(one.reserved_cost for one in held),
    )


class FakeDecisions:
    """Implements ``gateway.ports.reads.Decisions``."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows

    async def find(self, decision_id: str) -> RecordedDecision | None:
        return self._rows.decided.get(decision_id)
