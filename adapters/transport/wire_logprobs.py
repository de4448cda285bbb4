"""How likely each token was, in OpenAI's shape: read openly, kept only if all of it is in that shape."""

import math
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

Bytes = list[Annotated[int, Meta(ge=0, le=255)]]


class _Token(Struct):
    token: str
    logprob: float
    bytes: Bytes | None = None


class _Place(Struct):
    token: str
    logprob: float
    bytes: Bytes | None = None
    top_logprobs: list[_Token] = []


class _Logprobs(Struct):
    content: list[_Place] | None = None
    refusal: list[_Place] | None = None


def read_logprobs(value: Any) -> dict[str, Any] | None:
    """The logprobs of a choice, without what OpenAI's shape does not have; None where they are not readable."""
    if value is None:
        return None
    try:
        read = msgspec.convert(value, _Logprobs)
    except msgspec.ValidationError:
        return None
    if not all(_finite(place) for place in (*(read.content or ()), *(read.refusal or ()))):
        return None
    shown: dict[str, Any] = msgspec.to_builtins(read)
    return shown


def _finite(place: _Place) -> bool:
    """JSON has no infinity, and 1e999 is read as one."""
    return math.isfinite(place.logprob) and all(math.isfinite(token.logprob) for token in place.top_logprobs)
