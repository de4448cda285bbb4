"""The body of POST /v1/chat/completions: OpenAI's shape, closed, with one extension object."""

import re
from typing import Annotated, Any

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from gateway.api.expected import expected
from gateway.api.strict_json import parse_object
from gateway.domain.message import Message
from gateway.domain.refusal import Code, Refusal
from gateway.domain.request import Request, SourceRef

MAX_STOPS = 4
MAX_SOURCES = 32
INT64 = 2**63 - 1
_UNKNOWN = re.compile(r"^Object contains unknown field `(.*?)`(?: - at `\$?\.?([^`]*)`)?\Z", re.DOTALL)
_MISSING = re.compile(r"^Object missing required field `(\w+)`(?: - at `\$?\.?(.*)`)?\Z")
_AT = re.compile(r" - at `\$?\.?([^`]*)`\Z")
_WRONG_TYPE = re.compile(r"^Expected `(?:int|float|str|bool|array|object)(?: \| \w+)*`, got `(?!null`)")
MAX_NAME = 64


class Extension(Struct, frozen=True, forbid_unknown_fields=True):
    """The gateway's own part of the body. It can name no destination."""

    purpose: Annotated[str, Meta(min_length=1, max_length=64)] | UnsetType = UNSET
    sources: Annotated[tuple[SourceRef, ...], Meta(max_length=MAX_SOURCES)] | UnsetType = UNSET


class ChatBody(Struct, frozen=True, forbid_unknown_fields=True):
    """Fields that are served. ``None`` is allowed where OpenAI documents null, and counts as absent."""

    model: Annotated[str, Meta(min_length=1, max_length=200)]
    messages: Annotated[tuple[Message, ...], Meta(min_length=1)]
    max_tokens: Annotated[int, Meta(ge=1, le=INT64)] | None = None
    max_completion_tokens: Annotated[int, Meta(ge=1, le=INT64)] | None = None
    temperature: Annotated[float, Meta(ge=0, le=2)] | None = None
    top_p: Annotated[float, Meta(ge=0, le=1)] | None = None
    stop: str | Annotated[tuple[str, ...], Meta(min_length=1, max_length=MAX_STOPS)] | None = None
    seed: Annotated[int, Meta(ge=-INT64 - 1, le=INT64)] | None = None
    n: Annotated[int, Meta(ge=1, le=1)] | None = None
    stream: bool | None = None
    gateway: Extension | UnsetType = UNSET


def read_chat(body: bytes) -> Request | Refusal:
    """The request that a body asks for."""
    if isinstance(parsed := parse_object(body), Refusal):
        return parsed
    try:
        chat = msgspec.convert(parsed, ChatBody)
    except msgspec.ValidationError as error:
        return explain(str(error))
    return _request(chat)


def _request(chat: ChatBody) -> Request | Refusal:
    if chat.stream:
        return Refusal(code=Code.STREAM_UNSUPPORTED, param="stream")
    if chat.max_tokens is not None and chat.max_completion_tokens is not None:
        # Two caps invite two readers; only one of them would be checked.
        return Refusal(
            code=Code.INVALID_VALUE, param="max_completion_tokens", fields=("max_completion_tokens", "max_tokens")
        )
    extension = Extension() if chat.gateway is UNSET else chat.gateway
    sources = () if extension.sources is UNSET else extension.sources
    if len(set(sources)) != len(sources):
        return Refusal(code=Code.INVALID_VALUE, param="gateway.sources")
    stop = (chat.stop,) if isinstance(chat.stop, str) else chat.stop
    if stop is not None and "" in stop:
        return Refusal(code=Code.INVALID_VALUE, status=422, param="stop")
    return Request(
        model=chat.model,
        messages=chat.messages,
        max_output=chat.max_tokens if chat.max_tokens is not None else chat.max_completion_tokens,
        temperature=chat.temperature,
        top_p=chat.top_p,
        stop=stop,
        seed=chat.seed,
        purpose=None if extension.purpose is UNSET else extension.purpose,
        sources=sources,
    )


def explain(text: str, *, in_query: bool = False) -> Refusal:
    """Turn msgspec's sentence into a refusal. It names the field and drops the rest, which may hold a value.

    :param in_query: whether it is about query parameters.
    """
    if found := _UNKNOWN.match(text):
        name = _join(found[2], found[1][:MAX_NAME])
        return Refusal(code=Code.UNKNOWN_FIELD, param=name, fields=(name,), in_query=in_query)
    if found := _MISSING.match(text):
        name = _join(found[2], found[1])
        return Refusal(code=Code.INVALID_VALUE, param=name, facts={"reason": "missing"}, in_query=in_query)
    at = _AT.search(text)
    status: Any = None if _WRONG_TYPE.match(text) else 422
    served = expected(text, in_query=in_query)
    return Refusal(
        code=Code.INVALID_VALUE,
        status=status,
        param=at[1] if at else None,
        facts=None if served is None else {"expected": served},
        in_query=in_query,
    )


def _join(parent: str | None, name: str) -> str:
    return f"{parent}.{name}" if parent else name
