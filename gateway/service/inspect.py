"""One operation, for its owner and for administrators: state, bundle, profile, times and amounts. Never a body."""

from typing import Any

from msgspec.structs import replace

from gateway.domain.operation import Attempt, Operation, State
from gateway.domain.refusal import Code, Refusal
from gateway.ports.reads import Operations, TimelineEntry
from gateway.service.administer import Administer
from gateway.service.path import Session


class Inspect:
    """A foreign id and an unknown one take the same path, and get the same answer."""

    def __init__(self, operations: Operations, administer: Administer) -> None:
        self._operations = operations
        self._administer = administer

    async def __call__(self, session: Session, operation_id: str) -> Operation | Refusal:
        operation = await self._operations.get(operation_id)
        if operation is not None and _owns(session, operation):
            return operation
        permit = await self._administer(session, "operations", "read", denied=Code.UNKNOWN_OPERATION)
        if isinstance(permit, Refusal):
            return permit
        return operation or Refusal(code=Code.UNKNOWN_OPERATION)

    async def timeline(self, session: Session, operation_id: str) -> tuple[TimelineEntry, ...] | Refusal:
        """All that happened to one's own operation, or for an administrator to any."""
        if isinstance(found := await self(session, operation_id), Refusal):
            return found
        entries = await self._operations.timeline(operation_id)
        return tuple(map(_for_the_owner, entries)) if _owns(session, found) else entries


def _owns(session: Session, operation: Operation) -> bool:
    principal = session.caller.principal
    return (operation.identity.tenant, operation.identity.principal) == (principal.tenant, principal.id)


OPERATORS_OWN = frozenset({"by", "os_user", "words"})
"""Of an operator's act its owner sees that it was done, but not who did it and what he wrote."""


def _for_the_owner(entry: TimelineEntry) -> TimelineEntry:
    if "act" not in entry.facts:
        return entry
    return replace(entry, facts={name: fact for name, fact in entry.facts.items() if name not in OPERATORS_OWN})


STAGES = {State.GRANTED: "reserved", State.DISPATCHING: "executing", State.UNKNOWN: "unknown"}
"""What an operation that has not ended is doing."""


def view(operation: Operation) -> dict[str, Any]:
    """What is shown of an operation. Times are microseconds UTC, amounts tokens, costs micro-units of the currency."""
    last = operation.last
    return {
        "id": operation.id,
        "object": "operation",
        "state": last.state,
        "stage": _stage(last),
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
            "reserved": {"input": last.reserved_input, "output": last.reserved_output, "cost": last.reserved_cost},
            "used": None
            if last.used_input is None
            else {
                "input": last.used_input,
                "output": last.used_output,
                "cost": last.used_cost,
                "basis": last.usage_basis,
            },
            "granted_us": last.granted_us,
            "dispatching_us": last.dispatching_us,
            "finished_us": last.finished_us,
        },
    }


def _stage(last: Attempt) -> dict[str, Any] | None:
    """In which stage an operation is that has not ended, and since when."""
    if last.state not in STAGES:
        return None
    since_us = last.granted_us if last.dispatching_us is None else last.dispatching_us
    return {"name": STAGES[last.state], "since_us": since_us}
