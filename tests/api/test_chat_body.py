"""The body is read one way only; what two readers could read differently is refused."""

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gateway.api.chat_body import ChatBody, read_chat
from gateway.api.problems import status_of
from gateway.domain.message import DeveloperMessage, OnlyText, UserMessage
from gateway.domain.refusal import Code, Refusal
from gateway.domain.request import Request, SourceRef

USER = {"role": "user", "content": "Hello?"}
BASE: dict[str, Any] = {"model": "chat", "messages": [USER]}


def read(**changes: Any) -> Request | Refusal:
    return read_chat(json.dumps(BASE | changes).encode())


def refused(body: bytes) -> tuple[Code, int]:
    refusal = read_chat(body)
    assert isinstance(refusal, Refusal), refusal
    return refusal.code, status_of(refusal)


def test_the_smallest_body_is_read() -> None:
    assert read() == Request(model="chat", messages=(UserMessage("Hello?"),))


def test_every_served_field_is_read() -> None:
    request = read(
        messages=[{"role": "developer", "content": [{"type": "text", "text": "Be brief."}]}, USER],
        max_completion_tokens=7,
        temperature=1,
        top_p=0.5,
        stop="END",
        seed=-3,
        n=1,
        stream=False,
        gateway={"purpose": "answers", "sources": [{"id": "a", "revision": "1"}]},
    )
    assert request == Request(
        model="chat",
        messages=(DeveloperMessage((OnlyText("Be brief.", type="text"),)), UserMessage("Hello?")),
        max_output=7,
        temperature=1.0,
        top_p=0.5,
        stop=("END",),
        seed=-3,
        purpose="answers",
        sources=(SourceRef("a", "1"),),
    )


@pytest.mark.parametrize(
    "field", ["max_tokens", "max_completion_tokens", "temperature", "top_p", "stop", "seed", "n", "stream"]
)
def test_bnd_02_null_is_absent_where_openai_documents_it(field: str) -> None:
    assert read(**{field: None}) == read()


@pytest.mark.parametrize("field", ["model", "messages", "gateway"])
def test_bnd_02_null_is_refused_elsewhere(field: str) -> None:
    assert refused(json.dumps(BASE | {field: None}).encode()) == (Code.INVALID_VALUE, 422)


@pytest.mark.parametrize("value", [True, False, 1.5, 5.0, "10", [], {}, 1e2, 1e18])
@pytest.mark.parametrize("field", ["max_tokens", "max_completion_tokens"])
def test_bnd_02_a_cap_of_another_type_is_refused(field: str, value: object) -> None:
    assert refused(json.dumps(BASE | {field: value}).encode()) == (Code.INVALID_VALUE, 400)


@pytest.mark.parametrize("value", [0, -1, -5, 2**63, 2**70])
def test_bnd_02_a_cap_out_of_range_is_refused(value: int) -> None:
    assert refused(json.dumps(BASE | {"max_tokens": value}).encode()) == (Code.INVALID_VALUE, 422)


def test_bnd_01_two_caps_are_refused() -> None:
    refusal = read(max_tokens=5, max_completion_tokens=9000)
    assert isinstance(refusal, Refusal)
    assert (refusal.code, status_of(refusal)) == (Code.INVALID_VALUE, 400)
    assert refusal.fields == ("max_completion_tokens", "max_tokens")


@pytest.mark.parametrize("alias", ["max_output_tokens", "max_new_tokens", "thinking"])
def test_bnd_01_another_name_of_the_cap_is_unknown(alias: str) -> None:
    refusal = read(**{alias: 5})
    assert isinstance(refusal, Refusal)
    assert (refusal.code, refusal.param) == (Code.UNKNOWN_FIELD, alias)


@pytest.mark.parametrize(
    "body",
    [
        b'{"model":"chat","model":"other","messages":[]}',
        b'{"model":"a","mod\\u0065l":"b","messages":[]}',
        b'{"model":"chat","messages":[{"role":"user","content":"a","content":"b"}]}',
    ],
)
def test_bnd_09_a_key_twice_is_refused(body: bytes) -> None:
    assert refused(body) == (Code.MALFORMED_BODY, 400)


@pytest.mark.parametrize(
    "body",
    [
        b"[" * 5000,
        b'{"messages":' + b"[" * 1000 + b"]" * 1000 + b"}",
        json.dumps(BASE | {"tools": json.loads('{"a":' * 80 + "1" + "}" * 80)}).encode(),
    ],
)
def test_bnd_10_deep_nesting_is_refused(body: bytes) -> None:
    assert refused(body) == (Code.MALFORMED_BODY, 400)


def test_bnd_10_the_depth_that_is_allowed_is_judged_by_its_fields() -> None:
    deep = json.loads("[" * 62 + "]" * 62)
    assert refused(json.dumps(BASE | {"tools": [deep] * 10}).encode()) == (Code.INVALID_VALUE, 400)
    assert refused(json.dumps(BASE | {"x": [deep] * 10}).encode()) == (Code.UNKNOWN_FIELD, 400)


@pytest.mark.parametrize(
    "body",
    [
        b'{"model":"chat","messages":[{"role":"user","content":"\\ud83d"}]}',
        b'{"model":"chat","messages":[{"role":"user","content":"\xff"}]}',
        b'{"model":"ch\xc3","messages":[]}',
    ],
)
def test_bnd_11_half_a_character_is_refused(body: bytes) -> None:
    assert refused(body) == (Code.MALFORMED_BODY, 400)


def test_bnd_11_a_nul_in_a_prompt_is_kept() -> None:
    request = read(messages=[{"role": "user", "content": "a\0b"}])
    assert isinstance(request, Request)
    assert request.messages[0].content == "a\0b"


@pytest.mark.parametrize(
    ("field", "text"),
    [("max_tokens", "9" * 5000), ("seed", "9223372036854775808"), ("temperature", "1e999"), ("temperature", "NaN")],
)
def test_bnd_13_huge_numbers_are_refused(field: str, text: str) -> None:
    body = json.dumps(BASE)[:-1] + f', "{field}": {text}}}'
    code, status = refused(body.encode())
    assert (code, status) in {(Code.INVALID_VALUE, 422), (Code.MALFORMED_BODY, 400)}


@pytest.mark.parametrize("body", [b"[]", b"null", b"1", b'"x"', b"", b"{", b'{"model":"chat"}garbage'])
def test_bnd_17_what_is_no_object_is_refused(body: bytes) -> None:
    assert refused(body) == (Code.MALFORMED_BODY, 400)


@pytest.mark.parametrize(
    ("messages", "param", "status"),
    [
        ([], "messages", 422),
        ([None], "messages[0]", 422),
        ("x", "messages", 400),
        ([{"role": "root", "content": "x"}], "messages[0].role", 422),
        ([{"role": "user"}], "messages[0].content", 400),
        ([{"role": "user", "content": None}], "messages[0].content", 422),
        ([{"role": "user", "content": []}], "messages[0].content", 422),
        ([{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "http://x"}}]}], None, 422),
        ([{"role": "user", "content": "x", "name": "y"}], "messages[0].name", 400),
    ],
)
def test_bnd_17_messages_that_are_not_served_are_refused_by_their_place(
    messages: object, param: str | None, status: int
) -> None:
    refusal = read(messages=messages)
    assert isinstance(refusal, Refusal)
    assert status_of(refusal) == status
    if param is not None:
        assert refusal.param == param


@pytest.mark.parametrize(
    "field",
    [
        *("api_base", "base_url", "endpoint", "api_key", "organization", "custom_llm_provider", "azure_endpoint"),
        *("aws_region", "proxy", "fallbacks", "context_window_fallbacks", "models", "route", "extra_body"),
        *("extra_headers", "mock_response", "mock_testing_fallbacks", "mock_timeout", "privacy", "region"),
        *("allow_fallback", "metadata", "user", "num_retries", "stream_options", "best_of", "num_completions"),
    ],
)
def test_rte_05_and_01_07_09_nothing_that_names_a_destination_is_a_field(field: str) -> None:
    assert refused(json.dumps(BASE | {field: "http://127.0.0.1:1/v1"}).encode()) == (Code.UNKNOWN_FIELD, 400)


@pytest.mark.parametrize("n", [0, 2, 7])
def test_bud_16_more_than_one_choice_is_refused(n: int) -> None:
    assert refused(json.dumps(BASE | {"n": n}).encode()) == (Code.INVALID_VALUE, 422)


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({"temperature": 2.1}, 422),
        ({"temperature": -0.1}, 422),
        ({"temperature": "hot"}, 400),
        ({"top_p": 1.01}, 422),
        ({"stop": []}, 422),
        ({"stop": ["a"] * 5}, 422),
        ({"stop": ""}, 422),
        ({"stop": ["a", ""]}, 422),
        ({"stop": [1]}, 400),
        ({"seed": 1.5}, 400),
        ({"stream": "false"}, 400),
        ({"model": ""}, 422),
        ({"model": 7}, 400),
        ({"gateway": []}, 400),
        ({"gateway": {"purpose": ""}}, 422),
        ({"gateway": {"sources": [{"id": "a", "revision": ""}]}}, 422),
        ({"gateway": {"sources": [{"id": "a", "revision": "1"}] * 2}}, 400),
        ({"gateway": {"sources": [{"id": f"{i}", "revision": "1"} for i in range(33)]}}, 422),
    ],
)
def test_values_that_are_not_served_are_refused(changes: dict[str, Any], status: int) -> None:
    assert refused(json.dumps(BASE | changes).encode()) == (Code.INVALID_VALUE, status)


def test_the_extension_is_closed() -> None:
    refusal = read(gateway={"profile": "elsewhere"})
    assert isinstance(refusal, Refusal)
    assert (refusal.code, refusal.param) == (Code.UNKNOWN_FIELD, "gateway.profile")


def test_a_missing_field_is_named() -> None:
    refusal = read_chat(b'{"model":"chat"}')
    assert isinstance(refusal, Refusal)
    assert (refusal.code, refusal.param, refusal.facts) == (Code.INVALID_VALUE, "messages", {"reason": "missing"})


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"model": 7}, "string"),
        ({"model": ""}, "string, at least 1 character"),
        ({"model": "x" * 201}, "string, at most 200 characters"),
        ({"messages": []}, "array, at least 1 item"),
        ({"max_tokens": "10"}, "integer or null"),
        ({"max_tokens": 2**63}, "integer, at most 2^63-1"),
        ({"seed": -(2**63) - 1}, "integer, at least -2^63"),
        ({"temperature": 2.5}, "number, at most 2"),
        ({"stream": "no"}, "true or false or null"),
        ({"stop": 7}, "string or array or null"),
        ({"gateway": 7}, "object"),
        ({"gateway": {"sources": [{"id": f"{i}", "revision": "1"} for i in range(33)]}}, "array, at most 32 items"),
    ],
)
def test_what_is_served_is_told_in_the_words_of_the_page(changes: dict[str, Any], expected: str) -> None:
    refusal = read(**changes)
    assert isinstance(refusal, Refusal)
    assert refusal.facts == {"expected": expected}


@pytest.mark.parametrize(
    "changes",
    [
        {"temperature": "CANARY"},
        {"messages": [{"role": "CANARY", "content": "x"}]},
        {"messages": [{"role": "user", "content": {"CANARY": "x"}}]},
        {"messages": [{"role": "user", "content": [{"type": "CANARY"}]}]},
        {"stop": [{"CANARY": 1}]},
        {"gateway": "CANARY"},
    ],
)
def test_no_refusal_holds_a_value_of_the_body(changes: dict[str, Any]) -> None:
    assert "CANARY" not in repr(read(**changes))


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


# On a fresh machine the first text has to wait for hypothesis' tables of characters.
@settings(suppress_health_check=[HealthCheck.too_slow])
@given(st.dictionaries(st.sampled_from([*ChatBody.__struct_fields__, "x"]), json_values))
def test_whatever_arrives_is_read_or_refused(body: dict[str, Any]) -> None:
    assert isinstance(read_chat(json.dumps(body).encode()), Request | Refusal)


@given(st.binary(max_size=200))
def test_whatever_bytes_arrive_are_read_or_refused(body: bytes) -> None:
    assert isinstance(read_chat(body), Request | Refusal)
