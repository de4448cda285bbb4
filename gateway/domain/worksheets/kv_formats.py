"""Formats of KV states, as bytes per element, each with its source."""

from fractions import Fraction
from types import MappingProxyType

from msgspec import Struct


class KvFormat(Struct, frozen=True, kw_only=True):
    """How an element of a key or value is stored."""

    bytes: Fraction
    source: str


KV = MappingProxyType({"fp16": KvFormat(bytes=Fraction(2), source="16 bits an element")})
