"""Bodies of the surface, and how they are read."""

import base64
import json
from typing import Any

from gateway.api.chat_body import read_chat
from gateway.api.problems import status_of
from gateway.domain.refusal import Code, Refusal
from gateway.domain.request import Request

USER = {"role": "user", "content": "Hello?"}
BASE: dict[str, Any] = {"model": "chat", "messages": [USER]}
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "additionalProperties": False}
WEATHER = {"type": "function", "function": {"name": "weather", "parameters": SCHEMA}}
CALL = {"id": "call_1", "type": "function", "function": {"name": "weather", "arguments": '{"city":"Bern"}'}}
SECOND = CALL | {"id": "call_2"}
CALLING = {"role": "assistant", "content": None, "tool_calls": [CALL]}
RESULT = {"role": "tool", "content": "Sunny.", "tool_call_id": "call_1"}
PNG = "data:image/png;base64," + base64.b64encode(b"\x89PNG....").decode()


def read(**changes: Any) -> Request | Refusal:
    return read_chat(json.dumps(BASE | changes).encode())


def accepted(**changes: Any) -> Request:
    request = read(**changes)
    assert isinstance(request, Request), request
    return request


def refusal(**changes: Any) -> tuple[Code, int, str | None]:
    found = read(**changes)
    assert isinstance(found, Refusal), found
    return found.code, status_of(found), found.param


def image(url: Any, **more: Any) -> list[Any]:
    return [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": url} | more}]}]


def format_of(schema: Any) -> dict[str, Any]:
    return {"type": "json_schema", "json_schema": {"name": "answer", "schema": schema}}
