"""Open reading of what Anthropic answered. Model, stop reason and usage are read from its own body, as they are."""

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Struct

from adapters.transport.litellm_translation import NotTranslated, Translation
from adapters.transport.wire_answer import Answer, parsed_json, reference
from gateway.domain.completion import FinishReason
from gateway.domain.tools import MAX_TOOL_CALLS, ToolCall

FINISH_REASONS: Mapping[str, FinishReason] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "tool_use": "tool_calls",
    # The model, or a filter before it, declined: a complete answer, and paid for.
    "refusal": "content_filter",
}
"""Stop reasons of the Messages API. ``pause_turn`` belongs to tools of the provider's own: never asked for."""
INPUT = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
"""Together the input: what was read from a cache or written to it is not in the first."""
_SHOWN = frozenset({"text", "tool_use"})


class _Message(Struct):
    type: str
    model: str
    content: list[dict[str, Any]]
    stop_reason: str | None = None
    usage: Any = None
    id: Any = None


def read_anthropic(translation: Translation, body: bytes) -> Answer | None:
    """The answer, or None if it is not one."""
    try:
        message = msgspec.convert(parsed_json(body), _Message)
        if message.type != "message":
            return None
        # Other blocks (thinking, and whatever comes) are not shown, and need not be understood.
        blocks = [block for block in message.content if block.get("type") in _SHOWN]
        text, calls = translation.anthropic_parts({"content": blocks})
        tool_calls = tuple(msgspec.convert({"id": call["id"], **_function(call)}, ToolCall) for call in calls)
    except (ValueError, KeyError, TypeError, NotTranslated):
        return None
    if not isinstance(text, str) or len(tool_calls) > MAX_TOOL_CALLS:
        return None
    return Answer(
        model=message.model,
        content=text if text or not tool_calls else None,
        finish_reason=FINISH_REASONS.get(message.stop_reason or ""),
        prompt_tokens=_input(message.usage),
        completion_tokens=message.usage.get("output_tokens") if isinstance(message.usage, dict) else None,
        reference=reference(message.id),
        tool_calls=tool_calls,
    )


def _function(call: Mapping[str, Any]) -> dict[str, Any]:
    return {"function": {"name": call["function"]["name"], "arguments": call["function"]["arguments"]}}


def _input(usage: Any) -> Any:
    """The sum of its parts, or the first part that is nonsense, for whoever judges that."""
    if not isinstance(usage, dict) or "input_tokens" not in usage:
        return None
    parts = [0 if (part := usage.get(name, 0)) is None and name != INPUT[0] else part for name in INPUT]
    for part in parts:
        if type(part) is not int or part < 0:
            return part
    return sum(parts)
