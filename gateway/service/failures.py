"""How an attempt that gave no answer is told to the caller: at once, and again under the same key."""

from gateway.domain.operation import Operation, State
from gateway.domain.outcome import Charged, NoEffect, Unknown
from gateway.domain.refusal import Code, Refusal


def first_refusal(outcome: NoEffect | Charged | Unknown, operation_id: str) -> Refusal:
    """The first answer. An unknown outcome is 504 at the deadline, 502 otherwise."""
    match outcome:
        case NoEffect(reason=reason):
            return Refusal(code=_no_effect(reason), operation_id=operation_id, operation_state=State.NO_EFFECT)
        case Charged():
            return Refusal(code=Code.PROVIDER_FAILED_CHARGED, operation_id=operation_id, operation_state=State.CHARGED)
        case Unknown(at_deadline=at_deadline):
            return outcome_unknown(operation_id, status=504 if at_deadline else 502)


def outcome_unknown(operation_id: str, *, status: int | None = None) -> Refusal:
    """It may have happened. ``status`` None: the key was asked again (409)."""
    return Refusal(code=Code.OUTCOME_UNKNOWN, status=status, operation_id=operation_id, operation_state=State.UNKNOWN)


def as_refusal(operation: Operation) -> Refusal:
    """What the same key gets later, for every state that neither replays nor opens a new attempt."""
    last = operation.last
    match last.state:
        case State.CHARGED:
            code = Code.PROVIDER_FAILED_CHARGED
        case State.CLOSED:
            code = Code.OPERATION_CLOSED
        case State.NO_EFFECT:
            code = _no_effect(last.detail or "")
        case State.RELEASED:
            code = Code.NOT_STARTED
        case _:
            return outcome_unknown(operation.id)
    return Refusal(
        code=code,
        operation_id=operation.id,
        operation_state=last.state,
        replayed=True,
        retry=False,
    )


def _no_effect(reason: str) -> Code:
    match reason:
        case "busy":
            return Code.PROVIDER_BUSY
        case "rejected":
            return Code.PROVIDER_REJECTED
        case _:
            return Code.PROVIDER_UNREACHABLE
