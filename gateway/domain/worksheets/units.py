"""Bytes in binary units, exactly. Decimal GB and binary GiB are never mixed: devices are entered in GiB."""

from decimal import Decimal
from fractions import Fraction

from msgspec import Struct

KIB = 2**10
MIB = 2**20
GIB = 2**30

Exact = int | Fraction
"""A number without rounding. Formats with scales take fractions of a bit, so bytes may be a fraction until the end."""


class Interval(Struct, frozen=True):
    """Bytes between these two, both included. Equal where nothing is uncertain."""

    least: Exact
    most: Exact


def gib_to_bytes(gib: Decimal) -> int:
    """Bytes of an entered size, rounded down: a device must not become larger than was entered."""
    # As a fraction: a product of decimals is rounded to 28 digits, and may be rounded up.
    return int(Fraction(gib) * GIB)


def whole(value: Exact) -> int:
    """Bytes rounded up, as a need is."""
    return -(-value.numerator // value.denominator)


def shown(value: Exact, unit: int, places: int = 2) -> str:
    """A number of bytes in a unit such as GIB, to so many places, halves away from zero."""
    return rounded(Fraction(value) / unit, places)


def gib(value: Exact) -> str:
    """Such as ``14.90 GiB``."""
    return f"{shown(value, GIB)} GiB"


def rounded(value: Exact | Decimal, places: int) -> str:
    """In decimal digits, halves away from zero; exact before the rounding, whatever the value is."""
    exact = Fraction(value)
    scaled = abs(exact) * 10**places
    digits = (2 * scaled.numerator + scaled.denominator) // (2 * scaled.denominator)
    before, after = divmod(digits, 10**places)
    return ("-" if exact < 0 < digits else "") + (f"{before}.{after:0{places}d}" if places else str(before))


def grouped(count: int) -> str:
    """Such as ``131,072``."""
    return f"{count:,}"
