"""Time. The wall clock dates records; the boot-time clock, which also counts suspended time, measures."""

from typing import Protocol


class Clock(Protocol):
    """Both clocks."""

    def now_us(self) -> int:
        """Microseconds since 1970, UTC."""

    def boot_s(self) -> float:
        """Seconds since boot, suspended time included, never set back."""
