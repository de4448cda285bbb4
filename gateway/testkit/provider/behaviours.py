"""What the scripted provider does with one generation: what it answers, and how it delivers that."""

from typing import Any, Literal

import msgspec
from msgspec import UNSET, Struct, UnsetType

Delivery = Literal[
    "whole",
    "close_after",
    "hang",
    "drop",
    "reset",
    "drop_after_headers",
    "truncated",
    "truncated_chunked",
    "trickle",
    "not_http",
]


class Behaviour(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One scripted answer. The default is a good one."""

    delivery: Delivery = "whole"
    """``close_after`` ends the kept connection a little later, unannounced; ``trickle`` sends a byte at a time."""
    delay_ms: int = 0
    interval_ms: int = 20
    """Between the bytes of a trickle, or before ``close_after`` closes."""
    status: int = 200
    headers: dict[str, str] = {}
    body: str | None = None
    """The body as it is; None: an answer in OpenAI's shape, made of the fields below."""
    content: str | None = "Hello."
    model: str | None = None
    """None: the alias that the engine face reports."""
    finish_reason: str | None = "stop"
    usage: Any | UnsetType = UNSET
    """Anything, so that it can be nonsense. Unset: 20 tokens in and 3 out."""
    omit: tuple[str, ...] = ()
    """Top-level fields of the answer to leave out."""
    extra: dict[str, Any] = {}
    """Further top-level fields of the answer."""
    tool_calls: Any | UnsetType = UNSET
    """Anything, so that it can be nonsense. Unset: the field is left out, as engines do."""
    refusal: Any | UnsetType = UNSET
    logprobs: Any | UnsetType = UNSET
    fingerprint: Any = "scripted"
    """``system_fingerprint``: what an engine attests of itself."""


def error(status: int, *, type_: str = "error", code: str | int | None = None, message: str = "No.") -> Behaviour:
    """A complete error in OpenAI's shape."""
    return Behaviour(
        status=status,
        body=msgspec.json.encode({"error": {"message": message, "type": type_, "code": code}}).decode(),
    )


def redirect(location: str, status: int = 307) -> Behaviour:
    """Points elsewhere."""
    return Behaviour(status=status, headers={"Location": location}, body="")


def malformed_json() -> Behaviour:
    """A complete HTTP answer whose body is not JSON."""
    return Behaviour(body='{"id": "x", "choices": [')


def duplicate_keys() -> Behaviour:
    """JSON in which a key that is read stands twice."""
    good = answer_body(Behaviour(), alias="m").decode()
    return Behaviour(body=good[:-1] + ',"model":"m"}')


def called(name: str, arguments: str, *, id_: str = "call_scripted") -> Behaviour:
    """An answer that calls one function and says nothing."""
    call = {"id": id_, "type": "function", "function": {"name": name, "arguments": arguments}}
    return Behaviour(content=None, tool_calls=[call], finish_reason="tool_calls")


def refused(sentence: str) -> Behaviour:
    """The model declines: an answer like any other."""
    return Behaviour(content=None, refusal=sentence)


def likely(*tokens: str) -> Behaviour:
    """An answer that tells how likely each of its tokens was."""
    places = [{"token": token, "logprob": -0.5, "bytes": list(token.encode()), "top_logprobs": []} for token in tokens]
    return Behaviour(content="".join(tokens), logprobs={"content": places})


def aborted() -> Behaviour:
    """What vLLM answers to a generation that was aborted by its id: 200, with usage."""
    return Behaviour(content="Hel", finish_reason="abort")


def huge(size: int) -> Behaviour:
    """An answer whose content alone has this many bytes."""
    return Behaviour(content="x" * size)


def answer_body(behaviour: Behaviour, *, alias: str) -> bytes:
    """The body that a behaviour stands for."""
    if behaviour.body is not None:
        return behaviour.body.encode()
    usage = {"prompt_tokens": 20, "completion_tokens": 3, "total_tokens": 23}
    said = {"content": behaviour.content, "tool_calls": behaviour.tool_calls, "refusal": behaviour.refusal}
    message = {"role": "assistant"} | {name: value for name, value in said.items() if value is not UNSET}
    choice = {"index": 0, "message": message, "finish_reason": behaviour.finish_reason}
    if behaviour.logprobs is not UNSET:
        choice["logprobs"] = behaviour.logprobs
    answer: dict[str, Any] = {
        "id": "chatcmpl-scripted",
        "object": "chat.completion",
        "created": 1_700_000_000,
        "model": alias if behaviour.model is None else behaviour.model,
        "choices": [choice],
        "usage": usage if behaviour.usage is UNSET else behaviour.usage,
        "system_fingerprint": behaviour.fingerprint,
        **behaviour.extra,
    }
    return msgspec.json.encode({name: value for name, value in answer.items() if name not in behaviour.omit})


def head(behaviour: Behaviour, length: int | None) -> bytes:
    """Status line and headers; ``length`` None: chunked."""
    framing = "Transfer-Encoding: chunked" if length is None else f"Content-Length: {length}"
    lines = [f"HTTP/1.1 {behaviour.status} Scripted", "Content-Type: application/json", framing]
    lines += [f"{name}: {value}" for name, value in behaviour.headers.items()]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()
