"""The durable operation: its identity, the states of its attempts and the legal moves between them.

The table below is the only one. The database's triggers are generated from it (adapters/store), the
behaviours check wants a scenario for each move, and docs/operations.md explains the states to operators.
"""

from enum import StrEnum
from typing import Literal

from msgspec import Struct

from gateway.domain.fingerprint import Fingerprint
from gateway.domain.request import SourceRef


class State(StrEnum):
    """State of an attempt; an operation shows the state of its last attempt."""

    GRANTED = "granted"
    """Holds taken, provably unsent."""
    DISPATCHING = "dispatching"
    """May have been sent."""
    COMPLETED = "completed"
    """Result durable, settled."""
    NO_EFFECT = "no_effect"
    """Not sent, or refused by the provider before any work; holds released."""
    CHARGED = "charged"
    """Definite failure after work was done; settled."""
    UNKNOWN = "unknown"
    """Sent, outcome not known; holds kept."""
    RELEASED = "released"
    """Grant given back unsent."""
    CLOSED = "closed"
    """An unknown that an operator wrote off."""


LEGAL_MOVES: frozenset[tuple[State | None, State]] = frozenset(
    {
        (None, State.GRANTED),
        (State.GRANTED, State.DISPATCHING),
        (State.GRANTED, State.RELEASED),
        (State.DISPATCHING, State.COMPLETED),
        (State.DISPATCHING, State.CHARGED),
        (State.DISPATCHING, State.NO_EFFECT),
        (State.DISPATCHING, State.UNKNOWN),
        (State.UNKNOWN, State.COMPLETED),
        (State.UNKNOWN, State.CHARGED),
        (State.UNKNOWN, State.CLOSED),
    }
)
"""``None`` stands for "no attempt yet, or the last one is in a repeatable state"."""

REPEATABLE = frozenset({State.RELEASED, State.NO_EFFECT})
"""Another attempt may follow. Every other state, also one to come, forbids it (promise G1)."""

HOLDING = frozenset({State.GRANTED, State.DISPATCHING, State.UNKNOWN})
"""The attempt's holds are still held."""

REACHED_T2 = frozenset(State) - {State.GRANTED, State.RELEASED}
"""Attempts in these states count against ``max_attempts``."""


class Identity(Struct, frozen=True):
    """Whose operation, and which: the caller's key is only kept as a hash."""

    tenant: str
    principal: str
    key_hash: bytes
    """SHA-256 of the operation key, 32 bytes."""


UsageBasis = Literal["provider", "counted", "reserved"]


class Attempt(Struct, frozen=True, kw_only=True):
    """One attempt, as stored. Times are microseconds UTC, amounts tokens, costs micro-units of the currency."""

    n: int
    state: State
    dispatch_id: str
    profile: str
    profile_digest: str
    policy_revision: str
    reserved_input: int
    reserved_output: int
    reserved_cost: int
    used_input: int | None
    used_output: int | None
    used_cost: int | None
    usage_basis: UsageBasis | None
    detail: str | None
    """A code of the outcome, never a provider's text."""
    unknown_after_us: int | None
    """When a dispatch that is still open counts as unknown: send-by + total timeout + 60 s after T2."""
    granted_us: int
    dispatching_us: int | None
    finished_us: int | None


class Operation(Struct, frozen=True, kw_only=True):
    """One operation with its last attempt, as stored."""

    id: str
    identity: Identity
    fingerprint: Fingerprint
    alias: str
    purpose: str
    sources: tuple[SourceRef, ...]
    bundle: str
    bundle_digest: str
    """The first bundle. Later attempts under the same key stay with it."""
    max_attempts: int
    attempts_dispatched: int
    """Attempts that reached T2."""
    created_us: int
    last: Attempt


class StoredResult(Struct, frozen=True):
    """The answer as it was rendered once, before T3."""

    body: bytes
    digest: str
    """Hexadecimal SHA-256 of the body."""
