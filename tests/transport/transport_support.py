"""Profiles, dispatches, a clock and a recorder of events for the tests of the transport."""

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import msgspec

from adapters.transport.transports import Transports
from gateway.domain.grant import Dispatch
from gateway.domain.message import UserMessage
from gateway.domain.outcome import Outcome
from gateway.domain.profile import Profile
from gateway.domain.request import Request
from gateway.ports.events import Event
from gateway.ports.secrets import Held, NotHeld
from gateway.testkit.provider.behaviours import Behaviour
from gateway.testkit.provider.server import Provider

UNLIMITED = dict.fromkeys(
    ("requests_per_minute", "tokens_per_minute", "tokens_per_day", "tokens_per_month", "cost_per_month"), "unlimited"
)
SHORT = {"connect_ms": 500, "total_ms": 200}
"""Timeouts for what never ends by itself."""
ASKED = Request(model="chat", messages=(UserMessage("Say hello."),))


class BootClock:
    """The real clocks, with a boot time that a test may move."""

    def __init__(self) -> None:
        self.ahead_s = 0.0

    def now_us(self) -> int:
        return time.time_ns() // 1000

    def boot_s(self) -> float:
        return time.clock_gettime(time.CLOCK_BOOTTIME) + self.ahead_s


class Recorded:
    """Events that were emitted."""

    def __init__(self) -> None:
        self.events: list[Event] = []

    def emit(self, event: Event) -> None:
        self.events.append(event)


CAPACITY = {
    "basis": "measured",
    "kv_tokens": 4 * 4096,
    "context": 4096,
    "engine_version": "1",
    "device": "cpu",
    "workload": "none",
    "date": "2026-01-01",
    "by": "A",
}


def profile(endpoint: str, **changes: Any) -> Profile:
    """A self-hosted profile that fits the scripted provider."""
    fields: dict[str, Any] = {
        "id": "scripted",
        "kind": "self_hosted",
        "adapter": "llama_cpp",
        "provider": "own",
        "model": "scripted@1",
        "revision": "1",
        "accepted_models": ["scripted@1"],
        "context_window": 4096,
        "max_output": 512,
        "capabilities": ["chat"],
        "counter": {"method": "bytes", "per_message": 4, "per_request": 32},
        "endpoint": endpoint,
        "network": "loopback",
        "region": "here",
        "data_handling": {"retention_days": 0, "trains_on_data": False},
        "approvals": [{"privacy_class": "internal", "by": "A", "evidence": "B", "until": "2099-01-01T00:00:00Z"}],
        "quota_scope": "own",
        "limits": {**UNLIMITED, "concurrency": 4},
        "prices": {"checked": "2026-01-01", "tiers": [{"input_per_million": "0", "output_per_million": "0"}]},
        "errors": {},
        "timeouts": {"connect_ms": 500, "total_ms": 2000},
        "on_disconnect": "continue",
        "engine": {
            "name": "llama.cpp",
            "version": "1",
            "model_file": "scripted.gguf",
            "weights_format": "Q4_1",
            "kv_format": "fp16",
            "capacity": CAPACITY,
            "placement": {"device": "cpu", "count": 1, "sharing": "time_shared"},
            "readiness": {},
            "prefix_cache": "shared",
            "tenants": "any",
            "abilities": {"abort_by_id": False, "enforce_context": False, "attest_revision": False},
        },
    }
    return msgspec.convert({**fields, **changes}, Profile)


def dispatch(
    to: Profile, request: Request = ASKED, *, dispatch_id: str = "d1", cap: int = 64, send_by_s: float = float("inf")
) -> Dispatch:
    """One dispatch, by default with all the time in the world."""
    return Dispatch(
        dispatch_id=dispatch_id,
        profile=to,
        request=request,
        tenant="acme",
        principal="assistant",
        output_cap=cap,
        send_by_s=send_by_s,
    )


class SecretsByCredential:
    """Secrets that a test gives; none by default."""

    def __init__(self, held: dict[str, Held | NotHeld] | None = None) -> None:
        self.held = held or {}

    def of(self, credential_id: str) -> Held | NotHeld:
        return self.held.get(credential_id, "credential_missing")


def open_transports(
    events: Recorded | None = None, *, clock: BootClock | None = None, secrets: SecretsByCredential | None = None
) -> Transports:
    """A transport that is not entered yet."""
    return Transports(clock or BootClock(), events or Recorded(), secrets or SecretsByCredential(), salt=b"salt")


@asynccontextmanager
async def both() -> AsyncIterator[tuple[Transports, Provider]]:
    """A transport and a scripted provider."""
    async with Provider() as provider, open_transports() as transports:
        yield transports, provider


async def sent_to(behaviour: Behaviour, **changes: Any) -> tuple[Outcome, int]:
    """The outcome of one dispatch to a provider that behaves so, and how many generations it received."""
    async with both() as (transports, provider):
        provider.script(behaviour)
        outcome = await transports.send(dispatch(profile(provider.url, **changes)))
        return outcome, provider.generation_count
