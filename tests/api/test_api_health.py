"""/livez, /readyz and /metrics: for probes and scrapers, without a credential."""

import asyncio
import json
import random

import pytest
from api_support import CHAT, PROFILE, QUESTION, Api, chat_headers

from gateway.domain.outcome import Charged, NoEffect, Unknown
from gateway.ports.transport import Readiness

RANDOM = 20261130


def test_a_live_process_says_so_whatever_its_engines_do() -> None:
    api = Api()
    api.world.board.note(api.world.profile, Readiness("mismatch", "other_model_file"))
    api.world.services.running.draining = True
    reply = api.request("GET", "/livez")
    assert (reply.status, reply.document) == (200, {"status": "live"})


def test_it_is_ready_while_a_profile_serves_and_shows_what_is_in_force() -> None:
    api = Api()
    reply = api.request("GET", "/readyz")
    assert (reply.status, reply.headers["content-type"]) == (200, "application/json")
    assert reply.document == {
        "status": "ready",
        "registry_digest": api.world.snapshot.digest,
        "policy": "up",
        "policy_revision": "sha256:scripted",
        "last_reload": None,
        "profiles": {profile: {"state": "ready", "reason": ""} for profile in api.world.snapshot.profiles},
    }


def test_it_is_not_ready_while_policy_cannot_be_evaluated() -> None:
    api = Api()
    api.world.policy.away = "timeout"
    reply = api.request("GET", "/readyz")
    assert (reply.status, reply.document["status"], reply.document["policy"]) == (503, "not_ready", "away")


@pytest.mark.parametrize("state", ["unknown", "starting", "unready", "mismatch"])
def test_it_is_not_ready_while_no_profile_serves_and_says_why(state: str) -> None:
    api = Api()
    profiles = api.world.snapshot.profiles
    for profile in profiles.values():
        api.world.board.note(profile, Readiness(state, "a_reason"))
    reply = api.request("GET", "/readyz")
    assert (reply.status, reply.document["status"]) == (503, "not_ready")
    assert reply.document["profiles"] == {profile: {"state": state, "reason": "a_reason"} for profile in profiles}


def test_a_readiness_that_is_too_old_is_none() -> None:
    api = Api()
    api.world.clock.us += 3_600_000_001
    reply = api.request("GET", "/readyz")
    assert (reply.status, reply.document["profiles"][PROFILE]["reason"]) == (503, "outdated")


def test_while_it_drains_it_is_not_ready_though_its_profiles_are() -> None:
    api = Api()
    api.world.services.running.draining = True
    reply = api.request("GET", "/readyz")
    assert (reply.status, reply.document["status"]) == (503, "draining")
    assert reply.document["profiles"][PROFILE]["state"] == "ready"


def test_metrics_are_in_the_text_format_of_prometheus() -> None:
    reply = Api().request("GET", "/metrics")
    assert (reply.status, reply.headers["content-type"]) == (200, "text/plain; version=0.0.4; charset=utf-8")
    assert reply.body.startswith(b"# HELP gateway_answers_total")


def series(api: Api) -> set[str]:
    """Every series with its labels, without its value."""
    lines = api.telemetry.render().decode().splitlines()
    return {line.rpartition(" ")[0] for line in lines if not line.startswith("#")}


def test_answers_and_refusals_are_counted_by_closed_labels() -> None:
    api = Api()
    api.ask()
    api.ask()
    api.ask(key="k-2", model="CANARY")
    counted = api.telemetry.render().decode()
    for line in (
        'gateway_answers_total{replayed="false"} 1.0',
        'gateway_answers_total{replayed="true"} 1.0',
        'gateway_refusals_total{code="unknown_model"} 1.0',
        f'gateway_outcomes_total{{profile="{PROFILE}",state="completed"}} 1.0',
        "gateway_request_seconds_count 3.0",
    ):
        assert line in counted.splitlines()
    assert "CANARY" not in counted
    assert "acme" not in counted


def test_obs_05_a_thousand_requests_of_any_kind_make_no_new_series() -> None:
    api = Api()
    for outcome in (NoEffect("busy"), Charged("aborted"), Unknown("redirect")):
        api.world.transport.script(outcome)
        api.ask(key=f"before-{outcome.reason}")
    api.ask(key="before")
    api.request("GET", "/v1/operations/before", chat_headers())
    before = series(api)
    chance = random.Random(RANDOM)

    async def thousand() -> set[int]:
        statuses = set()
        for n in range(1_000):
            word = f"{chance.getrandbits(64):x}"
            model = "chat" if n % 3 == 0 else word
            path = chance.choice([CHAT, CHAT, f"/{word}", f"/v1/operations/{word}", f"{CHAT}?{word}={word}"])
            body = QUESTION | {"model": model, "gateway": {"purpose": word}}
            method = chance.choice(["POST", "POST", "POST", "GET", "PUT"])
            headers = chat_headers(chance.choice(["assistant", "reporter", word]), word)
            reply = await api.requesting(method, path, headers, json.dumps(body).encode())
            statuses.add(reply.status)
        return statuses

    assert asyncio.run(thousand()) >= {200, 400, 401, 404, 405}
    assert series(api) == before
