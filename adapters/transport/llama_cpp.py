"""Whether a llama.cpp server is the engine that its profile describes.

It answers every model name (engine contract E4), so the alias, the model file and the real limits are read from
/props and compared; a profile without an exact match serves nobody (promise G12).
"""

from typing import Annotated, Literal

import aiohttp
from msgspec import Meta, Struct

from adapters.transport.asking import ask, ends_in, told
from gateway.domain.capacity import promised_sequences
from gateway.domain.profile import Profile
from gateway.domain.profile_state import Shortfall
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


Reported = Annotated[int, Meta(ge=0, le=2**53)]


class _Settings(Struct):
    n_ctx: Reported
    """Tokens per slot: the server has divided its context by its slots."""


class _Properties(Struct):
    default_generation_settings: _Settings
    total_slots: Reported
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
    return _mismatch(properties, profile) or Readiness("ready", facts=COMPARED)


def _mismatch(found: _Properties, profile: Profile) -> Readiness | None:
    if found.model_alias not in profile.accepted_models:
        return _found("mismatch", "other_alias")
    if profile.engine is None or not ends_in(found.model_path, profile.engine.model_file):
        return _found("mismatch", "other_model_file")
    context = found.default_generation_settings.n_ctx
    if context < profile.context_window:
        return _found("mismatch", "context_too_small", Shortfall(profile.context_window, context))
    slots = promised_sequences(profile.limits)
    if found.total_slots < slots:
        return _found("mismatch", "too_few_slots", Shortfall(slots, found.total_slots))
    return None


def _found(
    state: Literal["starting", "unready", "mismatch"], reason: Reason, shortfall: Shortfall | None = None
) -> Readiness:
    return Readiness(state, reason, shortfall=shortfall)
