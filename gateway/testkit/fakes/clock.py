"""A wall clock that a scenario may set ahead."""

from datetime import UTC, datetime, timedelta

from gateway.ports.clock import Clock

LONGEST_MONTH = timedelta(days=31)


class MovedClock:
    """Implements Clock. The boot-time clock, which measures, stays as it is."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._ahead_us = 0

    def now_us(self) -> int:
        return self._clock.now_us() + self._ahead_us

    def boot_s(self) -> float:
        return self._clock.boot_s()

    def to_next_month(self) -> None:
        """Move to its first second, in UTC, as all windows are."""
        first = datetime.fromtimestamp(self.now_us() / 1_000_000, UTC).replace(
            day=1, hour=0, minute=0, second=0, microsecond=0
        )
        following = (first + LONGEST_MONTH).replace(day=1)
        self._ahead_us += int(following.timestamp()) * 1_000_000 - self.now_us()
