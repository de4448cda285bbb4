"""A credential goes to its hosts, for its tenants, and nowhere else; and shows itself nowhere."""

import asyncio
import copy
import pickle
from typing import Any

import pytest
from hosted_support import FAMILIES, SECRET, endpoint_of, held, hosted, hosted_profile
from transport_support import Recorded, SecretsByCredential, dispatch, open_transports

from adapters.transport import load_translations
from adapters.transport.credential_use import credential_for
from gateway.domain.outcome import NoEffect
from gateway.ports.events import Faulted
from gateway.ports.secrets import Held, NotHeld, Secret
from gateway.ports.transport import Readiness
from gateway.testkit.provider.hosted import HostedFamily, answer, path_of
from gateway.testkit.provider.server import Provider


def sent_with(family: HostedFamily, secrets: SecretsByCredential | None, **changes: Any) -> tuple[Any, Readiness, int]:
    """Event, readiness and connections of a dispatch; ``None``: the credential fits."""

    async def run() -> tuple[Any, Readiness, int]:
        load_translations()
        events = Recorded()
        async with Provider(default=answer(family), generation_paths={path_of(family)}) as provider:
            known = held(f"127.0.0.1:{provider.port}") if secrets is None else secrets
            async with open_transports(events, secrets=known) as transports:
                to = hosted_profile(family, endpoint_of(family, provider), **changes)
                ready = await transports.check(to)
                assert await transports.send(dispatch(to)) == NoEffect("rejected")
                return events.events, ready, provider.connection_count

    return asyncio.run(run())


def fault(kind: str) -> list[Faulted]:
    return [Faulted("transport", kind)]


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("hosts", [("api.example.com",), ("127.0.0.1",), ("127.0.0.1:1",), ("0.0.1",)])
def test_a_host_that_the_credential_does_not_name_receives_nothing(family: HostedFamily, hosts: tuple[str, ...]):
    expected = (fault("host_not_covered"), Readiness("unready", "host_not_covered"), 0)
    assert sent_with(family, held(*hosts)) == expected


@pytest.mark.parametrize("why", ["credential_missing", "credential_exposed", "credential_malformed"])
def test_without_its_secret_a_profile_is_not_ready_and_nothing_is_sent(why: NotHeld):
    expected = (fault(why), Readiness("unready", why), 0)
    assert sent_with("openai", SecretsByCredential({"account": why})) == expected


def test_a_profile_without_a_credential_sends_nothing():
    expected = (fault("credential_not_named"), Readiness("unready", "credential_missing"), 0)
    assert sent_with("openai", None, credential=None) == expected


def test_other_tenants_requests_are_never_made_with_it():
    async def run() -> None:
        events = Recorded()
        async with hosted("openai", events, tenants=("platform",)) as (transports, provider, to):
            assert await transports.check(to) == Readiness("ready")
            assert await transports.send(dispatch(to)) == NoEffect("rejected")
            assert (provider.connection_count, events.events) == (0, fault("tenant_not_covered"))

    asyncio.run(run())


def test_a_profile_without_its_translations_is_not_ready_and_sends_nothing(monkeypatch: pytest.MonkeyPatch):
    async def run() -> None:
        events = Recorded()
        monkeypatch.setattr("adapters.transport.litellm_translation.loaded", lambda: None)
        async with hosted("openai", events) as (transports, provider, to):
            assert await transports.check(to) == Readiness("unready", "translation_not_loaded")
            assert await transports.send(dispatch(to)) == NoEffect("rejected")
            assert (provider.connection_count, events.events) == (0, fault("translation_not_loaded"))

    asyncio.run(run())


def test_a_request_that_cannot_be_translated_is_not_sent_and_its_event_holds_none_of_its_words():
    async def run() -> None:
        events = Recorded()
        async with hosted("anthropic", events) as (transports, provider, to):
            from gateway.domain.message import SystemMessage
            from gateway.domain.request import Request

            only_system = Request(model="assist", messages=(SystemMessage("CANARY-P"),))
            assert await transports.send(dispatch(to, only_system)) == NoEffect("rejected")
            assert (provider.connection_count, events.events) == (0, fault("not_translated.AnthropicError"))

    asyncio.run(run())


@pytest.mark.parametrize("family", FAMILIES)
def test_a_hosted_profile_is_ready_by_configuration_and_is_asked_nothing(family: HostedFamily):
    async def run() -> None:
        async with hosted(family) as (transports, provider, to):
            assert await transports.check(to) == Readiness("ready")
            assert provider.connection_count == 0

    asyncio.run(run())


@pytest.mark.parametrize(
    ("url", "hosts", "found"),
    [
        ("https://api.example.com/v1/messages", ("api.example.com",), None),
        ("https://api.example.com:443/v1", ("api.example.com",), None),
        ("https://api.example.com/v1", ("api.example.com:443",), None),
        ("https://api.example.com:8443/v1", ("api.example.com:8443",), None),
        ("https://api.example.com:8443/v1", ("api.example.com",), "host_not_covered"),
        ("https://api.example.com.evil.test/v1", ("api.example.com",), "host_not_covered"),
        ("https://evil.test/api.example.com", ("api.example.com",), "host_not_covered"),
        ("https://api.example.com@evil.test/v1", ("api.example.com",), "host_not_covered"),
        ("https://evil.test#@api.example.com/v1", ("api.example.com",), "host_not_covered"),
        ("http://api.example.com/v1", ("api.example.com",), "plain_text"),
        ("http://10.0.0.7/v1", ("10.0.0.7",), "plain_text"),
        ("http://127.0.0.1:81/v1", ("127.0.0.1:81",), None),
        ("http://[::1]:81/v1", ("::1:81",), None),
        ("http://localhost:81/v1", ("localhost:81",), None),
        ("ftp://api.example.com/v1", ("api.example.com",), "host_not_covered"),
        ("https://api.example.com:x/v1", ("api.example.com",), "host_not_covered"),
        ("", ("",), "host_not_covered"),
    ],
)
def test_the_host_is_that_of_the_address_which_is_called(url: str, hosts: tuple[str, ...], found: str | None):
    given = credential_for(held(*hosts), "account", url=url, tenant="acme")
    assert isinstance(given, Held) if found is None else given == found


def test_a_secret_shows_itself_nowhere():
    known = held("api.example.com").held["account"]
    assert isinstance(known, Held)
    assert SECRET not in f"{known!r} {known} {known.secret!r} {known.secret} {[known.secret]} {{known}}"
    for copying in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="not copied"):
            copying(Secret(SECRET))
    assert known.secret.reveal() == SECRET
