"""Logs as JSON lines on standard error. Only ids, codes and names from the code: no free text can leak (G11)."""

import logging
import sys
from datetime import UTC, datetime
from typing import TextIO

import msgspec

from gateway.ports.events import (
    Answered,
    AttemptsSwept,
    Committed,
    Decided,
    Dispatched,
    Event,
    Faulted,
    ReadinessChanged,
    Refused,
)

_LEVELS: dict[type, int] = {
    Answered: logging.DEBUG,
    Refused: logging.DEBUG,
    Committed: logging.DEBUG,
    Decided: logging.DEBUG,
    Dispatched: logging.DEBUG,
    ReadinessChanged: logging.INFO,
    AttemptsSwept: logging.WARNING,
    Faulted: logging.ERROR,
}
_log = logging.getLogger("gateway")


class EventLog:
    """Writes events."""

    def write(self, event: Event) -> None:
        level = _LEVELS[type(event)]
        if _log.isEnabledFor(level):
            _log.log(level, type(event).__name__, extra={"event": event})


class JsonLines(logging.Formatter):
    """One JSON object a line.

    Of a foreign record only the constant format string is kept: its arguments and an exception's message may
    hold a value of a request. Of an exception the class is kept.
    """

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, object] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": str(record.msg),
        }
        event = getattr(record, "event", None)
        if event is not None:
            line |= msgspec.to_builtins(event)
        if record.exc_info and record.exc_info[0] is not None:
            line["exception"] = record.exc_info[0].__name__
        return msgspec.json.encode(line).decode()


def set_up(level: str, stream: TextIO = sys.stderr) -> None:
    """Send every log record of the process through one handler."""
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JsonLines())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.WARNING)
    _log.setLevel(level.upper())
