"""/admin/sources: who may, what is read, and how a row is shown."""

import json
from typing import Any

import pytest
from api_support import Api, Reply, chat_headers

from gateway.domain.refusal import Code

GRANT = {"id": "handbook", "tenant": "acme", "groups": ["staff"], "revision": "r1", "privacy_class": "internal"}
OPERATOR = chat_headers("operator", key=None)
TIME = "2026-01-31T00:00:00Z"


def post(api: Api, act: str, body: Any, *, who: str = "operator") -> Reply:
    sent = body if isinstance(body, bytes) else json.dumps(body).encode()
    return api.request("POST", f"/admin/sources/{act}", chat_headers(who, key=None), sent)


def listed(api: Api, query: str = "") -> Reply:
    return api.request("GET", f"/admin/sources{query}", OPERATOR)


def test_a_source_is_registered_and_its_row_shown() -> None:
    api = Api()
    reply = post(api, "grant", GRANT | {"released": TIME, "as_of": "2026-01-30T22:00:00.5-02:00"})
    assert reply.status == 200
    assert reply.document == GRANT | {"released": TIME, "as_of": TIME, "withdrawn": False, "version": 1}


def test_without_an_embargo_released_is_null_and_as_of_is_now() -> None:
    api = Api()
    document = post(api, "grant", GRANT).document
    assert document["released"] is None
    assert document["as_of"].endswith("Z")


def test_an_embargo_ends_no_earlier_and_facts_are_no_fresher_than_said() -> None:
    document = post(Api(), "grant", GRANT | {"released": "2026-01-30T23:59:59.1Z", "as_of": f"{TIME[:-1]}.9Z"}).document
    assert (document["released"], document["as_of"]) == (TIME, TIME)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"groups": ["Staff!"]}, "an id: lower-case letters, digits, '.', '_' and '-', at most 64 characters"),
        ({"released": "tomorrow"}, "a time of RFC 3339 with its zone"),
        ({"released": "2026-01-31T00:00:00"}, "a time of RFC 3339 with its zone"),
        ({"released": 7}, "a time of RFC 3339 with its zone"),
    ],
)
def test_what_is_served_is_told_in_words(changes: dict[str, Any], expected: str) -> None:
    assert post(Api(), "grant", GRANT | changes).document["facts"] == {"expected": expected}


def test_closing_to_groups_of_which_none_is_open_is_refused() -> None:
    api = Api()
    post(api, "grant", GRANT | {"groups": ["staff", "press"]})
    reply = post(api, "revoke", {"id": "handbook", "groups": ["staf"]})
    assert (reply.status, reply.document["code"], reply.document["error"]["param"]) == (422, "invalid_value", "groups")
    assert reply.document["facts"]["open to"] == "press, staff"


@pytest.mark.parametrize("source", ["handbook", "/a/b?c=d#e", "§ 12 “Ende”", "x" * 255, " ", "a\tb", "日本"])
def test_whatever_a_request_can_cite_can_be_granted_closed_and_withdrawn(source: str) -> None:
    api = Api()
    assert post(api, "grant", GRANT | {"id": source, "revision": source}).document["id"] == source
    cited = {"purpose": "answers", "sources": [{"id": source, "revision": source}]}
    assert api.ask(gateway=cited).status == 200
    assert post(api, "revoke", {"id": source, "groups": ["staff"]}).document["groups"] == []
    assert post(api, "withdraw", {"id": source}).document["withdrawn"] is True


@pytest.mark.parametrize("act", ["grant", "revoke", "withdraw"])
def test_who_may_not_is_told_before_the_body_is_read(act: str) -> None:
    api = Api()
    api.world.policy.operate_denied = True
    reply = post(api, act, b"no JSON", who="assistant")
    assert (reply.status, reply.document["code"]) == (403, Code.OPERATOR_REQUIRED)
    assert [code["code"] for code in reply.document["policy_codes"]] == ["request_administers"]
    assert "sources.change" not in api.world.calls
    assert api.request("POST", f"/admin/sources/{act}", [], b"{}").status == 401


@pytest.mark.parametrize(
    ("act", "body", "status", "code", "param"),
    [
        ("grant", b"[]", 400, Code.MALFORMED_BODY, None),
        ("grant", {"id": "s"}, 400, Code.INVALID_VALUE, "tenant"),
        ("grant", GRANT | {"owner": "CANARY"}, 400, Code.UNKNOWN_FIELD, "owner"),
        ("grant", GRANT | {"id": ""}, 422, Code.INVALID_VALUE, "id"),
        ("grant", GRANT | {"id": "CANARY" * 43}, 422, Code.INVALID_VALUE, "id"),
        ("grant", GRANT | {"id": 7}, 400, Code.INVALID_VALUE, "id"),
        ("grant", GRANT | {"tenant": "CANARY"}, 404, Code.UNKNOWN_TENANT, "tenant"),
        ("grant", GRANT | {"privacy_class": "CANARY"}, 422, Code.INVALID_VALUE, "privacy_class"),
        ("grant", GRANT | {"groups": ["CANARY"]}, 422, Code.INVALID_VALUE, "groups[0]"),
        ("grant", GRANT | {"groups": "CANARY"}, 400, Code.INVALID_VALUE, "groups"),
        ("grant", GRANT | {"groups": ["g"] * 101}, 422, Code.INVALID_VALUE, "groups"),
        ("grant", GRANT | {"released": "CANARY"}, 422, Code.INVALID_VALUE, "released"),
        ("grant", GRANT | {"released": "2026-01-31T00:00:00"}, 422, Code.INVALID_VALUE, "released"),
        ("grant", GRANT | {"released": None}, 422, Code.INVALID_VALUE, "released"),
        ("grant", GRANT | {"released": 1_700_000_000}, 422, Code.INVALID_VALUE, "released"),
        ("grant", GRANT | {"as_of": "9999-01-01T00:00:00Z"}, 422, Code.INVALID_VALUE, "as_of"),
        ("grant", GRANT | {"as_of": "1969-12-31T23:59:59Z"}, 422, Code.INVALID_VALUE, "as_of"),
        ("revoke", {"id": "CANARY"}, 404, Code.UNKNOWN_SOURCE, "id"),
        ("revoke", {"id": "s", "group": "CANARY"}, 400, Code.UNKNOWN_FIELD, "group"),
        ("withdraw", {"id": "CANARY"}, 404, Code.UNKNOWN_SOURCE, "id"),
        ("withdraw", {}, 400, Code.INVALID_VALUE, "id"),
    ],
)
def test_a_body_that_is_not_served_is_refused_by_its_field_and_never_by_its_value(
    act: str, body: Any, status: int, code: Code, param: str | None
) -> None:
    reply = post(Api(), act, body)
    assert (reply.status, reply.document["code"], reply.document["error"]["param"]) == (status, code, param)
    assert b"CANARY" not in reply.body


def test_a_source_of_another_tenant_and_a_withdrawn_revision_are_conflicts() -> None:
    api = Api()
    post(api, "grant", GRANT)
    assert post(api, "grant", GRANT | {"tenant": "tenant-a"}).document["code"] == Code.SOURCE_OF_OTHER_TENANT
    post(api, "withdraw", {"id": "handbook"})
    reply = post(api, "grant", GRANT)
    assert (reply.status, reply.document["code"]) == (409, Code.SOURCE_WITHDRAWN)


def test_sources_are_listed_by_id_page_by_page() -> None:
    api = Api()
    for name in ("a", "b", "c"):
        post(api, "grant", GRANT | {"id": name})
    post(api, "withdraw", {"id": "b"})
    page = listed(api, "?limit=2").document
    assert ([row["id"] for row in page["data"]], page["has_more"]) == (["a", "b"], True)
    full = listed(api, "?limit=3").document
    assert ([row["id"] for row in full["data"]], full["has_more"]) == (["a", "b", "c"], False)
    assert [row["id"] for row in listed(api, "?limit=2&after=b").document["data"]] == ["c"]
    assert [row["id"] for row in listed(api, "?withdrawn=true").document["data"]] == ["b"]
    assert [row["id"] for row in listed(api, "?withdrawn=false&tenant=acme&group=staff").document["data"]] == ["a", "c"]
    assert listed(api, "?group=press").document["data"] == []


@pytest.mark.parametrize(
    "query", ["?limit=0", "?limit=501", "?withdrawn=maybe", "?tenant=", "?x=1", "?limit=1&limit=2"]
)
def test_a_query_is_closed_too(query: str) -> None:
    assert listed(Api(), query).document["code"] in (Code.INVALID_VALUE, Code.UNKNOWN_FIELD)


def test_the_longest_page_tells_too_whether_there_are_more() -> None:
    api = Api()

    def listed_of(number: int) -> tuple[int, bool]:
        api.world.put_source(id=f"s-{number}")
        document = listed(api, "?limit=500").document
        return len(document["data"]), document["has_more"]

    for number in range(499):
        api.world.put_source(id=f"s-{number}")
    assert listed_of(499) == (500, False)
    assert listed_of(500) == (500, True)


@pytest.mark.parametrize(
    ("query", "detail"),
    [
        ("?x=1", "Parameter: x."),
        ("?limit=501", "Parameter: limit. Expected: integer, at most 500."),
        ("?withdrawn=maybe", "Parameter: withdrawn. Expected: true or false."),
    ],
)
def test_a_query_has_parameters_and_no_fields(query: str, detail: str) -> None:
    assert listed(Api(), query).document["detail"] == detail
