"""Metrics with closed label sets: profile ids of the registry, states, codes (those of policy stand in its rules).

Never a tenant, a key or a word of a caller: each would make a series of its own, for ever (case OBS-05).
"""

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, generate_latest

from adapters.telemetry.profiles import ProfileMetrics
from gateway.domain.refusal import Code
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

_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120)
_SIZES = (1, 2, 4, 8, 16, 32, 64, 128, 256)
_ENTRYPOINTS = ("access", "routes", "replay", "visible", "operate")


class MetricsSink:
    """Counts events. docs/metrics.md lists every metric."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        of = self._registry
        self._answers = Counter("gateway_answers", "Answers given.", ["replayed"], registry=of)
        self._refusals = Counter("gateway_refusals", "Refusals by code.", ["code"], registry=of)
        self._request_s = Histogram("gateway_request_seconds", "Whole requests.", registry=of, buckets=_SECONDS)
        self._decisions = Counter("gateway_decisions", "Decisions asked.", ["entrypoint", "result"], registry=of)
        self._decision_s = Histogram("gateway_decision_seconds", "Decisions.", registry=of, buckets=_SECONDS)
        self._decision_wait_s = Histogram(
            "gateway_decision_wait_seconds", "Waits for a turn.", registry=of, buckets=_SECONDS
        )
        self._recalled = Counter(
            "gateway_decisions_recalled", "Decisions not asked again.", ["entrypoint", "found"], registry=of
        )
        self._denied = Counter(
            "gateway_policy_denied", "What policy said no to, by code.", ["entrypoint", "code"], registry=of
        )
        self._reloads = Counter("gateway_reloads", "Reloads asked for.", ["taken"], registry=of)
        self._batch = Histogram("gateway_commit_transitions", "Transitions per commit.", registry=of, buckets=_SIZES)
        self._commit_s = Histogram("gateway_commit_seconds", "Commits.", registry=of, buckets=_SECONDS)
        self._queued = Gauge("gateway_writer_queue", "Transitions that wait for the writer.", registry=of)
        self._running = Gauge("gateway_attempts_running", "Attempts that have a task.", registry=of)
        self._unsaved = Gauge("gateway_unsaved_bytes", "Answers that are not stored yet.", registry=of)
        self._lag_s = Histogram("gateway_loop_lag_seconds", "Late wake-ups.", registry=of, buckets=_SECONDS)
        self._profiles = ProfileMetrics(of)
        ProcessCollector(registry=of)
        self._swept = Counter("gateway_attempts_swept", "Attempts resolved by sweeps.", ["state"], registry=of)
        self._faults = Counter("gateway_faults", "Faults without a value of their own.", registry=of)
        # A label child costs a look-up under a lock; those of the hot path are made once.
        self._by_replayed = {replayed: self._answers.labels(str(replayed).lower()) for replayed in (True, False)}
        self._by_code = {code: self._refusals.labels(code.value) for code in Code}
        self._by_found = {
            (entrypoint, found): self._recalled.labels(entrypoint, found)
            for entrypoint in _ENTRYPOINTS
            for found in ("decided", "in_flight")
        }

    def count(self, event: Event) -> None:
        """Count one event."""
        match event:
            case Answered(replayed=replayed, seconds=seconds):
                self._by_replayed[replayed].inc()
                self._request_s.observe(seconds)
            case Refused(code=code, seconds=seconds):
                self._by_code[code].inc()
                self._request_s.observe(seconds)
            case Decided() | Recalled() | Denied() | Reloaded():
                self._count_policy(event)
            case Committed(transitions=transitions, seconds=seconds):
                self._batch.observe(transitions)
                self._commit_s.observe(seconds)
            case Walked():
                self._profiles.walked(event)
            case Dispatched():
                self._profiles.dispatched(event)
            case UsageAboveCount():
                self._profiles.above_count(event)
            case ReadinessChanged():
                self._profiles.readiness(event)
            case Accounted():
                self._profiles.accounted(event)
            case Sampled(loop_lag_s=lag_s, queued=queued, running=running, unsaved_bytes=unsaved_bytes):
                self._lag_s.observe(lag_s)
                self._queued.set(queued)
                self._running.set(running)
                self._unsaved.set(unsaved_bytes)
            case AttemptsSwept(released=released, unknown=unknown):
                self._swept.labels("released").inc(len(released))
                self._swept.labels("unknown").inc(len(unknown))
            case Faulted():
                self._faults.inc()

    def _count_policy(self, event: Decided | Recalled | Denied | Reloaded) -> None:
        match event:
            case Decided(entrypoint=entrypoint, failure=failure, waited_s=waited_s, seconds=seconds):
                self._decisions.labels(entrypoint, failure or "decided").inc()
                self._decision_s.observe(seconds)
                self._decision_wait_s.observe(waited_s)
            case Recalled(entrypoint=entrypoint, found=found):
                self._by_found[entrypoint, found].inc()
            case Denied(entrypoint=entrypoint, code=code):
                self._denied.labels(entrypoint, code).inc()
            case Reloaded(taken=taken):
                self._reloads.labels(str(taken).lower()).inc()

    def render(self) -> bytes:
        """All metrics in the text format of Prometheus."""
        return generate_latest(self._registry)
