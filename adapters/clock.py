"""The machine's clocks."""

import time

# Counts suspended time too, which the deadlines need; other systems than Linux lack it.
_BOOT = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


class SystemClock:
    """Implements ``gateway.ports.clock.Clock``."""

    def now_us(self) -> int:
        return time.time_ns() // 1000

    def boot_s(self) -> float:
        return time.clock_gettime(_BOOT)
