"""Hosted profiles, their credential, and answers in each provider's shape."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import msgspec
from transport_support import Recorded, SecretsByCredential, dispatch, open_transports, profile

from adapters.transport import load_translations
from adapters.transport.transports import Transports
from gateway.domain.outcome import Outcome
from gateway.domain.profile import Profile
from gateway.domain.registry import Credential
from gateway.ports.secrets import Held, Secret
from gateway.testkit.provider.behaviours import Behaviour
from gateway.testkit.provider.hosted import MODELS, HostedFamily, answer, path_of
from gateway.testkit.provider.server import Provider

FAMILIES: tuple[HostedFamily, ...] = ("openai", "azure", "anthropic")
SECRET = "sk-CANARY-CREDENTIAL"
API_VERSION = "2024-10-21"
IDS = {"openai": "x-client-request-id", "azure": "x-ms-client-request-id", "anthropic": "x-request-id"}


def hosted_profile(family: HostedFamily, endpoint: str, **changes: Any) -> Profile:
    """A hosted profile whose model litellm knows."""
    fields: dict[str, Any] = {
        "kind": "hosted",
        "adapter": family,
        "engine": None,
        "model": MODELS[family],
        "accepted_models": [MODELS[family]],
        "credential": "account",
        "api_version": API_VERSION if family == "azure" else None,
    }
    return profile(endpoint, **{**fields, **changes})


def held(*hosts: str, tenants: tuple[str, ...] = ("acme",), secret: str = SECRET) -> SecretsByCredential:
    """The credential of ``hosted_profile``, for these hosts."""
    credential = Credential(
        id="account", secret="env:GATEWAY_SECRET_ACCOUNT", hosts=hosts, tenants=tenants, owner="Kim Okafor"
    )
    return SecretsByCredential({"account": Held(credential, Secret(secret))})


def endpoint_of(family: HostedFamily, provider: Provider) -> str:
    """Azure's has no version in its path."""
    return provider.url.removesuffix("/v1") if family == "azure" else provider.url


@asynccontextmanager
async def hosted(
    family: HostedFamily, events: Recorded | None = None, **secrets: Any
) -> AsyncIterator[tuple[Transports, Provider, Profile]]:
    """A transport with its translations, a provider of the family, and a profile that points to it."""
    load_translations()
    async with Provider(default=answer(family), generation_paths={path_of(family, API_VERSION)}) as provider:
        known = held(f"127.0.0.1:{provider.port}", **secrets)
        async with open_transports(events, secrets=known) as transports:
            yield transports, provider, hosted_profile(family, endpoint_of(family, provider))


async def outcome_of_one(family: HostedFamily, behaviour: Behaviour, **changes: Any) -> tuple[Outcome, int]:
    """The outcome of one dispatch to a provider that behaves so, and how many generations it received."""
    async with hosted(family) as (transports, provider, to):
        provider.script(behaviour)
        changed = msgspec.convert({**msgspec.to_builtins(to), **changes}, Profile)
        return await transports.send(dispatch(changed)), provider.generation_count
