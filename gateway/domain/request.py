"""One generation as a caller asks for it, already parsed and closed.

Nothing here can name a destination or lower a privacy class (promise G7): there is no such field.
"""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from gateway.domain.message import AssistantMessage, ImagePart, Message, ToolMessage, parts_of
from gateway.domain.tools import JsonObjectFormat, JsonSchemaFormat, ResponseFormat, Tool, ToolChoice

ReasoningEffort = Literal["none", "minimal", "low", "medium", "high", "xhigh"]
Feature = Literal[
    "chat",
    "tools",
    "parallel_tool_calls",
    "images",
    "json_object",
    "json_schema",
    "logprobs",
    "penalties",
    "reasoning_effort",
    "seed",
]
"""What a request may need beyond plain text. A profile lists which of them it serves, as its capabilities."""


class SourceRef(Struct, frozen=True, forbid_unknown_fields=True, order=True):
    """A document that the calling service says its prompt was built from, at one revision."""

    id: Annotated[str, Meta(min_length=1, max_length=255)]
    revision: Annotated[str, Meta(min_length=1, max_length=255)]


class Request(Struct, frozen=True, kw_only=True):
    """One generation asked for. ``None`` means that the caller left the field out."""

    model: str
    """The alias that a release pointer resolves to a bundle. Never a profile or a provider."""
    messages: tuple[Message, ...]
    max_output: int | None = None
    """Tokens. Left out, the profile's maximum is reserved and sent (section 7 of the design)."""
    temperature: float | None = None
    top_p: float | None = None
    stop: tuple[str, ...] | None = None
    seed: int | None = None
    tools: tuple[Tool, ...] | None = None
    tool_choice: ToolChoice | None = None
    parallel_tool_calls: bool | None = None
    response_format: ResponseFormat | None = None
    logprobs: bool | None = None
    top_logprobs: int | None = None
    presence_penalty: float | None = None
    frequency_penalty: float | None = None
    reasoning_effort: ReasoningEffort | None = None
    purpose: str | None = None
    """Left out, the tenant's default purpose counts."""
    sources: tuple[SourceRef, ...] = ()
    stream: bool = False


def features(request: Request) -> tuple[Feature, ...]:
    """Capabilities that a profile must have to serve it, as profiles name them.

    A parameter that an adapter could not carry must not be dropped in silence, so each of them is one.
    """
    needed: dict[Feature, bool] = {
        "chat": True,
        "tools": request.tools is not None or request.tool_choice is not None or _has_tool_turns(request.messages),
        "parallel_tool_calls": request.parallel_tool_calls is not None,
        "images": any(isinstance(part, ImagePart) for message in request.messages for part in parts_of(message)),
        "json_object": isinstance(request.response_format, JsonObjectFormat),
        "json_schema": isinstance(request.response_format, JsonSchemaFormat),
        "logprobs": request.logprobs is not None or request.top_logprobs is not None,
        "penalties": request.presence_penalty is not None or request.frequency_penalty is not None,
        "reasoning_effort": request.reasoning_effort is not None,
        "seed": request.seed is not None,
    }
    return tuple(feature for feature, is_needed in needed.items() if is_needed)


def _has_tool_turns(messages: tuple[Message, ...]) -> bool:
    return any(
        isinstance(message, ToolMessage) or (isinstance(message, AssistantMessage) and message.tool_calls)
        for message in messages
    )
