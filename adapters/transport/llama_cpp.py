"""Whether a llama.cpp server is the engine that its profile describes.

It answers every model name (engine contract E4), so the alias, the model file and the real limits are read from
/props and compared; a profile without an exact match serves nobody (promise G12).
"""

from typing import Literal

import aiohttp
from msgspec import Struct

from adapters.transport.asking import ask, ends_in, told
from gateway.domain.profile import Profile
from gateway.ports.transport import Attested, Readiness

Reason = Literal[
    "unreachable",
    "loading",
    "unhealthy",
    "properties_unreadable",
    "other_alias",
    "other_model_file",
    "context_too_small",
    "too_few_slots",
]

COMPARED: tuple[Attested, ...] = ("alias", "model_file", "context", "slots")
"""What /props tells, and is held against the profile. The server's version is not among it."""


class _Settings(Struct):
    n_ctx: int
    """Tokens per slot: the server has divided its context by its slots."""


class _Properties(Struct):
    default_generation_settings: _Settings
    total_slots: int
    model_alias: str
    model_path: str


async def check(session: aiohttp.ClientSession, profile: Profile) -> Readiness:
    """Ask /health, then /props."""
    health = await ask(session, profile.endpoint, "/health")
    if health is None:
        return _found("unready", "unreachable")
    if health.status == 503:
        return _found("starting", "loading")
    if health.status != 200:
        return _found("unready", "unhealthy")
    properties = told(await ask(session, profile.endpoint, "/props"), _Properties)
    if properties is None:
        return _found("unready", "properties_unreadable")
    mismatch = _mismatch(properties, profile)
    return Readiness("ready", facts=COMPARED) if mismatch is None else _found("mismatch", mismatch)


def _mismatch(found: _Properties, profile: Profile) -> Reason | None:
    if found.model_alias not in profile.accepted_models:
        return "other_alias"
    if profile.engine is None or not ends_in(found.model_path, profile.engine.model_file):
        return "other_model_file"
    if found.default_generation_settings.n_ctx < profile.context_window:
        return "context_too_small"
    concurrency = profile.limits.concurrency
    # Where it is unlimited, the engine's own queue takes what its slots do not: one slot is enough.
    if found.total_slots < (1 if concurrency == "unlimited" else concurrency):
        return "too_few_slots"
    return None


def _found(state: Literal["starting", "unready", "mismatch"], reason: Reason) -> Readiness:
    return Readiness(state, reason)
