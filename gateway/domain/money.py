"""Money as integers: micro-units of the registry's one currency, exact from its decimal strings. No floats.

A price has nine digits after the point, so a cost is summed in billionths and rounded up once, at its end.
"""

from functools import lru_cache

from msgspec import Struct

from gateway.domain.profile import Prices
from gateway.domain.usage import Usage

MICRO_DIGITS = 6
_BILLION = 10**9


class Tier(Struct, frozen=True, array_like=True):
    """Prices of one tier, in billionths of the currency per million tokens."""

    above_input_tokens: int
    input: int
    output: int


class Tariff(Struct, frozen=True, array_like=True):
    """All price tiers of a profile, in their order. An attempt keeps the one that it was reserved at."""

    tiers: tuple[Tier, ...]

    def worst(self, tokens: Usage) -> int:
        """Micro-units that so many tokens cost at most: the highest prices of all tiers, rounded up."""
        most_in, most_out = (max(tier.input for tier in self.tiers), max(tier.output for tier in self.tiers))
        return _cost(tokens, most_in, most_out)

    def cost(self, used: Usage) -> int:
        """Micro-units that a call took: the whole of it at the tier of its input, rounded up."""
        tier = next((tier for tier in reversed(self.tiers) if used.input > tier.above_input_tokens), self.tiers[0])
        return _cost(used, tier.input, tier.output)


@lru_cache(maxsize=4096)
def tariff(prices: Prices) -> Tariff:
    """The prices of a profile as integers."""
    return Tariff(
        tuple(
            Tier(tier.above_input_tokens, _billionths(tier.input_per_million), _billionths(tier.output_per_million))
            for tier in prices.tiers
        )
    )


def micro_units(amount: str) -> int:
    """A decimal string in micro-units. Rounded down: a limit must not become larger than it is written."""
    return _billionths(amount) // 1_000


def decimal(micro: int) -> str:
    """Micro-units as a decimal string, such as 0.012500."""
    whole, fraction = divmod(micro, 10**MICRO_DIGITS)
    return f"{whole}.{fraction:0{MICRO_DIGITS}d}"


def _billionths(amount: str) -> int:
    whole, _, fraction = amount.partition(".")
    return int(whole) * _BILLION + int(fraction.ljust(9, "0"))


def _cost(tokens: Usage, input_price: int, output_price: int) -> int:
    # Tokens times a price per million tokens is a number of millionths of the currency.
    return -(-(tokens.input * input_price + tokens.output * output_price) // _BILLION)
