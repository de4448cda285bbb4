"""GET /v1/models in OpenAI's shape."""

import pytest
from api_support import Api, Reply, chat_headers

from gateway.domain.questions import Failed
from gateway.domain.refusal import Code

NOV_30_S = 1_796_000_000 // 86_400 * 86_400
CHAT = {"id": "chat", "object": "model", "created": NOV_30_S, "owned_by": "policy-gateway"}


def models(api: Api, path: str = "", who: str | None = "assistant") -> Reply:
    return api.request("GET", f"/v1/models{path}", chat_headers(who, key=None))


def test_the_aliases_of_the_account_s_tenant_are_listed() -> None:
    reply = models(Api())
    assert (reply.status, reply.headers["content-type"]) == (200, "application/json")
    assert reply.document["object"] == "list"
    assert [model["id"] for model in reply.document["data"]] == ["assist", "chat"]
    assert {"id": "chat", "object": "model", "created": NOV_30_S, "owned_by": "policy-gateway"} in reply.document[
        "data"
    ]


def test_one_of_them_can_be_looked_at() -> None:
    reply = models(Api(), "/chat")
    assert reply.document == CHAT


@pytest.mark.parametrize("alias", ["essay", "smollm2-135m", "chat%20"])
def test_what_is_not_visible_is_unknown(alias: str) -> None:
    reply = models(Api(), f"/{alias}")
    assert (reply.status, reply.document["code"]) == (404, Code.UNKNOWN_MODEL)
    assert reply.document["error"]["type"] == "not_found_error"


def test_whoever_generates_nothing_sees_no_models() -> None:
    api = Api()
    api.world.policy.failed = Failed(request=("role",), source={})
    assert models(api).document == {"object": "list", "data": []}


@pytest.mark.parametrize("path", ["", "/chat"])
def test_a_credential_is_needed(path: str) -> None:
    assert models(Api(), path, who=None).status == 401


def test_the_built_in_operator_has_no_models() -> None:
    assert models(Api(), who="operator").document["code"] == Code.NOT_A_TENANT_PRINCIPAL


def test_without_policy_nothing_is_listed() -> None:
    api = Api()
    api.world.policy.away = "timeout"
    assert models(api).document["code"] == Code.POLICY_UNAVAILABLE
