"""Show a saved answer. That discloses it, so it is decided again (promise G6)."""

from msgspec.structs import replace

from gateway.domain.errors import LedgerUnavailable, LedgerUncertain, PolicyUnavailable
from gateway.domain.operation import Operation, StoredResult
from gateway.domain.questions import Decision, Failed, ReplayQuestion
from gateway.domain.refusal import Answer, Code, Refusal
from gateway.domain.source import KnownSource
from gateway.ports.clock import Clock
from gateway.ports.ledger import Disclosure, Ledger, RefusalRecord, Stale
from gateway.ports.reads import Operations, Sources
from gateway.service.path import Again, Session
from gateway.service.policy_codes import request_codes

SOURCE_CHANGED = "source_changed"
"""Reason of ``Stale`` after which the same session decides once more; any other is about the session itself."""
DECISIONS = 2
"""How often it is decided while the sources go on changing under it."""


class Replay:
    """The original sources under current facts, for the principal who reads. The release plays no part."""

    def __init__(self, operations: Operations, sources: Sources, ledger: Ledger, clock: Clock) -> None:
        self._operations = operations
        self._sources = sources
        self._ledger = ledger
        self._clock = clock

    async def __call__(self, session: Session, operation: Operation) -> Answer | Refusal | Again:
        """Again: whoever asks has not the access any more under which it was decided."""
        result = await self._operations.result(operation.id)
        if result is None:
            return _refusal(Code.RESULT_EXPIRED, operation)
        try:
            for _ in range(DECISIONS):
                if not isinstance(end := await self._decide(session, operation, result), Stale):
                    return end
                if end.reason != SOURCE_CHANGED:
                    return Again("authenticate")
        except PolicyUnavailable:
            return _refusal(Code.POLICY_UNAVAILABLE, operation)
        except (LedgerUnavailable, LedgerUncertain):
            return _refusal(Code.LEDGER_UNAVAILABLE, operation)
        return _refusal(Code.POLICY_UNAVAILABLE, operation)

    async def _decide(self, session: Session, operation: Operation, result: StoredResult) -> Answer | Refusal | Stale:
        """Stale: access changed between the decision and the audit row."""
        known = await self._sources.facts(operation.sources)
        if len(known) != len(operation.sources):
            # Policy cannot judge a source that it is not told of.
            return _refusal(Code.POLICY_UNAVAILABLE, operation)
        decided = await session.active.policy.replay(self._question(session, operation, known))
        if decided.answer.allow is not True:
            refusal = _forbidden(session, operation, decided.answer.failed)
            refusal = replace(refusal, decisions=(decided.decision,))
            await self._record(session, refusal, decided.decision)
            return refusal
        disclosure = Disclosure(
            operation_id=operation.id,
            reader=session.caller,
            policy_revision=session.active.policy.revision,
            decision=decided.decision,
            sources=operation.sources,
            source_versions=tuple(source.version for source in known),
        )
        if (stale := await self._ledger.disclose(disclosure)) is not None:
            return stale
        return Answer(
            body=result.body,
            operation_id=operation.id,
            replayed=True,
            bundle_digest=operation.bundle_digest,
            policy_revision=operation.last.policy_revision,
        )

    def _question(self, session: Session, operation: Operation, known: tuple[KnownSource, ...]) -> ReplayQuestion:
        principal = session.caller.principal
        return ReplayQuestion(
            time_s=self._clock.now_us() // 1_000_000,
            tenant=principal.tenant,
            groups=principal.groups,
            roles=principal.roles,
            purpose=operation.purpose,
            sources=tuple(source.fact for source in known),
        )

    async def _record(self, session: Session, refusal: Refusal, decision: Decision) -> None:
        await self._ledger.refuse(
            RefusalRecord(
                caller=session.caller,
                code=refusal.code,
                policy_codes=tuple(code.code for code in refusal.policy_codes),
                operation_id=refusal.operation_id,
                decisions=(decision,),
            )
        )


def _forbidden(session: Session, operation: Operation, failed: Failed) -> Refusal:
    if any(failed.source.values()):
        return _refusal(Code.REPLAY_SOURCE_FORBIDDEN, operation)
    return Refusal(
        code=Code.REPLAY_FORBIDDEN,
        operation_id=operation.id,
        operation_state=operation.last.state,
        policy_codes=request_codes(session.active.policy, failed),
    )


def _refusal(code: Code, operation: Operation) -> Refusal:
    return Refusal(code=code, operation_id=operation.id, operation_state=operation.last.state)
