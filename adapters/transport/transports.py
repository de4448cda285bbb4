"""The front door: sends dispatches and looks at engines, over one session for the process."""

from collections.abc import Mapping
from types import TracebackType

import aiohttp

from adapters.transport import litellm_translation
from adapters.transport.family import Family, NotSendable
from adapters.transport.hosted import DIALECTS, Hosted
from adapters.transport.outcomes import outcome_of
from adapters.transport.self_hosted import LlamaCpp
from adapters.transport.vllm import Vllm
from adapters.transport.wire import Wire
from adapters.transport.wire_result import LostAfterSend
from gateway.domain.grant import Dispatch
from gateway.domain.outcome import NoEffect, Outcome
from gateway.domain.profile import SELF_HOSTED_ADAPTERS, Adapter, Profile
from gateway.ports.clock import Clock
from gateway.ports.events import Events, Faulted
from gateway.ports.secrets import Secrets
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

    def __init__(self, clock: Clock, events: Events, secrets: Secrets, *, salt: bytes) -> None:
        """``salt`` is the secret of this gateway that salts of prefix caches are derived from."""
        self._clock = clock
        self._events = events
        self._secrets = secrets
        self._salt = salt

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
        self._families: Mapping[Adapter, Family] = {
            "llama_cpp": LlamaCpp(self._session),
            "vllm": Vllm(self._session, self._salt),
            **{
                adapter: Hosted(dialect, self._secrets, litellm_translation.loaded)
                for adapter, dialect in DIALECTS.items()
            },
        }
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._session.close()

    async def send(self, dispatch: Dispatch) -> Outcome:
        """See Transport.send."""
        family = self._families[dispatch.profile.adapter]
        try:
            call = family.call_for(dispatch)
        except NotSendable as fault:
            self._events.emit(Faulted("transport", str(fault)))
            return NoEffect("rejected")
        except Exception as broken:  # noqa: BLE001 - whatever it was, it was before the wire: nothing has been sent
            self._events.emit(Faulted("transport", type(broken).__name__))
            return NoEffect("rejected")
        result = await self._wire.post(call)
        if isinstance(result, LostAfterSend) and result.fault:
            self._events.emit(Faulted("transport", result.fault))
        return outcome_of(result, dispatch.profile, family.read, logprobs_asked=bool(dispatch.request.logprobs))

    async def check(self, profile: Profile) -> Readiness:
        """See Probe.check."""
        if profile.adapter in SELF_HOSTED_ADAPTERS and profile.credential is not None:
            return Readiness("unready", "credential_not_served")
        return await self._families[profile.adapter].check(profile)
