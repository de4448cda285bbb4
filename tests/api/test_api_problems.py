"""Every refusal is RFC 9457 problem+json that also carries OpenAI's error object."""

import json
from typing import Any

import pytest
from api_support import CHAT, Api, Reply, chat_headers, over_a_socket, token

from gateway.api.problems import problem
from gateway.domain.operation import State
from gateway.domain.outcome import NoEffect, Unknown
from gateway.domain.questions import Failed
from gateway.domain.refusal import MEANINGS, Code, PolicyCode, Refusal
from gateway.ports.events import Faulted
from gateway.ports.transport import Readiness


def is_problem(reply: Reply, code: Code, status: int | None = None) -> Reply:
    """The answer, held to what every refusal must have."""
    meaning = MEANINGS[code]
    assert reply.headers["content-type"] == "application/problem+json"
    document = reply.document
    assert reply.status == document["status"] == (status or meaning.status)
    assert document["type"] == f"urn:policy-gateway:problem:{code}"
    assert (document["title"], document["code"], document["remedy"]) == (meaning.sentence, code, meaning.remedy)
    error = document["error"]
    assert error.keys() == {"message", "type", "code", "param"}
    said = (
        [meaning.sentence, document["detail"], meaning.remedy]
        if "detail" in document
        else [meaning.sentence, meaning.remedy]
    )
    assert (error["message"], error["code"]) == (" ".join(said), code)
    return reply


def rendered(refusal: Refusal) -> Reply:
    response = problem(refusal)
    return Reply(response.status_code, dict(response.headers), bytes(response.body))


@pytest.mark.parametrize("code", Code)
def test_every_code_is_told_in_both_shapes(code: Code) -> None:
    reply = is_problem(rendered(Refusal(code=code)), code)
    assert ("x-should-retry" in reply.headers) is not MEANINGS[code].retry


@pytest.mark.parametrize(
    ("status", "type_"),
    [
        (400, "invalid_request_error"),
        (401, "authentication_error"),
        (403, "permission_error"),
        (404, "not_found_error"),
        (409, "invalid_request_error"),
        (422, "invalid_request_error"),
        (500, "api_error"),
        (502, "api_error"),
        (503, "api_error"),
        (504, "api_error"),
    ],
)
def test_the_error_has_the_type_that_openai_gives_to_its_status(status: int, type_: str) -> None:
    document = is_problem(rendered(Refusal(code=Code.OUTCOME_UNKNOWN, status=status)), Code.OUTCOME_UNKNOWN, status)
    assert document.document["error"]["type"] == type_


def test_a_problem_has_only_the_members_that_apply() -> None:
    assert rendered(Refusal(code=Code.DRAINING)).document.keys() == {
        "type",
        "title",
        "status",
        "code",
        "remedy",
        "error",
    }


def test_a_problem_carries_whatever_applies() -> None:
    codes = (PolicyCode(code="a", remedy="b"), PolicyCode(code="c", remedy="d", source=0))
    reply = rendered(
        Refusal(
            code=Code.ACCESS_DENIED,
            param="model",
            fields=("model", "seed"),
            policy_codes=codes,
            retry_after_s=7,
            operation_id="op-1",
            operation_state=State.CHARGED,
            replayed=True,
            facts={"limit": 5},
        )
    )
    document = reply.document
    assert document["detail"] == "Fields: model, seed. Limit: 5. a: b c (source 0): d"
    assert document["retry_after_s"] == 7
    assert document["error"]["param"] == "model"
    assert (document["fields"], document["facts"], document["operation_id"]) == (
        ["model", "seed"],
        {"limit": 5},
        "op-1",
    )
    assert document["policy_codes"] == [{"code": "a", "remedy": "b"}, {"code": "c", "remedy": "d", "source": 0}]
    wanted = {
        "operation-id": "op-1",
        "operation-state": "charged",
        "idempotent-replayed": "true",
        "retry-after": "7",
        "x-should-retry": "false",
    }
    assert wanted.items() <= reply.headers.items()


def test_a_sentence_says_what_is_a_field_and_what_a_parameter() -> None:
    def message(**about: Any) -> str:
        text: str = rendered(Refusal(code=Code.UNKNOWN_MODEL, **about)).document["error"]["message"]
        return text

    remedy = "Use an alias that your tenant may use."
    assert message(param="model") == f"There is no such model alias. Field: model. {remedy}"
    assert message(param="model", in_query=True) == f"There is no such model alias. Parameter: model. {remedy}"
    assert message() == f"There is no such model alias. {remedy}"


@pytest.mark.parametrize(("retry", "header"), [(True, None), (False, "false"), (None, "false")])
def test_a_refusal_may_know_better_than_its_code_whether_to_retry(retry: bool | None, header: str | None) -> None:
    reply = rendered(Refusal(code=Code.PROVIDER_REJECTED, retry=retry))
    assert reply.headers.get("x-should-retry") == header


# Refusals as callers meet them


def test_without_a_credential_the_scheme_is_named() -> None:
    for who in (None, "stranger"):
        reply = is_problem(Api().ask(who=who), Code.UNAUTHENTICATED)
        assert reply.headers["www-authenticate"] == "Bearer"
        assert reply.headers["x-should-retry"] == "false"


def test_two_credentials_are_none() -> None:
    api = Api()
    headers = [*chat_headers(), ("Authorization", f"Bearer {token('reporter')}")]
    is_problem(api.request("POST", CHAT, headers, b"{}"), Code.UNAUTHENTICATED)
    assert api.world.calls == []


def test_the_credential_comes_before_the_key_and_the_body() -> None:
    api = Api()
    is_problem(api.request("POST", CHAT, [], b"no JSON"), Code.UNAUTHENTICATED)
    is_problem(api.ask(who=None, key=None, target=f"{CHAT}?a=b"), Code.UNAUTHENTICATED)


def test_an_operation_in_progress_says_where_it_is_and_when_to_ask() -> None:
    api = Api()
    api.ask()
    api.world.put_state(State.DISPATCHING)
    reply = is_problem(api.ask(), Code.OPERATION_IN_PROGRESS)
    operation_id = api.world.operation.id
    assert (reply.headers["location"], reply.headers["retry-after"]) == (f"/v1/operations/{operation_id}", "1")
    assert (reply.headers["operation-id"], reply.headers["operation-state"]) == (operation_id, "dispatching")
    assert "x-should-retry" not in reply.headers
    shown = api.request("GET", reply.headers["location"], chat_headers())
    assert (shown.status, shown.document["state"]) == (200, "dispatching")


def test_an_unknown_outcome_is_never_to_be_retried() -> None:
    api = Api()
    api.world.transport.script(Unknown("timeout_after_send"))
    for reply in (
        is_problem(api.ask(), Code.OUTCOME_UNKNOWN, 504),
        is_problem(api.ask(), Code.OUTCOME_UNKNOWN, 409),
    ):
        assert reply.headers["x-should-retry"] == "false"
        assert "retry-after" not in reply.headers
        assert reply.headers["operation-state"] == "unknown"
        assert reply.document["operation_id"] == api.world.operation.id


def test_what_had_no_effect_may_be_retried_until_its_attempts_are_used_up() -> None:
    api = Api()
    api.world.transport.default(NoEffect("busy"))
    for _ in range(3):
        reply = is_problem(api.ask(), Code.PROVIDER_BUSY)
        assert "x-should-retry" not in reply.headers
        assert "idempotent-replayed" not in reply.headers
    reply = is_problem(api.ask(), Code.PROVIDER_BUSY)
    assert (reply.headers["x-should-retry"], reply.headers["idempotent-replayed"]) == ("false", "true")


def test_no_ready_route_says_when_to_ask_again() -> None:
    api = Api()
    api.world.board.note(api.world.profile, Readiness("starting"))
    assert is_problem(api.ask(), Code.NO_READY_ROUTE).headers["retry-after"] == "5"


def test_a_conflict_names_fields_and_no_values() -> None:
    api = Api()
    api.ask()
    reply = is_problem(api.ask(temperature=0.123), Code.OPERATION_KEY_REUSED)
    assert (reply.document["fields"], reply.document["error"]["param"]) == (["temperature"], "temperature")
    assert b"0.123" not in reply.body


def test_a_denial_names_the_callers_own_sources_by_index() -> None:
    api = Api()
    api.world.policy.failed = Failed(request=("purpose",), source={"0": (), "1": ("readable",)})
    sources = [{"id": "public", "revision": "1"}, {"id": "CANARY", "revision": "1"}]
    reply = is_problem(api.ask(gateway={"sources": sources}), Code.ACCESS_DENIED)
    assert [(one["code"], one.get("source")) for one in reply.document["policy_codes"]] == [
        ("request_purpose", None),
        ("source_readable", 1),
    ]
    assert b"CANARY" not in reply.body


def test_a_query_is_refused_after_the_credential_and_before_the_body() -> None:
    api = Api()
    is_problem(api.request("POST", f"{CHAT}?stream=true", chat_headers(), b"no JSON"), Code.QUERY_NOT_ALLOWED)
    assert api.world.calls == ["keys.find"]


def test_a_body_that_is_too_large_is_refused_with_the_limit() -> None:
    api = Api()
    reply = is_problem(api.request("POST", CHAT, chat_headers(), b" " * 10_001), Code.BODY_TOO_LARGE)
    assert reply.document["facts"] == {"limit": 10_000}
    assert api.ask(messages=[{"role": "user", "content": "a" * 9_000}]).status != 413


def test_while_it_drains_nothing_new_is_taken_and_the_rest_still_answers() -> None:
    api = Api()
    api.ask()
    operation_id = api.world.operation.id
    api.world.services.running.draining = True
    api.world.calls.clear()
    for key in ("k-1", "k-2"):
        is_problem(api.ask(key=key), Code.DRAINING)
    is_problem(api.ask(who=None), Code.DRAINING)
    assert api.world.calls == []
    assert api.request("GET", f"/v1/operations/{operation_id}", chat_headers()).status == 200


# Paths and methods


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/v1",
        "/v1/embeddings",
        f"{CHAT}/",
        "/V1/chat/completions",
        "/livez/",
        "/v1/operations",
        "/admin",
        "//livez",
    ],
)
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_path_that_does_not_exist_is_a_problem_and_no_redirect(method: str, path: str) -> None:
    reply = is_problem(Api().request(method, path, chat_headers()), Code.NOT_FOUND)
    assert "location" not in reply.headers


@pytest.mark.parametrize(
    ("path", "allowed"),
    [
        (CHAT, {"POST"}),
        ("/admin/keys", {"GET", "HEAD", "POST"}),
        ("/livez", {"GET", "HEAD"}),
        ("/admin/reload", {"POST"}),
        ("/v1/models", {"GET", "HEAD"}),
        ("/readyz", {"GET", "HEAD"}),
        ("/metrics", {"GET", "HEAD"}),
        ("/v1/operations/x", {"GET", "HEAD"}),
    ],
)
def test_a_method_that_a_path_does_not_know_is_told_which_it_knows(path: str, allowed: set[str]) -> None:
    api = Api()
    for method in {"GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"} - allowed:
        reply = is_problem(api.request(method, path, chat_headers()), Code.METHOD_NOT_ALLOWED)
        assert set(reply.headers["allow"].split(", ")) == allowed
    assert api.world.calls == []


def test_a_head_has_the_headers_of_its_get_and_no_body() -> None:
    with over_a_socket(Api()) as served:
        for path in ("/livez", "/readyz"):
            got, head = served.request("GET", path), served.request("HEAD", path)
            assert (head.status, head.body) == (got.status, b"")
            assert head.headers["content-type"] == got.headers["content-type"]
        refused = served.request("HEAD", CHAT)
        assert (refused.status, refused.headers["content-type"]) == (405, "application/problem+json")


# Faults of the program


@pytest.mark.parametrize(("method", "path"), [("POST", CHAT), ("GET", "/v1/operations/op-1"), ("POST", "/admin/keys")])
def test_a_fault_of_the_program_is_told_without_its_message(method: str, path: str) -> None:
    class Broken(Exception):
        pass

    def fail() -> None:
        raise Broken("CANARY-FAULT")

    api = Api()
    api.world.notebook.at("keys.find", fail)
    with over_a_socket(api) as served:
        headers = [*chat_headers(key="CANARY-KEY"), ("X-Other", "CANARY-HEADER")]
        reply = served.request(method, path, headers, b'{"model": "CANARY-BODY"}' if method == "POST" else b"")
        assert served.request("GET", "/livez").status == 200
    is_problem(reply, Code.INTERNAL_ERROR)
    assert reply.headers["x-should-retry"] == "false"
    assert [event for event in api.world.events.events if isinstance(event, Faulted)] == [Faulted("api", "Broken")]
    log = served.log.getvalue()
    assert "Broken" in log
    assert "CANARY" not in log
    assert token("assistant") not in log
    assert b"CANARY" not in reply.body
    assert "gateway_faults_total 1.0" in api.telemetry.render().decode()
    for line in log.splitlines():
        json.loads(line)
