"""Money is exact: whole micro-units from decimal strings, rounded up once."""

from fractions import Fraction
from math import ceil, floor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.domain.money import decimal, micro_units, tariff
from gateway.domain.profile import Price, Prices
from gateway.domain.usage import Usage

amounts = st.from_regex(r"(0|[1-9][0-9]{0,6})(\.[0-9]{1,9})?", fullmatch=True)
tokens = st.integers(0, 200_000_000)


def prices(*tiers: tuple[int, str, str]) -> Prices:
    return Prices(
        checked="2026-11-30",
        tiers=tuple(
            Price(above_input_tokens=above, input_per_million=tokens_in, output_per_million=tokens_out)
            for above, tokens_in, tokens_out in tiers
        ),
    )


TIERS = tariff(prices((0, "1", "8"), (1000, "2", "6")))


@pytest.mark.parametrize(
    ("used", "cost"),
    [
        (Usage(0, 0), 0),
        (Usage(1, 0), 1),
        (Usage(1000, 10), 1080),
        (Usage(1001, 10), 2062),
        (Usage(0, 1), 8),
    ],
)
def test_the_whole_call_costs_what_the_tier_of_its_input_says(used: Usage, cost: int) -> None:
    assert TIERS.cost(used) == cost


def test_a_reservation_is_at_the_highest_prices_of_all_tiers() -> None:
    assert TIERS.worst(Usage(10, 10)) == 10 * 2 + 10 * 8


def test_a_cost_is_rounded_up_once_and_not_for_each_part() -> None:
    assert tariff(prices((0, "0.4", "0.4"))).cost(Usage(1, 1)) == 1
    assert tariff(prices((0, "0.4", "0.4"))).cost(Usage(2, 1)) == 2
    assert tariff(prices((0, "0.000000001", "0"))).cost(Usage(1, 0)) == 1
    assert tariff(prices((0, "0", "0"))).cost(Usage(10**8, 10**8)) == 0


@given(amounts, amounts, tokens, tokens)
def test_a_cost_is_the_exact_one_rounded_up_and_an_amount_that_the_store_holds(
    price_in: str, price_out: str, tokens_in: int, tokens_out: int
) -> None:
    exact = tokens_in * Fraction(price_in) + tokens_out * Fraction(price_out)
    cost = tariff(prices((0, price_in, price_out))).cost(Usage(tokens_in, tokens_out))
    assert cost == ceil(exact)
    assert tokens_in + tokens_out > 400_000_000 or cost <= 2**53


@given(st.lists(st.tuples(st.integers(0, 10**6), amounts, amounts), min_size=1, max_size=4), tokens, tokens)
def test_no_call_within_its_reservation_costs_more_than_was_reserved(
    tiers: list[tuple[int, str, str]], tokens_in: int, tokens_out: int
) -> None:
    tiers[0] = (0, *tiers[0][1:])
    made = tariff(prices(*sorted(tiers)))
    assert made.cost(Usage(tokens_in, tokens_out)) <= made.worst(Usage(tokens_in, tokens_out))


@given(amounts)
def test_a_limit_is_never_larger_than_it_is_written(amount: str) -> None:
    assert micro_units(amount) == floor(Fraction(amount) * 10**6)


def test_an_amount_is_shown_with_all_its_digits() -> None:
    assert [decimal(micro) for micro in (0, 1, 12_500, 20_000_000)] == ["0.000000", "0.000001", "0.012500", "20.000000"]
