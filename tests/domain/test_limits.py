"""What fits, and how long it lasts that something does not. The ledger's contract shows the rest."""

from hypothesis import given
from hypothesis import strategies as st

from gateway.domain.budget import Reservation, Scope
from gateway.domain.limits import Budget, BudgetShort, Ceilings, Sums, ceilings, fits, lasts, shortages
from gateway.domain.registry import Limits

MIDNIGHT_US = 1_796_083_200_000_000
"""2026-12-01T00:00:00Z"""
amounts = st.integers(0, 60)
optional = st.none() | amounts


def test_limits_become_integers_and_unlimited_is_none() -> None:
    limits = Limits(
        requests_per_minute=0,
        tokens_per_minute=5,
        tokens_per_day="unlimited",
        tokens_per_month=2**53,
        cost_per_month="20.5000009",
        concurrency="unlimited",
    )
    assert ceilings(limits) == Ceilings(
        requests_per_minute=0,
        tokens_per_minute=5,
        tokens_per_day=None,
        tokens_per_month=2**53,
        cost_per_month=20_500_000,
        concurrency=None,
    )


@given(
    st.builds(
        Ceilings,
        requests_per_minute=optional,
        tokens_per_minute=optional,
        tokens_per_day=optional,
        tokens_per_month=optional,
        cost_per_month=optional,
        concurrency=optional,
    ),
    st.builds(
        Sums,
        minute_us=st.just(MIDNIGHT_US),
        minute_requests=amounts,
        minute_tokens=amounts,
        day_tokens=amounts,
        month_tokens=amounts,
        month_cost=amounts,
        slots_used=amounts,
    ),
    st.builds(Reservation, st.integers(0, 30), st.integers(1, 30), amounts),
)
def test_it_fits_exactly_when_nothing_is_short(limits: Ceilings, sums: Sums, asked: Reservation) -> None:
    short = list(shortages(Budget(Scope("tenant", "acme"), limits), sums, asked, MIDNIGHT_US))
    assert fits(limits, sums, asked) == (short == [])


def test_what_an_operator_has_to_end_lasts_longer_than_any_window_and_what_cannot_fit_longest() -> None:
    never = BudgetShort("tenant", "tokens_per_day", None)
    stranded = BudgetShort("profile", "concurrency", None, stranded=True)
    month = BudgetShort("tenant", "tokens_per_month", 31 * 86_400)
    slot = BudgetShort("profile", "concurrency", 1)
    assert sorted([stranded, slot, never, month], key=lasts) == [slot, month, stranded, never]
