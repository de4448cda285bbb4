"""Counting tokens, always locally. The front door: ``LocalCounter`` over ``Vocabularies``."""

from adapters.tokens.counters import LocalCounter
from adapters.tokens.vocabularies import Vocabularies

__all__ = ["LocalCounter", "Vocabularies"]
