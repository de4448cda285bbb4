"""/admin/reload and /admin/decisions, and what refusals and readiness tell of them."""

import json

import pytest
from api_support import Api, Reply, chat_headers
from msgspec.structs import replace

from gateway.api.problems import problem
from gateway.domain.fault import Fault
from gateway.domain.questions import Failed
from gateway.domain.refusal import Code, Refusal

OPERATOR = chat_headers("operator", key=None)
FAULT = Fault(file="tenants/acme.yaml", line=7, path="/active", sentence="It is not a truth value.", remedy="Mend it.")


def reload(api: Api, who: str = "operator") -> Reply:
    return api.request("POST", "/admin/reload", chat_headers(who, key=None))


def readyz(api: Api) -> Reply:
    return api.request("GET", "/readyz")


def test_a_reload_tells_what_was_in_force_and_what_is_now() -> None:
    api = Api()
    earlier = api.world.in_force.active
    api.world.revisions.snapshot = replace(api.world.snapshot, digest="sha256:later")
    reply = reload(api)
    assert reply.status == 200
    assert reply.document == {
        "object": "reload",
        "earlier": {"registry_digest": earlier.snapshot.digest, "policy_revision": earlier.policy.revision},
        "now": {"registry_digest": "sha256:later", "policy_revision": "sha256:policy of sha256:later"},
        "warnings": [],
    }


def test_readiness_tells_that_there_was_a_reload_and_not_why_it_was_refused() -> None:
    api = Api()
    assert readyz(api).document["last_reload"] is None
    reload(api)
    now_us = api.world.clock.now_us()
    assert readyz(api).document["last_reload"] == {"taken": True, "at_us": now_us}
    api.world.revisions.faults = [FAULT]
    reload(api)
    ready = readyz(api)
    assert ready.document["last_reload"] == {"taken": False, "at_us": now_us}
    assert b"truth value" not in ready.body
    assert ready.document["registry_digest"] == api.world.in_force.active.snapshot.digest


def test_a_refused_reload_shows_every_fault_to_whoever_asked() -> None:
    api = Api()
    api.world.revisions.faults = [FAULT, replace(FAULT, line=9)]
    reply = reload(api)
    assert (reply.status, reply.document["code"], reply.headers["x-should-retry"]) == (
        409,
        Code.RELOAD_REFUSED,
        "false",
    )
    fault = {
        "file": "tenants/acme.yaml",
        "line": 7,
        "path": "/active",
        "sentence": "It is not a truth value.",
        "remedy": "Mend it.",
    }
    assert reply.document["faults"] == [fault, fault | {"line": 9}]


def test_faults_are_shown_to_administrators_alone() -> None:
    refusal = Refusal(code=Code.RELOAD_REFUSED, faults=(FAULT,))
    assert "faults" not in json.loads(problem(refusal).body)
    assert "faults" in json.loads(problem(refusal, for_administrators=True).body)


def test_who_may_not_reloads_nothing() -> None:
    api = Api()
    api.world.policy.operate_denied = True
    assert reload(api, "assistant").document["code"] == Code.OPERATOR_REQUIRED
    assert "revisions.prepare" not in api.world.calls


def test_a_refusal_of_policy_names_its_decision_which_can_be_looked_up() -> None:
    api = Api()
    api.world.policy.failed = Failed(request=("purpose",), source={})
    refused = api.ask().document
    assert refused["code"] == Code.ACCESS_DENIED
    found = api.request("GET", f"/admin/decisions/{refused['decision']}", OPERATOR).document
    assert found == {
        "id": refused["decision"],
        "object": "decision",
        "entrypoint": "access",
        "policy_revision": "sha256:scripted",
        "question_digest": found["question_digest"],
        "at_us": api.world.clock.now_us(),
        "event": "refused",
        "code": "access_denied",
        "tenant": "acme",
        "principal": "assistant",
        "operation_id": None,
        "failed": [
            {"check": "request/purpose", "about": "", "code": "request_purpose", "place": "policies/scripted.rego:1"},
        ],
    }


def test_a_denied_administrator_is_told_his_decision_too() -> None:
    api = Api()
    api.world.policy.operate_denied = True
    refused = api.request("GET", "/admin/keys", chat_headers("assistant", key=None)).document
    api.world.policy.operate_denied = False
    found = api.request("GET", f"/admin/decisions/{refused['decision']}", OPERATOR).document
    assert (found["entrypoint"], found["code"], found["principal"]) == ("operate", "operator_required", "assistant")


@pytest.mark.parametrize("decision", ["nothing", "019acb5c-0000-7000-8000-000000000000", "%00", "x" * 300])
def test_a_decision_that_never_was_is_unknown(decision: str) -> None:
    reply = Api().request("GET", f"/admin/decisions/{decision}", OPERATOR)
    assert (reply.status, reply.document["code"]) == (404, Code.UNKNOWN_DECISION)


def test_no_caller_is_told_where_a_rule_stands() -> None:
    api = Api()
    api.world.policy.failed = Failed(request=("purpose",), source={})
    assert b".rego" not in api.ask().body
