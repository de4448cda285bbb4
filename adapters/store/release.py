"""Give grants back unsent."""

from collections.abc import Sequence

from adapters.store import moves
from adapters.store.batch import Batch
from gateway.domain.operation import State

GIVEN_BACK = "given_back"


def release(batch: Batch, dispatch_ids: Sequence[str]) -> list[None]:
    """granted -> released. What is not ``granted`` any more stays as it is."""
    found = moves.find(batch.connection, dispatch_ids)
    moves.give_back(batch, [grant for grant in found.values() if grant.state is State.GRANTED], GIVEN_BACK)
    return [None] * len(dispatch_ids)
