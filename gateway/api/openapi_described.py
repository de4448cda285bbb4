"""What the OpenAPI document must know of a route, and which refusals go together."""

from typing import Any

from msgspec import Struct

from gateway.api.chat_body import ChatBody
from gateway.domain.refusal import Code

OPERATION_HEADERS = ("Operation-Id", "Operation-State", "Bundle-Digest", "Policy-Revision")

KNOWN = (Code.UNAUTHENTICATED, Code.INTERNAL_ERROR)
BODY = (
    Code.QUERY_NOT_ALLOWED,
    Code.BODY_TOO_LARGE,
    Code.BODY_TIMEOUT,
    Code.MALFORMED_BODY,
    Code.UNKNOWN_FIELD,
    Code.INVALID_VALUE,
)
QUERY = (Code.UNKNOWN_FIELD, Code.INVALID_VALUE)
ADMIN = (*KNOWN, Code.OPERATOR_REQUIRED, Code.POLICY_UNAVAILABLE, Code.LEDGER_UNAVAILABLE)
ACT = (*ADMIN, *BODY, Code.UNKNOWN_OPERATION, Code.ACT_NOT_LEGAL, Code.ACT_TOO_EARLY)
PATH = (Code.NOT_FOUND,)
"""Where a segment of the path is the caller's: an empty one, or one with a slash, is another path."""
PROFILE_ACT = (*ADMIN, *BODY, *PATH, Code.UNKNOWN_PROFILE, Code.PROFILE_ACT_NOT_LEGAL)
GENERATION = (
    *KNOWN,
    *BODY,
    Code.OPERATION_KEY_REQUIRED,
    Code.OPERATION_KEY_INVALID,
    Code.STREAM_UNSUPPORTED,
    Code.NOT_A_TENANT_PRINCIPAL,
    Code.DRAINING,
    Code.OPERATION_KEY_REUSED,
    Code.OPERATION_IN_PROGRESS,
    Code.OUTCOME_UNKNOWN,
    Code.OPERATION_CLOSED,
    Code.BUNDLE_SUPERSEDED,
    Code.REPLAY_SOURCE_FORBIDDEN,
    Code.REPLAY_FORBIDDEN,
    Code.RESULT_EXPIRED,
    Code.UNKNOWN_MODEL,
    Code.ACCESS_DENIED,
    Code.NO_ROUTE_ALLOWED,
    Code.NO_READY_ROUTE,
    Code.STRANDED,
    Code.OUTPUT_EXCEEDS_PROFILE,
    Code.CONTEXT_EXCEEDED,
    Code.UNCOUNTABLE_INPUT,
    Code.CONTROL_TOKEN,
    Code.BUDGET_EXHAUSTED,
    Code.CONCURRENCY_EXHAUSTED,
    Code.NOT_STARTED,
    Code.PROVIDER_UNREACHABLE,
    Code.PROVIDER_BUSY,
    Code.PROVIDER_REJECTED,
    Code.PROVIDER_FAILED_CHARGED,
    Code.POLICY_UNAVAILABLE,
    Code.LEDGER_UNAVAILABLE,
)

EVERYWHERE = (Code.NOT_FOUND, Code.METHOD_NOT_ALLOWED)
"""Refusals of what is no route at all: no operation of the document has them to itself."""


class Described(Struct, frozen=True, kw_only=True):
    """One method of one path."""

    method: str
    path: str
    id: str
    """Stable name, from which clients make the name of a function."""
    summary: str
    answer: type[Any]
    status: int = 200
    also: int | None = None
    """Another status with the same answer."""
    media: str = "application/json"
    credential: bool = True
    body: type[Any] | None = None
    query: type[Any] | None = None
    codes: tuple[Code, ...] = ()
    headers: tuple[str, ...] = ()
    """Headers that its answer always has."""
    is_page: bool = False
    """Also a page, for people: its body is a form, and whoever does not ask for JSON gets HTML, refusals too."""

    @property
    def generates(self) -> bool:
        return self.body is ChatBody

    @property
    def tag(self) -> str:
        head = self.path.split("/")[1]
        return head if head in ("v1", "admin", "worksheets") else "process"

    @property
    def body_media(self) -> str:
        return "application/x-www-form-urlencoded" if self.is_page else "application/json"
