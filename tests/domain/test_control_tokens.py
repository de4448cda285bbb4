"""Control tokens are found wherever the model could read them, and nothing else is taken for one."""

import time
from typing import Any

import pytest

from gateway.domain.control_tokens import WINDOW, first_with_a_token
from gateway.domain.message import AssistantMessage, SystemMessage, TextPart, ToolMessage, UserMessage
from gateway.domain.request import Request
from gateway.domain.tools import (
    CalledFunction,
    FunctionSpec,
    JsonObjectFormat,
    JsonSchemaFormat,
    JsonSchemaSpec,
    Tool,
    ToolCall,
)

TOKENS = ("<|im_start|>", "<|im_end|>", "[INST]", "</s>", "$.*")


def asked(*messages: Any, **fields: Any) -> Request:
    return Request(model="chat", messages=messages, **fields)


def field_of(request: Request, tokens: tuple[str, ...] = TOKENS) -> str | None:
    return next((field for field in first_with_a_token(tokens, request) if field is not None), None)


def tool(**function: Any) -> Tool:
    return Tool(type="function", function=FunctionSpec(**({"name": "f"} | function)))


def call(arguments: str) -> AssistantMessage:
    return AssistantMessage(tool_calls=(ToolCall(id="c", function=CalledFunction("f", arguments)),))


@pytest.mark.parametrize("token", TOKENS)
@pytest.mark.parametrize("text", ["{}", "a{}b", "ü{}", "a\n{}", "<{}", "<|im_{}"])
def test_a_token_anywhere_in_a_text_is_found(token: str, text: str) -> None:
    assert field_of(asked(SystemMessage("a"), UserMessage(text.format(token)))) == "messages[1].content"


@pytest.mark.parametrize(
    "text", ["<|im_end>", "<|IM_END|>", "< |im_end|>", "＜|im_end|＞", "INST", "$ab", "<|im_\u200bend|>"]
)
def test_what_an_engine_would_not_take_for_one_is_let_be(text: str) -> None:
    assert field_of(asked(UserMessage(text))) is None


def test_a_token_split_over_parts_is_found() -> None:
    parts = (TextPart("<|im_"), TextPart("end|>"))
    assert field_of(asked(UserMessage(parts))) == "messages[0].content"
    apart = asked(UserMessage("<|im_"), UserMessage("end|>"))
    assert field_of(apart) is None


@pytest.mark.parametrize(
    ("request_", "field"),
    [
        (asked(SystemMessage("</s>")), "messages[0].content"),
        (asked(ToolMessage(content="</s>", tool_call_id="c")), "messages[0].content"),
        (asked(ToolMessage(content="", tool_call_id="</s>")), "messages[0].tool_call_id"),
        (asked(call('{"a": "</s>"}')), "messages[0].tool_calls[0].function.arguments"),
        (asked(call('{"a": "<\\/s>"}')), "messages[0].tool_calls[0].function.arguments"),
        (asked(call('{"a": "\\u003C/s\\u003e", NaN')), "messages[0].tool_calls[0].function.arguments"),
        (asked(tools=(tool(), tool(description="</s>"))), "tools[1].function.description"),
        (asked(tools=(tool(parameters={"a": {"enum": ["x", "</s>"]}}),)), "tools[0].function.parameters"),
        (asked(tools=(tool(parameters={"</s>": 1}),)), "tools[0].function.parameters"),
        (
            asked(response_format=JsonSchemaFormat(json_schema=JsonSchemaSpec(name="x", schema={"</s>": 1}))),
            "response_format.json_schema",
        ),
    ],
)
def test_the_field_is_named_and_never_the_text(request_: Request, field: str) -> None:
    assert field_of(request_) == field


def test_words_of_the_interface_are_no_text_of_the_caller() -> None:
    assert field_of(asked(UserMessage("a"), response_format=JsonObjectFormat()), ("user",)) is None


def test_without_tokens_nothing_is_searched() -> None:
    assert list(first_with_a_token((), asked(UserMessage("x" * (3 * WINDOW))))) == []


@pytest.mark.parametrize("at", [WINDOW - 12, WINDOW - 1, WINDOW, 2 * WINDOW - 5])
def test_a_token_over_the_edge_of_a_window_is_found(at: int) -> None:
    text = "a" * at + "<|im_start|>" + "a" * WINDOW
    assert field_of(asked(UserMessage(text))) == "messages[0].content"


@pytest.mark.parametrize("text", ["The quick <brown> fox [jumps]. " * 33_000, "<" * 2**20, "<|im_" * 200_000])
def test_a_mebibyte_is_searched_in_turns_of_a_few_milliseconds(text: str) -> None:
    began, turns = time.process_time(), []
    for _ in first_with_a_token(TOKENS, asked(UserMessage(text))):
        turns.append(time.process_time() - began - sum(turns))
    assert len(turns) >= len(text) // WINDOW
    assert sorted(turns)[-2] < 0.02
    assert sum(turns) < 0.3


def test_a_token_with_a_line_break_is_found_in_arguments_that_escape_it() -> None:
    assert field_of(asked(call('{"a": "x\\nUser:"}')), ("\nUser:",)) == "messages[0].tool_calls[0].function.arguments"
    assert field_of(asked(call('{"a": "x\\\\nUser:"}')), ("\nUser:",)) is None
