"""Turns of a conversation for the wire, field by field, in OpenAI's shape as engines of one's own read it."""

from typing import Any

from msgspec import UNSET

from gateway.domain.message import AssistantMessage, ImagePart, Message, TextPart, ToolMessage, role_of
from gateway.domain.tools import ToolCall


def wire_message(message: Message) -> dict[str, Any]:
    """One turn. ``content`` is always there: engines refuse a turn without it, null beside calls included."""
    content = message.content
    fields: dict[str, Any] = {
        "role": role_of(message),
        "content": [_part(part) for part in content] if isinstance(content, tuple) else content,
    }
    if isinstance(message, AssistantMessage) and message.tool_calls:
        fields["tool_calls"] = [_call(call) for call in message.tool_calls]
    if isinstance(message, ToolMessage):
        fields["tool_call_id"] = message.tool_call_id
    return fields


def _part(part: TextPart | ImagePart) -> dict[str, Any]:
    if isinstance(part, TextPart):
        return {"type": "text", "text": part.text}
    image: dict[str, Any] = {"url": part.image_url.url}
    if part.image_url.detail is not UNSET:
        image["detail"] = part.image_url.detail
    return {"type": "image_url", "image_url": image}


def _call(call: ToolCall) -> dict[str, Any]:
    return {
        "id": call.id,
        "type": "function",
        "function": {"name": call.function.name, "arguments": call.function.arguments},
    }
