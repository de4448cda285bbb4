"""What is read of an answer: calls, refusals, logprobs, fingerprints. Used fields are strict, others are dropped."""

from typing import Any

import msgspec
import pytest

from adapters.transport.wire_answer import Answer, read_answer
from gateway.domain.tools import CalledFunction, ToolCall
from gateway.testkit.provider.behaviours import Behaviour, answer_body, called, likely, refused

CALL: dict[str, Any] = {"id": "call_1", "type": "function", "function": {"name": "weather", "arguments": '{"a": 1}'}}


def read(behaviour: Behaviour) -> Answer | None:
    return read_answer(answer_body(behaviour, alias="scripted@1"))


def calls(*told: Any, **changes: Any) -> tuple[ToolCall, ...] | None:
    answer = read(Behaviour(content=None, tool_calls=list(told), **changes))
    return None if answer is None else answer.tool_calls


def test_a_call_is_read_with_the_models_own_words():
    answer = read(called("weather", '{"city": "Bern"', id_="call_7"))
    assert answer is not None
    assert (answer.content, answer.finish_reason) == (None, "tool_calls")
    assert answer.tool_calls == (ToolCall(id="call_7", function=CalledFunction("weather", '{"city": "Bern"')),)


def test_several_calls_keep_their_order_and_what_is_not_used_is_dropped():
    second = {"id": "call_2", "index": 1, "function": {"name": "b", "arguments": "", "x": 1}, "extra": None}
    assert [call.id for call in calls(CALL, second) or ()] == ["call_1", "call_2"]


@pytest.mark.parametrize("none", [None, []])
def test_an_answer_may_say_that_it_calls_nothing(none: Any):
    answer = read(Behaviour(tool_calls=none))
    assert answer is not None
    assert (answer.content, answer.tool_calls) == ("Hello.", ())


def test_content_beside_calls_is_kept():
    answer = read(Behaviour(content="Let me look.", tool_calls=[CALL]))
    assert answer is not None
    assert answer.content == "Let me look."


def test_an_empty_id_becomes_the_place_of_the_call():
    assert [call.id for call in calls(CALL | {"id": ""}, CALL, CALL | {"id": ""}) or ()] == [
        "call_0",
        "call_1",
        "call_2",
    ]


@pytest.mark.parametrize(
    "call",
    [
        {name: value for name, value in CALL.items() if name != "id"},
        {name: value for name, value in CALL.items() if name != "function"},
        CALL | {"id": None},
        CALL | {"id": 7},
        CALL | {"id": "a b"},
        CALL | {"id": "a\n"},
        CALL | {"id": "é"},
        CALL | {"id": "x" * 256},
        CALL | {"type": "custom"},
        CALL | {"type": None},
        CALL | {"function": {"arguments": "{}"}},
        CALL | {"function": {"name": "", "arguments": "{}"}},
        CALL | {"function": {"name": "a\0b", "arguments": "{}"}},
        CALL | {"function": {"name": "x" * 256, "arguments": "{}"}},
        CALL | {"function": {"name": None, "arguments": "{}"}},
        CALL | {"function": {"name": "weather"}},
        CALL | {"function": {"name": "weather", "arguments": None}},
        CALL | {"function": {"name": "weather", "arguments": {"city": "Bern"}}},
        "weather",
        None,
    ],
)
def test_a_call_that_could_not_be_answered_makes_no_answer(call: Any):
    assert read(Behaviour(content=None, tool_calls=[call], finish_reason="tool_calls")) is None


def test_an_id_is_bounded_and_a_name_may_be_the_models_own():
    (call,) = calls(CALL | {"id": "x" * 255, "function": {"name": "functions.größe", "arguments": "{}"}}) or ()
    assert (len(call.id), call.function.name) == (255, "functions.größe")


@pytest.mark.parametrize("told", [{}, "weather", 7])
def test_calls_that_are_no_list_make_no_answer(told: Any):
    assert read(Behaviour(tool_calls=told)) is None


def test_more_calls_than_a_turn_may_have_make_no_answer():
    assert len(calls(*[CALL] * 128) or ()) == 128
    assert calls(*[CALL] * 129) is None


def test_a_refusal_is_the_models_own_sentence():
    answer = read(refused("I may not say that."))
    assert answer is not None
    assert (answer.content, answer.refusal) == (None, "I may not say that.")
    assert read(Behaviour(refusal=["no"])) is None


def test_logprobs_are_read_in_openais_shape_and_nothing_else():
    answer = read(likely("Hel", "lo."))
    assert answer is not None
    assert answer.logprobs == {
        "content": [
            {"token": "Hel", "logprob": -0.5, "bytes": [72, 101, 108], "top_logprobs": []},
            {"token": "lo.", "logprob": -0.5, "bytes": [108, 111, 46], "top_logprobs": []},
        ],
        "refusal": None,
    }
    llama = {"id": 50, "token": "B", "bytes": [66], "logprob": -1.5}
    answer = read(Behaviour(logprobs={"content": [llama | {"top_logprobs": [llama]}]}))
    assert answer is not None
    known = {"token": "B", "bytes": [66], "logprob": -1.5}
    assert answer.logprobs == {"content": [known | {"top_logprobs": [known]}], "refusal": None}


@pytest.mark.parametrize(
    "nonsense",
    [
        None,
        "high",
        [],
        {"content": [{"token": "a"}]},
        {"content": [{"token": "a", "logprob": "-1"}]},
        {"content": [{"token": "a", "logprob": -1, "bytes": [256]}]},
        {"content": [{"token": "a", "logprob": -1, "bytes": [10**30]}]},
        {"content": "a"},
        {"tokens": ["a"], "token_logprobs": [-1], "content": 7},
    ],
)
def test_logprobs_in_another_shape_are_dropped_and_the_answer_stays(nonsense: Any):
    answer = read(Behaviour(logprobs=nonsense))
    assert answer is not None
    assert (answer.content, answer.logprobs) == ("Hello.", None)


def test_logprobs_without_an_end_are_dropped():
    body = answer_body(likely("a"), alias="scripted@1").replace(b"-0.5", b"-1e999")
    answer = read_answer(body)
    assert answer is not None
    assert answer.logprobs is None


@pytest.mark.parametrize(("told", "read_as"), [("fp_1", "fp_1"), (None, None), (7, None), ({}, None)])
def test_a_fingerprint_is_a_text_or_none(told: Any, read_as: str | None):
    answer = read(Behaviour(fingerprint=told))
    assert answer is not None
    assert answer.system_fingerprint == read_as


def test_a_call_is_rendered_as_it_was_read():
    (call,) = calls(CALL) or ()
    assert msgspec.json.decode(msgspec.json.encode(call)) == CALL
