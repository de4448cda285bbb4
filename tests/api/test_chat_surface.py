"""Tools, formats, images and what else a request may ask for: read one way, or refused by the field and no value."""

from typing import Any

import pytest
from chat_support import (
    CALL,
    CALLING,
    PNG,
    RESULT,
    SCHEMA,
    SECOND,
    USER,
    WEATHER,
    accepted,
    format_of,
    image,
    read,
    refusal,
)

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
