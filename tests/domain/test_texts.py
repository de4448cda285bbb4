"""Which texts of a request the model reads, and by which field each is told."""

import json
from contextlib import suppress

import pytest

from gateway.domain.message import (
    AssistantMessage,
    DeveloperMessage,
    ImagePart,
    ImageUrl,
    SystemMessage,
    TextPart,
    ToolMessage,
    UserMessage,
)
from gateway.domain.request import Request
from gateway.domain.texts import countable, read_by_the_model
from gateway.domain.tools import (
    CalledFunction,
    FunctionSpec,
    JsonSchemaFormat,
    JsonSchemaSpec,
    NamedFunction,
    NamedTool,
    Tool,
    ToolCall,
)

PIXEL = ImagePart(ImageUrl(url="data:image/png;base64,AAAA"))
EVERYTHING = Request(
    model="no model reads this",
    messages=(
        SystemMessage("one"),
        DeveloperMessage("two"),
        UserMessage((TextPart("thr"), PIXEL, TextPart("ee"))),
        AssistantMessage(
            content="four", tool_calls=(ToolCall(id="c-1", function=CalledFunction("five", '{"a": "\\u0073ix"}')),)
        ),
        ToolMessage(content="seven", tool_call_id="c-1"),
    ),
    tools=(
        Tool(
            type="function",
            function=FunctionSpec(name="five", description="eight", parameters={"nine": [{"x": "ten"}], "y": 1}),
        ),
    ),
    tool_choice=NamedTool(type="function", function=NamedFunction("five")),
    response_format=JsonSchemaFormat(json_schema=JsonSchemaSpec(name="eleven", schema={"twelve": True})),
    stop=("no model reads this",),
)


def test_every_text_is_read_once_by_its_field() -> None:
    found: dict[str, list[str]] = {}
    for field, text in read_by_the_model(EVERYTHING):
        found.setdefault(field, []).append(text)
    assert found == {
        "messages[0].content": ["one"],
        "messages[1].content": ["two"],
        "messages[2].content": ["three"],
        "messages[3].content": ["four"],
        "messages[3].tool_calls[0].id": ["c-1"],
        "messages[3].tool_calls[0].function.name": ["five"],
        "messages[3].tool_calls[0].function.arguments": ['{"a": "\\u0073ix"}', '{"a": "six"}'],
        "messages[4].content": ["seven"],
        "messages[4].tool_call_id": ["c-1"],
        "tools[0].function.name": ["five"],
        "tools[0].function.description": ["eight"],
        "tools[0].function.parameters": ["nine", "x", "ten", "y"],
        "tool_choice.function.name": ["five"],
        "response_format.type": ["json_schema"],
        "response_format.json_schema": ["name", "eleven", "schema", "twelve"],
    }


def test_what_is_read_is_counted_too() -> None:
    counted = "\n".join(countable(EVERYTHING).texts)
    for field, text in read_by_the_model(EVERYTHING):
        if field != "messages[2].content" and not field.endswith("arguments"):
            assert text in counted, field
    parts = countable(EVERYTHING)
    assert (parts.messages, parts.tools, parts.images, parts.joints) == (5, 2, 1, 2)
    assert {"thr", "ee"} <= set(parts.texts)
    assert "no model reads this" not in counted


def test_a_request_without_anything_has_nothing() -> None:
    empty = Request(model="chat", messages=())
    assert countable(empty).texts == ()
    assert list(read_by_the_model(empty)) == []


ARGUMENTS = {
    "a list without blanks": "[" + ",".join("1" * 2_000) + "]",
    "numbers that are longer when they are written anew": "[" + ",".join(["1e15", "1E5", "1e-7", "-1e16"] * 500) + "]",
    "so many of them that they are not read one by one": '{"e": [' + ",".join(["1e15"] * 20_000) + "]}",
    "numbers that JSON does not have": "[NaN,Infinity,1e999]",
    "escapes": '{"a":"\\u00e9\\/\\u0041"}',
    "a deep list": '{"a":' + "[" * 200 + "1,1" + "]" * 200 + "}",
    "half a surrogate pair": '["\\ud83d",1]',
    "another script": '{"größe":"你好","b":[1,2]}',
    "a key twice": '{"a":1,"a":2}',
    "an integer without end": "[" + "7" * 4_000 + "]",
    "nothing": "",
    "no JSON": "{,",
}


@pytest.mark.parametrize("arguments", ARGUMENTS.values(), ids=ARGUMENTS)
def test_arguments_are_counted_as_long_as_a_template_may_write_them(arguments: str) -> None:
    """Templates of Hugging Face and of llama.cpp read the arguments of a call, and write them anew."""
    call = ToolCall(id="c", function=CalledFunction("f", arguments))
    counted = "".join(countable(Request(model="chat", messages=(AssistantMessage(tool_calls=(call,)),))).texts)
    written = [arguments]
    with suppress(ValueError):
        written.append(json.dumps(json.loads(arguments), ensure_ascii=False))
    for text in written:
        told = {"id": "c", "type": "function", "function": {"name": "f", "arguments": text}}
        assert size("assistant" + json.dumps(told, ensure_ascii=False)) <= size(counted)


def test_numbers_of_a_schema_are_counted_as_long_as_a_template_may_write_them() -> None:
    schema = {"enum": [1e16, -1e16, 1e-7, 1e15, 1.5, 7]}
    tool = Tool(type="function", function=FunctionSpec(name="f", parameters=schema))
    format_ = JsonSchemaFormat(json_schema=JsonSchemaSpec(name="f", schema=schema))
    texts = countable(Request(model="chat", messages=(), tools=(tool,), response_format=format_)).texts
    assert all(json.dumps(schema) in text for text in texts)


def size(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))
