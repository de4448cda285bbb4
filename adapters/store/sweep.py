"""Resolve attempts that nobody works on any more: granted -> released, dispatching -> unknown."""

from collections.abc import Callable, Sequence

from msgspec import Struct
from sqlalchemy import bindparam, select, text

from adapters.store import moves
from adapters.store.batch import Batch
from adapters.store.statements import sql
from adapters.store.tables import NOT_COMPLETED, SWEPT, SWEPT_DETAIL, attempt
from gateway.domain.operation import State
from gateway.ports.ledger import Swept

_OPEN = select(*moves.COLUMNS).where(text(SWEPT), text(NOT_COMPLETED))
_MINE = sql(_OPEN.where(attempt.c.incarnation == bindparam("mine")))
_ALL = sql(_OPEN.where(attempt.c.incarnation <= bindparam("mine")))


class Sweep(Struct, frozen=True):
    """One sweep, as the ledger's port describes it."""

    alive: Callable[[], frozenset[str]]
    earlier_incarnations: bool


def sweep(batch: Batch, sweeps: Sequence[Sweep]) -> list[Swept]:
    """Each sweep sees what those before it have left."""
    return [_sweep(batch, item) for item in sweeps]


def _sweep(batch: Batch, item: Sweep) -> Swept:
    # Asked within the transaction: whoever holds a grant that is stored by now is in the set.
    alive = item.alive()
    statement = _ALL if item.earlier_incarnations else _MINE
    open_attempts = moves.found_from(batch.connection.execute(statement, {"mine": batch.incarnation}).fetchall())
    abandoned = [found for dispatch_id, found in open_attempts.items() if dispatch_id not in alive]
    unsent = [found for found in abandoned if found.state is State.GRANTED]
    maybe_sent = [found for found in abandoned if found.state is State.DISPATCHING]
    moves.give_back(batch, unsent, SWEPT_DETAIL)
    moves.leave_unknown(batch, maybe_sent, SWEPT_DETAIL)
    return Swept(
        released=tuple(found.dispatch_id for found in unsent),
        unknown=tuple(found.dispatch_id for found in maybe_sent),
    )
