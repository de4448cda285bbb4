"""The front door: sends dispatches and looks at engines, over one session for the process."""

from types import TracebackType

import aiohttp

from adapters.transport import llama_cpp
from adapters.transport.outcomes import outcome_of
from adapters.transport.self_hosted import call_for
from adapters.transport.wire import Wire
from adapters.transport.wire_body import CAP_FIELDS
from adapters.transport.wire_result import LostAfterSend
from gateway.domain.grant import Dispatch
from gateway.domain.outcome import NoEffect, Outcome
from gateway.domain.profile import Profile
from gateway.ports.clock import Clock
from gateway.ports.events import Events, Faulted
from gateway.ports.transport import Readiness

IDLE_S = 2.0
"""Idle connections close before any engine would (uvicorn and llama.cpp: 5 s)."""

HEADERS = {
    "Accept": "application/json",
    # No compression: an answer must not grow beyond its bound once it is unpacked.
    "Accept-Encoding": "identity",
    "User-Agent": "policy-gateway",
}


class Transports:
    """Implements Transport and Probe. Used as ``async with``; closing it cuts what is still on the wire."""

    def __init__(self, clock: Clock, events: Events) -> None:
        self._clock = clock
        self._events = events

    async def __aenter__(self) -> "Transports":
        # No limit: slots are reserved before transport, and a queue here would only hide a missing one.
        connector = aiohttp.TCPConnector(limit=0, keepalive_timeout=IDLE_S)
        self._session = aiohttp.ClientSession(
            connector=connector,
            headers=HEADERS,
            cookie_jar=aiohttp.DummyCookieJar(),
            trust_env=False,
            auto_decompress=False,
        )
        self._wire = Wire(self._session, self._clock.boot_s)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._session.close()

    async def send(self, dispatch: Dispatch) -> Outcome:
        """See Transport.send."""
        if dispatch.profile.adapter not in CAP_FIELDS:  # never ready, so never granted: a fault of the program
            self._events.emit(Faulted("transport", "adapter_not_served"))
            return NoEffect("rejected")
        result = await self._wire.post(call_for(dispatch))
        if isinstance(result, LostAfterSend) and result.fault:
            self._events.emit(Faulted("transport", result.fault))
        return outcome_of(result, dispatch.profile)

    async def check(self, profile: Profile) -> Readiness:
        """See Probe.check."""
        if profile.adapter != "llama_cpp":
            return Readiness("unready", "adapter_not_served_yet")
        if profile.credential is not None:
            return Readiness("unready", "credential_not_served_yet")
        return await llama_cpp.check(self._session, profile)
