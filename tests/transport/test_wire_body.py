"""The body on the wire, field by field."""

import asyncio
from typing import Any

import pytest
from transport_support import ASKED, both, dispatch, profile

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
from gateway.domain.request import Request, SourceRef
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
from gateway.testkit.provider.connection import Received

FULL = Request(
    model="chat",
    messages=(
        SystemMessage("Be brief."),
        UserMessage((TextPart(text="Say"), TextPart(text="hello."))),
    ),
    max_output=5,
    temperature=0.5,
    top_p=0.9,
    stop=("END",),
    seed=7,
    purpose="support",
    sources=(SourceRef(id="handbook", revision="3"),),
)


def received(request: Request, *, cap: int, **changes: Any) -> Received:
    async def run() -> Received:
        async with both() as (transports, provider):
            await transports.send(dispatch(profile(provider.url, **changes), request, dispatch_id="0190-d", cap=cap))
            (only,) = provider.generations
            return only

    return asyncio.run(run())


FULL_BODY = {
    "model": "scripted@1",
    "messages": [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": [{"type": "text", "text": "Say"}, {"type": "text", "text": "hello."}]},
    ],
    "max_tokens": 5,
    "temperature": 0.5,
    "top_p": 0.9,
    "stop": ["END"],
    "seed": 7,
    "stream": False,
}


def test_rte_07_the_body_is_exactly_the_allow_list():
    assert received(FULL, cap=5).json() == FULL_BODY


SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}}
WEATHER = Tool(
    type="function", function=FunctionSpec(name="weather", description="Of a city.", parameters=SCHEMA, strict=True)
)
TIME = Tool(type="function", function=FunctionSpec(name="time"))
CALL = ToolCall(id="call_1", function=CalledFunction("weather", '{"city": "Bern"}'))
SURFACE = Request(
    model="chat",
    messages=(
        DeveloperMessage((TextPart("Be brief."),)),
        UserMessage((TextPart("Where?"), ImagePart(ImageUrl("data:image/png;base64,AAAA", "low")))),
        UserMessage((ImagePart(ImageUrl("data:image/gif;base64,AAAA")),)),
        AssistantMessage(tool_calls=(CALL,)),
        ToolMessage("Sunny.", "call_1"),
        AssistantMessage("It is sunny."),
        UserMessage("Thanks."),
    ),
    tools=(WEATHER, TIME),
    tool_choice="required",
    parallel_tool_calls=False,
    response_format=JsonSchemaFormat(JsonSchemaSpec(name="answer", description="An answer.", schema=SCHEMA)),
    logprobs=True,
    top_logprobs=2,
    presence_penalty=-1.5,
    frequency_penalty=0.0,
    reasoning_effort="low",
)


@pytest.mark.parametrize("adapter", ["llama_cpp", "vllm"])
def test_rte_07_the_body_of_the_whole_surface_is_exactly_the_allow_list(adapter: str):
    weather = {"name": "weather", "description": "Of a city.", "parameters": SCHEMA, "strict": True}
    call = {"id": "call_1", "type": "function", "function": {"name": "weather", "arguments": '{"city": "Bern"}'}}
    gif = {"url": "data:image/gif;base64,AAAA"}
    assert received(SURFACE, cap=5, adapter=adapter).json() == {
        "model": "scripted@1",
        "messages": [
            {"role": "developer", "content": [{"type": "text", "text": "Be brief."}]},
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "Where?"},
                    {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA", "detail": "low"}},
                ],
            },
            {"role": "user", "content": [{"type": "image_url", "image_url": gif}]},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "content": "Sunny.", "tool_call_id": "call_1"},
            {"role": "assistant", "content": "It is sunny."},
            {"role": "user", "content": "Thanks."},
        ],
        "max_tokens": 5,
        "stream": False,
        "tools": [{"type": "function", "function": weather}, {"type": "function", "function": {"name": "time"}}],
        "tool_choice": "required",
        "parallel_tool_calls": False,
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "answer", "description": "An answer.", "schema": SCHEMA},
        },
        "logprobs": True,
        "top_logprobs": 2,
        "presence_penalty": -1.5,
        "frequency_penalty": 0.0,
        "reasoning_effort": "low",
    }


def asked(**fields: Any) -> Request:
    return Request(model="chat", messages=ASKED.messages, **fields)


NAMED = NamedTool(type="function", function=NamedFunction("time"))


def test_a_tool_that_must_be_called_goes_on_by_its_name():
    body = received(asked(tools=(WEATHER, TIME), tool_choice=NAMED), cap=5, adapter="vllm").json()
    assert body["tool_choice"] == {"type": "function", "function": {"name": "time"}}
    assert [tool["function"]["name"] for tool in body["tools"]] == ["weather", "time"]


def test_an_engine_that_reads_no_name_gets_the_one_tool_that_must_be_called():
    body = received(asked(tools=(WEATHER, TIME), tool_choice=NAMED), cap=5, adapter="llama_cpp").json()
    assert body["tool_choice"] == "required"
    assert body["tools"] == [{"type": "function", "function": {"name": "time"}}]


@pytest.mark.parametrize(("adapter", "sent"), [("vllm", [None, 0, 5]), ("llama_cpp", [1, 1, 5])])
def test_an_engine_that_takes_no_others_for_no_logprobs_is_asked_for_one(adapter: str, sent: list[int | None]):
    bodies = [received(asked(logprobs=True, top_logprobs=top), cap=5, adapter=adapter).json() for top in (None, 0, 5)]
    assert [body.get("top_logprobs") for body in bodies] == sent
    assert all(body["logprobs"] is True for body in bodies)


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"response_format": JsonObjectFormat()}, {"response_format": {"type": "json_object"}}),
        ({"response_format": TextFormat()}, {"response_format": {"type": "text"}}),
        ({"logprobs": False}, {"logprobs": False}),
        ({"presence_penalty": 0.0}, {"presence_penalty": 0.0}),
        ({"tools": (TIME,)}, {"tools": [{"type": "function", "function": {"name": "time"}}]}),
    ],
)
def test_what_is_asked_for_goes_on_and_nothing_else(fields: dict[str, Any], expected: dict[str, Any]):
    plain = received(ASKED, cap=5).json()
    assert received(asked(**fields), cap=5).json() == plain | expected


def test_every_field_of_a_request_is_on_the_wire_or_known_not_to_be():
    """A field that comes later must not be dropped in silence."""
    sent = set(FULL_BODY) | set(received(SURFACE, cap=5).json())
    unsent = {"purpose", "sources", "max_output"}
    """For policy alone; the cap is what was reserved."""
    assert {field for field in Request.__struct_fields__ if field not in sent} == unsent


@pytest.mark.parametrize("adapter", ["llama_cpp", "vllm"])
def test_bnd_08_the_cap_on_the_wire_is_the_reserved_one_whatever_was_asked(adapter: str):
    assert received(ASKED, cap=512, adapter=adapter).json() == {
        "model": "scripted@1",
        "messages": [{"role": "user", "content": "Say hello."}],
        "max_tokens": 512,
        "stream": False,
    }
    assert received(FULL, cap=3, adapter=adapter).json()["max_tokens"] == 3


def test_the_model_on_the_wire_is_the_profiles_and_never_the_alias():
    assert received(ASKED, cap=5, model="served@2").json()["model"] == "served@2"


def test_zero_is_sent_and_not_taken_for_absent():
    body = received(Request(model="chat", messages=ASKED.messages, temperature=0.0, seed=0), cap=5).json()
    assert (body["temperature"], body["seed"]) == (0.0, 0)


def test_the_headers_are_a_closed_set_and_the_request_id_is_the_dispatch_id():
    request = received(FULL, cap=5)
    host = request.headers.pop("host")
    assert host.startswith("127.0.0.1:")
    assert request.headers == {
        "accept": "application/json",
        "accept-encoding": "identity",
        "content-type": "application/json",
        "content-length": str(len(request.body)),
        "user-agent": "policy-gateway",
        "x-request-id": "0190-d",
    }
    assert (request.method, request.path) == ("POST", "/v1/chat/completions")


def test_a_large_body_arrives_whole():
    text = "é" * 800_000
    request = Request(model="chat", messages=(UserMessage(text),))
    assert received(request, cap=5).json()["messages"][0]["content"] == text
