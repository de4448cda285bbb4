"""The answer to a generation, rendered to bytes once, before it is stored."""

from typing import Any, Literal

import msgspec
from msgspec import Struct

from gateway.domain.tools import ToolCall
from gateway.domain.usage import Usage

FinishReason = Literal["stop", "length", "tool_calls", "content_filter"]
_encode = msgspec.json.Encoder().encode


class Completion(Struct, frozen=True):
    """What the provider answered, reduced to the fields that are shown."""

    model: str
    """As the provider named it, never relabelled."""
    content: str | None
    finish_reason: FinishReason
    usage: Usage | None
    """None: absent or implausible; the reservation is charged instead."""
    tool_calls: tuple[ToolCall, ...] = ()
    refusal: str | None = None
    """The model's own sentence where it declines; part of the answer, not an error."""
    logprobs: dict[str, Any] | None = None
    """In OpenAI's shape, as the provider gave it; shown only where it was asked for."""


def render(completion: Completion, *, operation_id: str, created_s: int, settled: Usage) -> bytes:
    """The answer in OpenAI's shape; ``id`` is the operation's, so that a client can inspect it."""
    message: dict[str, Any] = {"role": "assistant", "content": completion.content, "refusal": completion.refusal}
    if completion.tool_calls:
        message["tool_calls"] = completion.tool_calls
    return _encode(
        {
            "id": operation_id,
            "object": "chat.completion",
            "created": created_s,
            "model": completion.model,
            "choices": [
                {
                    "index": 0,
                    "message": message,
                    "logprobs": completion.logprobs,
                    "finish_reason": completion.finish_reason,
                }
            ],
            "usage": {
                "prompt_tokens": settled.input,
                "completion_tokens": settled.output,
                "total_tokens": settled.input + settled.output,
            },
        }
    )
