"""Random histories against a plain model: after every step each counter is the sum of the holds, and no claim is
admitted above a limit. The model knows attempts, amounts and the calendar, and adds up by hand."""

import asyncio
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from math import ceil
from typing import Any

import pytest
from contract.ledger_ends import NOW_US, a_claim, an_act, budgets, nobody, outcome, put_keys
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import Struct
from msgspec.structs import replace
from store_support import StoreEnds, store_ends

from gateway.domain.budget import Reservation, spent
from gateway.domain.limits import BudgetShort
from gateway.domain.money import Tariff, Tier
from gateway.domain.operation import State
from gateway.domain.reconciliation import Done
from gateway.domain.usage import Usage
from gateway.domain.windows import windows
from gateway.ports.ledger import AlreadyExists, Claim, Granted, Settled
from gateway.ports.reads import ScopeSums

TARIFF = Tariff((Tier(0, 1_500_000_000, 2_000_000_000), Tier(100, 2_500_000_000, 1_000_000_000)))
HELD = {State.GRANTED, State.DISPATCHING, State.UNKNOWN}
SETTLED = {State.COMPLETED, State.CHARGED, State.CLOSED}
LIMITS: tuple[Mapping[str, Mapping[str, int]], ...] = (
    {},
    {
        "profile": {"requests_per_minute": 3, "concurrency": 2},
        "quota_scope": {"tokens_per_minute": 700, "cost_per_month": 4000},
        "tenant": {"tokens_per_day": 1200, "tokens_per_month": 2500, "concurrency": 3},
    },
    {"profile": {"concurrency": 1}, "quota_scope": {"cost_per_month": 900}, "tenant": {"tokens_per_month": 400}},
    {"tenant": {"tokens_per_day": 0}},
)
"""None, some, those lowered, and nothing at all."""
MINUTE, HOUR, DAY = 60, 3_600, 86_400


class Held(Struct):
    """An attempt, as the model has it."""

    claim: Claim
    at: datetime
    state: State = State.GRANTED
    slot: bool = True
    used: tuple[int, int] = (0, 0)
    """Tokens and cost, up to what was reserved."""
    debt: tuple[int, int] = (0, 0)

    @property
    def amount(self) -> tuple[int, int]:
        if self.state in HELD:
            return (self.claim.reserved.input + self.claim.reserved.output, self.claim.reserved.cost)
        return (self.used[0] + self.debt[0], self.used[1] + self.debt[1])


def cost(used_in: int, used_out: int) -> int:
    """The tariff by hand."""
    price_in, price_out = (Fraction(5, 2), 1) if used_in > 100 else (Fraction(3, 2), 2)
    return ceil(used_in * price_in + used_out * price_out)


class Model:
    """Every attempt there ever was, and the time."""

    def __init__(self) -> None:
        self.attempts: list[Held] = []
        self.now = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=NOW_US)

    def sums(self, kind: str, scope_id: str) -> dict[str, int]:
        mine = [one for one in self.attempts if (kind, scope_id) in _scopes(one.claim)]
        same = {
            "minute": [one for one in mine if f"{one.at:%Y%m%d%H%M}" == f"{self.now:%Y%m%d%H%M}"],
            "day": [one for one in mine if one.at.date() == self.now.date()],
            "month": [one for one in mine if (one.at.year, one.at.month) == (self.now.year, self.now.month)],
        }
        held = [one for one in mine if one.state in HELD]
        return {
            "minute_requests": sum(one.state in HELD | SETTLED for one in same["minute"]),
            **{f"{name}_tokens": sum(one.amount[0] for one in window) for name, window in same.items()},
            "month_cost": sum(one.amount[1] for one in same["month"]),
            "held_tokens": sum(one.amount[0] for one in held),
            "held_cost": sum(one.amount[1] for one in held),
            "debt_tokens": sum(one.debt[0] for one in mine),
            "debt_cost": sum(one.debt[1] for one in mine),
            "slots_used": sum(one.slot for one in held),
            "slots_stranded": sum(one.slot and one.state is State.UNKNOWN for one in held),
        }

    def above(self, claim: Claim, *, extra: bool) -> set[tuple[str, str]]:
        """Limits that are passed: by this claim on top, or as it is."""
        tokens = claim.reserved.input + claim.reserved.output
        more = {"requests_per_minute": 1, "cost_per_month": claim.reserved.cost, "concurrency": 1}
        found = set()
        for budget in claim.budgets:
            sums = self.sums(budget.scope.kind, budget.scope.id)
            counted = {
                "requests_per_minute": sums["minute_requests"],
                "tokens_per_minute": sums["minute_tokens"],
                "tokens_per_day": sums["day_tokens"],
                "tokens_per_month": sums["month_tokens"],
                "cost_per_month": sums["month_cost"],
                "concurrency": sums["slots_used"],
            }
            for name, used in counted.items():
                limit = getattr(budget.limits, name)
                if limit is not None and used + extra * more.get(name, tokens) > limit:
                    found.add((budget.scope.kind, name))
        return found


def _scopes(claim: Claim) -> set[tuple[str, str]]:
    return {(budget.scope.kind, budget.scope.id) for budget in claim.budgets}


class History:
    """Takes each step on the real store, and follows with the model what the store has answered."""

    def __init__(self, ends: StoreEnds) -> None:
        self.ends = ends
        self.model = Model()
        self.refused = 0

    async def step(self, kind: str, *given: Any) -> None:
        if kind == "wait":
            self.ends.clock.us += given[0] * 1_000_000
            self.model.now += timedelta(seconds=given[0])
        elif kind == "claim":
            await self.claim(*given)
        elif kind == "sweep":
            swept = await self.ends.ledger.sweep(nobody, earlier_incarnations=False)
            for one in self.model.attempts:
                if one.claim.dispatch_id in swept.released:
                    one.state = State.RELEASED
                elif one.claim.dispatch_id in swept.unknown:
                    one.state = State.UNKNOWN
        elif self.model.attempts:
            one = self.model.attempts[-1 - given[0] % len(self.model.attempts)]
            await getattr(self, kind)(one, *given[1:])

    async def claim(self, key: int, profile: str, tokens_in: int, cap: int, limits: int) -> None:
        reserved = Reservation(tokens_in, cap, ceil(tokens_in * Fraction(5, 2) + cap * 2))
        limited: dict[str, Any] = {f"of_{kind}": named for kind, named in LIMITS[limits].items()}
        claim = a_claim(
            str(key),
            profile=profile,
            reserved=reserved,
            tariff=TARIFF,
            budgets=budgets(profile=profile, **limited),
        )
        answer, short = await self.ends.ledger.claim(claim), self.model.above(claim, extra=True)
        match answer:
            case Granted(operation_id=operation_id):
                assert not short
                self.model.attempts.append(Held(replace(claim, operation_id=operation_id), self.model.now))
                assert not self.model.above(claim, extra=False)
            case BudgetShort(scope=scope, limit=limit, retry_after_s=retry_after_s, stranded=stranded):
                self.refused += 1
                assert (scope, limit) in short
                alone = Model()
                alone.now = self.model.now
                impossible = alone.above(claim, extra=True)
                assert ((scope, limit) in impossible) == (retry_after_s is None and not stranded)
                assert bool(impossible) == (retry_after_s is None and not stranded)
                if retry_after_s is not None and limit != "concurrency":
                    alone.attempts = self.model.attempts
                    alone.now += timedelta(seconds=retry_after_s - 1)
                    assert (scope, limit) in alone.above(claim, extra=True)
                    alone.now += timedelta(seconds=1)
                    assert alone.above(claim, extra=True) <= {(kind, "concurrency") for kind, _ in short}
            case _:
                assert answer == AlreadyExists()

    async def dispatch(self, one: Held) -> None:
        await self.ends.ledger.dispatch(one.claim.dispatch_id)
        one.state = await self.state_of(one)

    async def release(self, one: Held) -> None:
        await self.ends.ledger.release(one.claim.dispatch_id)
        one.state = await self.state_of(one)

    async def settle(self, one: Held, state: State, used_in: int, used_out: int, said: bool) -> None:
        if one.state in {State.GRANTED, State.RELEASED}:
            return
        made = outcome(one.claim.dispatch_id, state)
        proves = said and state in {State.COMPLETED, State.CHARGED}
        if state in {State.COMPLETED, State.CHARGED}:
            usage = Usage(used_in, used_out) if said else None
            made = replace(made, settlement=spent(state, usage, one.claim.reserved, TARIFF, "stop"))
        earlier = one.state
        answer = await self.ends.ledger.settle(made)
        one.state = await self.state_of(one)
        if answer == Settled():
            self.book(one, (used_in + used_out, cost(used_in, used_out)) if proves else None)
        elif proves and earlier not in HELD:
            proved = (used_in + used_out, cost(used_in, used_out))
            one.debt = (max(one.debt[0], proved[0] - one.used[0]), max(one.debt[1], proved[1] - one.used[1]))

    async def act(self, one: Held, kind: Any, used_in: int, used_out: int) -> None:
        used = Usage(used_in, used_out) if kind == "charged" else None
        if await self.ends.ledger.act(an_act(one.claim, kind, used=used)) != Done(await self.last_of(one)):
            return
        acted = max((a for a in self.model.attempts if a.claim.operation_id == one.claim.operation_id), key=_order)
        if kind == "free_slot":
            acted.slot = False
            return
        acted.state = await self.last_of(one)
        proved = {"charged": (used_in + used_out, cost(used_in, used_out)), "no_effect": (0, 0)}
        self.book(acted, proved.get(kind))

    def book(self, one: Held, used: tuple[int, int] | None) -> None:
        """Settle at what was used, or at the reservation where nobody says."""
        if one.state not in SETTLED:
            return
        reserved = (one.claim.reserved.input + one.claim.reserved.output, one.claim.reserved.cost)
        used = reserved if used is None else used
        one.used = (min(used[0], reserved[0]), min(used[1], reserved[1]))
        one.debt = (used[0] - one.used[0], used[1] - one.used[1])

    async def state_of(self, one: Held) -> State:
        ((state,),) = self.ends.rows("SELECT state FROM attempt WHERE dispatch_id = ?", one.claim.dispatch_id)
        return State(state)

    async def last_of(self, one: Held) -> State:
        operation = await self.ends.operations.get(one.claim.operation_id)
        assert operation is not None
        return operation.last.state

    async def compare(self) -> None:
        for counted in await self.ends.accounts.usage():
            assert _plain(counted, self.ends.clock.us) == self.model.sums(counted.scope.kind, counted.scope.id)
        assert self.ends.store.verify() == []


def _order(one: Held) -> int:
    """Later attempts of an operation have later dispatch ids."""
    return int(one.claim.dispatch_id.replace("-", ""), 16)


def _plain(counted: ScopeSums, now_us: int) -> dict[str, int]:
    sums = counted.sums
    sums.roll(windows(now_us))
    return {name: getattr(sums, name) for name in sums.__struct_fields__ if not name.endswith("_us")}


_tokens = st.integers(1, 300)
_claim = st.tuples(
    st.just("claim"), st.integers(0, 5), st.sampled_from(["small", "large"]), _tokens, _tokens, st.integers(0, 3)
)
_moved = st.one_of(
    st.tuples(st.sampled_from(["dispatch", "dispatch", "release"]), st.integers(0, 3)),
    st.tuples(
        st.just("settle"),
        st.integers(0, 4),
        st.sampled_from([State.COMPLETED, State.CHARGED, State.NO_EFFECT, State.UNKNOWN]),
        _tokens,
        _tokens,
        st.booleans(),
    ),
    st.tuples(
        st.just("act"),
        st.integers(0, 4),
        st.sampled_from(["write_off", "no_effect", "charged", "free_slot"]),
        _tokens,
        _tokens,
    ),
)
_around = st.one_of(
    st.tuples(st.just("wait"), st.sampled_from([1, 29, MINUTE, HOUR, 12 * HOUR, DAY, 31 * DAY])),
    st.tuples(st.just("sweep")),
)
_step = st.one_of(_claim, _claim, _moved, _moved, _around)


async def _run(ends: StoreEnds, steps: list[tuple[Any, ...]]) -> History:
    history = History(ends)
    await put_keys(ends)
    for step in steps:
        await history.step(*step)
        await history.compare()
    return history


@pytest.mark.timeout(400)
@settings(max_examples=40, deadline=None)
@given(st.lists(_step, max_size=30))
def test_whatever_happens_counters_are_the_sums_of_the_holds_and_limits_are_kept(steps: list[tuple[Any, ...]]) -> None:
    with store_ends() as ends:
        asyncio.run(_run(ends, steps))


def test_the_histories_refuse_settle_owe_and_strand() -> None:
    """The strategy above would prove nothing if it never got anywhere."""
    steps: list[tuple[Any, ...]] = [
        ("claim", 0, "small", 100, 100, 1),
        ("dispatch", 0),
        ("settle", 0, State.COMPLETED, 200, 300, True),
        ("claim", 1, "small", 300, 300, 1),
        ("claim", 2, "large", 50, 50, 1),
        ("dispatch", 0),
        ("settle", 0, State.UNKNOWN, 1, 1, True),
        ("claim", 3, "large", 1, 1, 2),
        ("wait", 12 * HOUR),
        ("settle", 0, State.CHARGED, 90, 90, True),
        ("settle", 0, State.COMPLETED, 290, 90, True),
    ]
    with store_ends() as ends:
        history = asyncio.run(_run(ends, steps))
    assert history.refused == 2
    assert [(one.state, one.used, one.debt) for one in history.model.attempts] == [
        (State.COMPLETED, (200, 450), (300, 350)),
        (State.CHARGED, (100, 225), (280, 590)),
    ]
