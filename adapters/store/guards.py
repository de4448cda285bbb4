"""Triggers: what the database itself refuses, whoever asks. Generated from the one table of legal moves.

The migration carries their text as it was when it was written; a test holds the two together.
"""

from adapters.store.tables import attempt, names, one_of
from gateway.domain.operation import LEGAL_MOVES, REPEATABLE, State

ILLEGAL_MOVE = "illegal move"
"""Start of the message of every refusal, by which errors.py tells it from a broken constraint."""

_MUTABLE = frozenset(
    {
        "state",
        "dispatching_us",
        "finished_us",
        "used_input",
        "used_output",
        "used_cost",
        "usage_basis",
        "detail",
        "provider_ref",
        "result_digest",
    }
)


def triggers() -> dict[str, str]:
    """Name and text of each trigger."""
    first = one_of("NEW.state", (to for origin, to in LEGAL_MOVES if origin is None))
    fixed = ", ".join(column.name for column in attempt.columns if column.name not in _MUTABLE)
    return {
        "attempt_begins": _trigger(
            "attempt_begins",
            "BEFORE INSERT ON attempt",
            # S608: only states of the table of moves get into it.
            f"NOT {first} OR (NEW.n > 1 AND NOT EXISTS (SELECT 1 FROM attempt AS earlier "  # noqa: S608
            f"WHERE earlier.op_id = NEW.op_id AND earlier.n = NEW.n - 1 AND earlier.state IN ({names(REPEATABLE)})))",
            f"{ILLEGAL_MOVE}: an attempt begins as granted, after one without effect",
        ),
        "attempt_moves": _trigger(
            "attempt_moves",
            "BEFORE UPDATE ON attempt",
            f"NOT ({' OR '.join(_moves_from(state) for state in _origins())})",
            f"{ILLEGAL_MOVE}: not in the table of moves",
        ),
        "attempt_is_fixed": _trigger(
            "attempt_is_fixed", f"BEFORE UPDATE OF {fixed} ON attempt", "1", f"{ILLEGAL_MOVE}: this column is fixed"
        ),
        **{
            f"{table}_{event.lower()}": _trigger(
                f"{table}_{event.lower()}", f"BEFORE {event} ON {table}", "1", f"{table} is append-only"
            )
            for table, event in _APPEND_ONLY
        },
    }


# The purge to come brings the one condition under which a result may go (invariant I13).
_APPEND_ONLY = (
    ("audit", "UPDATE"),
    ("audit", "DELETE"),
    ("evidence", "UPDATE"),
    ("evidence", "DELETE"),
    ("result", "UPDATE"),
    ("result", "DELETE"),
    ("withdrawal", "UPDATE"),
    ("withdrawal", "DELETE"),
)


def _origins() -> list[State]:
    return sorted({origin for origin, _ in LEGAL_MOVES if origin is not None})


def _moves_from(state: State) -> str:
    targets = one_of("NEW.state", (to for origin, to in LEGAL_MOVES if origin is state))
    return f"(OLD.state = '{state.value}' AND {targets})"


def _trigger(name: str, event: str, when: str, message: str) -> str:
    return f"CREATE TRIGGER {name} {event} WHEN {when} BEGIN SELECT RAISE(ABORT, '{message}'); END"
