"""The turns of a conversation, one struct for each role, in OpenAI's shape and closed."""

from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from gateway.domain.tools import MAX_TOOL_CALLS, CallId, ToolCall


class TextPart(Struct, frozen=True, forbid_unknown_fields=True, tag_field="type", tag="text"):
    """A piece of text."""

    text: str


class OnlyText(TextPart, frozen=True, forbid_unknown_fields=True, tag_field=None, tag=False, kw_only=True):
    """A piece of text where nothing else is served. A tag that chooses among nothing may be left out; this may not."""

    type: Literal["text"]


class ImageUrl(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """An image within the request itself. A URL to fetch would be a destination (promise G7)."""

    url: Annotated[
        str,
        Meta(
            pattern=r"^data:image/(png|jpeg|webp|gif);base64,[A-Za-z0-9+/]+={0,2}$(?!\n)",
            description="data: only, of image/png, image/jpeg, image/webp or image/gif, in base64.",
        ),
    ]
    detail: Literal["auto", "low", "high"] | UnsetType = UNSET


class ImagePart(Struct, frozen=True, forbid_unknown_fields=True, tag_field="type", tag="image_url"):
    """A piece that is an image."""

    image_url: ImageUrl


Texts = Annotated[tuple[OnlyText, ...], Meta(min_length=1)]
Parts = Annotated[tuple[TextPart | ImagePart, ...], Meta(min_length=1)]


class SystemMessage(Struct, frozen=True, forbid_unknown_fields=True, tag_field="role", tag="system"):
    """Instructions of the service."""

    content: str | Texts


class DeveloperMessage(Struct, frozen=True, forbid_unknown_fields=True, tag_field="role", tag="developer"):
    """Instructions of the service, as newer models call them."""

    content: str | Texts


class UserMessage(Struct, frozen=True, forbid_unknown_fields=True, tag_field="role", tag="user"):
    """What the user says or shows."""

    content: str | Parts


class AssistantMessage(
    Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, tag_field="role", tag="assistant"
):
    """What the model said, or which functions it called. One of the two must be there."""

    content: str | Texts | None = None
    tool_calls: Annotated[tuple[ToolCall, ...], Meta(min_length=1, max_length=MAX_TOOL_CALLS)] = ()
    """Left out: none. An empty array and null are refused, as OpenAI does."""
    refusal: None = None
    """Null only: clients send an earlier answer back as they received it."""


class ToolMessage(Struct, frozen=True, forbid_unknown_fields=True, tag_field="role", tag="tool"):
    """What a function returned."""

    content: str | Texts
    tool_call_id: CallId


Message = SystemMessage | DeveloperMessage | UserMessage | AssistantMessage | ToolMessage


def role_of(message: Message) -> str:
    """The role as it stands on the wire."""
    return str(message.__struct_config__.tag)


def parts_of(message: Message) -> tuple[TextPart | ImagePart, ...]:
    """The content as parts, whichever way it was written."""
    if message.content is None:
        return ()
    return (TextPart(message.content),) if isinstance(message.content, str) else message.content
