"""The cost worksheet: exact amounts in a named currency, where both ways cost the same, and no verdict."""

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from gateway.domain.worksheets.catalogue import WORKSHEETS
from gateway.domain.worksheets.cost.fields import FIELDS
from gateway.domain.worksheets.fields import EntriesRefused
from gateway.domain.worksheets.sheet import Sheet

OWN = {"currency": "EUR", "device_hour": "10", "requests_per_s": "20", "utilisation": "0.5"}
HOSTED = {
    "currency": "EUR",
    "input_tokens": "1000",
    "output_tokens": "300",
    "input_price": "0.40",
    "output_price": "1.60",
}
BOTH = OWN | HOSTED
IDS = [
    "hosted_per_request",
    "hosted_per_success",
    "self_hosted_per_hour",
    "served_per_hour",
    "variable_per_request",
    "self_hosted_per_request",
    "self_hosted_per_success",
    "break_even_rate",
    "break_even_utilisation",
]


def cost(**entered: str) -> Sheet:
    return WORKSHEETS["cost"].compute(entered)


def value(sheet: Sheet, name: str) -> Fraction:
    found = sheet.figures[name].value
    assert isinstance(found, str)
    return Fraction(found)


def exactly(sheet: Sheet, name: str, expected: Fraction) -> bool:
    """Equal, as far as twenty significant digits say it."""
    return abs(value(sheet, name) - expected) <= abs(expected) / 10**19


def test_the_worked_example_costs_0_000278_a_request() -> None:
    sheet = cost(**OWN)
    per_request = sheet.figures["self_hosted_per_request"]
    assert (per_request.value, per_request.shown) == ("0.00027777777777777777778", "0.000278 EUR")
    assert per_request.how == "per hour / (3600 x 1 x 20 x 0.5) + variable"
    assert sheet.figures["self_hosted_per_hour"].shown == "10.00 EUR/h"
    assert (sheet.figures["served_per_hour"].value, sheet.figures["served_per_hour"].unit) == ("36000", "requests/h")
    assert any("20 significant digits" in sentence for sentence in sheet.assumed)


def test_every_figure_is_there_whatever_was_entered_and_none_is_a_verdict() -> None:
    for entered in (OWN, HOSTED, BOTH):
        sheet = cost(**entered)
        assert list(sheet.figures) == IDS
        assert sheet.verdict is None
        for figure in sheet.figures.values():
            assert (figure.value is None) == figure.shown.startswith(("not known", "undefined", "none"))


def test_a_currency_is_always_needed_and_stands_with_every_amount() -> None:
    with pytest.raises(EntriesRefused, match="currency: It is missing"):
        cost(**OWN | {"currency": ""})
    sheet = cost(**BOTH | {"currency": "USD"})
    for name in ("hosted_per_request", "hosted_per_success", "self_hosted_per_request", "variable_per_request"):
        assert (sheet.figures[name].unit, sheet.figures[name].shown.split()[-1]) == ("USD", "USD")
    assert sheet.figures["self_hosted_per_hour"].unit == "USD/h"
    entries = {row[0]: row[1] for row in sheet.tables[0].rows}
    assert entries["Price of input"] == "0.40 USD per 1000000 tokens"
    assert entries["A device"] == "10 USD/h"


def test_a_hosted_request_costs_its_tokens_at_their_prices() -> None:
    sheet = cost(**HOSTED)
    assert sheet.figures["hosted_per_request"].value == "0.00088"
    assert sheet.figures["hosted_per_request"].how == "1000 x 0.0000004 + 300 x 0.0000016"
    assert sheet.figures["self_hosted_per_request"].shown == "not known: no price of a device was entered"
    assert sheet.figures["break_even_rate"].shown == "not known: no price of a device was entered"


def test_cached_and_reasoning_tokens_cost_what_input_and_output_do_unless_they_have_a_price() -> None:
    more = {"cached_input_tokens": "500", "reasoning_tokens": "100"}
    plain = cost(**HOSTED, **more)
    assert value(plain, "hosted_per_request") == Fraction("1500") * Fraction("0.4e-6") + 400 * Fraction("1.6e-6")
    assert "Reasoning tokens are billed as output." in plain.assumed
    assert "Cached input costs what input does." in plain.assumed
    priced = cost(**HOSTED, **more, cached_input_price="0.1", reasoning_price="3")
    assert value(priced, "hosted_per_request") == (
        Fraction("0.00088") + 500 * Fraction("0.1e-6") + 100 * Fraction("3e-6")
    )
    assert "Reasoning tokens are billed as output." not in priced.assumed
    assert value(cost(**HOSTED, **more, cached_input_price="0"), "hosted_per_request") < value(
        plain, "hosted_per_request"
    )


def test_all_that_was_paid_for_is_divided_by_what_succeeded() -> None:
    counted = {"completed": "90", "content_filter": "4", "charged": "3", "unknown": "3"}
    sheet = cost(**HOSTED, **counted)
    assert exactly(sheet, "hosted_per_success", Fraction("0.00088") * 100 / 90)
    for name in ("content_filter", "charged", "unknown"):
        fewer = cost(**HOSTED, **counted | {name: "0"})
        assert value(fewer, "hosted_per_success") < value(sheet, "hosted_per_success")
    rate = cost(**HOSTED, success_rate="0.8", retries="0.5")
    assert value(rate, "hosted_per_success") == Fraction("0.00088") * Fraction(3, 2) / Fraction(4, 5)


@pytest.mark.parametrize("nothing", [{"success_rate": "0"}, {"completed": "0", "charged": "5"}, {"unknown": "1"}])
def test_where_nothing_succeeded_a_success_has_no_cost(nothing: dict[str, str]) -> None:
    figure = cost(**HOSTED, **nothing).figures["hosted_per_success"]
    assert (figure.value, figure.shown) == (None, "undefined: nothing succeeded")


def test_an_hour_costs_devices_in_use_and_in_reserve_and_all_else() -> None:
    whole = {
        "replicas": "3",
        "headroom_replicas": "1",
        "devices_per_replica": "2",
        "device_hour": "2.5",
        "storage_hour": "0.1",
        "network_hour": "0.2",
        "maintenance_hour": "0.3",
        "staff_hour": "4",
    }
    sheet = cost(**OWN | whole | {"variable_per_request": "0.0001"})
    assert value(sheet, "self_hosted_per_hour") == Fraction("24.6")
    # The replica in reserve is paid for and serves nothing.
    assert value(sheet, "served_per_hour") == 3600 * 3 * 20 * Fraction(1, 2)
    assert exactly(sheet, "self_hosted_per_request", Fraction("24.6") / 108_000 + Fraction("0.0001"))


def test_an_answer_that_is_not_approved_of_has_its_cost_too() -> None:
    sheet = cost(**OWN, self_hosted_success_rate="0.5")
    assert exactly(sheet, "self_hosted_per_success", Fraction(2, 3600))
    none = cost(**OWN, self_hosted_success_rate="0").figures["self_hosted_per_success"]
    assert (none.value, none.shown) == (None, "undefined: nothing succeeded")


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"utilisation": "0"}, "undefined: utilisation is zero"),
        ({"requests_per_s": "0"}, "undefined: requests per second are zero"),
        ({"requests_per_s": "0", "utilisation": "0"}, "undefined: utilisation is zero"),
        ({"utilisation": ""}, "not known: utilisation was not entered"),
        ({"requests_per_s": ""}, "not known: requests per second of a busy replica were not entered"),
    ],
)
def test_nothing_is_divided_by_what_serves_nothing(changed: dict[str, str], why: str) -> None:
    sheet = cost(**BOTH | changed)
    for name in ("self_hosted_per_request", "self_hosted_per_success"):
        assert (sheet.figures[name].value, sheet.figures[name].shown) == (None, why)
    # An hour costs the same, and where both are equal does not hang on how much is served.
    assert sheet.figures["self_hosted_per_hour"].value == "10"
    assert exactly(sheet, "break_even_rate", 10 / Fraction("0.00088"))


def test_without_requests_there_is_no_utilisation_to_break_even_at() -> None:
    zero = cost(**BOTH | {"requests_per_s": "0"}).figures["break_even_utilisation"]
    assert (zero.value, zero.shown) == (None, "undefined: requests per second are zero")
    absent = cost(**BOTH | {"requests_per_s": ""}).figures["break_even_utilisation"]
    assert absent.shown == "not known: requests per second of a busy replica were not entered"
    idle = cost(**BOTH | {"utilisation": "0"})
    assert exactly(idle, "break_even_utilisation", 10 / Fraction("0.00088") / 72_000)


@pytest.mark.parametrize("variable", ["0.00088", "1"])
def test_there_is_no_break_even_where_a_hosted_request_costs_no_more_than_the_variable_part(variable: str) -> None:
    sheet = cost(**BOTH, variable_per_request=variable)
    for name in ("break_even_rate", "break_even_utilisation"):
        assert sheet.figures[name].value is None
        assert sheet.figures[name].shown.startswith("none: a hosted request costs no more than the variable part")


def test_a_break_even_that_the_replicas_cannot_reach_says_so() -> None:
    within = cost(**BOTH).figures["break_even_utilisation"]
    assert within.shown == "15.8 %"
    above = cost(**BOTH | {"requests_per_s": "2"}).figures["break_even_utilisation"]
    assert above.shown == "158 %, above 100 %: these replicas cannot serve so many"
    assert above.value is not None
    exact = cost(**BOTH | {"requests_per_s": "1", "device_hour": "3.168"}).figures["break_even_utilisation"]
    assert (exact.value, exact.shown) == ("1", "100 %")


def test_what_was_not_entered_is_listed_by_name() -> None:
    optional = {
        "headroom_replicas": "0",
        "storage_hour": "0",
        "network_hour": "0",
        "maintenance_hour": "0",
        "staff_hour": "0",
        "variable_per_request": "0",
        "self_hosted_success_rate": "1",
        "success_rate": "1",
        "retries": "0",
    }
    nothing, everything = cost(**BOTH), cost(**BOTH, **optional)
    for name in optional:
        assert any(f"({name}): not entered" in sentence for sentence in nothing.left_out)
        without = {other: text for other, text in optional.items() if other != name}
        (only,) = (sentence for sentence in cost(**BOTH, **without).left_out if "not entered" in sentence)
        assert f"({name})" in only
    assert not any("not entered" in sentence for sentence in everything.left_out)
    for sheet in (nothing, everything):
        assert any(sentence.startswith("Quality:") for sentence in sheet.left_out)
        assert any(sentence.startswith("Refusals:") for sentence in sheet.left_out)
        assert "This is no advice on what to buy." in sheet.left_out


@pytest.mark.parametrize(
    ("changed", "field"),
    [
        ({"currency": "eur"}, "currency"),
        ({"currency": "EURO"}, "currency"),
        ({"currency": "E\u0301UR"}, "currency"),
        ({"device_hour": ""}, "device_hour"),
        ({"device_hour": "-1"}, "device_hour"),
        ({"device_hour": "1e99"}, "device_hour"),
        ({"utilisation": "50"}, "utilisation"),
        ({"utilisation": "NaN"}, "utilisation"),
        ({"self_hosted_success_rate": "1.1"}, "self_hosted_success_rate"),
        ({"requests_per_s": "many"}, "requests_per_s"),
        ({"replicas": "0"}, "replicas"),
        ({"replicas": "1.5"}, "replicas"),
        ({"devices_per_replica": "0"}, "devices_per_replica"),
        ({"output_price": ""}, "output_price"),
        ({"input_tokens": ""}, "input_tokens"),
        ({"per_tokens": "100"}, "per_tokens"),
        ({"success_rate": "2"}, "success_rate"),
        ({"success_rate": "0.9", "completed": "9"}, "success_rate"),
        ({"retries": "0.1", "completed": "9"}, "retries"),
        ({"completed": "-1"}, "completed"),
        ({"quality": "good"}, "quality"),
    ],
)
def test_bad_entries_are_refused_at_their_field(changed: dict[str, str], field: str) -> None:
    with pytest.raises(EntriesRefused) as refused:
        cost(**BOTH | changed)
    assert [fault.field for fault in refused.value.faults] == [field]


def test_without_any_price_there_is_nothing_to_compute() -> None:
    with pytest.raises(EntriesRefused, match="Nothing has a price"):
        cost(currency="EUR", input_tokens="10")


amounts = st.decimals("0.000001", 10**6, places=6).map(lambda number: f"{number:f}")
shares = st.decimals("0.000002", 1, places=6).map(lambda number: f"{number:f}")
rates = st.decimals("0.001", 10**4, places=3).map(lambda number: f"{number:f}")


def own(device_hour: str, q: str, u: str) -> Fraction:
    """The exact cost of a request, and the sheet agrees with it."""
    sheet = cost(currency="EUR", device_hour=device_hour, requests_per_s=q, utilisation=u)
    exact = Fraction(device_hour) / (3600 * Fraction(q) * Fraction(u))
    assert exactly(sheet, "self_hosted_per_request", exact)
    return value(sheet, "self_hosted_per_request")


@given(amounts, rates, shares, shares)
def test_a_request_costs_less_the_busier_the_replicas_are(hour: str, q: str, one: str, other: str) -> None:
    assume(one != other)
    less, more = sorted((one, other), key=Decimal)
    assert own(hour, q, more) < own(hour, q, less)


@given(amounts, rates, shares)
def test_half_the_utilisation_doubles_the_cost(hour: str, q: str, u: str) -> None:
    half = f"{Decimal(u) / 2:f}"
    twice = own(hour, q, half)
    assert abs(twice - 2 * own(hour, q, u)) <= twice / 10**18


@given(amounts, amounts, rates, shares)
def test_a_request_costs_more_the_more_an_hour_costs(one: str, other: str, q: str, u: str) -> None:
    assume(one != other)
    less, more = sorted((one, other), key=Decimal)
    assert own(less, q, u) < own(more, q, u)


@given(amounts, amounts, amounts, st.integers(0, 10**6), st.integers(0, 10**6))
def test_at_the_break_even_rate_both_cost_the_same(
    hour: str, price: str, variable: str, tokens_in: int, tokens_out: int
) -> None:
    sheet = cost(
        currency="EUR",
        device_hour=hour,
        variable_per_request=variable,
        requests_per_s="5",
        input_tokens=str(tokens_in),
        output_tokens=str(tokens_out),
        input_price=price,
        output_price=price,
    )
    hosted = (tokens_in + tokens_out) * Fraction(price) / 10**6
    saved = hosted - Fraction(variable)
    if saved <= 0:
        assert sheet.figures["break_even_rate"].value is None
        return
    rate = value(sheet, "break_even_rate")
    assert exactly(sheet, "break_even_rate", Fraction(hour) / saved)
    assert abs(rate * hosted - (Fraction(hour) + rate * Fraction(variable))) <= Fraction(hour) / 10**18
    assert exactly(sheet, "break_even_utilisation", Fraction(hour) / saved / 18_000)


@given(amounts, amounts, st.integers(0, 10**6), st.integers(0, 10**6))
def test_prices_per_thousand_and_per_million_agree(
    input_price: str, output_price: str, tokens_in: int, tokens_out: int
) -> None:
    tokens = {"currency": "EUR", "input_tokens": str(tokens_in), "output_tokens": str(tokens_out)}
    million = cost(**tokens, input_price=input_price, output_price=output_price)
    thousand = cost(
        **tokens,
        per_tokens="1000",
        input_price=f"{Decimal(input_price) / 1000:f}",
        output_price=f"{Decimal(output_price) / 1000:f}",
    )
    assert million.figures["hosted_per_request"].value == thousand.figures["hosted_per_request"].value


NAMES = [field.name for field in FIELDS]
NUMBERS = [field.name for field in FIELDS if field.kind in ("count", "decimal")]
anything = st.one_of(st.text(max_size=50), st.integers().map(str), st.floats().map(str), st.sampled_from(["0", "1"]))
numbers = st.one_of(
    st.sampled_from(["0", "1", "0.5", "1e18"]),
    st.decimals(0, 10**18, places=12).map(lambda number: f"{number:f}"),
)


@given(st.dictionaries(st.sampled_from(NAMES), anything, max_size=8))
def test_whatever_is_entered_it_is_computed_or_refused(entered: dict[str, str]) -> None:
    try:
        sheet = cost(**{"currency": "EUR"} | entered)
    except EntriesRefused:
        return
    assert list(sheet.figures) == IDS


@given(st.dictionaries(st.sampled_from(NUMBERS), numbers, max_size=12))
def test_whatever_numbers_are_entered_no_figure_is_infinite_or_negative(entered: dict[str, str]) -> None:
    try:
        sheet = cost(**BOTH | entered)
    except EntriesRefused:
        return
    for figure in sheet.figures.values():
        assert figure.value is None or Fraction(str(figure.value)) >= 0
