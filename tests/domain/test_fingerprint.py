"""The fingerprint says whether a request under a known key is the same request."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.domain.fingerprint import differing_fields, fingerprint
from gateway.domain.message import (
    AssistantMessage,
    ImagePart,
    ImageUrl,
    SystemMessage,
    TextPart,
    ToolMessage,
    UserMessage,
)
from gateway.domain.request import Request, SourceRef
from gateway.domain.tools import (
    CalledFunction,
    FunctionSpec,
    JsonObjectFormat,
    JsonSchemaFormat,
    JsonSchemaSpec,
    NamedFunction,
    NamedTool,
    Tool,
    ToolCall,
)

ENDPOINT = "POST /v1/chat/completions"
BASE = Request(model="chat", messages=(UserMessage("Hello?"),))
FULL = Request(
    model="chat",
    messages=(SystemMessage("Be brief."), UserMessage((TextPart("Hel"), TextPart("lo?")))),
    max_output=17,
    temperature=0.5,
    top_p=1.0,
    stop=("END",),
    seed=4,
    purpose="answers",
    sources=(SourceRef("b", "2"), SourceRef("a", "1")),
)


def tool(name: str, **fields: Any) -> Tool:
    return Tool(type="function", function=FunctionSpec(name=name, **fields))


SCHEMA = {"type": "object", "properties": {"city": {"type": "string", "maxLength": 80}}, "required": ["city"]}
CALL = ToolCall(id="call_1", function=CalledFunction("weather", '{"city": "Bern"}'))
SURFACE = Request(
    model="chat",
    messages=(
        UserMessage((TextPart("Where?"), ImagePart(ImageUrl("data:image/png;base64,iVBORw0=", "low")))),
        AssistantMessage(tool_calls=(CALL,)),
        ToolMessage("Sunny.", "call_1"),
    ),
    tools=(tool("weather", description="Of a city.", parameters=SCHEMA, strict=True), tool("time")),
    tool_choice=NamedTool(type="function", function=NamedFunction("weather")),
    parallel_tool_calls=False,
    response_format=JsonSchemaFormat(JsonSchemaSpec(name="answer", schema=SCHEMA, strict=True)),
    logprobs=True,
    top_logprobs=3,
    presence_penalty=0.5,
    frequency_penalty=-1.0,
    reasoning_effort="low",
)
GOLDEN_V1 = {
    "base": "f1d3c4c7cf25b751d20acf0224751b894216b450e0d3f0114ebbfd125c125a1a",
    "full": "fd6e2427916e29b5d6205d6e680ffefc0a50a89f7ccffa01ed484f0ff6090617",
    "surface": "ac6b49f079a5c9ebaa20ad0edb2e8570338834f6f217609379376b9f430b8e42",
}
"""Digests that were published. They never change: stored operations are compared with them."""


@pytest.mark.parametrize(("name", "request_"), [("base", BASE), ("full", FULL), ("surface", SURFACE)])
def test_a_published_version_never_changes(name: str, request_: Request) -> None:
    assert fingerprint(request_, ENDPOINT, 1).digest == GOLDEN_V1[name]


CHANGES = {
    "model": {"model": "other"},
    "messages": {"messages": (UserMessage("Hello!"),)},
    "max_tokens": {"max_output": 18},
    "temperature": {"temperature": 0.25},
    "top_p": {"top_p": 0.5},
    "stop": {"stop": ("STOP",)},
    "seed": {"seed": 5},
    "tools": {"tools": (tool("weather"),)},
    "tool_choice": {"tool_choice": "required"},
    "parallel_tool_calls": {"parallel_tool_calls": True},
    "response_format": {"response_format": JsonObjectFormat()},
    "logprobs": {"logprobs": False},
    "top_logprobs": {"top_logprobs": 0},
    "presence_penalty": {"presence_penalty": 0.0},
    "frequency_penalty": {"frequency_penalty": 2.0},
    "reasoning_effort": {"reasoning_effort": "high"},
    "gateway.purpose": {"purpose": "drafting"},
    "gateway.sources": {"sources": (SourceRef("a", "2"),)},
}


@pytest.mark.parametrize("field", CHANGES)
@pytest.mark.parametrize("request_", [BASE, FULL, SURFACE])
def test_every_field_counts_and_is_named(field: str, request_: Request) -> None:
    changed = msgspec.structs.replace(request_, **CHANGES[field])
    before, after = fingerprint(request_, ENDPOINT), fingerprint(changed, ENDPOINT)
    assert before.digest != after.digest
    assert differing_fields(before, after) == (field,)


def test_every_field_of_a_request_is_covered() -> None:
    covered = {name for change in CHANGES.values() for name in change} | {"stream"}
    assert covered == set(Request.__struct_fields__)


def test_a_field_that_is_left_out_differs_from_one_that_is_sent() -> None:
    sent = msgspec.structs.replace(BASE, temperature=1.0)
    assert differing_fields(fingerprint(BASE, ENDPOINT), fingerprint(sent, ENDPOINT)) == ("temperature",)


def test_streaming_is_only_how_an_answer_travels() -> None:
    assert fingerprint(BASE, ENDPOINT) == fingerprint(msgspec.structs.replace(BASE, stream=True), ENDPOINT)


def test_the_order_of_sources_does_not_matter_and_that_of_messages_does() -> None:
    swapped = msgspec.structs.replace(FULL, sources=FULL.sources[::-1])
    assert fingerprint(FULL, ENDPOINT) == fingerprint(swapped, ENDPOINT)
    reordered = msgspec.structs.replace(FULL, messages=FULL.messages[::-1])
    assert fingerprint(FULL, ENDPOINT).digest != fingerprint(reordered, ENDPOINT).digest


def test_another_endpoint_is_another_request() -> None:
    assert fingerprint(BASE, ENDPOINT).digest != fingerprint(BASE, "POST /v1/responses").digest


def test_zero_has_one_sign() -> None:
    minus, plus = (msgspec.structs.replace(BASE, temperature=value) for value in (-0.0, 0.0))
    assert fingerprint(minus, ENDPOINT) == fingerprint(plus, ENDPOINT)


def schema(value: Any) -> Request:
    return msgspec.structs.replace(BASE, tools=(tool("weather", parameters={"deep": [{"maximum": value}]}),))


@pytest.mark.parametrize(
    ("one", "other"), [(1, 1.0), (0, -0.0), (0.0, -0.0), (10**15, 1e15), (2**60, float(2**60)), (100, 1e2)]
)
def test_one_number_has_one_spelling_in_a_schema_too(one: Any, other: Any) -> None:
    assert fingerprint(schema(one), ENDPOINT) == fingerprint(schema(other), ENDPOINT)


@pytest.mark.parametrize(
    ("one", "other"), [(1, True), (0, False), (1, "1"), (1, 1.5), (None, 0), (2**63, 2**63 + 1), (1e300, 1e301)]
)
def test_what_differs_in_a_schema_differs(one: Any, other: Any) -> None:
    assert differing_fields(fingerprint(schema(one), ENDPOINT), fingerprint(schema(other), ENDPOINT)) == ("tools",)


def test_the_order_of_keys_in_a_schema_does_not_matter_and_that_of_tools_does() -> None:
    swapped = dict(reversed(SCHEMA.items()))
    one = msgspec.structs.replace(BASE, tools=(tool("a", parameters=SCHEMA), tool("b")))
    same = msgspec.structs.replace(BASE, tools=(tool("a", parameters=swapped), tool("b")))
    other = msgspec.structs.replace(BASE, tools=(tool("b"), tool("a", parameters=SCHEMA)))
    assert fingerprint(one, ENDPOINT) == fingerprint(same, ENDPOINT)
    assert fingerprint(one, ENDPOINT).digest != fingerprint(other, ENDPOINT).digest


@pytest.mark.parametrize(
    ("sent", "other"),
    [
        (tool("a", parameters={}), tool("a")),
        (tool("a", description=""), tool("a")),
        (tool("a", strict=False), tool("a")),
    ],
)
def test_within_a_tool_too_sent_differs_from_left_out(sent: Tool, other: Tool) -> None:
    one, two = (fingerprint(msgspec.structs.replace(BASE, tools=(each,)), ENDPOINT) for each in (sent, other))
    assert differing_fields(one, two) == ("tools",)


def test_the_fingerprint_holds_nothing_of_the_prompt() -> None:
    canary = msgspec.structs.replace(
        BASE, messages=(UserMessage("CANARY"),), tools=(tool("CANARY", parameters={"CANARY": "CANARY"}),)
    )
    assert b"CANARY" not in msgspec.json.encode(fingerprint(canary, ENDPOINT))


def test_an_unpublished_version_is_a_fault_of_the_program() -> None:
    with pytest.raises(KeyError):
        fingerprint(BASE, ENDPOINT, 2)


@given(st.text(), st.text())
def test_two_prompts_have_one_fingerprint_only_if_they_are_equal(first: str, second: str) -> None:
    a, b = (msgspec.structs.replace(BASE, messages=(UserMessage(text),)) for text in (first, second))
    assert (fingerprint(a, ENDPOINT).digest == fingerprint(b, ENDPOINT).digest) == (first == second)
