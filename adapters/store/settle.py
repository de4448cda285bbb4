"""T3: result and settlement in one transaction. Only after its commit may an answer be shown (promise G3)."""

from collections.abc import Sequence

from sqlalchemy import bindparam, update

from adapters.store import holds, moves
from adapters.store.batch import Batch
from adapters.store.moves import Found
from adapters.store.profile_change import convict
from adapters.store.statements import Inserter, sql
from adapters.store.tables import EVIDENCE, attempt, evidence, result
from gateway.domain.errors import IllegalMove
from gateway.domain.operation import HOLDING, LEGAL_MOVES, State
from gateway.ports.ledger import Settle, Settled, Superseded

_SETTLE = sql(
    update(attempt)
    .where(attempt.c.dispatch_id == bindparam("id"), attempt.c.state == bindparam("old_state"))
    .values(
        {
            name: bindparam(f"new_{name}")
            for name in (
                "state",
                "finished_us",
                "used_input",
                "used_output",
                "used_cost",
                "usage_basis",
                "detail",
                "provider_ref",
                "result_digest",
            )
        }
    )
)
SENDER = "sender"
"""Who says so, in a row of evidence: the task that owned the send. An operator is tenant/principal."""

_insert_results = Inserter(result)
_insert_evidence = Inserter(evidence)

_BY_SENDER = frozenset({State.COMPLETED, State.CHARGED, State.NO_EFFECT, State.UNKNOWN})
"""What the task that owned the send can conclude."""


def settle(batch: Batch, settles: Sequence[Settle]) -> list[Settled | Superseded | Exception]:
    """Move each attempt, or keep what came too late as evidence."""
    if len({item.dispatch_id for item in settles}) < len(settles):
        # Two outcomes of one dispatch: the later one has to see what the earlier one has written.
        return [answer for item in settles for answer in _settle(batch, [item])]
    return _settle(batch, settles)


def _settle(batch: Batch, settles: Sequence[Settle]) -> list[Settled | Superseded | Exception]:
    found = moves.find(batch.connection, [item.dispatch_id for item in settles])
    moved: list[tuple[Found, State, Settle]] = []
    answers: list[Settled | Superseded | Exception] = []
    for item in settles:
        sent = found.get(item.dispatch_id)
        target = item.settlement.state
        if sent is None or sent.state is State.GRANTED or target not in _BY_SENDER:
            answers.append(IllegalMove("only a dispatching attempt can be settled, by what its sender learnt"))
        elif (target is State.COMPLETED) != (item.result is not None):
            answers.append(IllegalMove("a completed attempt has a result, and no other has one"))
        elif (sent.state, target) in LEGAL_MOVES:
            moved.append((sent, sent.state, item))
            sent.state = target
            answers.append(Settled())
        else:
            _keep_evidence(batch, sent, item)
            answers.append(Superseded(sent.state))
    _write(batch, moved)
    for item, answer in zip(settles, answers, strict=True):
        if item.settlement.state is State.CHARGED and not isinstance(answer, Exception):
            # In this transaction: whoever dies after T3 must not forget what the answer has proved.
            convict(batch, item.dispatch_id, item.settlement.detail)
    return answers


def _write(batch: Batch, moved: Sequence[tuple[Found, State, Settle]]) -> None:
    if not moved:
        return
    settled = batch.connection.executemany(_SETTLE, [_attempt_row(batch, origin, item) for _, origin, item in moved])
    if settled.rowcount != len(moved):
        raise IllegalMove("an attempt is not in the state that its settlement starts from")
    _insert_results(
        batch.connection,
        [
            {
                "op_id": sent.op_id,
                "n": sent.n,
                "body": item.result.body,
                "digest": item.result.digest,
                "created_us": batch.now_us,
            }
            for sent, _, item in moved
            if item.result is not None and item.settlement.state is State.COMPLETED
        ],
    )
    holds.end(batch, [_ending(sent, origin, item) for sent, origin, item in moved if sent.state not in HOLDING])
    unknown = [sent for sent, _, _ in moved if sent.state is State.UNKNOWN]
    holds.strand(batch, [sent.op_id for sent in unknown])
    for sent, _, item in moved:
        batch.audit(sent.state, op_id=sent.op_id, n=sent.n, code=item.settlement.detail or "")
    if unknown:
        moves.free_slots_of_canaries(batch, unknown)


def _attempt_row(batch: Batch, origin: State, item: Settle) -> dict[str, object]:
    settlement = item.settlement
    used = settlement.used
    return {
        "id": item.dispatch_id,
        "old_state": origin.value,
        "new_state": settlement.state.value,
        "new_finished_us": None if settlement.state in HOLDING else batch.now_us,
        "new_used_input": used.input if used else None,
        "new_used_output": used.output if used else None,
        "new_used_cost": settlement.cost if used else None,
        "new_usage_basis": settlement.basis,
        "new_detail": settlement.detail,
        "new_provider_ref": item.provider_ref,
        "new_result_digest": item.result.digest if item.result else None,
    }


def _ending(sent: Found, origin: State, item: Settle) -> holds.Ending:
    return holds.Ending(op_id=sent.op_id, n=sent.n, settlement=item.settlement, was_stranded=origin is State.UNKNOWN)


def _keep_evidence(batch: Batch, sent: Found, item: Settle) -> None:
    """The first terminal outcome stands; usage proved above what was settled is booked once, as a debt."""
    settlement = item.settlement
    proved = settlement.used if settlement.basis == "provider" else None
    found = {
        "used_input": proved.input if proved else None,
        "used_output": proved.output if proved else None,
        "digest": item.result.digest if item.result else None,
        "provider_ref": item.provider_ref,
    }
    row = {"id": None, "dispatch_id": sent.dispatch_id, "kind": settlement.state.value} | found
    _insert_evidence(batch.connection, [row | {"who": SENDER, "words": "", "at_us": batch.now_us}])
    debt = holds.Debt()
    if proved is not None and sent.state not in HOLDING:
        debt = holds.book_debt(batch, sent.op_id, sent.n, holds.Debt(proved.input + proved.output, settlement.cost))
    data = found | {"debt_tokens": debt.tokens, "debt_cost": debt.cost}
    batch.audit(EVIDENCE, op_id=sent.op_id, n=sent.n, code=settlement.state, data=data)
