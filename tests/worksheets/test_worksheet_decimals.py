"""Numbers as texts: exact where they end, to the stated digits where they do not."""

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.domain.worksheets import decimals
from gateway.domain.worksheets.units import GIB, gib_to_bytes


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (9, "9"),
        (Fraction(19, 2), "9.5"),
        (Decimal("1.500"), "1.5"),
        (Fraction(1, 8), "0.125"),
        (Fraction(-1, 4), "-0.25"),
        (10**30, "1" + "0" * 30),
        (Fraction(1, 10**30), "0." + "0" * 29 + "1"),
        (Fraction(1, 3600), "0.00027777777777777777778"),
        (Fraction(2, 3), "0.66666666666666666667"),
        (Fraction(10**22, 3), "3333333333333333333333"),
        (Fraction(-2, 3), "-0.66666666666666666667"),
    ],
)
def test_a_value_is_exact_or_has_twenty_significant_digits(value: Fraction, text: str) -> None:
    assert decimals.text(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (Fraction(1, 3600), "0.000278"),
        (Fraction(10), "10.00"),
        (Fraction(1, 2), "0.500"),
        (Fraction(123456, 100), "1234.56"),
        (Fraction(0), "0.00"),
        (Fraction(9999, 10**7), "0.001000"),
        (Fraction(-1, 3600), "-0.000278"),
    ],
)
def test_an_amount_is_shown_with_two_places_or_three_significant_digits(value: Fraction, text: str) -> None:
    assert decimals.significant(value, least_places=2) == text


@given(st.fractions())
def test_a_text_reads_back_as_the_value_or_within_half_of_its_last_digit(value: Fraction) -> None:
    text = decimals.text(value)
    read = Fraction(text)
    places = len(text.partition(".")[2])
    assert abs(read - value) <= Fraction(1, 2 * 10**places)
    denominator = value.denominator
    for prime in (2, 5):
        while denominator % prime == 0:
            denominator //= prime
    if denominator == 1:
        assert read == value
    else:
        assert abs(read / value - 1) < Fraction(1, 10**19)


def test_a_device_is_never_larger_than_was_entered() -> None:
    assert gib_to_bytes(Decimal("24." + "9" * 35)) == 25 * GIB - 1
    assert gib_to_bytes(Decimal(24)) == 24 * GIB
