"""What of a request is counted, whatever counts it, and with bytes how much."""

import asyncio
from typing import Any

import msgspec
import pytest

from adapters.tokens import LocalCounter
from gateway.domain.message import (
    AssistantMessage,
    ImagePart,
    ImageUrl,
    Message,
    SystemMessage,
    TextPart,
    ToolMessage,
    UserMessage,
)
from gateway.domain.profile import Counter, Profile
from gateway.domain.request import Request
from gateway.domain.tools import (
    CalledFunction,
    FunctionSpec,
    JsonSchemaFormat,
    JsonSchemaSpec,
    NamedFunction,
    NamedTool,
    TextFormat,
    Tool,
    ToolCall,
)
from gateway.testkit.fakes.transport import FakeCounter

PIXEL = ImagePart(ImageUrl(url="data:image/png;base64,AAAA"))
LOOK_UP = Tool(type="function", function=FunctionSpec(name="look_up", description="Größe", parameters={"a": [1, 2]}))
LOOK_UP_JSON = (
    '{"type": "function", "function": {"name": "look_up", "description": "Größe", "parameters": {"a": [1, 2]}}}'
)
CALL = ToolCall(id="call-1", function=CalledFunction(name="look_up", arguments='{"a": 1}'))
CALL_JSON = '{"id": "call-1", "type": "function", "function": {"name": "look_up", "arguments": "{\\"a\\": 1}"}}'


class Named(msgspec.Struct):
    """What a counter reads of a profile."""

    counter: Counter


def profile_with(**counter: Any) -> Profile:
    named: Any = Named(Counter(**{"method": "bytes", "per_message": 0, "per_request": 0} | counter))
    profile: Profile = named
    return profile


def count(*messages: Message, fields: dict[str, Any] | None = None, **counter: Any) -> int | None:
    request = Request(model="chat", messages=messages, **(fields or {}))
    local = LocalCounter()
    try:
        return asyncio.run(local.count(profile_with(**counter), request))
    finally:
        local.close()


def size(text: str) -> int:
    return len(text.encode())


def test_a_message_counts_its_role_and_its_bytes():
    assert count(UserMessage("abc")) == len("user") + 3


@pytest.mark.parametrize(("text", "bytes_"), [("é", 2), ("你", 3), ("👩", 4), ("", 0), ("\u0000", 1)])
def test_text_counts_in_utf8(text: str, bytes_: int):
    assert count(UserMessage(text)) == len("user") + bytes_


def test_parts_count_like_text_and_the_line_breaks_between_them():
    parts = (TextPart(text="ab"), TextPart(text="é"), TextPart(text=""))
    assert count(UserMessage(parts)) == len("user") + 4 + 2


def test_the_allowances_count_per_message_and_once():
    two = (UserMessage("a"), SystemMessage("b"))
    assert count(*two, per_message=5, per_request=30) == len("user") + len("system") + 2 + 10 + 30


def test_no_messages_count_the_allowance_of_the_request():
    assert count(per_message=5, per_request=30) == 30


def test_bnd_04_tools_count_as_json_and_their_allowance_each():
    tools = {"tools": (LOOK_UP, LOOK_UP)}
    assert count(fields=tools, per_tool=100) == 2 * size(LOOK_UP_JSON) + 200


def test_bnd_04_calls_of_tools_and_their_results_count():
    messages = (AssistantMessage(tool_calls=(CALL,)), ToolMessage(content="7", tool_call_id="call-1"))
    expected = size("assistant") + size(CALL_JSON) + size("tool") + size("7") + size("call-1")
    assert count(*messages, per_tool=100) == expected + 100


def test_bnd_04_the_shape_of_the_answer_the_tool_that_must_be_called_and_the_effort_count():
    shape = JsonSchemaFormat(json_schema=JsonSchemaSpec(name="x", schema={"type": "object"}))
    as_json = '{"type": "json_schema", "json_schema": {"name": "x", "schema": {"type": "object"}}}'
    assert count(fields={"response_format": shape}) == size(as_json)
    assert count(fields={"response_format": TextFormat()}) == 0
    choice = NamedTool(type="function", function=NamedFunction(name="look_up"))
    assert count(fields={"tool_choice": choice}) == size('{"type": "function", "function": {"name": "look_up"}}')
    assert count(fields={"tool_choice": "auto", "reasoning_effort": "high"}) == size("high")


def test_bnd_04_an_image_counts_its_bound_and_without_one_it_cannot_be_counted():
    message = UserMessage((TextPart(text="a"), PIXEL, PIXEL))
    assert count(message) is None
    assert count(message, per_image=1000) == len("user") + 1 + 2 + 2000


@pytest.mark.parametrize("method", ["tiktoken:cl100k_base", "tokenizers:a.json@sha256:" + "0" * 64])
def test_a_vocabulary_that_is_not_loaded_counts_nothing_and_loads_nothing(method: str):
    assert count(UserMessage("a"), method=method) is None


def test_text_that_has_no_utf8_cannot_be_counted():
    assert count(UserMessage("\ud83d")) is None
    odd = Tool(type="function", function=FunctionSpec(name="f", parameters={"\ud83d": 1}))
    assert count(fields={"tools": (odd,)}) is None


def test_the_fake_counts_what_it_was_told():
    request = Request(model="chat", messages=())
    unread: Any = None
    assert asyncio.run(FakeCounter(7).count(unread, request)) == 7
    assert asyncio.run(FakeCounter(None).count(unread, request, enough=1)) is None
