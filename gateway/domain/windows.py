"""Fixed windows in UTC: where the minute, the day and the month of an instant start, and where they end."""

from datetime import UTC, datetime, timedelta

from msgspec import Struct

MINUTE_US = 60_000_000
DAY_US = 86_400_000_000
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_MORE_THAN_A_MONTH = timedelta(days=32)


class Windows(Struct, frozen=True):
    """Starts in microseconds since 1970."""

    minute_us: int
    day_us: int
    month_us: int

    @property
    def ends(self) -> "Windows":
        """Starts of the windows that follow these."""
        later = _EPOCH + timedelta(microseconds=self.month_us) + _MORE_THAN_A_MONTH
        return Windows(self.minute_us + MINUTE_US, self.day_us + DAY_US, _month(later))


def windows(at_us: int) -> Windows:
    """The windows that an instant lies in."""
    at = _EPOCH + timedelta(microseconds=at_us)
    return Windows(at_us - at_us % MINUTE_US, at_us - at_us % DAY_US, _month(at))


def _month(at: datetime) -> int:
    return (datetime(at.year, at.month, 1, tzinfo=UTC) - _EPOCH) // _MICROSECOND
