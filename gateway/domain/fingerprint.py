"""Is a request under a known key the same request?

SHA-256 over canonical JSON of the validated request as sent. Versioned: an operation is compared by the
function of the version that it was stored with, so a published version never changes (its golden vectors
are in tests/domain). ``stream`` only says how the answer travels and is left out.
"""

import hashlib
from collections.abc import Callable, Mapping
from typing import Any

import msgspec
from msgspec import Struct

from gateway.domain.request import Request

CURRENT_VERSION = 1
_canonical = msgspec.json.Encoder(order="deterministic")

# The wire's name for each field, because a conflict names fields to the caller.
_FIELDS_V1: Mapping[str, Callable[[Request], Any]] = {
    "model": lambda r: r.model,
    "messages": lambda r: r.messages,
    "max_tokens": lambda r: r.max_output,
    "temperature": lambda r: _number(r.temperature),
    "top_p": lambda r: _number(r.top_p),
    "stop": lambda r: r.stop,
    "seed": lambda r: r.seed,
    # A field that came later and that a request leaves out changes no digest.
    "tools": lambda r: _free(r.tools),
    "tool_choice": lambda r: r.tool_choice,
    "parallel_tool_calls": lambda r: r.parallel_tool_calls,
    "response_format": lambda r: _free(r.response_format),
    "logprobs": lambda r: r.logprobs,
    "top_logprobs": lambda r: r.top_logprobs,
    "presence_penalty": lambda r: _number(r.presence_penalty),
    "frequency_penalty": lambda r: _number(r.frequency_penalty),
    "reasoning_effort": lambda r: r.reasoning_effort,
    "gateway.purpose": lambda r: r.purpose,
    "gateway.sources": lambda r: sorted(r.sources) or None,
}


class Fingerprint(Struct, frozen=True):
    """What identifies a request, without its content."""

    version: int
    digest: str
    """Hexadecimal SHA-256 over the endpoint and all fields."""
    fields: dict[str, str]
    """A short digest per field that was sent, so that a conflict can name the fields."""


def fingerprint(request: Request, endpoint: str, version: int = CURRENT_VERSION) -> Fingerprint:
    """Fingerprint of a request to an endpoint.

    :raises KeyError: for a version that was never published.
    """
    sent = {name: value for name, extract in _VERSIONS[version].items() if (value := extract(request)) is not None}
    fields = {name: hashlib.sha256(_canonical.encode(value)).hexdigest()[:16] for name, value in sent.items()}
    digest = hashlib.sha256(_canonical.encode([version, endpoint, sent])).hexdigest()
    return Fingerprint(version=version, digest=digest, fields=fields)


def differing_fields(stored: Fingerprint, asked: Fingerprint) -> tuple[str, ...]:
    """Names of the fields in which two fingerprints of one version differ."""
    names = stored.fields.keys() | asked.fields.keys()
    return tuple(sorted(n for n in names if stored.fields.get(n) != asked.fields.get(n)))


def _number(value: float | None) -> float | None:
    """Adding 0.0 turns -0.0 into 0.0, which means the same to every provider."""
    return None if value is None else value + 0.0


def _free(value: Any) -> Any:
    """Structs that hold JSON of the caller: 1 equals 1.0 there too. None stays None."""
    return None if value is None else _one_spelling(msgspec.to_builtins(value))


def _one_spelling(value: Any) -> Any:
    if isinstance(value, float) and value.is_integer() and -(2.0**63) <= value < 2.0**64:
        return int(value)
    if isinstance(value, dict):
        return {name: _one_spelling(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_one_spelling(inner) for inner in value]
    return value


_VERSIONS: Mapping[int, Mapping[str, Callable[[Request], Any]]] = {1: _FIELDS_V1}
