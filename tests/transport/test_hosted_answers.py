"""Answers of each provider as it documents them; nonsense in them; and errors by the lists of each family."""

import json
from typing import Any

import msgspec
import pytest
from hosted_support import hosted_profile
from test_hosted_bodies import cases

from adapters.transport import load_translations
from adapters.transport.hosted import DIALECTS
from adapters.transport.outcomes import outcome_of
from adapters.transport.wire_answer import Answer
from adapters.transport.wire_result import Answered
from gateway.domain.outcome import Charged, Completed, NoEffect, Outcome, Unknown
from gateway.domain.usage import Usage
from gateway.testkit.provider.behaviours import answer_body
from gateway.testkit.provider.hosted import MODELS, HostedFamily, answer, error

ENDPOINT = "https://api.example.com/v1"


def read(family: HostedFamily, body: bytes) -> Answer | None:
    return DIALECTS[family].read(load_translations(), body)


def outcome(family: HostedFamily, body: bytes, status: int = 200) -> Outcome:
    return outcome_of(Answered(status, body), hosted_profile(family, ENDPOINT), lambda text: read(family, text))


def good(family: HostedFamily, **changes: Any) -> bytes:
    return answer_body(answer(family, **changes), alias="")


@pytest.mark.parametrize(("family", "case"), cases("answers"))
def test_an_answer_is_read_as_documented(family: HostedFamily, case: dict[str, Any]):
    found = read(family, json.dumps(case["body"]).encode())
    assert found is not None
    said = case["answer"]
    calls = [[call.id, call.function.name, call.function.arguments] for call in found.tool_calls]
    assert calls == said.get("tool_calls", [])
    assert {name: getattr(found, name) for name in said if name != "tool_calls"} == {
        name: value for name, value in said.items() if name != "tool_calls"
    }
    assert found.reference == case["body"]["id"]
    assert (found.logprobs is not None) == (case["case"] == "probabilities")


@pytest.mark.parametrize(
    "usage",
    [
        None,
        {},
        {"output_tokens": 3},
        {"input_tokens": 20},
        {"input_tokens": -1, "output_tokens": 3},
        {"input_tokens": 1.5, "output_tokens": 3},
        {"input_tokens": "20", "output_tokens": 3},
        {"input_tokens": True, "output_tokens": 3},
        {"input_tokens": None, "output_tokens": 3},
        {"input_tokens": 0, "output_tokens": 0},
        {"input_tokens": 20, "output_tokens": 0},
        {"input_tokens": 20, "output_tokens": 10**9},
        {"input_tokens": 30, "cache_read_input_tokens": -10, "output_tokens": 3},
        {"input_tokens": 20, "cache_creation_input_tokens": "9", "output_tokens": 3},
        [20, 3],
        "20",
    ],
)
def test_usage_that_cannot_be_true_is_never_taken_for_zero(usage: Any):
    found = outcome("anthropic", good("anthropic", usage=usage))
    assert isinstance(found, Completed)
    assert found.completion.usage is None  # the reservation is charged instead
    openai = {"prompt_tokens": 0, "completion_tokens": 0} if usage == {} else usage
    found = outcome("openai", good("openai", usage=openai))
    assert isinstance(found, Completed)
    assert found.completion.usage is None


def test_what_was_read_from_a_cache_or_written_to_it_is_input():
    usage = {
        "input_tokens": 0,
        "cache_creation_input_tokens": 7,
        "cache_read_input_tokens": None,
        "output_tokens": 3,
    }
    found = outcome("anthropic", good("anthropic", usage=usage))
    assert isinstance(found, Completed)
    assert found.completion.usage == Usage(input=7, output=3)


BLOCKS: list[Any] = [
    None,
    "text",
    ["text"],
    [{"type": "text"}],
    [{"type": "text", "text": 7}],
    [{"type": "text", "text": None}],
    [{"type": "text", "text": "a", "citations": 7}],
    [{"type": "tool_use", "id": 7, "name": "f", "input": {}}],
    [{"type": "tool_use", "id": "", "name": "f", "input": {}}],
    [{"type": "tool_use", "id": "a", "name": "f"}],
    [{"type": "tool_use", "id": "a\n", "name": "f", "input": {}}],
    [{"type": "tool_use", "id": f"t{n}", "name": "f", "input": {}} for n in range(129)],
]


@pytest.mark.parametrize("blocks", BLOCKS)
def test_blocks_that_cannot_be_read_are_no_answer(blocks: Any):
    assert outcome("anthropic", good("anthropic", content=blocks)) == Unknown("malformed_answer")


GOOD = good("anthropic")


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"null",
        b"[]",
        b"{}",
        b'{"type":"message"}',
        b"\xff",
        GOOD[:-1],
        GOOD + b"{}",
        GOOD[:-1] + b',"model":"m"}',
        good("anthropic", model=None),
        good("anthropic", type="error"),
        good("anthropic", stop_reason=7),
        GOOD.replace(b"Hello.", b"\\ud83d"),
        b'{"usage":' + b"[" * 5000,
        good("openai"),
    ],
)
def test_what_is_no_message_of_anthropics_is_unknown(body: bytes):
    assert outcome("anthropic", body) == Unknown("malformed_answer")


@pytest.mark.parametrize("reason", [None, "", "pause_turn", "compaction", "stop", "length", "END_TURN"])
def test_a_stop_reason_that_is_not_known_is_unknown(reason: str | None):
    assert outcome("anthropic", good("anthropic", stop_reason=reason)) == Unknown("unknown_finish_reason")


@pytest.mark.parametrize("family", DIALECTS)
def test_another_model_is_charged_and_never_relabelled(family: HostedFamily):
    usage = Usage(input=20, output=3)
    assert outcome(family, good(family, model="another-model")) == Charged("other_model", usage)
    found = outcome(family, good(family))
    assert isinstance(found, Completed)
    assert found.completion.model == MODELS[family]


def refused(family: HostedFamily, status: int, code: str) -> Outcome:
    return outcome(family, answer_body(error(family, status, code), alias=""), status)


REJECTED, BUSY, UNKNOWN = NoEffect("rejected"), NoEffect("busy"), Unknown("unlisted_status")
CHARGED = Charged("listed_as_charged")


@pytest.mark.parametrize(
    ("family", "known"),
    [
        ("openai", {400: REJECTED, 401: REJECTED, 403: REJECTED, 404: REJECTED, 413: REJECTED, 422: REJECTED}),
        ("azure", {400: CHARGED, 401: REJECTED, 404: REJECTED}),
        ("anthropic", {401: REJECTED, 404: REJECTED, 413: REJECTED}),
    ],
)
def test_each_family_knows_these_errors_and_no_others(family: HostedFamily, known: dict[int, Outcome]):
    for status in range(400, 600):
        assert refused(family, status, "some_code") == {**known, 429: BUSY}.get(status, UNKNOWN)


@pytest.mark.parametrize(
    ("family", "status", "code", "means"),
    [
        ("openai", 429, "insufficient_quota", REJECTED),
        ("azure", 400, "content_filter", CHARGED),
        ("azure", 400, "context_length_exceeded", CHARGED),
        ("anthropic", 403, "permission_error", REJECTED),
        ("azure", 400, "invalid_function_parameters", CHARGED),
        # Whoever asks can bring this about: unknown, it would take a slot from everybody.
        ("anthropic", 400, "invalid_request_error", CHARGED),
        ("anthropic", 529, "overloaded_error", UNKNOWN),
    ],
)
def test_codes_are_read_from_each_familys_shape(family: HostedFamily, status: int, code: str, means: Outcome):
    assert refused(family, status, code) == means


def test_every_rule_names_its_source():
    from adapters.transport.error_lists import FAMILY

    assert {"openai", "azure", "anthropic"} <= FAMILY.keys()
    for errors in FAMILY.values():
        assert all(len(rule.source) > 10 for rule in (*errors.not_executed, *errors.charged))


def test_arguments_of_a_call_are_json_text():
    blocks = [{"type": "tool_use", "id": "t", "name": "f", "input": {"a": "é", "b": [1, None]}}]
    found = read("anthropic", good("anthropic", content=blocks, stop_reason="tool_use"))
    assert found is not None
    assert msgspec.json.decode(found.tool_calls[0].function.arguments) == {"a": "é", "b": [1, None]}
