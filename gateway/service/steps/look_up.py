"""The operation under the key. A duplicate never dispatches: it replays, inspects or conflicts (G4)."""

from gateway.domain.fingerprint import differing_fields, fingerprint
from gateway.domain.operation import Identity, Operation, State
from gateway.domain.refusal import Answer, Code, Refusal
from gateway.ports.clock import Clock
from gateway.ports.reads import Operations
from gateway.service.failures import as_refusal
from gateway.service.path import ENDPOINT, Again, Asked, Opening, Session
from gateway.service.replay import Replay

IN_PROGRESS_RETRY_AFTER_S = 1


class LookUp:
    """Answers what the key already stands for, or opens the way to a new attempt."""

    def __init__(self, operations: Operations, replay: Replay, clock: Clock) -> None:
        self._operations = operations
        self._replay = replay
        self._clock = clock

    async def __call__(self, session: Session, asked: Asked) -> Opening | Answer | Refusal | Again:
        principal = session.caller.principal
        if principal.tenant not in session.active.snapshot.tenants:
            # The built-in operator: there is no tenant that policy could be asked about.
            return Refusal(code=Code.NOT_A_TENANT_PRINCIPAL)
        identity = Identity(principal.tenant, principal.id, asked.key_hash)
        operation = await self._operations.find(identity)
        if operation is None:
            return Opening(identity, fingerprint(asked.request, ENDPOINT), asked.request, prior=None)
        same = fingerprint(asked.request, ENDPOINT, operation.fingerprint.version)
        if same.digest != operation.fingerprint.digest:
            fields = differing_fields(operation.fingerprint, same)
            return Refusal(
                code=Code.OPERATION_KEY_REUSED,
                fields=fields,
                param=fields[0] if fields else None,
                operation_id=operation.id,
                operation_state=operation.last.state,
            )
        match operation.last.state:
            case State.COMPLETED:
                return await self._replay(session, operation)
            case State.RELEASED | State.NO_EFFECT if operation.attempts_dispatched < operation.max_attempts:
                return Opening(identity, same, asked.request, prior=operation)
            case State.GRANTED | State.DISPATCHING if not self._overdue(operation):
                return Refusal(
                    code=Code.OPERATION_IN_PROGRESS,
                    retry_after_s=IN_PROGRESS_RETRY_AFTER_S,
                    operation_id=operation.id,
                    operation_state=operation.last.state,
                )
            case _:
                return as_refusal(operation)

    def _overdue(self, operation: Operation) -> bool:
        """A dispatch whose every deadline has passed is answered as unknown, even before a sweep says so."""
        limit = operation.last.unknown_after_us
        return limit is not None and self._clock.now_us() > limit
