"""/admin/keys: who may, what is read, and that neither a value of a body nor a token comes back."""

import hashlib
import json
from typing import Any

import pytest
from api_support import Api, Reply, chat_headers, token
from service.service_support import breaking

from gateway.domain.errors import LedgerUnavailable
from gateway.domain.refusal import Code

SHOWN = ("id", "tenant", "principal", "label", "active", "created_us")
WHOSE = {"tenant": "acme", "principal": "assistant", "label": "laptop"}


def create(api: Api, body: Any = WHOSE, *, who: str | None = "operator", path: str = "/admin/keys") -> Reply:
    sent = body if isinstance(body, bytes) else json.dumps(body).encode()
    return api.request("POST", path, chat_headers(who, key=None), sent)


def test_a_key_is_made_and_its_token_shown_once() -> None:
    api = Api()
    reply = create(api)
    assert (reply.status, reply.headers["content-type"]) == (201, "application/json")
    document = reply.document
    assert document.keys() == {*SHOWN, "token"}
    assert {name: document[name] for name in WHOSE} == WHOSE
    headers = [("Authorization", f"Bearer {document['token']}")]
    assert api.request("GET", "/v1/operations/x", headers).document["code"] == Code.UNKNOWN_OPERATION


def test_a_label_may_be_left_out() -> None:
    assert create(Api(), {"tenant": "acme", "principal": "assistant"}).document["label"] == ""


@pytest.mark.parametrize(
    ("who", "code"),
    [("assistant", Code.OPERATOR_REQUIRED), (None, Code.UNAUTHENTICATED), ("stranger", Code.UNAUTHENTICATED)],
)
def test_who_may_not_is_told_before_the_body_is_read(who: str | None, code: Code) -> None:
    api = Api()
    api.world.policy.operate_denied = True
    assert create(api, b"no JSON", who=who).document["code"] == code
    assert "keys.create" not in api.world.calls


@pytest.mark.parametrize(
    ("body", "status", "code", "param"),
    [
        (b"no JSON", 400, Code.MALFORMED_BODY, None),
        (b"[]", 400, Code.MALFORMED_BODY, None),
        (b'{"tenant":"acme","tenant":"acme","principal":"assistant"}', 400, Code.MALFORMED_BODY, None),
        (b" " * 65_537, 413, Code.BODY_TOO_LARGE, None),
        ({}, 400, Code.INVALID_VALUE, "tenant"),
        ({"tenant": "acme"}, 400, Code.INVALID_VALUE, "principal"),
        (WHOSE | {"groups": ["CANARY"]}, 400, Code.UNKNOWN_FIELD, "groups"),
        (WHOSE | {"tenant": ["CANARY"]}, 400, Code.INVALID_VALUE, "tenant"),
        (WHOSE | {"principal": 7}, 400, Code.INVALID_VALUE, "principal"),
        (WHOSE | {"principal": None}, 422, Code.INVALID_VALUE, "principal"),
        (WHOSE | {"tenant": ""}, 422, Code.INVALID_VALUE, "tenant"),
        (WHOSE | {"tenant": "CANARY" * 11}, 422, Code.INVALID_VALUE, "tenant"),
        (WHOSE | {"label": "CANARY" * 17}, 422, Code.INVALID_VALUE, "label"),
        (WHOSE | {"principal": "CANARY"}, 404, Code.UNKNOWN_PRINCIPAL, "principal"),
        (WHOSE | {"tenant": "CANARY"}, 404, Code.UNKNOWN_TENANT, "tenant"),
    ],
)
def test_a_body_that_is_not_served_is_refused_by_its_field_and_never_by_its_value(
    body: Any, status: int, code: Code, param: str | None
) -> None:
    api = Api()
    reply = create(api, body)
    assert (reply.status, reply.document["code"], reply.document["error"]["param"]) == (status, code, param)
    assert b"CANARY" not in reply.body
    assert "keys.create" not in api.world.calls


def test_a_query_is_no_second_body() -> None:
    assert create(Api(), path="/admin/keys?principal=reporter").document["code"] == Code.QUERY_NOT_ALLOWED


def test_a_ledger_that_cannot_store_it_shows_no_token() -> None:
    api = Api()
    api.world.notebook.at("keys.create", breaking(LedgerUnavailable("full")))
    reply = create(api)
    assert (reply.status, reply.document["code"]) == (503, Code.LEDGER_UNAVAILABLE)
    assert b"gw_" not in reply.body


def test_no_token_is_in_any_event() -> None:
    api = Api()
    made = create(api).document["token"]
    assert made not in repr(api.world.events.events)
    assert token("operator") not in repr(api.world.events.events)


def listed(api: Api, query: str = "") -> Reply:
    return api.request("GET", f"/admin/keys{query}", chat_headers("operator", key=None))


def revoke(api: Api, key: str, *, who: str = "operator") -> Reply:
    return api.request("POST", f"/admin/keys/{key}/revoke", chat_headers(who, key=None), b"{}")


def test_keys_are_listed_without_token_and_hash() -> None:
    api = Api()
    made = create(api).document
    reply = listed(api, "?principal=assistant&active=true")
    assert {row["id"] for row in reply.document["data"]} == {made["id"], "assistant"}
    assert all(row.keys() == set(SHOWN) for row in reply.document["data"])
    assert made["token"].encode() not in reply.body
    assert hashlib.sha256(made["token"].encode()).hexdigest().encode() not in reply.body


def test_keys_are_listed_page_by_page() -> None:
    api = Api()
    page = listed(api, "?limit=2").document
    assert ([row["id"] for row in page["data"]], page["has_more"]) == (["reporter", "operator"], True)
    page = listed(api, "?limit=2&before=operator").document
    assert ([row["id"] for row in page["data"]], page["has_more"]) == (["assistant"], False)


@pytest.mark.parametrize(
    "query", ["?limit=0", "?limit=501", "?active=perhaps", "?active=null", "?tenant=", "?x=1", "?limit=1&limit=2"]
)
def test_a_query_is_closed_too(query: str) -> None:
    assert listed(Api(), query).document["code"] in (Code.INVALID_VALUE, Code.UNKNOWN_FIELD)


def test_a_revoked_key_is_shown_as_it_then_is_and_opens_no_door() -> None:
    api = Api()
    made = create(api).document
    reply = revoke(api, made["id"])
    assert (reply.status, reply.document["active"], reply.document.keys()) == (200, False, set(SHOWN))
    headers = [("Authorization", f"Bearer {made['token']}")]
    assert api.request("GET", "/v1/operations/x", headers).status == 401
    assert [row["id"] for row in listed(api, "?active=false").document["data"]] == [made["id"]]


@pytest.mark.parametrize("key", ["nothing", "019acb5c-0000-7000-8000-000000000000", "x" * 300])
def test_a_key_that_is_not_there_cannot_be_revoked(key: str) -> None:
    reply = revoke(Api(), key)
    assert (reply.status, reply.document["code"]) == (404, Code.UNKNOWN_KEY)


def test_who_may_not_revokes_nothing() -> None:
    api = Api()
    api.world.policy.operate_denied = True
    assert revoke(api, "reporter", who="assistant").document["code"] == Code.OPERATOR_REQUIRED
    assert "keys.revoke" not in api.world.calls
