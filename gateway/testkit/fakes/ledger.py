"""A ledger in memory, with the reads of it (reads.py). It keeps the contract of the real one, except durability."""

import hashlib
from collections.abc import Callable, Sequence
from typing import Any

from msgspec.structs import replace

from gateway.domain.budget import Settlement
from gateway.domain.errors import IllegalMove
from gateway.domain.operation import HOLDING, LEGAL_MOVES, REACHED_T2, REPEATABLE, Attempt, Operation, State
from gateway.domain.principal import CANARY, SYSTEM_TENANT
from gateway.domain.profile_state import CONVICTING, Quarantine
from gateway.domain.reconciliation import Act, ActResult
from gateway.domain.request import SourceRef
from gateway.ports.clock import Clock
from gateway.ports.ledger import (
    AlreadyExists,
    Claim,
    Claimed,
    Disclosure,
    Dispatching,
    Granted,
    GrantLost,
    RefusalRecord,
    ReloadRecord,
    Settle,
    Settled,
    Stale,
    Standing,
    Superseded,
    Swept,
)
from gateway.testkit.fakes.acts import name_of, perform
from gateway.testkit.fakes.directory import FakeKeys, FakeSources
from gateway.testkit.fakes.profiles import FakeProfiles
from gateway.testkit.fakes.reads import FakeAccounts, FakeDecisions, FakeOperations
from gateway.testkit.fakes.rows import Rows

GRANT_LASTS_US = 5_000_000
SEND_BY_AND_MARGIN_US = 62_000_000
_BY_SENDER = frozenset({State.COMPLETED, State.CHARGED, State.NO_EFFECT, State.UNKNOWN})


class FakeStore:
    """The ledger and its reads over one set of rows."""

    def __init__(self, *, clock: Clock, standing: Standing | None = None) -> None:
        self.rows = Rows()
        self.ledger = FakeLedger(self.rows, clock, standing)
        self.operations = FakeOperations(self.rows)
        self.accounts = FakeAccounts(self.rows)
        self.decisions = FakeDecisions(self.rows)
        self.sources = FakeSources(self.rows)
        self.keys = FakeKeys(self.rows)
        self.profiles = FakeProfiles(self.rows, clock)

    def restart(self) -> None:
        """As after kill -9: what is stored stays, and belongs to an earlier incarnation."""
        self.rows.incarnation += 1

    def held_slots(self) -> int:
        """Attempts that occupy a slot."""
        return sum(hold.slot_held for hold in self.rows.budgets.holds.values())


class FakeLedger:
    """Implements ``gateway.ports.ledger.Ledger``."""

    def __init__(self, rows: Rows, clock: Clock, standing: Standing | None) -> None:
        self._rows = rows
        self._clock = clock
        self._standing = standing

    async def claim(self, claim: Claim) -> Claimed:
        prior = self._rows.by_identity.get(claim.identity)
        if prior is not None and not self._may_follow(self._rows.operations[prior], claim):
            return AlreadyExists()
        if (reason := self._objection(claim)) is not None:
            return Stale(reason)
        now_us = self._clock.now_us()
        if (short := self._rows.budgets.short(claim.budgets, claim.reserved, now_us)) is not None:
            return short
        operation_id = prior or claim.operation_id
        earlier = self._rows.attempts.setdefault(operation_id, [])
        attempt = _granted(claim, len(earlier) + 1, now_us)
        earlier.append(attempt)
        self._rows.owners[claim.dispatch_id] = (operation_id, self._rows.incarnation, claim.total_timeout_ms)
        self._rows.budgets.take(claim)
        self._rows.by_identity[claim.identity] = operation_id
        if prior is None:
            self._rows.operations[operation_id] = _operation(claim, attempt)
        self._rows.keep(
            *(one for one in (claim.access, claim.routes) if one is not None),
            at_us=attempt.granted_us,
            event="granted",
            code=claim.profile,
            tenant=claim.identity.tenant,
            principal=claim.identity.principal,
            operation_id=operation_id,
        )
        self._note(
            attempt,
            "claimed",
            profile=claim.profile,
            bundle=self._rows.operations[operation_id].bundle,
            bundle_digest=claim.bundle_digest,
            policy_revision=claim.policy_revision,
            access=claim.access.id if claim.access else None,
            routes=claim.routes.id if claim.routes else None,
            reserved={f"{one.scope.kind} {one.scope.id}": claim.reserved.tokens for one in claim.budgets},
        )
        return Granted(operation_id, attempt.n)

    async def dispatch(self, dispatch_id: str) -> Dispatching | GrantLost:
        if dispatch_id not in self._rows.owners:
            return GrantLost("no_such_grant")
        attempt, (_, incarnation, timeout_ms) = self._rows.attempt(dispatch_id), self._rows.owners[dispatch_id]
        if attempt.state is not State.GRANTED or incarnation != self._rows.incarnation:
            return GrantLost("not_granted")
        now = self._clock.now_us()
        reason = "grant_expired" if now - attempt.granted_us > GRANT_LASTS_US else None
        if reason is None and self._standing is not None:
            exempt = self._is_canary(dispatch_id) and not self._standing.is_marked(attempt.profile)
            reason = self._standing.objection(None, None if exempt else attempt.profile)
        if reason is not None:
            self._release(attempt, reason)
            return GrantLost(reason)
        unknown_after = now + timeout_ms * 1_000 + SEND_BY_AND_MARGIN_US
        self._rows.put(replace(attempt, state=State.DISPATCHING, dispatching_us=now, unknown_after_us=unknown_after))
        self._note(attempt, "dispatching", profile=attempt.profile, dispatch_id=dispatch_id)
        return Dispatching()

    async def settle(self, settle: Settle) -> Settled | Superseded:
        settlement = settle.settlement
        attempt = self._rows.attempt(settle.dispatch_id) if settle.dispatch_id in self._rows.owners else None
        if attempt is None or attempt.state is State.GRANTED or settlement.state not in _BY_SENDER:
            raise IllegalMove("only a dispatching attempt can be settled, by what its sender learnt")
        if (settlement.state is State.COMPLETED) != (settle.result is not None):
            raise IllegalMove("a completed attempt has a result, and no other has one")
        if settlement.state is State.CHARGED and settlement.detail in CONVICTING:
            found = Quarantine(
                profile=attempt.profile,
                profile_digest=attempt.profile_digest,
                reason=settlement.detail,
                dispatch_id=settle.dispatch_id,
            )
            self._rows.quarantine(found, self._clock.now_us())
        if (attempt.state, settlement.state) not in LEGAL_MOVES:
            self._keep_evidence(attempt, settle)
            return Superseded(attempt.state)
        moved = self._rows.settle(attempt, settlement, self._clock.now_us())
        self._rows.provider_refs[settle.dispatch_id] = settle.provider_ref
        if settle.result is not None:
            assert hashlib.sha256(settle.result.body).hexdigest() == settle.result.digest
            self._rows.results[self._rows.owners[settle.dispatch_id][0]] = settle.result
        told = {"by": "sender", "detail": moved.detail or ""}
        if moved.state is State.UNKNOWN:
            self._note(moved, "unknown", **told)
            self._free_slot_of_a_canary(moved)
        else:
            self._rows.note_end(moved, self._clock.now_us(), **told)
        return Settled()

    async def release(self, dispatch_id: str) -> None:
        if dispatch_id in self._rows.owners:
            attempt = self._rows.attempt(dispatch_id)
            if attempt.state is State.GRANTED:
                self._release(attempt, "given_back")

    async def act(self, act: Act) -> ActResult:
        self._rows.check(act.actor)
        return perform(self._rows, act, self._clock.now_us())

    async def disclose(self, disclosure: Disclosure) -> Stale | None:
        reader = disclosure.reader.principal
        if not self._rows.owns(reader.tenant, reader.id, disclosure.reader.credential_hash):
            return Stale("credential_inactive")
        if not self._unchanged(disclosure.sources, disclosure.source_versions):
            return Stale("source_changed")
        if self._standing is not None and not self._standing.is_in_force(disclosure.policy_revision):
            return Stale("registry_changed")
        self._rows.audit.append(disclosure)
        now_us = self._clock.now_us()
        self._rows.keep(
            disclosure.decision,
            at_us=now_us,
            event="disclosed",
            code="",
            tenant=reader.tenant,
            principal=reader.id,
            operation_id=disclosure.operation_id,
        )
        facts = {"to": name_of(disclosure.reader), "replay": disclosure.decision.id}
        self._rows.note(disclosure.operation_id, now_us, "disclosed", **facts)
        return None

    async def refuse(self, record: RefusalRecord) -> None:
        self._rows.audit.append(record)
        now_us, caller = self._clock.now_us(), record.caller.principal
        self._rows.keep(
            *record.decisions,
            at_us=now_us,
            event="refused",
            code=record.code,
            tenant=caller.tenant,
            principal=caller.id,
            operation_id=record.operation_id,
        )
        if record.operation_id is not None:
            self._rows.note(
                record.operation_id,
                now_us,
                "refused",
                to=name_of(record.caller),
                code=record.code,
                policy_codes=list(record.policy_codes),
                decisions=[decision.id for decision in record.decisions],
            )

    async def reloaded(self, record: ReloadRecord) -> None:
        self._rows.check(record.actor)
        self._rows.audit.append(record)

    async def sweep(self, alive: Callable[[], frozenset[str]], *, earlier_incarnations: bool) -> Swept:
        working = alive()
        released, lost = [], []
        for dispatch_id, (_, incarnation, _) in self._rows.owners.items():
            mine = incarnation == self._rows.incarnation
            if dispatch_id in working or not (mine or earlier_incarnations):
                continue
            attempt = self._rows.attempt(dispatch_id)
            if attempt.state is State.GRANTED:
                self._release(attempt, "no_task")
                released.append(dispatch_id)
            elif attempt.state is State.DISPATCHING:
                unknown = Settlement(state=State.UNKNOWN, used=None, basis=None, detail="no_task")
                self._rows.settle(attempt, unknown, self._clock.now_us())
                self._note(attempt, "unknown", by="sweep", detail="no_task")
                self._free_slot_of_a_canary(attempt)
                lost.append(dispatch_id)
        return Swept(tuple(released), tuple(lost))

    def _release(self, attempt: Attempt, detail: str) -> None:
        now_us = self._clock.now_us()
        given_back = Settlement(state=State.RELEASED, used=None, basis=None, detail=detail)
        self._rows.settle(attempt, given_back, now_us)
        self._note(attempt, "released", by="sweep" if detail == "no_task" else "sender", detail=detail)

    def _free_slot_of_a_canary(self, attempt: Attempt) -> None:
        if self._is_canary(attempt.dispatch_id):
            self._rows.budgets.of(attempt.dispatch_id, self._clock.now_us()).slot_held = False
            facts = {"by": f"{SYSTEM_TENANT}/{CANARY}", "os_user": None, "act": "free_slot"}
            self._note(attempt, "slot_freed", **facts, words="a later canary decides")

    def _keep_evidence(self, attempt: Attempt, late: Settle) -> None:
        self._rows.evidence.append(late)
        proved = late.settlement.used if late.settlement.basis == "provider" else None
        debt_tokens, debt_cost = 0, 0
        if proved is not None and attempt.state not in HOLDING:
            hold = self._rows.budgets.of(attempt.dispatch_id, self._clock.now_us())
            debt_tokens, debt_cost = hold.owe(proved.input + proved.output, late.settlement.cost)
        self._note(
            attempt,
            "evidence",
            by="sender",
            state=late.settlement.state.value,
            used_input=proved.input if proved else None,
            used_output=proved.output if proved else None,
            digest=late.result.digest if late.result else None,
            provider_ref=late.provider_ref,
            debt_tokens=debt_tokens,
            debt_cost=debt_cost,
        )

    def _note(self, attempt: Attempt, event: str, **facts: Any) -> None:
        self._rows.note_of(attempt, self._clock.now_us(), event, **facts)

    def _may_follow(self, prior: Operation, claim: Claim) -> bool:
        attempts = self._rows.attempts[prior.id]
        return (
            prior.fingerprint.version == claim.fingerprint.version
            and prior.fingerprint.digest == claim.fingerprint.digest
            and prior.bundle_digest == claim.bundle_digest
            and attempts[-1].state in REPEATABLE
            and sum(attempt.state in REACHED_T2 for attempt in attempts) < prior.max_attempts
        )

    def _objection(self, claim: Claim) -> str | None:
        identity = claim.identity
        if not claim.is_canary and not self._rows.owns(identity.tenant, identity.principal, claim.credential_hash):
            return "credential_inactive"
        if not self._unchanged(claim.sources, claim.source_versions):
            return "source_changed"
        if self._standing is None:
            return None
        return self._standing.objection(claim.policy_revision, None if claim.is_canary else claim.profile)

    def _is_canary(self, dispatch_id: str) -> bool:
        identity = self._rows.operations[self._rows.owners[dispatch_id][0]].identity
        return (identity.tenant, identity.principal) == (SYSTEM_TENANT, CANARY)

    def _unchanged(self, refs: Sequence[SourceRef], versions: Sequence[int]) -> bool:
        return all(self._rows.version(ref.id) == seen for ref, seen in zip(refs, versions, strict=True))


def _granted(claim: Claim, n: int, now_us: int) -> Attempt:
    return Attempt(
        n=n,
        state=State.GRANTED,
        dispatch_id=claim.dispatch_id,
        profile=claim.profile,
        profile_digest=claim.profile_digest,
        policy_revision=claim.policy_revision,
        reserved_input=claim.reserved.input,
        reserved_output=claim.reserved.output,
        reserved_cost=claim.reserved.cost,
        used_input=None,
        used_output=None,
        used_cost=None,
        usage_basis=None,
        detail=None,
        unknown_after_us=None,
        granted_us=now_us,
        dispatching_us=None,
        finished_us=None,
    )


def _operation(claim: Claim, first: Attempt) -> Operation:
    return Operation(
        id=claim.operation_id,
        identity=claim.identity,
        fingerprint=claim.fingerprint,
        alias=claim.alias,
        purpose=claim.purpose,
        sources=claim.sources,
        bundle=claim.bundle,
        bundle_digest=claim.bundle_digest,
        max_attempts=claim.max_attempts,
        attempts_dispatched=0,
        created_us=first.granted_us,
        last=first,
    )
