"""Steps about what a request may ask for beyond text: functions, shapes, images, likelihoods."""

import json
from typing import Any

from pytest_bdd import given, parsers, then, when

from gateway.testkit.doors.http import HttpWorld
from gateway.testkit.provider.behaviours import likely, refused
from gateway.testkit.steps.asking import Memory
from gateway.testkit.world import Ask, World

QUESTION = {"role": "user", "content": "Is it?"}
IMAGE = "data:image/png;base64,iVBORw0KGgo="
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
JSON_ANSWER = '{"city": "Bern"}'
TOKENS = ("Ye", "s.")


def _function(name: str) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, "parameters": SCHEMA}}


def _shows(url: str) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": url}}]}]}


FEATURES: dict[str, dict[str, Any]] = {
    "functions": {"tools": [_function("weather")]},
    "an image": _shows(IMAGE),
    "a reasoning effort": {"reasoning_effort": "low"},
}
"""Fields of a request, by the feature that they need."""


def _message(memory: Memory) -> dict[str, Any]:
    """The message of the last answer."""
    assert memory.last.code is None, memory.last
    message: dict[str, Any] = json.loads(memory.last.body)["choices"][0]["message"]
    return message


# Functions


@given(parsers.re(r"the engine calls the function \"(?P<name>\w+)\" with the arguments '(?P<arguments>[^']*)'"))
def _engine_calls(world: World, name: str, arguments: str) -> None:
    world.engine_calls_function(name, arguments)


@given(parsers.re(r'the assistant has offered the function "(?P<name>\w+)" under the key "(?P<key>[^"]*)"'))
@when(parsers.re(r'the assistant offers the function "(?P<name>\w+)" under the key "(?P<key>[^"]*)"'))
def _offers(world: World, memory: Memory, name: str, key: str) -> None:
    memory.replies.append(world.ask(Ask(key=key, changes={"tools": [_function(name)]})))


@then(parsers.re(r"the answer calls the function \"(?P<name>\w+)\" with the arguments '(?P<arguments>[^']*)'"))
def _answer_calls(memory: Memory, name: str, arguments: str) -> None:
    message = _message(memory)
    (call,) = message["tool_calls"]
    assert message["content"] is None
    assert (call["type"], call["function"]) == ("function", {"name": name, "arguments": arguments})
    assert json.loads(memory.last.body)["choices"][0]["finish_reason"] == "tool_calls"


@when(parsers.parse('the assistant sends the result "{text}" of that call under the key "{key}"'))
def _sends_result(world: World, memory: Memory, text: str, key: str) -> None:
    called = _message(memory)
    result = {"role": "tool", "content": text, "tool_call_id": called["tool_calls"][0]["id"]}
    changes = {"messages": [QUESTION, called, result], "tools": [_function("weather")]}
    memory.replies.append(world.ask(Ask(key=key, changes=changes)))


@when(parsers.parse('the assistant sends the result of another call under the key "{key}"'))
def _sends_another(world: World, memory: Memory, key: str) -> None:
    result = {"role": "tool", "content": "Sunny.", "tool_call_id": "call_of_nobody"}
    memory.replies.append(world.ask(Ask(key=key, changes={"messages": [QUESTION, _message(memory), result]})))


@when(parsers.parse('the assistant goes on without the result of that call under the key "{key}"'))
def _goes_on(world: World, memory: Memory, key: str) -> None:
    memory.replies.append(world.ask(Ask(key=key, changes={"messages": [QUESTION, _message(memory), QUESTION]})))


@then(parsers.parse('the engine received the call and its result "{text}"'))
def _received_result(world: World, text: str) -> None:
    asked, called, result = world.engine_calls()[-1]["messages"]
    assert asked == QUESTION
    (call,) = called["tool_calls"]
    assert result == {"role": "tool", "content": text, "tool_call_id": call["id"]}


# Shapes of the answer


@given(parsers.parse('the assistant has asked for JSON under the key "{key}"'))
def _asked_for_json(world: World, memory: Memory, key: str) -> None:
    memory.replies.append(world.ask(Ask(key=key, changes={"response_format": {"type": "json_object"}})))


@when(parsers.parse('the assistant asks for an answer that obeys a schema under the key "{key}"'))
def _asks_for_schema(world: World, memory: Memory, key: str) -> None:
    shape = {"type": "json_schema", "json_schema": {"name": "answer", "schema": SCHEMA, "strict": True}}
    memory.replies.append(world.ask(Ask(key=key, changes={"response_format": shape})))


@given("the engine answers in JSON")
def _answers_json(world: World) -> None:
    world.engine_answers(JSON_ANSWER)


@then("the answer obeys the schema")
def _obeys(memory: Memory) -> None:
    assert _message(memory)["content"] == JSON_ANSWER


@then("the engine was given the schema")
def _given_schema(world: World) -> None:
    (call,) = world.engine_calls()
    assert call["response_format"]["json_schema"] == {"name": "answer", "schema": SCHEMA, "strict": True}


@given("the engine tells how likely its tokens were")
def _tells_likelihood(world: HttpWorld) -> None:
    world.engine_fails(likely(*TOKENS))


@when(parsers.parse('the assistant asks for the likelihood of each token under the key "{key}"'))
def _asks_likelihood(world: World, memory: Memory, key: str) -> None:
    memory.replies.append(world.ask(Ask(key=key, changes={"logprobs": True, "top_logprobs": 0})))


@then("the answer tells how likely each token was")
def _told_likelihood(memory: Memory) -> None:
    assert _message(memory)["content"] == "".join(TOKENS)
    told = json.loads(memory.last.body)["choices"][0]["logprobs"]["content"]
    assert [place["token"] for place in told] == list(TOKENS)


@then("the answer does not tell how likely its tokens were")
def _not_told_likelihood(memory: Memory) -> None:
    assert _message(memory)["content"] == "".join(TOKENS)
    assert json.loads(memory.last.body)["choices"][0]["logprobs"] is None


@given(parsers.parse('the engine declines with "{sentence}"'))
def _declines(world: HttpWorld, sentence: str) -> None:
    world.engine_fails(refused(sentence))


@then(parsers.parse('the answer declines with "{sentence}"'))
def _answer_declines(memory: Memory, sentence: str) -> None:
    message = _message(memory)
    assert (message["content"], message["refusal"]) == (None, sentence)


# Images, and what no profile serves


@when(parsers.parse('the assistant shows an image under the key "{key}"'))
def _shows_image(world: World, memory: Memory, key: str) -> None:
    memory.replies.append(world.ask(Ask(key=key, changes=_shows(IMAGE))))


@when(parsers.parse('the assistant shows the image "{address}" under the key "{key}"'))
def _shows_address(world: World, memory: Memory, address: str, key: str) -> None:
    memory.replies.append(world.ask(Ask(key=key, changes=_shows(address))))


@then("the engine received the image")
def _received_image(world: World) -> None:
    (call,) = world.engine_calls()
    assert call["messages"] == _shows(IMAGE)["messages"]


@when(parsers.parse('the assistant asks with {feature} under the key "{key}"'))
def _asks_with(world: World, memory: Memory, feature: str, key: str) -> None:
    memory.replies.append(world.ask(Ask(key=key, changes=FEATURES[feature])))
