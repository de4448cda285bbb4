"""What fits into the limits of a scope, and when what does not fit can come again. Nothing here is stored."""

from collections.abc import Iterator
from functools import lru_cache
from math import ceil
from typing import Literal

from msgspec import Struct

from gateway.domain.budget import Reservation, Scope, ScopeKind
from gateway.domain.money import micro_units
from gateway.domain.registry import CostLimit, Limit, Limits
from gateway.domain.windows import Windows

LimitName = Literal[
    "requests_per_minute",
    "tokens_per_minute",
    "tokens_per_day",
    "tokens_per_month",
    "cost_per_month",
    "concurrency",
]
UNLIMITED = "unlimited"
SLOT_RETRY_AFTER_S = 1
"""Nobody knows when a slot is free again; a call takes seconds."""


class Ceilings(Struct, frozen=True, kw_only=True):
    """The limits of one scope as integers. ``None`` is unlimited, 0 is nothing; a cost is in micro-units."""

    requests_per_minute: int | None
    tokens_per_minute: int | None
    tokens_per_day: int | None
    tokens_per_month: int | None
    cost_per_month: int | None
    concurrency: int | None


NO_CEILINGS = Ceilings(
    requests_per_minute=None,
    tokens_per_minute=None,
    tokens_per_day=None,
    tokens_per_month=None,
    cost_per_month=None,
    concurrency=None,
)


class Budget(Struct, frozen=True):
    """A scope with the limits that hold for it in the registry of a claim."""

    scope: Scope
    limits: Ceilings


class Sums(Struct):
    """What a scope counts. ``*_us`` is where a window starts; a sum is of the holds that were taken in it: what is
    held, what was settled, and debts."""

    minute_us: int
    minute_requests: int = 0
    minute_tokens: int = 0
    day_us: int = 0
    day_tokens: int = 0
    month_us: int = 0
    month_tokens: int = 0
    month_cost: int = 0
    held_tokens: int = 0
    held_cost: int = 0
    debt_tokens: int = 0
    debt_cost: int = 0
    slots_used: int = 0
    slots_stranded: int = 0

    @property
    def windows(self) -> Windows:
        return Windows(self.minute_us, self.day_us, self.month_us)

    def roll(self, now: Windows) -> None:
        """Begin the windows of ``now``. Never goes back: a clock that was set back does not forgive usage."""
        if now.minute_us > self.minute_us:
            self.minute_us, self.minute_requests, self.minute_tokens = now.minute_us, 0, 0
        if now.day_us > self.day_us:
            self.day_us, self.day_tokens = now.day_us, 0
        if now.month_us > self.month_us:
            self.month_us, self.month_tokens, self.month_cost = now.month_us, 0, 0


class BudgetShort(Struct, frozen=True):
    """Condition 6 of T1 failed: a limit of a scope leaves no room. Nothing was taken, in no scope."""

    scope: ScopeKind
    limit: LimitName
    retry_after_s: int | None
    """Whole seconds until there can be room again; None where waiting alone does not help."""
    stranded: bool = False
    """Every slot of the profile belongs to an outcome that is unknown."""


@lru_cache(maxsize=4096)
def ceilings(limits: Limits) -> Ceilings:
    """Limits of the registry as integers."""
    return Ceilings(
        requests_per_minute=_count(limits.requests_per_minute),
        tokens_per_minute=_count(limits.tokens_per_minute),
        tokens_per_day=_count(limits.tokens_per_day),
        tokens_per_month=_count(limits.tokens_per_month),
        cost_per_month=_cost(limits.cost_per_month),
        concurrency=_count(limits.concurrency),
    )


def fits(limits: Ceilings, sums: Sums, asked: Reservation) -> bool:
    """Whether one more request fits. On the path of every claim, so written out."""
    tokens = asked.input + asked.output
    return (
        ((most := limits.requests_per_minute) is None or sums.minute_requests < most)
        and ((most := limits.tokens_per_minute) is None or sums.minute_tokens + tokens <= most)
        and ((most := limits.tokens_per_day) is None or sums.day_tokens + tokens <= most)
        and ((most := limits.tokens_per_month) is None or sums.month_tokens + tokens <= most)
        and ((most := limits.cost_per_month) is None or sums.month_cost + asked.cost <= most)
        and ((most := limits.concurrency) is None or sums.slots_used < most)
    )


def shortages(budget: Budget, sums: Sums, asked: Reservation, now_us: int) -> Iterator[BudgetShort]:
    """Every limit of a scope into which one more request does not fit."""
    kind, limits, tokens, ends = budget.scope.kind, budget.limits, asked.tokens, sums.windows.ends
    windowed: tuple[tuple[LimitName, int | None, int, int, int], ...] = (
        ("requests_per_minute", limits.requests_per_minute, sums.minute_requests, 1, ends.minute_us),
        ("tokens_per_minute", limits.tokens_per_minute, sums.minute_tokens, tokens, ends.minute_us),
        ("tokens_per_day", limits.tokens_per_day, sums.day_tokens, tokens, ends.day_us),
        ("tokens_per_month", limits.tokens_per_month, sums.month_tokens, tokens, ends.month_us),
        ("cost_per_month", limits.cost_per_month, sums.month_cost, asked.cost, ends.month_us),
    )
    for name, most, counted, wanted, end_us in windowed:
        if most is not None and counted + wanted > most:
            yield BudgetShort(kind, name, _seconds(end_us - now_us) if wanted <= most and most > 0 else None)
    slots = limits.concurrency
    if slots is not None and sums.slots_used >= slots:
        stranded = kind == "profile" and 0 < slots <= sums.slots_stranded
        yield BudgetShort(kind, "concurrency", None if slots == 0 or stranded else SLOT_RETRY_AFTER_S, stranded)


def lasts(short: BudgetShort) -> tuple[bool, bool, int]:
    """Order of shortages by how long they last. What no waiting ends lasts longest, before what an operator ends."""
    return (short.retry_after_s is None and not short.stranded, short.stranded, short.retry_after_s or 0)


def _seconds(us: int) -> int:
    return max(1, ceil(us / 1_000_000))


def _count(limit: Limit) -> int | None:
    return limit if isinstance(limit, int) else None


def _cost(limit: CostLimit) -> int | None:
    return None if limit == UNLIMITED else micro_units(limit)
