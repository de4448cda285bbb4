"""Logs as JSON lines on standard error. Only ids, codes and names from the code: no free text can leak (G11)."""

import logging
import sys
import threading
import traceback
import warnings
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, TextIO, cast

import msgspec

from gateway.ports.events import (
    Accounted,
    Answered,
    AttemptsSwept,
    Committed,
    Decided,
    Denied,
    Dispatched,
    Event,
    Faulted,
    ReadinessChanged,
    Recalled,
    Refused,
    Reloaded,
    Sampled,
    UsageAboveCount,
    Walked,
)

_FOR_METRICS_ALONE = logging.NOTSET

_LEVELS: dict[type, int] = {
    Answered: logging.DEBUG,
    Refused: logging.DEBUG,
    Walked: logging.DEBUG,
    Committed: logging.DEBUG,
    Decided: logging.DEBUG,
    Recalled: logging.DEBUG,
    Denied: logging.DEBUG,
    Dispatched: logging.DEBUG,
    UsageAboveCount: logging.WARNING,
    Sampled: _FOR_METRICS_ALONE,
    Accounted: _FOR_METRICS_ALONE,
    Reloaded: logging.INFO,
    ReadinessChanged: logging.INFO,
    AttemptsSwept: logging.WARNING,
    Faulted: logging.ERROR,
}
_log = logging.getLogger("gateway")
FOREIGN = "a library's record, of which the place alone is shown"


class EventLog:
    """Writes events."""

    def write(self, event: Event) -> None:
        level = _LEVELS[type(event)]
        if isinstance(event, ReadinessChanged) and event.state != "ready":
            level = logging.WARNING
        if isinstance(event, Reloaded) and not event.taken:
            level = logging.WARNING
        if _log.isEnabledFor(level):
            _log.log(level, type(event).__name__, extra={"event": event})


class JsonLines(logging.Formatter):
    """One JSON object a line.

    Of another library's record only its place is kept: its text may hold a value of a request, also where it has no
    arguments (asyncio names those of a callback in it). Of an exception the class and the place are kept.
    """

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, object] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
        }
        if record.name == _log.name:
            line["message"] = record.msg
        else:
            line |= {"message": FOREIGN, "written": f"{record.module}.{record.funcName}:{record.lineno}"}
        if (warning := getattr(record, "warning", None)) is not None:
            line["warning"] = warning
        event = getattr(record, "event", None)
        if event is not None:
            line |= msgspec.to_builtins(event)
        if record.exc_info and record.exc_info[0] is not None:
            line |= {"exception": record.exc_info[0].__name__, "at": _place(record.exc_info[2])}
        return msgspec.json.encode(line).decode()


def _place(trace: TracebackType | None) -> str:
    """Module and line in which an exception was raised."""
    frames = list(traceback.walk_tb(trace))
    if not frames:
        return ""
    frame, line = frames[-1]
    return f"{frame.f_globals.get('__name__', '')}:{line}"


def _uncaught(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    if issubclass(kind, KeyboardInterrupt):
        return
    _log.critical("an exception that nobody caught", exc_info=(kind, error, trace))


def _uncaught_in_thread(args: threading.ExceptHookArgs) -> None:
    if args.exc_value is not None:
        _uncaught(args.exc_type, args.exc_value, args.exc_traceback)


def _unraisable(args: "sys.UnraisableHookArgs") -> None:
    """An exception that could not be raised, in a destructor for instance."""
    if args.exc_value is not None:
        _uncaught(args.exc_type, args.exc_value, args.exc_traceback)


def _warned(_: Warning | str, category: type[Warning], filename: str, lineno: int, *__: object) -> None:
    """The text is left out: it may hold a value."""
    _log.warning("a warning of Python", extra={"warning": f"{category.__name__} at {Path(filename).name}:{lineno}"})


def set_up(level: str, stream: TextIO = sys.stderr, *, hooks: bool = True) -> None:
    """Send every log record of the process through one handler; with ``hooks`` also what nobody caught."""
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JsonLines())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.WARNING)
    _log.setLevel(level.upper())
    if hooks:
        sys.excepthook = _uncaught
        sys.unraisablehook = _unraisable
        threading.excepthook = _uncaught_in_thread
        warnings.showwarning = cast(Any, _warned)
