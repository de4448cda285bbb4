"""Reservations and their settlement, in tokens and in money."""

from typing import Literal

from msgspec import Struct

from gateway.domain.money import Tariff
from gateway.domain.operation import State, UsageBasis
from gateway.domain.outcome import Charged, Completed, NoEffect, Outcome
from gateway.domain.usage import Usage

ScopeKind = Literal["tenant", "quota_scope", "profile"]


class Scope(Struct, frozen=True, order=True):
    """One account that an operation counts against. Ordered, because budget rows are locked in this order."""

    kind: ScopeKind
    id: str


class Reservation(Struct, frozen=True):
    """Tokens reserved before transport: the counted input and the cap on the output; and what they cost at most."""

    input: int
    output: int
    cost: int = 0
    """Micro-units of the currency."""

    @property
    def tokens(self) -> int:
        return self.input + self.output


class Settlement(Struct, frozen=True, kw_only=True):
    """What T3 books: the state, and what was used. ``used`` is None while the holds are kept or released."""

    state: State
    used: Usage | None
    basis: UsageBasis | None
    cost: int = 0
    """Of what was used, in micro-units; 0 while nothing is booked."""
    debt_tokens: int = 0
    """Proved usage above the reservation."""
    debt_cost: int = 0
    """Proved cost above the reservation, in micro-units; with output for input, also where no token is above it."""
    detail: str | None = None


def reserve(counted: int, cap: int, tariff: Tariff) -> Reservation:
    """What is set aside: the counted input and the whole cap, at the worst price."""
    return Reservation(input=counted, output=cap, cost=tariff.worst(Usage(counted, cap)))


def settle(outcome: Outcome, reserved: Reservation, tariff: Tariff) -> Settlement:
    """Settlement of an outcome: usage that is known returns the surplus, usage that is not keeps it."""
    match outcome:
        case Completed(completion=completion):
            return spent(State.COMPLETED, completion.usage, reserved, tariff, completion.finish_reason)
        case Charged(reason=reason, usage=usage):
            return spent(State.CHARGED, usage, reserved, tariff, reason)
        case NoEffect(reason=reason):
            return Settlement(state=State.NO_EFFECT, used=None, basis=None, detail=reason)
        case _:
            return Settlement(state=State.UNKNOWN, used=None, basis=None, detail=outcome.reason)


def spent(state: State, usage: Usage | None, reserved: Reservation, tariff: Tariff, detail: str) -> Settlement:
    """Settlement of a call that took something; without usage that can be true, all that was reserved."""
    if usage is None:
        used = Usage(input=reserved.input, output=reserved.output)
        return Settlement(state=state, used=used, basis="reserved", cost=reserved.cost, detail=detail)
    cost = tariff.cost(usage)
    return Settlement(
        state=state,
        used=usage,
        basis="provider",
        cost=cost,
        debt_tokens=max(0, usage.input + usage.output - reserved.tokens),
        debt_cost=max(0, cost - reserved.cost),
        detail=detail,
    )
