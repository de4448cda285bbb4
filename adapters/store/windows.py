"""Fixed windows in UTC: where the minute, the day and the month of an instant start."""

from datetime import UTC, datetime, timedelta

from msgspec import Struct

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


class Windows(Struct, frozen=True):
    """Starts in microseconds since 1970."""

    minute_us: int
    day_us: int
    month_us: int


def windows(at_us: int) -> Windows:
    """The windows that an instant lies in."""
    at = _EPOCH + timedelta(microseconds=at_us)
    month = (datetime(at.year, at.month, 1, tzinfo=UTC) - _EPOCH) // _MICROSECOND
    return Windows(at_us - at_us % 60_000_000, at_us - at_us % 86_400_000_000, month)
