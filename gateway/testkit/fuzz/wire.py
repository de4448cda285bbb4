"""What a provider may have received for a body: what stands in it, by an allow-list, and the cap that is reserved."""

import json
from collections.abc import Iterator
from typing import Any

from gateway.testkit.fuzz.reference import cap

PASSED_ON = frozenset(
    {
        "temperature",
        "top_p",
        "stop",
        "seed",
        "parallel_tool_calls",
        "response_format",
        "logprobs",
        "top_logprobs",
        "presence_penalty",
        "frequency_penalty",
        "tools",
        "tool_choice",
    }
)
SPELT_OTHERWISE = frozenset({"tools", "tool_choice", "response_format", "stop", "top_logprobs"})
"""Whose nulls are left out, or which stand in another form; what they must hold is looked at below."""
OWN = frozenset({"model", "messages", "max_tokens", "stream"})
TEXTS = frozenset({"messages", "tools", "response_format", "stop"})
"""Where any text may stand, also an address: it leads nowhere there."""


def differences(sent: dict[str, Any], body: dict[str, Any], reserved_output: int) -> Iterator[str]:
    """Sentences, none if all is well.

    :param sent: the body on the wire.
    :param body: the caller's.
    :param reserved_output: tokens that the store holds for the dispatch.
    """
    if strange := sent.keys() - PASSED_ON - OWN:
        yield f"unknown fields on the wire: {sorted(strange)}"
    if sent["max_tokens"] != reserved_output:
        yield f"a cap of {sent['max_tokens']} on the wire, {reserved_output} reserved"
    if (asked := cap(body)) is not None and sent["max_tokens"] > asked:
        yield "a larger cap than was asked for"
    if sent["stream"] is not False:
        yield "a stream"
    for name in sorted(PASSED_ON & sent.keys()):
        if name not in body and name != "top_logprobs":
            yield f"{name} was not asked for"
        elif name not in SPELT_OTHERWISE and sent[name] != body[name]:
            yield f"{name} has another value"
    yield from _tools(sent, body)
    # The engine takes none, and 0, for something else than what they mean: it is asked for one at least.
    likely = max(1, body.get("top_logprobs") or 0) if body.get("logprobs") else None
    if sent.get("top_logprobs") != likely:
        yield "another number of top_logprobs"
    for name in PASSED_ON - sent.keys():
        if body.get(name) is not None:
            yield f"{name} was asked for and not sent"
    if list(map(_turn, sent["messages"])) != list(map(_turn, body["messages"])):
        yield "other messages"
    outside = {name: value for name, value in sent.items() if name not in TEXTS}
    if "smuggled" in json.dumps(outside):
        yield "a smuggled value"


def _tools(sent: dict[str, Any], body: dict[str, Any]) -> Iterator[str]:
    """Where one tool must be called, only that one may be sent, because the engine does not read its name."""
    choice = body.get("tool_choice")
    named = choice["function"]["name"] if isinstance(choice, dict) else None
    names = [tool["function"]["name"] for tool in body.get("tools", ())]
    expected = [name for name in names if named in (None, name)]
    if [tool["function"]["name"] for tool in sent.get("tools", ())] != expected:
        yield "other tools"
    if sent.get("tool_choice") != ("required" if named else choice):
        yield "another choice of a tool"


def _turn(message: dict[str, Any]) -> tuple[Any, ...]:
    content = message.get("content")
    text = content if content is None or isinstance(content, str) else "".join(part["text"] for part in content)
    calls = [(call["id"], call["function"]) for call in message.get("tool_calls") or ()]
    return message["role"], text, calls, message.get("tool_call_id")
