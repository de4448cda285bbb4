"""Profiles of the real engine, and dispatches to it over the gateway's own transport."""

import asyncio
from typing import Any

import msgspec
from transport.transport_support import ASKED, UNLIMITED, dispatch, open_transports, profile
from vllm_process import ALIAS, CONTEXT, FINGERPRINT, MODEL_FILE, SEQUENCES, VllmProcess

from gateway.domain.grant import Dispatch
from gateway.domain.message import UserMessage
from gateway.domain.outcome import Completed, Outcome
from gateway.domain.profile import Profile
from gateway.domain.request import Request
from gateway.ports.transport import Readiness


def tiny(engine: VllmProcess, *, of_engine: dict[str, Any] | None = None, **changes: Any) -> Profile:
    """The profile that describes the engine."""
    described: dict[str, Any] = {
        "id": "tiny-llama",
        "adapter": "vllm",
        "model": ALIAS,
        "accepted_models": [ALIAS],
        "context_window": CONTEXT,
        "limits": {**UNLIMITED, "concurrency": SEQUENCES},
        "timeouts": {"connect_ms": 2000, "total_ms": 110_000},
    }
    base = msgspec.to_builtins(profile(engine.url).engine)
    described["engine"] = {
        **base,
        "name": "vllm",
        "version": "0.32.0",
        "model_file": MODEL_FILE,
        "prefix_cache": "salted",
        "salted_by": "tenant",
        "fingerprint": FINGERPRINT,
        "abilities": {**base["abilities"], "attest_revision": True},
        **(of_engine or {}),
    }
    return profile(engine.url, **{**described, **changes})


def check(to: Profile) -> Readiness:
    async def run() -> Readiness:
        async with open_transports() as transports:
            return await transports.check(to)

    return asyncio.run(run())


def send_all(*dispatches: Dispatch) -> list[Outcome]:
    """All at once."""

    async def run() -> list[Outcome]:
        async with open_transports() as transports:
            return await asyncio.gather(*(transports.send(one) for one in dispatches))

    return asyncio.run(run())


def asks(text: str = "hello", **changes: Any) -> Request:
    return msgspec.structs.replace(ASKED, messages=(UserMessage(text),), **changes)


def send(to: Profile, request: Request = ASKED, *, cap: int = 8, dispatch_id: str = "d1", **of: str) -> Outcome:
    one = dispatch(to, request, cap=cap, dispatch_id=dispatch_id)
    return send_all(msgspec.structs.replace(one, **of))[0]


def completed(outcome: Outcome) -> Completed:
    assert isinstance(outcome, Completed), outcome
    return outcome
