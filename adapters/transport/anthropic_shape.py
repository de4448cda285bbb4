"""The fields of Anthropic's Messages API that may be on the wire: closed structs, all the way down."""

from typing import Any, Literal

from msgspec import Struct


class Text(Struct, frozen=True, forbid_unknown_fields=True, tag_field="type", tag="text"):
    text: str


class Source(Struct, frozen=True, forbid_unknown_fields=True):
    """Within the request itself; a URL would be a destination (promise G7)."""

    type: Literal["base64"]
    media_type: Literal["image/png", "image/jpeg", "image/webp", "image/gif"]
    data: str


class Image(Struct, frozen=True, forbid_unknown_fields=True, tag_field="type", tag="image"):
    source: Source


class ToolUse(Struct, frozen=True, forbid_unknown_fields=True, tag_field="type", tag="tool_use"):
    id: str
    name: str
    input: dict[str, Any]


class ToolResult(Struct, frozen=True, forbid_unknown_fields=True, tag_field="type", tag="tool_result"):
    tool_use_id: str
    content: str | tuple[Text, ...]


class Turn(Struct, frozen=True, forbid_unknown_fields=True):
    role: Literal["user", "assistant"]
    content: tuple[Text | Image | ToolUse | ToolResult, ...]


class Tool(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    name: str
    input_schema: dict[str, Any]
    type: Literal["custom"] = "custom"
    description: str | None = None


class Choice(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    type: Literal["auto", "any", "tool", "none"]
    name: str | None = None
    disable_parallel_tool_use: bool | None = None


class Body(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    model: str
    max_tokens: int
    messages: tuple[Turn, ...]
    system: tuple[Text, ...] = ()
    temperature: float | None = None
    top_p: float | None = None
    stop_sequences: tuple[str, ...] = ()
    tools: tuple[Tool, ...] = ()
    tool_choice: Choice | None = None
