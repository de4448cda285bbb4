"""Which texts of a request the model reads, and by which field each is told."""

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
