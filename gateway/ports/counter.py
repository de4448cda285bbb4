"""Counting tokens, always locally."""

from typing import Protocol

from gateway.domain.profile import Profile
from gateway.domain.request import Request


class Counter(Protocol):
    """Counts a request's input with the profile's own counter. Equal counters count alike."""

    async def count(self, profile: Profile, request: Request, *, enough: int | None = None) -> int | None:
        """Tokens, an upper bound of what the engine will count. None: it cannot be counted.

        :param enough: tokens above which it does not matter how many they are; what lies beyond may be counted
            roughly, and is still an upper bound.
        """
