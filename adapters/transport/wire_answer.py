"""Open reading of what a provider answered: the fields used are typed and required, others are dropped.

So a new field never makes a paid answer unknown. Usage is read as it is, because nonsense in it only means that
the reservation is charged; logprobs that are not in OpenAI's shape are dropped, because the answer is whole without.
"""

import re
from typing import Annotated, Any, Literal

import jiter
import msgspec
from msgspec import Meta, Struct

from adapters.transport.wire_logprobs import read_logprobs
from gateway.domain.engine_times import EngineTimes, engine_times
from gateway.domain.tools import MAX_TOOL_CALLS, CalledFunction, CalledName, ToolCall

# An id, and nothing that could hold a sentence: it is stored beside the attempt.
_REFERENCE = re.compile(r"[A-Za-z0-9._:-]{1,200}\Z")


class Answer(Struct, frozen=True, kw_only=True):
    """A chat completion of one choice."""

    model: str
    content: str | None
    finish_reason: str | None
    prompt_tokens: Any
    completion_tokens: Any
    reference: str | None
    """The provider's id of the answer, if it has one that is fit to be stored."""
    times: EngineTimes | None = None
    """What llama.cpp says of its own time. vLLM tells sums alone, under /metrics."""
    tool_calls: tuple[ToolCall, ...] = ()
    refusal: str | None = None
    logprobs: dict[str, Any] | None = None
    system_fingerprint: str | None = None
    """What an engine attests of itself."""


class _Function(Struct):
    name: CalledName
    arguments: str


class _Call(Struct):
    id: Annotated[str, Meta(pattern=r"^[\x21-\x7e]{0,255}$(?!\n)")]
    """As requests take it, or empty."""
    function: _Function
    type: Literal["function"] = "function"


class _Message(Struct):
    content: str | None = None
    tool_calls: Annotated[tuple[_Call, ...], Meta(max_length=MAX_TOOL_CALLS)] | None = None
    refusal: str | None = None


class _Choice(Struct):
    message: _Message
    finish_reason: str | None = None
    logprobs: Any = None


class _Body(Struct):
    model: str
    choices: Annotated[tuple[_Choice, ...], Meta(min_length=1, max_length=1)]
    usage: Any = None
    id: Any = None
    timings: Any = None
    system_fingerprint: Any = None


class _Error(Struct):
    type: Any = None
    code: Any = None


class _ErrorBody(Struct):
    error: _Error


def read_answer(body: bytes) -> Answer | None:
    """The answer, or None if it is not one: no JSON, a key twice, no model, or not exactly one choice."""
    try:
        parsed = msgspec.convert(parsed_json(body), _Body)
    except ValueError:
        return None
    choice = parsed.choices[0]
    usage = parsed.usage if isinstance(parsed.usage, dict) and not _leaves_out(parsed.usage) else {}
    return Answer(
        model=parsed.model,
        content=choice.message.content,
        finish_reason=choice.finish_reason,
        prompt_tokens=usage.get("prompt_tokens"),
        completion_tokens=usage.get("completion_tokens"),
        reference=reference(parsed.id),
        times=_times(parsed.timings),
        tool_calls=_calls(choice.message.tool_calls or ()),
        refusal=choice.message.refusal,
        logprobs=read_logprobs(choice.logprobs),
        system_fingerprint=parsed.system_fingerprint if isinstance(parsed.system_fingerprint, str) else None,
    )


def error_codes(body: bytes) -> frozenset[str]:
    """The ``code`` and the ``type`` of an error body, for comparison with the lists; its text is never read."""
    try:
        error = msgspec.convert(parsed_json(body), _ErrorBody).error
    except ValueError:
        return frozenset()
    return frozenset(value for value in (error.code, error.type) if isinstance(value, str))


def parsed_json(body: bytes) -> Any:
    """:raises ValueError: if it is no JSON, or holds a key twice."""
    return jiter.from_json(body, catch_duplicate_keys=True, allow_inf_nan=False)


def _leaves_out(usage: dict[str, Any]) -> bool:
    """Whether more was used in all than its two parts say: some count what a model thinks in the total alone."""
    total, sent, made = (usage.get(name) for name in ("total_tokens", "prompt_tokens", "completion_tokens"))
    return isinstance(total, int) and isinstance(sent, int) and isinstance(made, int) and total > sent + made


def _calls(calls: tuple[_Call, ...]) -> tuple[ToolCall, ...]:
    """Templates without ids leave them empty in some builds of llama.cpp. The place names such a call as well:
    an id is only ever looked up in the turn that made it."""
    return tuple(
        ToolCall(id=call.id or f"call_{place}", function=CalledFunction(call.function.name, call.function.arguments))
        for place, call in enumerate(calls)
    )


def _times(value: Any) -> EngineTimes | None:
    if not isinstance(value, dict):
        return None
    return engine_times(prefill_ms=value.get("prompt_ms"), decode_ms=value.get("predicted_ms"))


def reference(value: Any) -> str | None:
    """An id of the provider's, if it is fit to be stored."""
    return value if isinstance(value, str) and _REFERENCE.match(value) else None
