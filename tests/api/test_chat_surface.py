"""Tools, formats, images and what else a request may ask for: read one way, or refused by the field and no value."""

import base64
import json
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.api.chat_body import read_chat
from gateway.api.problems import status_of
from gateway.domain.fingerprint import fingerprint
from gateway.domain.message import AssistantMessage, ImagePart, ImageUrl, TextPart, ToolMessage, UserMessage
from gateway.domain.refusal import Code, Refusal
from gateway.domain.request import Request, features
from gateway.domain.tools import (
    CalledFunction,
    FunctionSpec,
    JsonObjectFormat,
    JsonSchemaFormat,
    JsonSchemaSpec,
    NamedFunction,
    NamedTool,
    TextFormat,
    Tool,
    ToolCall,
)

USER = {"role": "user", "content": "Hello?"}
BASE: dict[str, Any] = {"model": "chat", "messages": [USER]}
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "additionalProperties": False}
WEATHER = {"type": "function", "function": {"name": "weather", "parameters": SCHEMA}}
CALL = {"id": "call_1", "type": "function", "function": {"name": "weather", "arguments": '{"city":"Bern"}'}}
SECOND = CALL | {"id": "call_2"}
CALLING = {"role": "assistant", "content": None, "tool_calls": [CALL]}
RESULT = {"role": "tool", "content": "Sunny.", "tool_call_id": "call_1"}
PNG = "data:image/png;base64," + base64.b64encode(b"\x89PNG....").decode()


def read(**changes: Any) -> Request | Refusal:
    return read_chat(json.dumps(BASE | changes).encode())


def accepted(**changes: Any) -> Request:
    request = read(**changes)
    assert isinstance(request, Request), request
    return request


def refusal(**changes: Any) -> tuple[Code, int, str | None]:
    found = read(**changes)
    assert isinstance(found, Refusal), found
    return found.code, status_of(found), found.param


def image(url: Any, **more: Any) -> list[Any]:
    return [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": url} | more}]}]


def format_of(schema: Any) -> dict[str, Any]:
    return {"type": "json_schema", "json_schema": {"name": "answer", "schema": schema}}


def test_every_field_of_the_surface_is_read() -> None:
    request = accepted(
        messages=[
            {
                "role": "user",
                "content": [{"type": "text", "text": "Where?"}, image(PNG, detail="low")[0]["content"][0]],
            },
            CALLING | {"refusal": None},
            RESULT,
        ],
        tools=[WEATHER, {"type": "function", "function": {"name": "time", "description": "Now.", "strict": None}}],
        tool_choice={"type": "function", "function": {"name": "time"}},
        parallel_tool_calls=False,
        response_format=format_of(SCHEMA),
        logprobs=True,
        top_logprobs=20,
        presence_penalty=-2,
        frequency_penalty=2,
        reasoning_effort="minimal",
    )
    call = ToolCall(id="call_1", function=CalledFunction("weather", '{"city":"Bern"}'))
    assert request == Request(
        model="chat",
        messages=(
            UserMessage((TextPart("Where?"), ImagePart(ImageUrl(PNG, "low")))),
            AssistantMessage(tool_calls=(call,)),
            ToolMessage("Sunny.", "call_1"),
        ),
        tools=(
            Tool(type="function", function=FunctionSpec(name="weather", parameters=SCHEMA)),
            Tool(type="function", function=FunctionSpec(name="time", description="Now.")),
        ),
        tool_choice=NamedTool(type="function", function=NamedFunction("time")),
        parallel_tool_calls=False,
        response_format=JsonSchemaFormat(JsonSchemaSpec(name="answer", schema=SCHEMA)),
        logprobs=True,
        top_logprobs=20,
        presence_penalty=-2.0,
        frequency_penalty=2.0,
        reasoning_effort="minimal",
    )
    everything = {"chat", "tools", "parallel_tool_calls", "images", "json_schema", "logprobs", "penalties"}
    assert set(features(request)) == everything | {"reasoning_effort"}


@pytest.mark.parametrize(
    ("asked", "served"),
    [({"type": "text"}, TextFormat()), ({"type": "json_object"}, JsonObjectFormat())],
)
def test_a_format_without_a_schema_is_read(asked: dict[str, str], served: Any) -> None:
    assert accepted(response_format=asked).response_format == served


@pytest.mark.parametrize("choice", ["none", "auto", "required"])
def test_a_choice_that_is_a_word_is_read(choice: str) -> None:
    assert accepted(tools=[WEATHER], tool_choice=choice).tool_choice == choice


# Null


@pytest.mark.parametrize(
    "field", ["logprobs", "top_logprobs", "presence_penalty", "frequency_penalty", "reasoning_effort"]
)
def test_bnd_02_null_is_absent_where_openai_documents_it(field: str) -> None:
    assert read(**{field: None}) == read()


@pytest.mark.parametrize(
    ("changes", "param"),
    [
        ({"tools": None}, "tools"),
        ({"tools": [WEATHER], "tool_choice": None}, "tool_choice"),
        ({"tools": [WEATHER], "parallel_tool_calls": None}, "parallel_tool_calls"),
        ({"response_format": None}, "response_format"),
        ({"response_format": format_of(None)}, "response_format.json_schema.schema"),
        (
            {"tools": [{"type": "function", "function": {"name": "a", "description": None}}]},
            "tools[0].function.description",
        ),
        (
            {"tools": [{"type": "function", "function": {"name": "a", "parameters": None}}]},
            "tools[0].function.parameters",
        ),
        ({"messages": [USER, {"role": "assistant", "content": "x", "tool_calls": None}]}, "messages[1].tool_calls"),
        ({"messages": image(PNG, detail=None)}, "messages[0].content[0].image_url.detail"),
        ({"messages": [{"role": "tool", "content": None, "tool_call_id": "a"}]}, "messages[0].content"),
    ],
)
def test_bnd_02_null_is_refused_elsewhere(changes: dict[str, Any], param: str) -> None:
    assert refusal(**changes) == (Code.INVALID_VALUE, 422, param)


# Fields that need each other


@pytest.mark.parametrize(
    ("changes", "param"),
    [
        ({"tools": []}, "tools"),
        ({"tools": [WEATHER] * 2}, "tools[1].function.name"),
        ({"tools": [{"type": "function", "function": {"name": f"f{i}"}} for i in range(129)]}, "tools"),
        ({"tools": [{"type": "custom", "function": {"name": "a"}}]}, "tools[0].type"),
        ({"tools": [{"type": "function", "function": {"name": "a b"}}]}, "tools[0].function.name"),
        ({"tools": [{"type": "function", "function": {"name": "a\n"}}]}, "tools[0].function.name"),
        ({"tools": [{"type": "function", "function": {"name": "a" * 65}}]}, "tools[0].function.name"),
        ({"tool_choice": "auto"}, "tool_choice"),
        ({"parallel_tool_calls": True}, "parallel_tool_calls"),
        ({"tools": [WEATHER], "tool_choice": "sometimes"}, "tool_choice"),
        (
            {"tools": [WEATHER], "tool_choice": {"type": "function", "function": {"name": "other"}}},
            "tool_choice.function.name",
        ),
        ({"top_logprobs": 3}, "top_logprobs"),
        ({"logprobs": False, "top_logprobs": 0}, "top_logprobs"),
        ({"logprobs": True, "top_logprobs": 21}, "top_logprobs"),
        ({"logprobs": True, "top_logprobs": -1}, "top_logprobs"),
        ({"presence_penalty": 2.1}, "presence_penalty"),
        ({"frequency_penalty": -2.1}, "frequency_penalty"),
        ({"reasoning_effort": "huge"}, "reasoning_effort"),
        ({"response_format": {"type": "xml"}}, "response_format.type"),
        (
            {"response_format": {"type": "json_schema", "json_schema": {"name": "a b"}}},
            "response_format.json_schema.name",
        ),
    ],
)
def test_what_is_not_served_is_refused_by_its_place(changes: dict[str, Any], param: str) -> None:
    assert refusal(**changes) == (Code.INVALID_VALUE, 422, param)


@pytest.mark.parametrize(
    ("changes", "code", "param"),
    [
        ({"tools": {}}, Code.INVALID_VALUE, "tools"),
        ({"tools": [{"function": {"name": "a"}}]}, Code.INVALID_VALUE, "tools[0].type"),
        ({"tools": [{"type": "function"}]}, Code.INVALID_VALUE, "tools[0].function"),
        ({"tools": [WEATHER | {"x": 1}]}, Code.UNKNOWN_FIELD, "tools[0].x"),
        (
            {"tools": [{"type": "function", "function": {"name": "a", "url": "x"}}]},
            Code.UNKNOWN_FIELD,
            "tools[0].function.url",
        ),
        ({"tools": [WEATHER], "tool_choice": 5}, Code.INVALID_VALUE, "tool_choice"),
        ({"response_format": "json"}, Code.INVALID_VALUE, "response_format"),
        ({"response_format": {}}, Code.INVALID_VALUE, "response_format.type"),
        ({"response_format": {"type": "json_schema"}}, Code.INVALID_VALUE, "response_format.json_schema"),
        ({"response_format": {"type": "json_object", "schema": {}}}, Code.UNKNOWN_FIELD, "response_format.schema"),
        ({"logprobs": 1}, Code.INVALID_VALUE, "logprobs"),
        ({"messages": [RESULT | {"name": "weather"}]}, Code.UNKNOWN_FIELD, "messages[0].name"),
        ({"messages": [CALLING | {"function_call": None}]}, Code.UNKNOWN_FIELD, "messages[0].function_call"),
        (
            {"messages": [CALLING | {"tool_calls": [CALL | {"index": 0}]}]},
            Code.UNKNOWN_FIELD,
            "messages[0].tool_calls[0].index",
        ),
        ({"stream_options": {"include_usage": True}}, Code.UNKNOWN_FIELD, "stream_options"),
        ({"functions": []}, Code.UNKNOWN_FIELD, "functions"),
        ({"function_call": "auto"}, Code.UNKNOWN_FIELD, "function_call"),
        ({"logit_bias": {}}, Code.UNKNOWN_FIELD, "logit_bias"),
    ],
)
def test_an_unknown_or_missing_field_and_another_type_are_named(
    changes: dict[str, Any], code: Code, param: str
) -> None:
    assert refusal(**changes) == (code, 400, param)


@pytest.mark.parametrize("field", ["prompt_cache_key", "safety_identifier", "user", "store", "cache_salt"])
def test_eng_09_no_caller_names_a_shared_namespace(field: str) -> None:
    assert refusal(**{field: "x"}) == (Code.UNKNOWN_FIELD, 400, field)


# Calls and their results


@pytest.mark.parametrize(
    "messages",
    [
        [USER, CALLING, RESULT],
        [USER, CALLING, RESULT, USER],
        [USER, CALLING | {"content": "Let me look."}, RESULT, {"role": "assistant", "content": "Sunny."}],
        [USER, CALLING | {"tool_calls": [CALL, SECOND]}, RESULT | {"tool_call_id": "call_2"}, RESULT, USER],
        [USER, CALLING, RESULT, CALLING, RESULT],
        [USER, CALLING],
        [USER, {"role": "assistant", "content": ""}],
    ],
)
def test_a_history_in_order_is_read(messages: list[Any]) -> None:
    assert len(accepted(messages=messages).messages) == len(messages)


@pytest.mark.parametrize(
    ("messages", "param"),
    [
        ([USER, {"role": "assistant"}], "messages[1].content"),
        ([USER, {"role": "assistant", "content": None}], "messages[1].content"),
        ([RESULT], "messages[0].tool_call_id"),
        ([USER, CALLING, RESULT, RESULT], "messages[3].tool_call_id"),
        ([USER, CALLING, RESULT | {"tool_call_id": "call_9"}], "messages[2].tool_call_id"),
        ([USER, CALLING, RESULT, USER, RESULT], "messages[4].tool_call_id"),
        ([USER, CALLING, USER], "messages[1].tool_calls"),
        ([USER, CALLING, CALLING, RESULT], "messages[1].tool_calls"),
        ([USER, CALLING | {"tool_calls": [CALL, SECOND]}, RESULT, USER], "messages[1].tool_calls"),
        ([USER, CALLING | {"tool_calls": [CALL, CALL]}, RESULT], "messages[1].tool_calls[1].id"),
        ([USER, CALLING | {"tool_calls": []}], "messages[1].tool_calls"),
        ([USER, CALLING | {"tool_calls": [CALL | {"type": "custom"}]}], "messages[1].tool_calls[0].type"),
    ],
)
def test_a_history_that_providers_refuse_is_refused_before_them(messages: list[Any], param: str) -> None:
    assert refusal(messages=messages) == (Code.INVALID_VALUE, 422, param)


@pytest.mark.parametrize(
    ("messages", "reason"),
    [
        ([USER, CALLING, RESULT, RESULT], "answered twice"),
        ([USER, CALLING, RESULT | {"tool_call_id": "call_9"}], "no call of the turn before"),
        ([USER, CALLING, USER], "a call without its result"),
    ],
)
def test_what_is_out_of_order_is_told(messages: list[Any], reason: str) -> None:
    found = read(messages=messages)
    assert isinstance(found, Refusal)
    assert found.facts == {"reason": reason}


# Images


@pytest.mark.parametrize(
    "url",
    [
        "http://169.254.169.254/",
        "https://example.com/a.png",
        "file:///etc/passwd",
        "ftp://example.com/a.png",
        "//example.com/a.png",
        "a.png",
        "",
        "data:image/svg+xml;base64,AAAA",
        "data:text/html;base64,AAAA",
        "data:image/png,AAAA",
        "data:image/png;base64,",
        "data:image/png;base64,http://169.254.169.254/",
        "data:image/png;base64,AAA",
        "data:image/png;base64,A",
        "data:image/png;base64,AA=A",
        "data:image/png;base64,AAAA=",
        "data:image/png;base64,AAAA==",
        "data:image/png;base64,AAAA====",
        "data:image/png;base64,AA AA",
        "data:image/png;base64,AAAA\n",
        "data:image/png;charset=utf-8;base64,AAAA",
        " data:image/png;base64,AAAA",
        "DATA:image/png;base64,AAAA",
        "data:image/png;base64,AA\u0000A",
    ],
)
def test_rte_15_an_image_is_in_the_request_itself_or_refused(url: str) -> None:
    assert refusal(messages=image(url)) == (Code.INVALID_VALUE, 422, "messages[0].content[0].image_url.url")


@pytest.mark.parametrize("kind", ["video_url", "audio_url", "input_audio", "file", "image", "image_file", "refusal"])
def test_rte_15_no_other_kind_of_part_is_served(kind: str) -> None:
    part = {"type": kind, kind: {"url": "http://169.254.169.254/"}}
    messages = [{"role": "user", "content": [part]}]
    assert refusal(messages=messages) == (Code.INVALID_VALUE, 422, "messages[0].content[0].type")


@pytest.mark.parametrize("role", ["system", "developer", "assistant", "tool"])
def test_rte_15_only_a_user_shows_images(role: str) -> None:
    message = image(PNG)[0] | {"role": role} | ({"tool_call_id": "a"} if role == "tool" else {})
    assert refusal(messages=[message]) == (Code.INVALID_VALUE, 422, "messages[0].content[0].type")


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
