"""Refusals in the OpenAPI document: one response for each status of a route, with the codes that it may carry there."""

from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import UNSET, Struct, UnsetType

from gateway.domain.fault import Fault
from gateway.domain.refusal import MEANINGS, Code
from gateway.domain.worksheets.fields import EntryFault

OTHER_STATUSES: Mapping[Code, Mapping[int, str]] = {
    Code.INVALID_VALUE: {422: "out of range"},
    Code.OUTCOME_UNKNOWN: {502: "at the first answer", 504: "at its deadline"},
    Code.POLICY_UNAVAILABLE: {502: "where the answer is stored already"},
    Code.LEDGER_UNAVAILABLE: {502: "where the answer is stored already"},
}
"""Further statuses of a code, and when (gateway/domain/refusal.py says why)."""
_ONLY_OF_A_GENERATION = frozenset({502, 504})
HTML = "text/html"


class OpenAiError(Struct, frozen=True):
    """What OpenAI's clients read."""

    message: str
    type: str
    code: str
    param: str | None


class PolicyCheck(Struct, frozen=True):
    """A check of policy that refused; ``source`` is the index of one of the caller's own sources."""

    code: str
    remedy: str
    source: int | UnsetType = UNSET


class Problem(Struct, frozen=True, kw_only=True):
    """A refusal, by RFC 9457. It repeats no text of the request, and none of a provider."""

    type: str
    title: str
    status: int
    detail: str | UnsetType = UNSET
    code: Code
    remedy: str
    error: OpenAiError
    fields: tuple[str, ...] | UnsetType = UNSET
    policy_codes: tuple[PolicyCheck, ...] | UnsetType = UNSET
    decision: str | UnsetType = UNSET
    operation_id: str | UnsetType = UNSET
    retry_after_s: int | UnsetType = UNSET
    facts: dict[str, Any] | UnsetType = UNSET
    faults: tuple[Fault, ...] | UnsetType = UNSET
    entries: tuple[EntryFault, ...] | UnsetType = UNSET


def statuses(code: Code) -> dict[int, str]:
    """Every status that a code may come with; the usual one first, without a word."""
    return {MEANINGS[code].status: "", **OTHER_STATUSES.get(code, {})}


def refusals(codes: Iterable[Code], *, generates: bool, is_page: bool, problem: Mapping[str, Any]) -> dict[str, Any]:
    """The responses of a route that may refuse with these codes.

    :param generates: whether it asks for a generation, whose outcome may be unknown.
    :param is_page: whether people get them as a page.
    :param problem: reference to the schema of ``Problem``.
    """
    by_status: dict[int, list[Code]] = {}
    for code in codes:
        for status in statuses(code):
            if generates or status not in _ONLY_OF_A_GENERATION:
                by_status.setdefault(status, []).append(code)
    found = {str(status): _response(status, by_status[status], problem) for status in sorted(by_status)}
    if is_page:
        for response in found.values():
            response["content"][HTML] = {"schema": {"type": "string"}}
    return found


def _response(status: int, codes: list[Code], problem: Mapping[str, Any]) -> dict[str, Any]:
    only_these = {"properties": {"status": {"const": status}, "code": {"enum": [code.value for code in codes]}}}
    content: dict[str, Any] = {"application/problem+json": {"schema": {"allOf": [problem, only_these]}}}
    if status == 400:
        # The head itself was not readable, so nobody asked a route (docs/api.md, bounds of a connection).
        content["text/plain"] = {"schema": {"type": "string"}}
    return {
        "description": "\n".join(f"- `{code}`: {MEANINGS[code].sentence} {MEANINGS[code].remedy}" for code in codes),
        "headers": _headers(status, codes),
        "content": content,
    }


def _headers(status: int, codes: list[Code]) -> dict[str, Any]:
    names = ["Operation-Id", "Operation-State", "Idempotent-Replayed", "Retry-After", "x-should-retry"]
    if Code.OPERATION_IN_PROGRESS in codes:
        names.append("Location")
    found: dict[str, Any] = {name: {"$ref": f"#/components/headers/{name}"} for name in names}
    if status == 401:
        found["WWW-Authenticate"] = {"$ref": "#/components/headers/WWW-Authenticate"}
    return found
