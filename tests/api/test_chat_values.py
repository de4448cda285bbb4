"""Numbers, texts and depth in what a request passes on: what readers could read differently is refused."""

import json
from typing import Any

import msgspec
import pytest
from chat_support import BASE, CALL, CALLING, RESULT, USER, WEATHER, accepted, format_of, image, read, refusal
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.api.chat_body import read_chat
from gateway.api.problems import status_of
from gateway.domain.fingerprint import fingerprint
from gateway.domain.refusal import Code, Refusal
from gateway.domain.request import Request
from gateway.domain.tools import (
    JsonSchemaFormat,
)

# Numbers and texts in what is passed on


@pytest.mark.parametrize("number", ["1e999", "-1e999", "9" * 400, "-" + "9" * 30, "18446744073709551616", "9" * 5000])
@pytest.mark.parametrize("place", ["tools", "response_format", "deep", "list"])
def test_bnd_13_a_number_that_readers_read_differently_is_refused_in_a_schema(number: str, place: str) -> None:
    inner = {"list": {"enum": [[1, "N"]]}, "deep": {"a": {"b": {"maximum": "N"}}}}.get(place, {"maximum": "N"})
    asked = {"tools": [{"type": "function", "function": {"name": "a", "parameters": inner}}]}
    if place == "response_format":
        asked = {"response_format": format_of(inner)}
    found = read_chat(json.dumps(BASE | asked).replace('"N"', number).encode())
    assert isinstance(found, Refusal)
    assert (found.code, status_of(found)) in {(Code.INVALID_VALUE, 422), (Code.MALFORMED_BODY, 400)}
    if len(number) < 4000:
        assert found.param in {"tools[0].function.parameters", "response_format.json_schema.schema"}


@pytest.mark.parametrize("number", [2**64 - 1, -(2**63), 1e308, 0.1, 0])
def test_bnd_13_a_number_that_everybody_reads_is_passed_on(number: float) -> None:
    request = accepted(response_format=format_of({"maximum": number}))
    assert isinstance(request.response_format, JsonSchemaFormat)
    assert request.response_format.json_schema.schema == {"maximum": number}


@pytest.mark.parametrize(
    "field", ["temperature", "top_p", "presence_penalty", "frequency_penalty", "top_logprobs", "seed"]
)
@pytest.mark.parametrize("number", ["1e999", "-1e999", "NaN", "Infinity", "9" * 5000])
def test_bnd_13_a_number_out_of_all_ranges_is_refused_in_each_field(field: str, number: str) -> None:
    found = read_chat(json.dumps(BASE | {field: "N"}).replace('"N"', number).encode())
    assert isinstance(found, Refusal)
    assert status_of(found) in {400, 422}


HALF = "\\ud83d"


@pytest.mark.parametrize(
    "body",
    [
        {"model": HALF},
        {"messages": [{"role": "user", "content": HALF}]},
        {"messages": [{"role": "user", "content": [{"type": "text", "text": HALF}]}]},
        {"messages": [{"role": HALF, "content": "x"}]},
        {"messages": [CALLING | {"tool_calls": [CALL | {"id": HALF}]}]},
        {"messages": [CALLING | {"tool_calls": [CALL | {"function": {"name": "a", "arguments": HALF}}]}]},
        {"stop": HALF},
        {"tools": [{"type": "function", "function": {"name": "a", "description": HALF}}]},
        {"tools": [{"type": "function", "function": {"name": "a", "parameters": {HALF: 1}}}]},
        {"tools": [{"type": "function", "function": {"name": "a", "parameters": {"enum": [HALF]}}}]},
        {"response_format": format_of({"properties": {HALF: {}}})},
        {"gateway": {"purpose": HALF}},
        {"gateway": {"sources": [{"id": HALF, "revision": "1"}]}},
        {HALF: 1},
    ],
)
def test_bnd_11_half_a_character_is_refused_anywhere(body: dict[str, Any]) -> None:
    found = read_chat(json.dumps(BASE | body).replace("\\\\ud83d", "\\ud83d").encode())
    assert isinstance(found, Refusal)
    assert (found.code, status_of(found)) == (Code.MALFORMED_BODY, 400)


def test_bnd_11_a_nul_in_what_people_write_is_kept_and_in_a_name_refused() -> None:
    call = CALL | {"function": {"name": "weather", "arguments": "a\0b"}}
    request = accepted(
        messages=[{"role": "user", "content": "a\0b"}, CALLING | {"tool_calls": [call]}, RESULT | {"content": "\0"}],
        tools=[
            {"type": "function", "function": {"name": "weather", "description": "a\0b", "parameters": {"\0": "\0"}}}
        ],
    )
    assert request.messages[0].content == "a\0b"
    assert request.tools is not None
    assert request.tools[0].function.parameters == {"\0": "\0"}
    for messages, param in (
        ([USER, CALLING | {"tool_calls": [CALL | {"id": "a\0"}]}], "messages[1].tool_calls[0].id"),
        (
            [USER, CALLING | {"tool_calls": [CALL | {"function": {"name": "a\0", "arguments": ""}}]}],
            "messages[1].tool_calls[0].function.name",
        ),
        ([USER, CALLING, RESULT | {"tool_call_id": "call_1\0"}], "messages[2].tool_call_id"),
    ):
        assert refusal(messages=messages) == (Code.INVALID_VALUE, 422, param)
    tool = {"type": "function", "function": {"name": "a\0"}}
    assert refusal(tools=[tool]) == (Code.INVALID_VALUE, 422, "tools[0].function.name")


def test_bnd_10_a_schema_may_be_as_deep_as_a_body() -> None:
    def nested(levels: int) -> dict[str, Any]:
        return {"a": nested(levels - 1)} if levels else {}

    # The body, tools, the tool, function and parameters itself are five levels.
    deep = {"tools": [{"type": "function", "function": {"name": "a", "parameters": nested(59)}}]}
    assert isinstance(read(**deep), Request)
    deep["tools"][0]["function"]["parameters"] = nested(60)  # type: ignore[index]
    assert refusal(**deep) == (Code.MALFORMED_BODY, 400, None)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"tools": [{"type": "x", "function": {"name": "a"}}]}, "function"),
        (
            {"tools": [{"type": "function", "function": {"name": "a b"}}]},
            "1 to 64 letters, digits, _ or -",
        ),
        ({"tools": [WEATHER], "tool_choice": "x"}, "none or auto or required or an object that names one of the tools"),
        ({"reasoning_effort": "x"}, "none or minimal or low or medium or high or xhigh"),
        ({"response_format": {"type": "x"}}, "text or json_object or json_schema"),
        ({"messages": [{"role": "x", "content": "x"}]}, "system or developer or user or assistant or tool"),
        ({"messages": [{"role": "user", "content": [{"type": "x"}]}]}, "text or image_url"),
        (
            {"messages": image("http://x")},
            "data: only, of image/png, image/jpeg, image/webp or image/gif, in base64",
        ),
        ({"top_logprobs": 21}, "integer, at most 20"),
        ({"presence_penalty": -3}, "number, at least -2"),
    ],
)
def test_what_is_served_is_told(changes: dict[str, Any], expected: str) -> None:
    found = read(**changes)
    assert isinstance(found, Refusal)
    assert found.facts == {"expected": expected}


@pytest.mark.parametrize(
    "changes",
    [
        {"tools": [{"type": "CANARY"}]},
        {"tools": [{"type": "function", "function": {"name": "CANARY CANARY"}}]},
        {"tools": [{"type": "function", "function": {"name": "CANARY"}}] * 2},
        {"tools": [{"type": "function", "function": {"name": "a", "parameters": "CANARY"}}]},
        {"tools": [{"type": "function", "function": {"name": "a", "parameters": {"CANARY": 2**70}}}]},
        {"tools": [WEATHER], "tool_choice": {"type": "function", "function": {"name": "CANARY"}}},
        {"tool_choice": "CANARY"},
        {"response_format": {"type": "CANARY"}},
        {"reasoning_effort": "CANARY"},
        {"messages": image("http://CANARY/")},
        {"messages": image("data:image/png;base64,CANARY")},
        {"messages": [RESULT | {"tool_call_id": "CANARY"}]},
        {"messages": [CALLING | {"tool_calls": [CALL | {"id": "CANARY"}] * 2}]},
        {"messages": [CALLING | {"tool_calls": [CALL | {"id": "CANARY CANARY"}]}]},
        {"messages": [{"role": "user", "content": "x - at `$.CANARY`", "tool_calls": 1}]},
    ],
)
def test_no_refusal_holds_a_value_of_the_surface(changes: dict[str, Any]) -> None:
    found = read(**changes)
    assert isinstance(found, Refusal)
    assert "CANARY" not in repr(found)


free = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=200)
@given(st.dictionaries(st.text(max_size=5), free, max_size=4))
def test_a_schema_that_is_taken_can_be_compared_and_goes_on_as_it_came(schema: dict[str, Any]) -> None:
    request = read(tools=[{"type": "function", "function": {"name": "a", "parameters": schema}}])
    if isinstance(request, Refusal):
        assert request.param == "tools[0].function.parameters"
        return
    assert request.tools is not None
    assert msgspec.json.decode(msgspec.json.encode(request.tools[0].function.parameters)) == schema
    assert fingerprint(request, "POST /v1/chat/completions").fields["tools"]
