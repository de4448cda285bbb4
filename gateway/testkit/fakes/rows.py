"""Rows of the ledger in memory."""

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from msgspec.structs import replace

from gateway.domain.budget import Settlement
from gateway.domain.errors import CredentialRevoked
from gateway.domain.operation import HOLDING, Attempt, Identity, Operation, State, StoredResult
from gateway.domain.principal import Caller
from gateway.domain.profile_state import THE_GATEWAY, Mark, MarkKind, Quarantine
from gateway.domain.questions import Decision
from gateway.domain.source import Source
from gateway.ports.ledger import Disclosure, RefusalRecord, ReloadRecord, Settle
from gateway.ports.reads import Key, RecordedDecision, TimelineEntry
from gateway.testkit.fakes.budgets import Budgets


class Rows:
    """All that is stored."""

    def __init__(self) -> None:
        self.incarnation = 1
        self.by_identity: dict[Identity, str] = {}
        self.operations: dict[str, Operation] = {}
        self.attempts: dict[str, list[Attempt]] = {}
        self.owners: dict[str, tuple[str, int, int]] = {}
        """Dispatch id to operation id, incarnation and total timeout in milliseconds."""
        self.budgets = Budgets()
        self.provider_refs: dict[str, str | None] = {}
        """By dispatch id."""
        self.history: defaultdict[str, list[TimelineEntry]] = defaultdict(list)
        self.results: dict[str, StoredResult] = {}
        self.evidence: list[Settle] = []
        self.audit: list[Disclosure | RefusalRecord | ReloadRecord] = []
        self.keys: dict[bytes, Key] = {}
        self.sources: dict[str, Source] = {}
        self.taken_back: set[tuple[str, str]] = set()
        """Ids and revisions of sources that were withdrawn."""
        self.marks: dict[tuple[str, MarkKind], Mark] = {}
        """Of profiles."""
        self.decided: dict[str, RecordedDecision] = {}
        """By the id of the decision."""

    def forget_operations(self) -> None:
        """As if none had ever been. Keys, sources and marks stay."""
        everything: tuple[dict[Any, Any], ...] = (
            self.by_identity,
            self.operations,
            self.attempts,
            self.owners,
            self.provider_refs,
            self.history,
            self.results,
            self.decided,
        )
        for rows in everything:
            rows.clear()
        self.budgets = Budgets()

    def attempt(self, dispatch_id: str) -> Attempt:
        attempts = self.attempts[self.owners[dispatch_id][0]]
        return next(attempt for attempt in attempts if attempt.dispatch_id == dispatch_id)

    def put(self, attempt: Attempt) -> None:
        self.attempts[self.owners[attempt.dispatch_id][0]][attempt.n - 1] = attempt

    def open_attempts(self) -> Iterator[tuple[str, Attempt]]:
        """Attempts whose holds are held, each with its operation's id."""
        for operation_id, attempts in self.attempts.items():
            if attempts[-1].state in HOLDING:
                yield operation_id, attempts[-1]

    def settle(self, attempt: Attempt, settlement: Settlement, now_us: int) -> Attempt:
        """Move an attempt to where its settlement says, with the amounts."""
        used = settlement.used
        moved = replace(
            attempt,
            state=settlement.state,
            used_input=used.input if used else None,
            used_output=used.output if used else None,
            used_cost=settlement.cost if used else None,
            usage_basis=settlement.basis,
            detail=settlement.detail,
            finished_us=None if settlement.state in HOLDING else now_us,
        )
        self.put(moved)
        self.budgets.of(attempt.dispatch_id, now_us).settle(settlement)
        return moved

    def note(self, operation_id: str, at_us: int, event: str, **facts: Any) -> None:
        """Add to the timeline of an operation."""
        self.history[operation_id].append(TimelineEntry(at_us=at_us, event=event, attempt=None, facts=facts))

    def note_of(self, attempt: Attempt, at_us: int, event: str, **facts: Any) -> None:
        """Add what happened to an attempt to the timeline of its operation."""
        operation_id = self.owners[attempt.dispatch_id][0]
        self.history[operation_id].append(TimelineEntry(at_us=at_us, event=event, attempt=attempt.n, facts=facts))

    def note_end(self, ended: Attempt, at_us: int, **who: Any) -> None:
        """Add that an attempt has ended, and with what."""
        result = self.results.get(self.owners[ended.dispatch_id][0])
        self.note_of(
            ended,
            at_us,
            "closed" if ended.state is State.CLOSED else "settled",
            state=ended.state.value,
            used_input=ended.used_input,
            used_output=ended.used_output,
            usage_basis=ended.usage_basis,
            result_digest=result.digest if result else None,
            provider_ref=self.provider_refs.get(ended.dispatch_id),
            **who,
        )

    def quarantine(self, found: Quarantine, now_us: int) -> bool:
        """False: it is quarantined already, and that stays."""
        name: tuple[str, MarkKind] = (found.profile, "quarantined")
        if name in self.marks:
            return False
        self.marks[name] = Mark(
            profile=found.profile,
            kind="quarantined",
            profile_digest=found.profile_digest,
            reason=found.reason,
            who=THE_GATEWAY,
            since_us=now_us,
            dispatch_id=found.dispatch_id,
            shortfall=found.shortfall,
        )
        return True

    def version(self, source_id: str) -> int:
        return self.sources[source_id].version if source_id in self.sources else 0

    def owns(self, tenant: str, principal: str, credential_hash: bytes | None) -> bool:
        """Whether the credential is active and belongs to this principal. No credential is nobody's."""
        key = None if credential_hash is None else self.keys.get(credential_hash)
        return key is not None and key.active and (key.tenant, key.principal) == (tenant, principal)

    def check(self, actor: Caller | None) -> None:
        """Before a change; None is the server itself, which is not checked.

        :raises CredentialRevoked: the actor may change nothing any more.
        """
        if actor is not None and not self.owns(actor.principal.tenant, actor.principal.id, actor.credential_hash):
            raise CredentialRevoked("the actor's credential does not count any more")

    def keep(self, *decisions: Decision, **facts: Any) -> None:
        """Keep decisions with what the audit says of them, which are the other fields of RecordedDecision."""
        for decision in decisions:
            self.decided.setdefault(decision.id, RecordedDecision(decision=decision, **facts))
