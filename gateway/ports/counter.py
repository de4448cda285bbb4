"""Counting tokens, always locally."""

from typing import Protocol

from gateway.domain.profile import Profile
from gateway.domain.request import Request


class Counter(Protocol):
    """Counts a request's input with the profile's own counter."""

    async def count(self, profile: Profile, request: Request) -> int | None:
        """Tokens, an upper bound of what the engine will count. None: it cannot be counted."""
