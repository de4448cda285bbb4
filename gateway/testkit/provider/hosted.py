"""What hosted providers answer, each in its own shape, for the scripted provider to send."""

from typing import Any, Literal
from urllib.parse import quote

import msgspec

from gateway.testkit.provider.behaviours import Behaviour

HostedFamily = Literal["openai", "azure", "anthropic"]
MODELS: dict[HostedFamily, str] = {
    "openai": "gpt-4.1-mini-2025-04-14",
    "azure": "gpt-4.1-mini-2025-04-14",
    "anthropic": "claude-haiku-4-5-20251001",
}


def path_of(family: HostedFamily, api_version: str = "2024-10-21") -> str:
    """Where the family's generations are asked for, on the scripted provider."""
    name = quote(MODELS["azure"], safe="")
    return {
        "openai": "/v1/chat/completions",
        "azure": f"/openai/deployments/{name}/chat/completions?api-version={api_version}",
        "anthropic": "/v1/messages",
    }[family]


def answer(family: HostedFamily, **changes: Any) -> Behaviour:
    """A good answer: "Hello.", 20 tokens in and 3 out. ``changes`` are top-level fields of its body."""
    return Behaviour(body=msgspec.json.encode({**_ANSWERS[family], **changes}).decode())


def error(family: HostedFamily, status: int, code: str, message: str = "No.") -> Behaviour:
    """A complete error in the family's shape."""
    body: dict[str, Any]
    if family == "anthropic":
        body = {"type": "error", "error": {"type": code, "message": message}, "request_id": "req_scripted"}
    else:
        body = {"error": {"message": message, "type": code, "param": None, "code": code}}
    return Behaviour(status=status, body=msgspec.json.encode(body).decode())


_OPENAI: dict[str, Any] = {
    "id": "chatcmpl-scripted",
    "object": "chat.completion",
    "created": 1_700_000_000,
    "model": MODELS["openai"],
    "choices": [
        {
            "index": 0,
            "message": {"role": "assistant", "content": "Hello.", "refusal": None, "annotations": []},
            "logprobs": None,
            "finish_reason": "stop",
        }
    ],
    "usage": {
        "prompt_tokens": 20,
        "completion_tokens": 3,
        "total_tokens": 23,
        "prompt_tokens_details": {"cached_tokens": 0},
    },
    "service_tier": "default",
    "system_fingerprint": "fp_scripted",
}
_ANSWERS: dict[HostedFamily, dict[str, Any]] = {
    "openai": _OPENAI,
    "azure": {**_OPENAI, "prompt_filter_results": [{"prompt_index": 0, "content_filter_results": {}}]},
    "anthropic": {
        "id": "msg_scripted",
        "type": "message",
        "role": "assistant",
        "model": MODELS["anthropic"],
        "content": [{"type": "text", "text": "Hello."}],
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {
            "input_tokens": 20,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0,
            "output_tokens": 3,
            "service_tier": "standard",
        },
    },
}
