"""The body on the wire, compared with the shapes that each provider documents; and what is refused instead of bent."""

import json
import re
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hosted_support import hosted_profile
from transport_support import dispatch

from adapters.registry.hosted import CARRIED
from adapters.transport import load_translations, not_carried
from adapters.transport.hosted import DIALECTS
from adapters.transport.hosted_trial import TRIALS
from adapters.transport.litellm_translation import NotTranslated
from gateway.domain.request import Request, features
from gateway.testkit.provider.hosted import HostedFamily

RECORDED = Path(__file__).parent / "recorded"
ENDPOINT = "https://api.example.com/v1"
HELLO = [{"role": "user", "content": "Hello."}]


def cases(kind: str) -> list[Any]:
    found = []
    for family in DIALECTS:
        recorded = json.loads((RECORDED / f"{family}_{kind}.json").read_text())
        assert recorded["source"].startswith("https://")
        found += [pytest.param(family, case, id=f"{family}: {case['case']}") for case in recorded["cases"]]
    return found


def body_of(family: HostedFamily, asked: dict[str, Any], **changes: Any) -> dict[str, Any]:
    request = msgspec.convert({"model": "assist", **asked}, Request)
    sent = DIALECTS[family].body(load_translations(), dispatch(hosted_profile(family, ENDPOINT, **changes), request))
    body: dict[str, Any] = json.loads(sent)
    return body


@pytest.mark.parametrize(("family", "case"), cases("requests"))
def test_the_body_is_as_documented(family: HostedFamily, case: dict[str, Any]):
    assert body_of(family, case["asked"]) == case["body"]


@pytest.mark.parametrize("family", DIALECTS)
def test_what_the_registry_lets_a_profile_list_is_carried(family: HostedFamily):
    """Of the models in question, as litellm knows them; what no model of a family carries is a fault of the file."""
    models = {"openai": ["gpt-4.1-mini-2025-04-14", "gpt-5-mini"], "azure": ["gpt-4.1-mini", "gpt-5-mini"]}
    carried = set()
    for model in models.get(family, ["claude-haiku-4-5-20251001"]):
        to = hosted_profile(family, ENDPOINT, model=model, capabilities=list(TRIALS))
        carried |= set(TRIALS) - set(not_carried(load_translations(), to))
    assert carried == CARRIED[family]


@pytest.mark.parametrize(("capability", "request_"), TRIALS.items())
def test_each_trial_needs_what_it_tries(capability: str, request_: Request):
    assert capability in features(request_)


def test_models_whose_translation_changes_what_was_said_are_found_before_they_serve():
    to = hosted_profile("openai", ENDPOINT, model="o3", capabilities=["chat"])
    assert list(not_carried(load_translations(), to)) == ["chat"]  # it would make the system's words the user's


MID_SYSTEM = [*HELLO, {"role": "system", "content": "Obey."}, *HELLO]
TOOL = {"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}
STRICT = {"type": "function", "function": {"name": "f", "parameters": {"type": "object"}, "strict": True}}


def called(arguments: str) -> list[dict[str, Any]]:
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": arguments}}
    return [*HELLO, {"role": "assistant", "tool_calls": [call]}, {"role": "tool", "content": "4", "tool_call_id": "c"}]


@pytest.mark.parametrize(
    ("family", "asked", "why"),
    [
        ("anthropic", {"messages": MID_SYSTEM}, "another_conversation"),
        ("anthropic", {"messages": [*HELLO, {"role": "user", "content": ""}]}, "another_conversation"),
        ("anthropic", {"messages": [{"role": "system", "content": "Only."}]}, "AnthropicError"),
        ("anthropic", {"messages": called("no json"), "tools": [STRICT]}, "AnthropicError"),
        ("anthropic", {"messages": called("{}")}, "another_tool"),  # litellm would add one of its own
        ("anthropic", {"messages": HELLO, "tools": [STRICT]}, "another_tool"),
        ("anthropic", {"messages": called('{"a": "\\ud83d"}'), "tools": [TOOL]}, "not_encodable"),
        ("anthropic", {"messages": called('{"a": NaN}'), "tools": [TOOL]}, "arguments_are_no_json"),
        ("anthropic", {"messages": called('{"a": -Infinity}'), "tools": [TOOL]}, "arguments_are_no_json"),
        ("anthropic", {"messages": called('{"a": 1e999}'), "tools": [TOOL]}, "arguments_are_no_json"),
        # Anthropic's range ends at 1, and a sequence must show something: what it would answer has a price.
        ("anthropic", {"messages": HELLO, "temperature": 1.01}, "parameter_out_of_range"),
        ("anthropic", {"messages": HELLO, "stop": ["a", " \n"]}, "parameter_out_of_range"),
        ("anthropic", {"messages": HELLO, "seed": 1}, "parameter_not_carried"),
        ("anthropic", {"messages": HELLO, "logprobs": True}, "parameter_not_carried"),
        ("anthropic", {"messages": HELLO, "response_format": {"type": "json_object"}}, "response_format"),
        ("anthropic", {"messages": HELLO, "reasoning_effort": "low"}, "another_field"),
        ("openai", {"messages": HELLO, "reasoning_effort": "low"}, "another_body"),
        ("openai", {"messages": HELLO, "tool_choice": "none"}, None),
    ],
)
def test_what_cannot_be_said_without_loss_is_refused(family: HostedFamily, asked: dict[str, Any], why: str | None):
    if why is None:
        assert "tool_choice" not in body_of(family, asked)
        return
    with pytest.raises(NotTranslated, match=f"^{why}$"):
        body_of(family, asked)


def test_a_field_that_litellm_adds_is_refused(monkeypatch: pytest.MonkeyPatch):
    translation = load_translations()
    original = type(translation).body

    def adds(self: Any, *arguments: Any) -> dict[str, Any]:
        return {**original(self, *arguments), "metadata": {"user_id": "acme"}}

    monkeypatch.setattr(type(translation), "body", adds)
    for family in DIALECTS:
        with pytest.raises(NotTranslated, match=r"^another_(body|field)$"):
            body_of(family, {"messages": HELLO})


@pytest.mark.parametrize("changed", [{"max_tokens": 4096}, {"model": "other"}, {"temperature": 1.0}, {"tools": []}])
def test_a_value_that_litellm_changes_is_refused(changed: dict[str, Any], monkeypatch: pytest.MonkeyPatch):
    translation = load_translations()
    original = type(translation).body

    def changes(self: Any, *arguments: Any) -> dict[str, Any]:
        return {**original(self, *arguments), **changed}

    monkeypatch.setattr(type(translation), "body", changes)
    tool = {"type": "function", "function": {"name": "f"}}
    for family in DIALECTS:
        with pytest.raises(NotTranslated):
            body_of(family, {"messages": HELLO, "temperature": 0.5, "tools": [tool]})


def test_an_image_of_another_kind_is_refused(monkeypatch: pytest.MonkeyPatch):
    translation = load_translations()
    original = type(translation).body

    def relabels(self: Any, *arguments: Any) -> dict[str, Any]:
        made: dict[str, Any] = original(self, *arguments)
        made["messages"][0]["content"][0]["source"]["media_type"] = "image/gif"
        return made

    shown = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}
    asked = {"messages": [{"role": "user", "content": [shown]}]}
    assert body_of("anthropic", asked)["messages"][0]["content"][0]["source"]["media_type"] == "image/png"
    monkeypatch.setattr(type(translation), "body", relabels)
    with pytest.raises(NotTranslated, match=r"^another_conversation$"):
        body_of("anthropic", asked)


@pytest.mark.parametrize("family", DIALECTS)
def test_the_request_itself_is_not_touched(family: HostedFamily):
    schema = {"type": "object", "properties": {"a": {"type": "string"}}}
    asked = {
        "messages": [{"role": "developer", "content": "Be brief."}, *HELLO],
        "tools": [{"type": "function", "function": {"name": "f", "parameters": schema}}],
    }
    request = msgspec.convert({"model": "assist", **asked}, Request)
    before = msgspec.json.encode(request)
    DIALECTS[family].body(load_translations(), dispatch(hosted_profile(family, ENDPOINT), request))
    assert msgspec.json.encode(request) == before


def test_errors_of_the_translation_hold_no_words_of_the_request():
    asked = {"messages": [{"role": "system", "content": "CANARY-P"}]}
    with pytest.raises(NotTranslated) as refused:
        body_of("anthropic", asked)
    assert re.fullmatch(r"[A-Za-z_]+", str(refused.value))
    assert refused.value.__suppress_context__
