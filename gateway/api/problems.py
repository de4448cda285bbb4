"""A refusal as RFC 9457 problem+json, which also carries OpenAI's ``error`` object for its clients."""

from typing import Any

import msgspec
from starlette.responses import Response

from gateway.domain.refusal import Code, PolicyCode, Refusal

_encode = msgspec.json.Encoder().encode
_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    429: "rate_limit_error",
}


def status_of(refusal: Refusal) -> int:
    return refusal.status or refusal.meaning.status


def problem(refusal: Refusal, *, for_administrators: bool = False) -> Response:
    """The answer to a refused request. Faults of files are shown to administrators alone."""
    status = status_of(refusal)
    headers: dict[str, str] = {}
    if refusal.operation_id is not None:
        headers["Operation-Id"] = refusal.operation_id
    if refusal.operation_state is not None:
        headers["Operation-State"] = refusal.operation_state
    if refusal.replayed:
        headers["Idempotent-Replayed"] = "true"
    retry = refusal.meaning.retry if refusal.retry is None else refusal.retry
    if not retry:
        headers["x-should-retry"] = "false"
    if refusal.retry_after_s is not None:
        headers["Retry-After"] = str(refusal.retry_after_s)
    if refusal.code is Code.OPERATION_IN_PROGRESS:
        headers["Location"] = f"/v1/operations/{refusal.operation_id}"
    if refusal.code is Code.UNAUTHENTICATED:
        headers["WWW-Authenticate"] = "Bearer"
    document = _document(refusal, status)
    if for_administrators and refusal.faults:
        document["faults"] = refusal.faults
    return Response(_encode(document), status, headers, media_type="application/problem+json")


def _document(refusal: Refusal, status: int) -> dict[str, Any]:
    meaning, detail = refusal.meaning, _detail(refusal)
    document: dict[str, Any] = {
        "type": f"urn:policy-gateway:problem:{refusal.code}",
        "title": meaning.sentence,
        "status": status,
        "code": refusal.code,
        "remedy": meaning.remedy,
        "error": {
            "message": " ".join(part for part in (meaning.sentence, detail, meaning.remedy) if part),
            "type": _TYPES.get(status, "invalid_request_error" if status < 500 else "api_error"),
            "code": refusal.code,
            "param": refusal.param,
        },
    }
    if detail:
        document["detail"] = detail
    if refusal.fields:
        document["fields"] = refusal.fields
    if refusal.entries:
        document["entries"] = refusal.entries
    if refusal.policy_codes:
        document["policy_codes"] = [
            {"code": code.code, "remedy": code.remedy} | ({} if code.source is None else {"source": code.source})
            for code in refusal.policy_codes
        ]
    if refusal.decisions:
        # An id and no more: whoever looks after policy can look it up (GET /admin/decisions).
        document["decision"] = refusal.decisions[-1].id
    if refusal.operation_id is not None:
        document["operation_id"] = refusal.operation_id
    if refusal.retry_after_s is not None:
        document["retry_after_s"] = refusal.retry_after_s
    if refusal.facts is not None:
        document["facts"] = refusal.facts
    return document


def _detail(refusal: Refusal) -> str:
    """What this refusal is about in particular: names, numbers and codes, never a value of the request."""
    names = refusal.fields or ((refusal.param,) if refusal.param else ())
    word = ("Parameter" if refusal.in_query else "Field") + ("s" if len(names) > 1 else "")
    about = f"{word}: {', '.join(names)}." if names else ""
    facts = [f"{name[:1].upper()}{name[1:]}: {value}." for name, value in (refusal.facts or {}).items()]
    return " ".join(part for part in (about, *facts, *map(_policy_code, refusal.policy_codes)) if part)


def _policy_code(code: PolicyCode) -> str:
    source = "" if code.source is None else f" (source {code.source})"
    return f"{code.code}{source}: {code.remedy}"
