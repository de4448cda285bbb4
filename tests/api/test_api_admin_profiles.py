"""/admin/profiles: who may, what is shown, and what becomes of an act."""

import asyncio
import json
from typing import Any

import pytest
from api_support import Api, Reply, chat_headers
from service.service_support import PROFILE, breaking

from gateway.domain.errors import CredentialRevoked, LedgerUnavailable
from gateway.domain.outcome import Charged
from gateway.domain.profile_state import Shortfall
from gateway.domain.refusal import Code
from gateway.ports.transport import Readiness

OPERATOR = chat_headers("operator", key=None)
REASON = {"reason": "new drivers"}
CONTENTS = {"id", "kind", "adapter", "serves", "state", "marks", "readiness", "facts"}


def listed(api: Api) -> dict[str, dict[str, Any]]:
    reply = api.request("GET", "/admin/profiles", OPERATOR)
    assert reply.status == 200
    return {row["id"]: row for row in reply.document["data"]}


def act(api: Api, name: str, *, profile: str = PROFILE, body: Any = REASON, who: str = "operator") -> Reply:
    sent = body if isinstance(body, bytes) else json.dumps(body).encode()
    return api.request("POST", f"/admin/profiles/{profile}/{name}", chat_headers(who, key=None), sent)


def readyz(api: Api) -> dict[str, Any]:
    found: dict[str, Any] = api.request("GET", "/readyz").document["profiles"][PROFILE]
    return found


def test_every_profile_of_the_registry_is_shown_with_what_is_known_of_it() -> None:
    api = Api()
    rows = listed(api)
    assert list(rows) == sorted(api.world.snapshot.profiles)
    assert all(row.keys() == CONTENTS for row in rows.values())
    row = rows[PROFILE]
    assert (row["serves"], row["state"], row["marks"]) == (True, "serving", [])
    now_us = api.world.clock.us
    assert row["readiness"] == {
        "state": "ready",
        "reason": "",
        "since_us": now_us,
        "until_us": now_us + 10_000_000,
        "shortfall": None,
    }


def test_every_fact_says_whether_the_engine_attested_it_or_the_registry_declares_it() -> None:
    api = Api()
    api.world.probe.told[PROFILE] = Readiness("ready", facts=("alias", "model_file", "context", "slots"))
    api.world.clock.us += 10_000_000
    asyncio.run(api.world.services.watch.look())
    rows = listed(api)
    basis = {fact["name"]: fact["basis"] for fact in rows[PROFILE]["facts"]}
    attested = {name for name, said in basis.items() if said == "attested"}
    assert attested == {"alias", "model_file", "context", "slots"}
    assert basis.keys() - attested >= {"version", "weights_format", "device", "region", "retention_days"}
    hosted = next(row for row in rows.values() if row["kind"] == "hosted")
    assert {fact["basis"] for fact in hosted["facts"]} == {"declared"}


def test_a_profile_is_drained_and_resumed() -> None:
    api = Api()
    drained = act(api, "drain").document
    assert (drained["state"], drained["serves"], drained["readiness"]["state"]) == ("draining", False, "ready")
    (mark,) = drained["marks"]
    assert (mark["reason"], mark["by"], mark["since_us"]) == ("new drivers", "system/operator", api.world.clock.us)
    assert listed(api)[PROFILE] == drained
    reply = api.ask()
    assert (reply.status, reply.document["code"]) == (503, Code.NO_READY_ROUTE)
    resumed = act(api, "resume").document
    assert (resumed["state"], resumed["serves"], resumed["marks"]) == ("serving", True, [])
    assert api.ask().status == 200


def test_a_quarantine_names_the_dispatch_that_proved_it_and_is_released() -> None:
    api = Api()
    api.world.transport.script(Charged("other_model"))
    api.ask()
    dispatch = api.world.attempts[-1].dispatch_id
    row = listed(api)[PROFILE]
    assert (row["state"], row["serves"]) == ("quarantined", False)
    assert [(mark["reason"], mark["by"], mark["dispatch_id"]) for mark in row["marks"]] == [
        ("other_model", "gateway", dispatch)
    ]
    released = act(api, "release").document
    # It is looked at anew, canary and all, before it serves.
    assert (released["state"], released["serves"], released["readiness"]["state"]) == ("serving", False, "unknown")
    canaries = len(api.world.transport.canaries)
    asyncio.run(api.world.services.watch.look())
    assert len(api.world.transport.canaries) == canaries + 1
    assert listed(api)[PROFILE]["serves"]


def test_a_quarantine_for_a_shortfall_has_both_numbers_and_readyz_has_none() -> None:
    api = Api()
    api.world.probe.told[PROFILE] = Readiness("mismatch", "kv_cache_too_small", shortfall=Shortfall(131_072, 65_536))
    api.world.clock.us += 10_000_000
    asyncio.run(api.world.services.watch.look())
    row = listed(api)[PROFILE]
    (mark,) = row["marks"]
    assert (mark["reason"], mark["shortfall"]) == ("kv_cache_too_small", {"promised": 131_072, "reported": 65_536})
    assert row["readiness"]["shortfall"] == mark["shortfall"]
    assert readyz(api) == {"state": "quarantined", "reason": "kv_cache_too_small"}
    assert not any(number in api.request("GET", "/readyz").body for number in (b"131072", b"65536"))


def test_facts_name_what_a_promise_rests_on_and_how_large_it_is() -> None:
    facts = {fact["name"]: fact for fact in listed(Api())[PROFILE]["facts"]}
    assert facts["capacity"] == {"name": "capacity", "value": "arithmetic", "basis": "declared"}
    assert facts["kv_tokens"]["value"] == 2 * 2048


@pytest.mark.parametrize(("name", "state"), [("resume", "serving"), ("release", "serving")])
def test_an_act_that_is_not_possible_names_the_state(name: str, state: str) -> None:
    reply = act(Api(), name)
    assert (reply.status, reply.document["code"]) == (409, Code.PROFILE_ACT_NOT_LEGAL)
    assert reply.document["facts"] == {"state": state}


@pytest.mark.parametrize("name", ["drain", "resume", "release"])
def test_a_profile_that_the_registry_does_not_have(name: str) -> None:
    reply = act(Api(), name, profile="CANARY")
    assert (reply.status, reply.document["code"]) == (404, Code.UNKNOWN_PROFILE)
    assert b"CANARY" not in reply.body


@pytest.mark.parametrize("name", ["drain", "resume", "release"])
@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        (b"no JSON", 400, Code.MALFORMED_BODY),
        ({}, 400, Code.INVALID_VALUE),
        ({"reason": "no"}, 422, Code.INVALID_VALUE),
        ({"reason": "x" * 501}, 422, Code.INVALID_VALUE),
        (REASON | {"force": True}, 400, Code.UNKNOWN_FIELD),
    ],
)
def test_a_reason_is_needed(name: str, body: Any, status: int, code: Code) -> None:
    reply = act(Api(), name, body=body)
    assert (reply.status, reply.document["code"]) == (status, code)


@pytest.mark.parametrize("name", ["drain", "resume", "release"])
def test_who_may_not_is_told_before_the_body_is_read(name: str) -> None:
    api = Api()
    api.world.policy.operate_denied = True
    reply = act(api, name, body=b"no JSON", who="assistant")
    assert (reply.status, reply.document["code"]) == (403, Code.OPERATOR_REQUIRED)
    refused = api.request("GET", "/admin/profiles", chat_headers("assistant", key=None))
    assert (refused.status, refused.document["code"]) == (403, Code.OPERATOR_REQUIRED)


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (LedgerUnavailable("full"), 503, Code.LEDGER_UNAVAILABLE),
        (CredentialRevoked("revoked"), 401, Code.UNAUTHENTICATED),
    ],
)
def test_what_is_not_stored_changes_nothing(error: Exception, status: int, code: Code) -> None:
    api = Api()
    api.world.notebook.at("profiles.act", breaking(error))
    reply = act(api, "drain")
    assert (reply.status, reply.document["code"]) == (status, code)
    assert listed(api)[PROFILE]["serves"]


def test_a_query_chooses_nothing() -> None:
    reply = Api().request("GET", "/admin/profiles?limit=1", OPERATOR)
    assert (reply.status, reply.document["code"]) == (400, Code.UNKNOWN_FIELD)


# What anybody may see


def test_readyz_says_that_a_profile_is_drained_and_not_why() -> None:
    api = Api()
    act(api, "drain")
    assert readyz(api) == {"state": "draining", "reason": "by_an_operator"}
    assert b"drivers" not in api.request("GET", "/readyz").body


def test_readyz_says_why_a_profile_is_quarantined_and_liveness_depends_on_none() -> None:
    api = Api()
    for profile in api.world.snapshot.profiles:
        api.world.probe.told[profile] = Readiness("mismatch", "other_alias")
    api.world.clock.us += 10_000_000
    asyncio.run(api.world.services.watch.look())
    assert readyz(api) == {"state": "quarantined", "reason": "other_alias"}
    assert api.request("GET", "/readyz").status == 503
    assert api.request("GET", "/livez").status == 200
