"""Reservations, holds and their settlement. Limits come with their own windows later; the sums exist now."""

from typing import Literal

from msgspec import Struct

from gateway.domain.operation import State, UsageBasis
from gateway.domain.outcome import Charged, Completed, NoEffect, Outcome
from gateway.domain.usage import Usage

ScopeKind = Literal["tenant", "quota_scope", "profile"]


class Scope(Struct, frozen=True, order=True):
    """One account that an operation counts against. Ordered, because budget rows are locked in this order."""

    kind: ScopeKind
    id: str


class Reservation(Struct, frozen=True):
    """Tokens reserved before transport: the counted input and the cap on the output."""

    input: int
    output: int

    @property
    def tokens(self) -> int:
        return self.input + self.output


class Settlement(Struct, frozen=True, kw_only=True):
    """What T3 books: the state, and what was used. ``used`` is None while the holds are kept or released."""

    state: State
    used: Usage | None
    basis: UsageBasis | None
    debt_tokens: int = 0
    """Proved usage above the reservation."""
    detail: str | None = None


def settle(outcome: Outcome, reserved: Reservation) -> Settlement:
    """Settlement of an outcome: usage that is known returns the surplus, usage that is not keeps it."""
    match outcome:
        case Completed(completion=completion):
            return _spent(State.COMPLETED, completion.usage, reserved, completion.finish_reason)
        case Charged(reason=reason, usage=usage):
            return _spent(State.CHARGED, usage, reserved, reason)
        case NoEffect(reason=reason):
            return Settlement(state=State.NO_EFFECT, used=None, basis=None, detail=reason)
        case _:
            return Settlement(state=State.UNKNOWN, used=None, basis=None, detail=outcome.reason)


def _spent(state: State, usage: Usage | None, reserved: Reservation, detail: str) -> Settlement:
    if usage is None:
        used = Usage(input=reserved.input, output=reserved.output)
        return Settlement(state=state, used=used, basis="reserved", detail=detail)
    debt = max(0, usage.input + usage.output - reserved.tokens)
    return Settlement(state=state, used=usage, basis="provider", debt_tokens=debt, detail=detail)
