"""The body of POST /v1/chat/completions: OpenAI's shape, closed, with one extension object."""

from typing import Annotated

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from gateway.api.chat_rules import broken_rule
from gateway.api.explain import explain
from gateway.api.strict_json import parse_object
from gateway.domain.message import Message
from gateway.domain.refusal import Code, Refusal
from gateway.domain.request import ReasoningEffort, Request, SourceRef
from gateway.domain.tools import MAX_TOOLS, ResponseFormat, Tool, ToolChoice

MAX_STOPS = 4
MAX_SOURCES = 32
INT64 = 2**63 - 1


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
    tools: Annotated[tuple[Tool, ...], Meta(min_length=1, max_length=MAX_TOOLS)] | UnsetType = UNSET
    tool_choice: ToolChoice | UnsetType = UNSET
    parallel_tool_calls: bool | UnsetType = UNSET
    response_format: ResponseFormat | UnsetType = UNSET
    logprobs: bool | None = None
    top_logprobs: Annotated[int, Meta(ge=0, le=20)] | None = None
    presence_penalty: Annotated[float, Meta(ge=-2, le=2)] | None = None
    frequency_penalty: Annotated[float, Meta(ge=-2, le=2)] | None = None
    reasoning_effort: ReasoningEffort | None = None
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
    if isinstance(request := _request(chat), Refusal):
        return request
    return broken_rule(request) or request


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
        tools=None if chat.tools is UNSET else chat.tools,
        tool_choice=None if chat.tool_choice is UNSET else chat.tool_choice,
        parallel_tool_calls=None if chat.parallel_tool_calls is UNSET else chat.parallel_tool_calls,
        response_format=None if chat.response_format is UNSET else chat.response_format,
        logprobs=chat.logprobs,
        top_logprobs=chat.top_logprobs,
        presence_penalty=chat.presence_penalty,
        frequency_penalty=chat.frequency_penalty,
        reasoning_effort=chat.reasoning_effort,
        purpose=None if extension.purpose is UNSET else extension.purpose,
        sources=sources,
    )
