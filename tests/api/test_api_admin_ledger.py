"""/admin/ledger/usage and /outcomes: who may, what is asked, and how it is shown."""

import json

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


OUTCOMES = "/admin/ledger/outcomes"


def test_outcomes_are_shown_by_profile_with_what_counts() -> None:
    api = Api()
    assert api.ask().status == 200
    reply = api.request("GET", f"{OUTCOMES}?since=2026-01-01T00:00:00Z", AUDITOR)
    assert (reply.status, reply.document["currency"]) == (200, "EUR")
    assert reply.document["since"] == "2026-01-01T00:00:00Z"
    (row,) = reply.document["data"]
    assert (row["profile"], row["outcome"], row["attempts"], row["at_reservation"]) == (
        "smollm2-135m",
        "completed",
        1,
        0,
    )
    assert (row["input"] + row["output"], row["cost"]) == (23, 0)


def test_only_outcomes_of_then_and_of_what_was_named_are_counted() -> None:
    api = Api()
    assert api.ask().status == 200

    def found(query: str) -> int:
        return len(api.request("GET", f"{OUTCOMES}?{query}", AUDITOR).document["data"])

    assert found("since=2999-01-01T00:00:00Z") == 0
    assert found("since=0001-01-01T00:00:00Z&tenant=acme&profile=smollm2-135m") == 1
    assert found("since=2026-01-01T00:00:00Z&tenant=globex") == 0
    assert found("since=2026-01-01T00:00:00Z&profile=other") == 0


@pytest.mark.parametrize(
    "query",
    [
        "",
        "since=",
        "since=null",
        "since=1796040000",
        "since=2026-11-30",
        "since=2026-11-30T00:00:00",
        "since=2026-11-31T00:00:00Z",
        "since=0000-01-01T00:00:00Z",
        "since=2026-11-30T00:00:60Z",
        "since=2026-11-30T00:00:00Z&since=2026-11-30T00:00:00Z",
        "since=2026-11-30T00:00:00Z&quota_scope=in-house",
        "since=2026-11-30T00:00:00Z&profile=",
    ],
)
def test_a_query_of_outcomes_that_is_not_read_is_refused_and_its_values_are_not_repeated(query: str) -> None:
    api = Api()
    reply = api.request("GET", f"{OUTCOMES}?{query}", AUDITOR)
    assert reply.status in (400, 422)
    assert "2026" not in json.dumps(reply.document)
    assert "accounts.outcomes" not in api.world.calls


def test_who_may_not_sees_no_outcomes() -> None:
    api = Api()
    api.world.policy.operate_denied = True
    reply = api.request("GET", f"{OUTCOMES}?since=2026-01-01T00:00:00Z", chat_headers("assistant", key=None))
    assert (reply.status, reply.document["code"]) == (403, Code.OPERATOR_REQUIRED)
    assert "accounts.outcomes" not in api.world.calls
