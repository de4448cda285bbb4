"""Formats of weights, as bits per parameter, each with its source."""

from fractions import Fraction
from types import MappingProxyType

from msgspec import Struct


class WeightFormat(Struct, frozen=True, kw_only=True):
    """How quantised linears are stored. Embeddings, head and the rest stay at ``other_bits``."""

    bits: Fraction
    """Per parameter, scales and zero points included."""
    other_bits: Fraction
    source: str


WEIGHTS = MappingProxyType(
    {
        "raw16": WeightFormat(bits=Fraction(16), other_bits=Fraction(16), source="16 bits for every parameter"),
        "raw4": WeightFormat(bits=Fraction(4), other_bits=Fraction(4), source="4 bits for every parameter, no scales"),
    }
)
