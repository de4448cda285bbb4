"""One generation as a caller asks for it, already parsed and closed.

Nothing here can name a destination or lower a privacy class (promise G7): there is no such field.
"""

from typing import Annotated, Literal

from msgspec import Meta, Struct

Role = Literal["system", "developer", "user", "assistant"]


class TextPart(Struct, frozen=True, forbid_unknown_fields=True, tag_field="type", tag="text"):
    """A piece of a message's content. Text is the only kind that is served so far."""

    text: str


class Message(Struct, frozen=True, forbid_unknown_fields=True):
    """One turn of the conversation."""

    role: Role
    content: str | Annotated[tuple[TextPart, ...], Meta(min_length=1)]


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
    purpose: str | None = None
    """Left out, the tenant's default purpose counts."""
    sources: tuple[SourceRef, ...] = ()
    stream: bool = False


def features(request: Request) -> tuple[str, ...]:  # noqa: ARG001 - what a request needs is read from it and nothing else
    """Capabilities that a profile must have to serve it, as profiles name them. Only chat is served so far."""
    return ("chat",)
