"""Show a saved answer again. That discloses it again, so it is decided again (promise G6)."""

from gateway.domain.errors import LedgerUnavailable, LedgerUncertain, PolicyUnavailable
from gateway.domain.operation import Operation
from gateway.domain.questions import Failed, ReplayQuestion
from gateway.domain.refusal import Answer, Code, Refusal
from gateway.ports.clock import Clock
from gateway.ports.ledger import Disclosure, Ledger, RefusalRecord
from gateway.ports.reads import Operations, Sources
from gateway.service.path import Session
from gateway.service.policy_codes import request_codes


class Replay:
    """The original sources under current facts, for the principal who reads. The release plays no part."""

    def __init__(self, operations: Operations, sources: Sources, ledger: Ledger, clock: Clock) -> None:
        self._operations = operations
        self._sources = sources
        self._ledger = ledger
        self._clock = clock

    async def __call__(self, session: Session, operation: Operation) -> Answer | Refusal:
        result = await self._operations.result(operation.id)
        if result is None:
            return self._refusal(Code.RESULT_EXPIRED, operation)
        principal = session.caller.principal
        known = await self._sources.facts(operation.sources)
        if len(known) != len(operation.sources):
            # Policy cannot judge a source that it is not told of.
            return self._refusal(Code.POLICY_UNAVAILABLE, operation)
        question = ReplayQuestion(
            time_s=self._clock.now_us() // 1_000_000,
            tenant=principal.tenant,
            groups=principal.groups,
            purpose=operation.purpose,
            sources=tuple(source.fact for source in known),
        )
        try:
            decided = await session.active.policy.replay(question)
            if decided.answer.allow is not True:
                refusal = self._forbidden(session, operation, decided.answer.failed)
                await self._ledger.refuse(
                    RefusalRecord(
                        caller=session.caller,
                        code=refusal.code,
                        policy_codes=tuple(code.code for code in refusal.policy_codes),
                        operation_id=operation.id,
                        decisions=(decided.decision,),
                    )
                )
                return refusal
            stale = await self._ledger.disclose(
                Disclosure(
                    operation_id=operation.id,
                    reader=session.caller,
                    decision=decided.decision,
                    sources=operation.sources,
                    source_versions=tuple(source.version for source in known),
                )
            )
        except PolicyUnavailable:
            return self._refusal(Code.POLICY_UNAVAILABLE, operation)
        except (LedgerUnavailable, LedgerUncertain):
            return self._refusal(Code.LEDGER_UNAVAILABLE, operation)
        if stale is not None:
            # Access changed between the decision and the audit row. Asking again decides anew.
            return self._refusal(Code.POLICY_UNAVAILABLE, operation)
        return Answer(
            body=result.body,
            operation_id=operation.id,
            replayed=True,
            bundle_digest=operation.bundle_digest,
            policy_revision=operation.last.policy_revision,
        )

    def _forbidden(self, session: Session, operation: Operation, failed: Failed) -> Refusal:
        if any(failed.source.values()):
            return self._refusal(Code.REPLAY_SOURCE_FORBIDDEN, operation)
        return Refusal(
            code=Code.REPLAY_FORBIDDEN,
            operation_id=operation.id,
            operation_state=operation.last.state,
            policy_codes=request_codes(session.active.policy, failed),
        )

    def _refusal(self, code: Code, operation: Operation) -> Refusal:
        return Refusal(code=code, operation_id=operation.id, operation_state=operation.last.state)
