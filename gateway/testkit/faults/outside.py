"""The attempts of the database against what clients, operators and the provider have seen, the external truth."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping

from gateway.domain.operation import HOLDING, REACHED_T2, REPEATABLE, State
from gateway.testkit.faults import misbehaviour
from gateway.testkit.faults.evidence import AttemptRow, Evidence
from gateway.testkit.faults.witness import NOT_READ

NO_EFFECT_CODES = frozenset({"not_started", "provider_busy", "provider_unreachable"})
"""Refusals with 503 that speak of an attempt: it has had no effect."""


def i11_one_request_per_attempt(attempts: Mapping[str, AttemptRow], evidence: Evidence) -> Iterator[str]:
    """The provider saw each dispatch at most once."""
    del attempts
    for dispatch_id, count in Counter(one.dispatch_id for one in evidence.seen).items():
        if count > 1 or not dispatch_id:
            yield f"I11: the provider saw dispatch {dispatch_id} {count} times"


def i12_only_what_was_dispatching(attempts: Mapping[str, AttemptRow], evidence: Evidence) -> Iterator[str]:
    """When a request arrived its attempt was dispatching for every reader, and it has been since."""
    for one in evidence.seen:
        attempt = attempts.get(one.dispatch_id)
        if one.state not in (NOT_READ, State.DISPATCHING):
            yield f"I12: dispatch {one.dispatch_id} arrived while its attempt was {one.state or 'nowhere'}"
        if attempt is None or State(attempt.state) not in REACHED_T2:
            yield f"I12: dispatch {one.dispatch_id} was sent and its attempt is {attempt.state if attempt else 'lost'}"


def one_effect_per_operation(attempts: Mapping[str, AttemptRow], evidence: Evidence) -> Iterator[str]:
    """G1: of all requests for an operation the provider executed at most one, and no attempt is taken back after it."""
    executed = Counter(one.label for one in evidence.seen if one.executed)
    for label, count in executed.items():
        if count > 1:
            yield f"G1: the provider executed {label} {count} times"
    for one in evidence.seen:
        attempt = attempts.get(one.dispatch_id)
        if one.executed and attempt is not None and State(attempt.state) in REPEATABLE:
            yield f"G1: {one.label} was executed, and its attempt counts as {attempt.state}"


def outcomes_are_what_happened(attempts: Mapping[str, AttemptRow], evidence: Evidence) -> Iterator[str]:
    """What was concluded is what the provider did. A strike may leave it unknown, or to an operator."""
    seen = {one.dispatch_id: one for one in evidence.seen}
    reconciled = {one.operation_id for one in evidence.acted}
    for attempt in attempts.values():
        one = seen.get(attempt.dispatch_id)
        by_operators = {State.CHARGED, State.CLOSED} if attempt.op_id in reconciled else set[State]()
        if one is None:
            if State(attempt.state) in {State.COMPLETED, State.CHARGED, State.CLOSED} - by_operators:
                yield f"operation {attempt.op_id} is {attempt.state}, and the provider has seen nothing of it"
            continue
        allowed = {misbehaviour.ALL[one.behaviour].concludes, State.UNKNOWN, State.DISPATCHING} | by_operators
        if attempt.state not in allowed:
            yield f"operation {attempt.op_id} is {attempt.state}, and the provider did this: {one.behaviour}"


def terminal_states_stay(attempts: Mapping[str, AttemptRow], evidence: Evidence) -> Iterator[str]:
    """The first terminal outcome stands, with its amounts and its digest."""
    for dispatch_id, before in evidence.final.items():
        now = attempts.get(dispatch_id)
        if now != before:
            yield f"operation {before.op_id} was {before.state} and is {now.state if now else 'lost'}, or was changed"
    evidence.final.update({id_: row for id_, row in attempts.items() if State(row.state) not in HOLDING})


def acts_are_durable(attempts: Mapping[str, AttemptRow], evidence: Evidence) -> Iterator[str]:
    """What an operator was told is done is done."""
    states: dict[str, str] = {}
    for row in sorted(attempts.values(), key=lambda row: row.n):
        states[row.op_id] = row.state
    for act in evidence.acted:
        if act.state not in ("", State.UNKNOWN) and states.get(act.operation_id) != act.state:
            yield f"an operator made operation {act.operation_id} {act.state}, and it is {states.get(act.operation_id)}"


def one_operation_per_key(attempts: Mapping[str, AttemptRow], evidence: Evidence) -> Iterator[str]:
    """I9: a key is one operation. A claim whose COMMIT failed may have been told an id that was never stored."""
    stored = {attempt.op_id for attempt in attempts.values()}
    for operation in evidence.operations.values():
        told = {call.operation_id for call in operation.calls} & stored
        if len(told) > 1:
            yield f"I9: {operation.label} was given {len(told)} operations"


def promises_of_503(attempts: Mapping[str, AttemptRow], evidence: Evidence) -> Iterator[str]:
    """503 says that this attempt had no effect, so the provider has executed nothing of the operation before.

    Only where calls came one after the other: with several at once another attempt may have begun since.
    """
    del attempts
    first: dict[str, float] = {}
    for one in evidence.seen:
        if one.executed:
            first.setdefault(one.label, one.at_s)
    for operation in evidence.operations.values():
        for call in operation.calls:
            executed_s = first.get(operation.label)
            if call.code in NO_EFFECT_CODES and not operation.crowded and executed_s is not None:
                ended_s = call.ended_s or call.started_s
                if call.started_s <= executed_s <= ended_s:
                    yield f"503: {operation.label} was told {call.code}, and the provider had executed it"


OUTSIDE: tuple[Callable[[Mapping[str, AttemptRow], Evidence], Iterator[str]], ...] = (
    i11_one_request_per_attempt,
    i12_only_what_was_dispatching,
    one_effect_per_operation,
    outcomes_are_what_happened,
    terminal_states_stay,
    acts_are_durable,
    one_operation_per_key,
    promises_of_503,
)
