"""Counting tokens. The front door: ``LocalCounter``."""

from adapters.tokens.counters import LocalCounter

__all__ = ["LocalCounter"]
