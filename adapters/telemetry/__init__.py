"""Metrics and logs, both fed by the same closed events."""

from collections.abc import Callable

from adapters.telemetry.logs import EventLog
from adapters.telemetry.logs import set_up as set_up_logs
from adapters.telemetry.metrics import MetricsSink
from gateway.ports.events import Event

__all__ = ["Telemetry", "set_up_logs"]


class Telemetry:
    """Implements ``gateway.ports.events.Events``: counts every event and logs those that an operator reads."""

    def __init__(self) -> None:
        self._metrics = MetricsSink()
        self._log = EventLog()
        self.render: Callable[[], bytes] = self._metrics.render

    def emit(self, event: Event) -> None:
        self._metrics.count(event)
        self._log.write(event)
