"""T2: from its commit on the request may have been sent, and never before (promise G2)."""

from collections.abc import Sequence

from sqlalchemy import bindparam, update

from adapters.store import moves
from adapters.store.batch import Batch
from adapters.store.moves import Found
from adapters.store.statements import sql, within, word
from adapters.store.tables import attempt
from gateway.domain.operation import State
from gateway.ports.ledger import Dispatching, GrantLost, Standing

GRANT_LASTS_US = 5_000_000
"""A decision older than this is taken anew."""
NO_SUCH_GRANT = "no_such_grant"
NOT_GRANTED = "not_granted"
GRANT_EXPIRED = "grant_expired"

_DISPATCH = sql(
    update(attempt)
    .where(within(attempt.c.dispatch_id, "ids"), attempt.c.state == word(State.GRANTED))
    .values(state=word(State.DISPATCHING), dispatching_us=bindparam("now"))
)


class Dispatches:
    """A granted attempt is always its operation's last one: none begins before it has ended."""

    def __init__(self, standing: Standing | None) -> None:
        self._standing = standing

    def apply(self, batch: Batch, dispatch_ids: Sequence[str]) -> list[Dispatching | GrantLost]:
        found = moves.find(batch.connection, dispatch_ids)
        dispatched: list[Found] = []
        answers: list[Dispatching | GrantLost] = []
        for dispatch_id in dispatch_ids:
            grant = found.get(dispatch_id)
            if grant is None:
                answers.append(GrantLost(NO_SUCH_GRANT))
            elif grant.state is not State.GRANTED or grant.incarnation != batch.incarnation:
                answers.append(GrantLost(NOT_GRANTED))
            elif (reason := self._objection(batch, grant)) is not None:
                moves.give_back(batch, [grant], reason)
                answers.append(GrantLost(reason))
            else:
                grant.state = State.DISPATCHING
                dispatched.append(grant)
                answers.append(Dispatching())
        moves.move(batch, _DISPATCH, [grant.dispatch_id for grant in dispatched], now=batch.now_us)
        for grant in dispatched:
            batch.audit(State.DISPATCHING, op_id=grant.op_id, n=grant.n, code=grant.profile)
        return answers

    def _objection(self, batch: Batch, grant: Found) -> str | None:
        if batch.now_us - grant.granted_us > GRANT_LASTS_US:
            return GRANT_EXPIRED
        if self._standing is None or (reason := self._standing.objection(None, grant.profile)) is None:
            return None
        # Looked up only where there is an objection: readiness comes of the canary, so it cannot wait for it.
        return None if moves.canaries(batch, [grant]) and not self._standing.is_marked(grant.profile) else reason
