"""Open reading of what a provider answered: the fields used are typed and required, others are dropped.

So a new field never makes a paid answer unknown. Usage is read as it is, because nonsense in it only means that
the reservation is charged.
"""

import re
from typing import Annotated, Any

import jiter
import msgspec
from msgspec import Meta, Struct

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


class _Message(Struct):
    content: str | None = None


class _Choice(Struct):
    message: _Message
    finish_reason: str | None = None


class _Body(Struct):
    model: str
    choices: Annotated[tuple[_Choice, ...], Meta(min_length=1, max_length=1)]
    usage: Any = None
    id: Any = None


class _Error(Struct):
    type: Any = None
    code: Any = None


class _ErrorBody(Struct):
    error: _Error


def read_answer(body: bytes) -> Answer | None:
    """The answer, or None if it is not one: no JSON, a key twice, no model, or not exactly one choice."""
    try:
        parsed = msgspec.convert(_json(body), _Body)
    except ValueError:
        return None
    choice = parsed.choices[0]
    usage = parsed.usage if isinstance(parsed.usage, dict) else {}
    return Answer(
        model=parsed.model,
        content=choice.message.content,
        finish_reason=choice.finish_reason,
        prompt_tokens=usage.get("prompt_tokens"),
        completion_tokens=usage.get("completion_tokens"),
        reference=_reference(parsed.id),
    )


def error_codes(body: bytes) -> frozenset[str]:
    """The ``code`` and the ``type`` of an error body, for comparison with the lists; its text is never read."""
    try:
        error = msgspec.convert(_json(body), _ErrorBody).error
    except ValueError:
        return frozenset()
    return frozenset(value for value in (error.code, error.type) if isinstance(value, str))


def _json(body: bytes) -> Any:
    return jiter.from_json(body, catch_duplicate_keys=True, allow_inf_nan=False)


def _reference(value: Any) -> str | None:
    return value if isinstance(value, str) and _REFERENCE.match(value) else None
