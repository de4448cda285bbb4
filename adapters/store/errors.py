"""What the database refuses, in the words of the ports."""

import sqlite3

from adapters.store.guards import ILLEGAL_MOVE
from gateway.domain.errors import GatewayError, IllegalMove, LedgerUnavailable

STATEMENT_ERRORS = (sqlite3.Error, OverflowError, UnicodeError, IllegalMove)
"""What a transition can fail with while its transaction can still be rolled back. The driver raises the
second and third where a value does not fit into a column."""

_EFFECT_INDEX = "attempt.op_id"


def translated(error: Exception) -> GatewayError:
    """The error that the transition's caller gets. Only fixed words: no text of the driver, no value."""
    if isinstance(error, IllegalMove):
        return error
    message = str(error)
    # A trigger and the partial unique index both raise IntegrityError.
    if isinstance(error, sqlite3.IntegrityError) and (
        message.startswith(ILLEGAL_MOVE) or message.endswith(f"failed: {_EFFECT_INDEX}")
    ):
        return IllegalMove("the database refused the move")
    return LedgerUnavailable(f"the transition was rolled back ({type(error).__name__})")
