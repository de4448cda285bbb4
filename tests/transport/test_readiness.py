"""A profile is ready only while its engine says that it is exactly what the profile describes."""

import asyncio
import socket
from typing import Any, get_args

import pytest
from transport_support import both, open_transports, profile

from adapters.transport.llama_cpp import Reason
from gateway.domain.profile_state import Shortfall
from gateway.ports.transport import Readiness
from gateway.testkit.provider.server import EngineFace, Provider

PROPS = {
    "default_generation_settings": {"n_ctx": 4096},
    "total_slots": 4,
    "model_alias": "scripted@1",
    "model_path": "/models/scripted.gguf",
}
UNLIMITED = dict.fromkeys(
    ("requests_per_minute", "tokens_per_minute", "tokens_per_day", "tokens_per_month", "cost_per_month"), "unlimited"
)

UNREADABLE = "properties_unreadable"
FOUND: list[tuple[EngineFace, str, str]] = [
    (EngineFace(), "ready", ""),
    (EngineFace(health=503), "starting", "loading"),
    (EngineFace(health=500), "unready", "unhealthy"),
    (EngineFace(props=[]), "unready", "properties_unreadable"),
    (EngineFace(props={**PROPS, "total_slots": "4"}), "unready", "properties_unreadable"),
    (EngineFace(props={**PROPS, "total_slots": -1}), "unready", "properties_unreadable"),
    (EngineFace(props={**PROPS, "total_slots": 2**53 + 1}), "unready", "properties_unreadable"),
    (EngineFace(props={**PROPS, "default_generation_settings": {"n_ctx": 2**53 + 1}}), "unready", UNREADABLE),
    (EngineFace(props={**PROPS, "more": [[]] * 100_000}), "unready", "properties_unreadable"),
    (EngineFace(props={k: v for k, v in PROPS.items() if k != "model_alias"}), "unready", "properties_unreadable"),
    (EngineFace(alias="scripted@2"), "mismatch", "other_alias"),
    (EngineFace(model_path="/models/other.gguf"), "mismatch", "other_model_file"),
    (EngineFace(model_path="/models/not-scripted.gguf"), "mismatch", "other_model_file"),
    (EngineFace(model_path="scripted.gguf"), "ready", ""),
    (EngineFace(context=4095), "mismatch", "context_too_small"),
    (EngineFace(slots=3), "mismatch", "too_few_slots"),
    (EngineFace(slots=5), "ready", ""),
]


async def check(face: EngineFace, **changes: Any) -> Readiness:
    async with both() as (transports, provider):
        provider.face = face
        found = await transports.check(profile(provider.url, **changes))
        assert provider.generation_count == 0
        return found


@pytest.mark.parametrize(("face", "state", "reason"), FOUND)
def test_what_the_engine_says_decides(face: EngineFace, state: str, reason: str):
    found = asyncio.run(check(face))
    assert (found.state, found.reason) == (state, reason)
    # Only what was compared is attested, and only if all of it was as it should be.
    assert found.facts == (("alias", "model_file", "context", "slots") if state == "ready" else ())


def test_every_reason_of_the_closed_set_can_be_found():
    reasons = {reason for _, _, reason in FOUND if reason} | {"unreachable"}
    assert reasons == set(get_args(Reason))


def test_unlimited_concurrency_needs_one_slot():
    limits = {**UNLIMITED, "concurrency": "unlimited"}
    assert asyncio.run(check(EngineFace(slots=1), limits=limits)).state == "ready"
    found = asyncio.run(check(EngineFace(slots=0), limits=limits))
    assert found == Readiness("mismatch", "too_few_slots", shortfall=Shortfall(1, 0))


@pytest.mark.parametrize(
    ("face", "reason", "shortfall"),
    [
        (EngineFace(context=4095), "context_too_small", Shortfall(4096, 4095)),
        (EngineFace(slots=3), "too_few_slots", Shortfall(4, 3)),
        (EngineFace(alias="scripted@2", slots=3), "other_alias", None),
    ],
)
def test_a_shortfall_has_both_numbers(face: EngineFace, reason: str, shortfall: Shortfall | None):
    assert asyncio.run(check(face)) == Readiness("mismatch", reason, shortfall=shortfall)


def test_an_engine_that_needs_a_credential_is_not_ready():
    assert asyncio.run(check(EngineFace(), credential="key")) == Readiness("unready", "credential_not_served")


def test_an_engine_that_refuses_is_unready_and_ready_again_when_it_is_back():
    async def run() -> None:
        async with both() as (transports, provider):
            await provider.refuse()
            assert await transports.check(profile(provider.url)) == Readiness("unready", "unreachable")
            await provider.listen()
            assert (await transports.check(profile(provider.url))).state == "ready"

    asyncio.run(run())


def test_an_engine_that_does_not_answer_is_unready_within_the_bound(monkeypatch: pytest.MonkeyPatch):
    async def run() -> Readiness:
        async with open_transports() as transports:
            return await transports.check(profile(f"http://127.0.0.1:{silent.getsockname()[1]}/v1"))

    monkeypatch.setattr("adapters.transport.asking.TOTAL_S", 0.1)
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen(1)
        assert asyncio.run(run()) == Readiness("unready", "unreachable")


def test_properties_without_end_are_unreadable(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("adapters.transport.asking.MAX_BYTES", 1000)
    face = EngineFace(props={**PROPS, "chat_template": "x" * 2000})
    assert asyncio.run(check(face)) == Readiness("unready", "properties_unreadable")


def test_an_endpoint_behind_a_path_is_asked_beside_its_v1():
    async def run() -> list[str]:
        async with Provider() as provider, open_transports() as transports:
            await transports.check(profile(provider.url.replace("/v1", "/engines/a/v1/")))
            return [request.path for request in provider.others]

    assert asyncio.run(run()) == ["/engines/a/health"]
