"""Which bodies may be served, told a second time by other means: Python's own JSON, the OpenAPI document, plain rules.

Only what it accepts may reach a provider. It says nothing of what must be accepted.
"""

import json
import math
from typing import Any

from jsonschema import Draft202012Validator

from gateway.api.openapi import document
from gateway.testkit.fuzz.grammar import MODEL, SOURCE

PROFILE = "smollm2-135m"
"""The one that policy allows, and that is ready."""
_MAX_DEPTH = 64


class NotServed(Exception):
    """Why a body must not have been served."""


class Reference:
    """Reads bodies."""

    def __init__(self) -> None:
        told = document()
        schema = {"$ref": "#/components/schemas/ChatBody", "components": told["components"]}
        self._validator = Draft202012Validator(schema)

    def read(self, raw: bytes) -> dict[str, Any]:
        """The body.

        :raises NotServed: if it must not be.
        """
        try:
            found = json.loads(raw.decode(), object_pairs_hook=_once, parse_constant=_no_constant)
        except (ValueError, RecursionError) as error:
            raise NotServed(type(error).__name__) from error
        if broken := next(self._validator.iter_errors(found), None):
            raise NotServed(f"{broken.json_path} breaks {broken.validator}")
        _walk(found)
        _rules(found)
        _policy(found)
        body: dict[str, Any] = found
        return body


def cap(found: dict[str, Any]) -> int | None:
    """The cap on the output that it asks for."""
    asked = [found[name] for name in ("max_tokens", "max_completion_tokens") if found.get(name) is not None]
    return int(asked[0]) if asked else None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key twice")
    return found


def _no_constant(_: str) -> None:
    raise ValueError("not a number")


def _walk(value: Any, depth: int = 1) -> None:
    if depth > _MAX_DEPTH:
        raise NotServed("too deep")
    match value:
        case dict():
            for key, child in value.items():
                _walk(key, depth)
                _walk(child, depth + isinstance(child, dict | list))
        case list():
            for child in value:
                _walk(child, depth + isinstance(child, dict | list))
        case float() if not math.isfinite(value):
            raise NotServed("not finite")
        case str() if any("\ud800" <= letter <= "\udfff" for letter in value):
            raise NotServed("half a character")


def _rules(found: dict[str, Any]) -> None:
    tools = [tool["function"]["name"] for tool in found.get("tools", ())]
    choice = found.get("tool_choice")
    stop = found.get("stop")
    broken = {
        "a stream": bool(found.get("stream")),
        "two caps": None not in (found.get("max_tokens"), found.get("max_completion_tokens")),
        "an empty stop": stop is not None and "" in ([stop] if isinstance(stop, str) else stop),
        "a tool twice": len(set(tools)) != len(tools),
        "a choice without tools": choice is not None and not tools,
        "parallel calls without tools": "parallel_tool_calls" in found and not tools,
        "a choice of no tool": isinstance(choice, dict) and choice["function"]["name"] not in tools,
        "top_logprobs alone": found.get("top_logprobs") is not None and not found.get("logprobs"),
        "a control token": "<|im_start|>" in json.dumps(found["messages"]),
        "an image": '"image_url"' in json.dumps(found["messages"]),
    }
    for reason, is_broken in broken.items():
        if is_broken:
            raise NotServed(reason)
    _turns(found["messages"])


def _turns(messages: list[dict[str, Any]]) -> None:
    """Every result answers a call of the turn before, once; no call stays open in the middle."""
    waiting: list[str] = []
    for message in messages:
        if message["role"] == "tool":
            if message["tool_call_id"] not in waiting:
                raise NotServed("a result without a call")
            waiting.remove(message["tool_call_id"])
            continue
        if waiting:
            raise NotServed("a call without a result")
        if message["role"] == "assistant":
            waiting = [call["id"] for call in message.get("tool_calls") or ()]
            if message.get("content") is None and not waiting:
                raise NotServed("nothing said")
            if len(set(waiting)) != len(waiting):
                raise NotServed("a call twice")


def _policy(found: dict[str, Any]) -> None:
    """What the example's policy allows this account: drafting without sources, answers from the handbook."""
    extension = found.get("gateway", {})
    purpose, sources = extension.get("purpose", "drafting"), extension.get("sources", [])
    if found["model"] != MODEL or (purpose, sources) not in (("drafting", []), ("answers", [SOURCE])):
        raise NotServed("policy")
