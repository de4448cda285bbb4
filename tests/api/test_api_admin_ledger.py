"""/admin/ledger/usage: who may, what is asked, and how a scope is shown."""

import pytest
from api_support import Api, chat_headers

from gateway.domain.refusal import Code

AUDITOR = chat_headers("operator", key=None)


def test_a_scope_is_shown_with_sums_limits_and_ends_of_windows() -> None:
    api = Api()
    assert api.ask().status == 200
    reply = api.request("GET", "/admin/ledger/usage?profile=smollm2-135m", AUDITOR)
    assert reply.status == 200
    assert reply.document["currency"] == "EUR"
    (shown,) = reply.document["data"]
    assert shown["scope"] == {"kind": "profile", "id": "smollm2-135m"}
    assert {name: shown[name]["used"] for name in shown if name.startswith("tokens")} == {
        "tokens_per_minute": 23,
        "tokens_per_day": 23,
        "tokens_per_month": 23,
    }
    assert shown["tokens_per_day"]["limit"] == shown["cost_per_month"]["limit"] == "unlimited"
    assert shown["concurrency"] == {"used": 0, "stranded": 0, "limit": 2}
    assert (shown["held"], shown["debt"]) == ({"tokens": 0, "cost": 0}, {"tokens": 0, "cost": 0})
    assert shown["tokens_per_minute"]["ends_us"] < shown["tokens_per_day"]["ends_us"]


def test_several_scopes_may_be_named_and_one_that_nobody_knows_is_none() -> None:
    api = Api()

    def scopes(query: str) -> list[tuple[str, str]]:
        data = api.request("GET", f"/admin/ledger/usage?{query}", AUDITOR).document["data"]
        return [(one["scope"]["kind"], one["scope"]["id"]) for one in data]

    assert scopes("tenant=acme&quota_scope=in-house") == [("quota_scope", "in-house"), ("tenant", "acme")]
    assert scopes("tenant=nobody") == []
    assert {kind for kind, _ in scopes("")} == {"profile", "quota_scope", "tenant"}


@pytest.mark.parametrize("query", ["tenant=a&tenant=b", "tenant=", "scope=acme"])
def test_a_query_that_is_not_read_is_refused(query: str) -> None:
    assert Api().request("GET", f"/admin/ledger/usage?{query}", AUDITOR).status in (400, 422)


def test_who_may_not_sees_nothing() -> None:
    api = Api()
    api.world.policy.operate_denied = True
    reply = api.request("GET", "/admin/ledger/usage", chat_headers("assistant", key=None))
    assert (reply.status, reply.document["code"]) == (403, Code.OPERATOR_REQUIRED)
    assert "accounts.usage" not in api.world.calls
