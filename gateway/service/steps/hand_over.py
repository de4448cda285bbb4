"""Give a first answer, under the access that holds now (promise G6). It took seconds to minutes, and is stored."""

from collections.abc import Awaitable, Callable

from msgspec.structs import replace

from gateway.domain.errors import LedgerUnavailable, LedgerUncertain
from gateway.domain.operation import State
from gateway.domain.refusal import Answer, Code, Refusal
from gateway.ports.ledger import Ledger, RefusalRecord
from gateway.ports.reads import Operations, Sources
from gateway.service.path import Access, Again, Session
from gateway.service.replay import Replay

Authenticate = Callable[[str | None], Awaitable[Session | Refusal]]


class HandOver:
    """What was decided before T1 counts as long as nothing that it was decided upon has changed.

    Else it is decided like a replay, with its row. The usual path costs one read of the key, and one of the cited
    sources.
    """

    def __init__(
        self, authenticate: Authenticate, operations: Operations, sources: Sources, replay: Replay, ledger: Ledger
    ) -> None:
        self._authenticate = authenticate
        self._operations = operations
        self._sources = sources
        self._replay = replay
        self._ledger = ledger

    async def __call__(
        self, credential: str | None, session: Session, access: Access, answer: Answer
    ) -> Answer | Refusal:
        if isinstance(today := await self._authenticate(credential), Refusal):
            return await self._without_credential(today, session, answer)
        if await self._unchanged(session, today, access):
            return answer
        operation = await self._operations.get(answer.operation_id)
        assert operation is not None, "T3 has just stored it, and nothing deletes operations"
        end = await self._replay(today, operation)
        if isinstance(end, Again):
            # It goes on changing. The answer is stored, and the same key asks under whatever then holds.
            refusal = Refusal(code=Code.POLICY_UNAVAILABLE, operation_id=operation.id, operation_state=State.COMPLETED)
            return _of_stored(refusal)
        return _of_stored(end) if isinstance(end, Refusal) else replace(end, replayed=False)

    async def _unchanged(self, session: Session, today: Session, access: Access) -> bool:
        if today.active.policy.revision != session.active.policy.revision:
            return False
        if not access.sources:
            return True
        known = await self._sources.facts([source.ref for source in access.sources])
        return [source.version for source in known] == [source.version for source in access.sources]

    async def _without_credential(self, refusal: Refusal, session: Session, answer: Answer) -> Refusal:
        """The key is revoked, or the registry has its principal no more."""
        refusal = replace(refusal, operation_id=answer.operation_id, operation_state=State.COMPLETED)
        try:
            await self._ledger.refuse(
                RefusalRecord(
                    caller=session.caller,
                    code=refusal.code,
                    policy_codes=(),
                    operation_id=answer.operation_id,
                    decisions=(),
                )
            )
        except (LedgerUnavailable, LedgerUncertain):
            return _of_stored(replace(refusal, code=Code.LEDGER_UNAVAILABLE))
        return refusal


def _of_stored(refusal: Refusal) -> Refusal:
    """503 would promise that nothing happened, but the answer was generated; the same key may show it later."""
    return replace(refusal, status=502) if refusal.meaning.status == 503 else refusal
