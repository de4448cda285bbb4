"""What llama.cpp really makes of each field of the surface. What it drops in silence, no profile may list."""

import json
import re
from typing import Any

import pytest
from test_real_engine import ROOT, send, smollm
from transport_support import ASKED

from gateway.demo.engine import Engine
from gateway.domain.completion import Completion
from gateway.domain.message import AssistantMessage, ImagePart, ImageUrl, TextPart, ToolMessage, UserMessage
from gateway.domain.outcome import Completed, NoEffect, Unknown
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

CITY = {"type": "object", "properties": {"city": {"enum": ["Bern", "Basel"]}}, "required": ["city"]}
WEATHER = Tool(type="function", function=FunctionSpec(name="weather", parameters=CITY))


def asked(**fields: Any) -> Request:
    return Request(**{"model": "chat", "messages": ASKED.messages, "temperature": 0.0, "seed": 1} | fields)


def answered(engine: Engine, request: Request, cap: int = 8) -> Completion:
    outcome = send(smollm(engine), request, cap)
    assert isinstance(outcome, Completed), outcome
    return outcome.completion


def capabilities_of_the_demo() -> set[str]:
    """What the profile of the example registry lists for this model."""
    text = (ROOT / "registry/profiles/smollm2-135m.yaml").read_text()
    (line,) = re.findall(r"^capabilities: \[(.*)\]$", text, re.MULTILINE)
    return set(line.split(", "))


def shape(schema: dict[str, Any]) -> JsonSchemaFormat:
    return JsonSchemaFormat(JsonSchemaSpec(name="answer", schema=schema | {"additionalProperties": False}))


def test_an_answer_obeys_the_schema_that_was_asked_for(engine: Engine):
    completion = answered(engine, asked(response_format=shape(CITY)), cap=40)
    assert completion.finish_reason == "stop"
    assert json.loads(completion.content or "")["city"] in {"Bern", "Basel"}


def test_an_answer_in_json_begins_with_an_object(engine: Engine):
    completion = answered(engine, asked(response_format=JsonObjectFormat()), cap=12)
    assert (completion.content or "").startswith("{")


def test_a_schema_that_the_engine_does_not_know_is_refused_before_work(engine: Engine):
    outcome = send(
        smollm(engine), asked(response_format=JsonSchemaFormat(JsonSchemaSpec(name="a", schema={"type": "x"})))
    )
    assert outcome == NoEffect("rejected")


@pytest.mark.parametrize(("top", "told"), [(None, 1), (0, 1), (3, 3)])
def test_logprobs_come_for_every_token_whatever_number_of_others_is_asked_for(
    engine: Engine, top: int | None, told: int
):
    completion = answered(engine, asked(logprobs=True, top_logprobs=top), cap=4)
    assert completion.logprobs is not None
    places = completion.logprobs["content"]
    assert "".join(place["token"] for place in places) == completion.content
    assert {len(place["top_logprobs"]) for place in places} == {told}
    assert all(place["logprob"] <= 0 for place in places)


def test_logprobs_that_were_not_asked_for_do_not_come(engine: Engine):
    assert answered(engine, asked(), cap=2).logprobs is None


def test_penalties_reach_the_sampler(engine: Engine):
    repeat = (UserMessage("Repeat: a a a a a a a a"),)
    plain = answered(engine, asked(messages=repeat), cap=16)
    punished = answered(engine, asked(messages=repeat, presence_penalty=2.0, frequency_penalty=2.0), cap=16)
    assert plain.content != punished.content


def test_a_call_and_its_result_are_read_as_history(engine: Engine):
    call = ToolCall(id="call_1", function=CalledFunction("weather", '{"city": "Bern"}'))
    history = (UserMessage("The weather?"), AssistantMessage(tool_calls=(call,)), ToolMessage("Sunny.", "call_1"))
    assert answered(engine, Request(model="chat", messages=history)).usage is not None


def test_a_template_without_functions_drops_them_in_silence(engine: Engine):
    """So this profile lists no tools: policy refuses them, where the engine would answer as if there were none."""
    plain, offered = answered(engine, asked()), answered(engine, asked(tools=(WEATHER,), tool_choice="required"))
    assert offered.tool_calls == ()
    assert (offered.content, offered.usage) == (plain.content, plain.usage)
    assert not {"tools", "reasoning_effort", "images"} & capabilities_of_the_demo()


def test_a_reasoning_effort_is_dropped_in_silence_too(engine: Engine):
    plain, thought = answered(engine, asked()), answered(engine, asked(reasoning_effort="high"))
    assert (thought.content, thought.usage) == (plain.content, plain.usage)


def test_an_image_for_a_model_without_eyes_is_an_error_of_which_nothing_is_known(engine: Engine):
    """500, not 400: so this profile lists no images."""
    image = ImagePart(ImageUrl("data:image/png;base64,AAAA"))
    request = Request(model="chat", messages=(UserMessage((TextPart("What is it?"), image)),))
    assert send(smollm(engine), request) == Unknown("unlisted_status")
