"""Metrics by profile. A profile that leaves the registry takes its series with it."""

from typing import get_args

from prometheus_client import CollectorRegistry, Counter, Gauge

from adapters.telemetry.times import Times
from gateway.ports.events import Accounted, Dispatched, ReadinessChanged, UsageAboveCount, Walked
from gateway.ports.transport import ReadinessState

STATES: tuple[ReadinessState, ...] = get_args(ReadinessState)
GONE = "gone"
OTHER = "other"
"""In place of a profile that the registry has no more: its last calls may end after it has gone."""


class ProfileMetrics:
    """Readiness, calls and accounts."""

    def __init__(self, registry: CollectorRegistry) -> None:
        of = registry
        self._outcomes = Counter("gateway_outcomes", "Ended dispatches by state.", ["profile", "state"], registry=of)
        self._above_count = Counter(
            "gateway_usage_above_count_tokens", "Input above what was counted.", ["profile"], registry=of
        )
        self._ready = Gauge(
            "gateway_profile_readiness", "1 for the state that holds.", ["profile", "state"], registry=of
        )
        self._stages = Times("gateway_stage_seconds", "Steps of the path.", ("stage",))
        self._calls = Times("gateway_engine_seconds", "Calls of engines, T2 included.", ("profile",))
        self._parts = Times("gateway_engine_part_seconds", "Parts of calls.", ("profile", "part"))
        for times in (self._stages, self._calls, self._parts):
            of.register(times)
        self._accounts = {
            name: Gauge(f"gateway_{name}", text, ["scope_kind", "scope"], registry=of)
            for name, text in (
                ("held_tokens", "Tokens reserved and not settled."),
                ("held_cost", "Micro-units reserved and not settled."),
                ("slots_used", "Slots in use, stranded ones included."),
                ("slots_stranded", "Slots of outcomes that are unknown."),
                ("debt_tokens", "Tokens proved above what was reserved."),
                ("debt_cost", "Micro-units proved above what was reserved."),
            )
        }
        self._gone: set[str] = set()
        """Profiles that have left; as many as reloads have dropped."""

    def walked(self, event: Walked) -> None:
        """Where the time of a walk went."""
        for stage, seconds in event.stages:
            self._stages.observe((stage,), seconds)
        if event.profile:
            self._called(self._shown(event.profile), dict(event.stages)["engine"], event)

    def _called(self, profile: str, call_s: float, event: Walked) -> None:
        self._calls.observe((profile,), call_s)
        told = event.engine
        if told is None:
            return
        rest_s = call_s
        for part, seconds in (("queue", told.queue_s), ("prefill", told.prefill_s), ("decode", told.decode_s)):
            if seconds is not None:
                self._parts.observe((profile, part), seconds)
                rest_s -= seconds
        self._parts.observe((profile, "rest"), rest_s)

    def dispatched(self, event: Dispatched) -> None:
        """A dispatch ended."""
        self._outcomes.labels(self._shown(event.profile), event.state.value).inc()

    def above_count(self, event: UsageAboveCount) -> None:
        """A provider counted more input than the gateway did."""
        self._above_count.labels(self._shown(event.profile)).inc(event.tokens)

    def readiness(self, event: ReadinessChanged) -> None:
        """One of the states holds, or the profile has gone."""
        if event.state == GONE:
            self._gone.add(event.profile)
            for metric in (self._ready, self._outcomes, self._above_count):
                metric.remove_by_labels({"profile": event.profile})
            for times in (self._calls, self._parts):
                times.forget("profile", event.profile)
            return
        self._gone.discard(event.profile)
        for possible in STATES:
            self._ready.labels(event.profile, possible).set(1 if possible == event.state else 0)

    def accounted(self, event: Accounted) -> None:
        """All scopes at once: what is not among them is not shown any more."""
        for name, gauge in self._accounts.items():
            gauge.clear()
            for counted in event.scopes:
                gauge.labels(counted.scope.kind, counted.scope.id).set(getattr(counted.sums, name))

    def _shown(self, profile: str) -> str:
        return OTHER if profile in self._gone else profile
