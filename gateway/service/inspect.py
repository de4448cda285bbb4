"""One operation, for its owner and for operators: state, bundle, profile, times and amounts. Never a body."""

from typing import Any

from gateway.domain.operation import Operation
from gateway.domain.refusal import Code, Refusal
from gateway.ports.reads import Operations
from gateway.service.path import Session


class Inspect:
    """A foreign id and an unknown one get the same answer."""

    def __init__(self, operations: Operations) -> None:
        self._operations = operations

    async def __call__(self, session: Session, operation_id: str) -> Operation | Refusal:
        operation = await self._operations.get(operation_id)
        principal = session.caller.principal
        if operation is None or not (
            principal.is_operator
            or (operation.identity.tenant, operation.identity.principal) == (principal.tenant, principal.id)
        ):
            return Refusal(code=Code.UNKNOWN_OPERATION)
        return operation


def view(operation: Operation) -> dict[str, Any]:
    """What is shown of an operation. Times are microseconds UTC, amounts tokens."""
    last = operation.last
    return {
        "id": operation.id,
        "object": "operation",
        "state": last.state,
        "detail": last.detail,
        "model": operation.alias,
        "purpose": operation.purpose,
        "bundle": operation.bundle,
        "bundle_digest": operation.bundle_digest,
        "policy_revision": last.policy_revision,
        "created_us": operation.created_us,
        "max_attempts": operation.max_attempts,
        "attempts_dispatched": operation.attempts_dispatched,
        "attempt": {
            "n": last.n,
            "profile": last.profile,
            "profile_digest": last.profile_digest,
            "dispatch_id": last.dispatch_id,
            "reserved": {"input": last.reserved_input, "output": last.reserved_output},
            "used": None
            if last.used_input is None
            else {"input": last.used_input, "output": last.used_output, "basis": last.usage_basis},
            "granted_us": last.granted_us,
            "dispatching_us": last.dispatching_us,
            "finished_us": last.finished_us,
        },
    }
