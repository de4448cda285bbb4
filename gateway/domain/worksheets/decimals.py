"""Numbers as decimal texts: exact where their digits end, else to a stated number of significant digits."""

from decimal import Decimal
from fractions import Fraction

from gateway.domain.worksheets.units import rounded

SIGNIFICANT = 20
"""Digits of a quotient that does not end, as a value."""
SHOWN = 3
"""Significant digits of such a quotient for people."""
ROUNDING = f"A quotient whose digits do not end is given to {SIGNIFICANT} significant digits, halves away from zero."


def text(value: Fraction | Decimal | int, significant: int = SIGNIFICANT) -> str:
    """Such as ``9.5`` or ``0.00027777777777777777778``; never an exponent, no zeros after the last digit."""
    exact = Fraction(value)
    places = _places(exact)
    if places is None:
        places = max(0, significant - _magnitude(exact))
    return rounded(exact, places)


def significant(value: Fraction, digits: int = SHOWN, *, least_places: int = 0) -> str:
    """To so many significant digits, such as ``0.000278``; whole digits are never cut, and places may be kept."""
    places = max(least_places, digits - _magnitude(value)) if value else least_places
    return rounded(value, places)


def _places(exact: Fraction) -> int | None:
    """Digits after the point, where they end: the denominator has then no prime but 2 and 5."""
    rest, powers = exact.denominator, []
    for prime in (2, 5):
        power = 0
        while rest % prime == 0:
            rest, power = rest // prime, power + 1
        powers.append(power)
    return max(powers) if rest == 1 else None


def _magnitude(exact: Fraction) -> int:
    """How many digits stand before the point; negative: how many zeros follow it, -1 for 0.05."""
    above, below = abs(exact.numerator), exact.denominator
    guess = len(str(above)) - len(str(below))
    # Their quotient has either that many digits or one more.
    reached = above >= below * 10**guess if guess >= 0 else above * 10**-guess >= below
    return guess + 1 if reached else guess
