"""Every "no" of the gateway: a stable code, a status, a sentence and a remedy.

docs/api.md lists them and a test holds the two together; every code has a scenario (docs/behaviours.md).
503 promises that this attempt had no effect. ``retry`` False makes OpenAI's SDK give up at once.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from msgspec import Struct

from gateway.domain.fault import Fault
from gateway.domain.questions import Decision
from gateway.domain.worksheets.fields import EntryFault


class Code(StrEnum):
    """Stable codes. Fields of the table: status, may the same request be tried again, sentence, remedy."""

    UNAUTHENTICATED = "unauthenticated"
    NOT_A_TENANT_PRINCIPAL = "not_a_tenant_principal"
    OPERATOR_REQUIRED = "operator_required"
    UNKNOWN_OPERATION = "unknown_operation"
    NOT_FOUND = "not_found"
    METHOD_NOT_ALLOWED = "method_not_allowed"
    BODY_TOO_LARGE = "body_too_large"
    BODY_TIMEOUT = "body_timeout"
    MALFORMED_BODY = "malformed_body"
    UNKNOWN_FIELD = "unknown_field"
    INVALID_VALUE = "invalid_value"
    QUERY_NOT_ALLOWED = "query_not_allowed"
    STREAM_UNSUPPORTED = "stream_unsupported"
    DRAINING = "draining"
    OPERATION_KEY_REQUIRED = "operation_key_required"
    OPERATION_KEY_INVALID = "operation_key_invalid"
    OPERATION_KEY_REUSED = "operation_key_reused"
    OPERATION_IN_PROGRESS = "operation_in_progress"
    OUTCOME_UNKNOWN = "outcome_unknown"
    OPERATION_CLOSED = "operation_closed"
    NOT_STARTED = "not_started"
    PROVIDER_UNREACHABLE = "provider_unreachable"
    PROVIDER_BUSY = "provider_busy"
    PROVIDER_REJECTED = "provider_rejected"
    PROVIDER_FAILED_CHARGED = "provider_failed_charged"
    BUNDLE_SUPERSEDED = "bundle_superseded"
    REPLAY_SOURCE_FORBIDDEN = "replay_source_forbidden"
    REPLAY_FORBIDDEN = "replay_forbidden"
    RESULT_EXPIRED = "result_expired"
    ACCESS_DENIED = "access_denied"
    NO_ROUTE_ALLOWED = "no_route_allowed"
    UNKNOWN_MODEL = "unknown_model"
    OUTPUT_EXCEEDS_PROFILE = "output_exceeds_profile"
    CONTEXT_EXCEEDED = "context_exceeded"
    UNCOUNTABLE_INPUT = "uncountable_input"
    CONTROL_TOKEN = "control_token"  # noqa: S105 - a code
    BUDGET_EXHAUSTED = "budget_exhausted"
    CONCURRENCY_EXHAUSTED = "concurrency_exhausted"
    NO_READY_ROUTE = "no_ready_route"
    STRANDED = "stranded"
    POLICY_UNAVAILABLE = "policy_unavailable"
    LEDGER_UNAVAILABLE = "ledger_unavailable"
    UNKNOWN_PRINCIPAL = "unknown_principal"
    UNKNOWN_TENANT = "unknown_tenant"
    UNKNOWN_KEY = "unknown_key"
    UNKNOWN_SOURCE = "unknown_source"
    UNKNOWN_DECISION = "unknown_decision"
    SOURCE_OF_OTHER_TENANT = "source_of_other_tenant"
    SOURCE_WITHDRAWN = "source_withdrawn"
    RELOAD_REFUSED = "reload_refused"
    RELOAD_WITHOUT_SERVER = "reload_without_server"
    UNKNOWN_PROFILE = "unknown_profile"
    PROFILE_ACT_NOT_LEGAL = "profile_act_not_legal"
    ACT_NOT_LEGAL = "act_not_legal"
    ACT_TOO_EARLY = "act_too_early"
    INTERNAL_ERROR = "internal_error"


class Meaning(Struct, frozen=True):
    """What a code says to a caller."""

    status: int
    retry: bool
    sentence: str
    remedy: str


MEANINGS: Mapping[Code, Meaning] = {
    Code.UNAUTHENTICATED: Meaning(
        401, False, "The credential is missing or not valid.", "Send a key of your service account as a Bearer token."
    ),
    Code.NOT_A_TENANT_PRINCIPAL: Meaning(
        403, False, "This credential may not generate.", "Use a service account of a tenant that has the role generate."
    ),
    Code.OPERATOR_REQUIRED: Meaning(403, False, "This needs the operator role.", "Use an operator's credential."),
    Code.UNKNOWN_OPERATION: Meaning(
        404, False, "There is no such operation of yours.", "Use the Operation-Id of an answer that you received."
    ),
    Code.NOT_FOUND: Meaning(404, False, "There is no such path.", "docs/api.md lists the paths."),
    Code.METHOD_NOT_ALLOWED: Meaning(
        405, False, "This path does not know that method.", "docs/api.md lists the methods of each path."
    ),
    Code.BODY_TOO_LARGE: Meaning(413, False, "The body is larger than the gateway reads.", "Send a shorter body."),
    Code.BODY_TIMEOUT: Meaning(408, False, "The body did not arrive in time.", "Send the whole body at once."),
    Code.MALFORMED_BODY: Meaning(
        400, False, "The body is not one well-formed JSON object.", "Send one JSON object in UTF-8, each key once."
    ),
    Code.UNKNOWN_FIELD: Meaning(
        400,
        False,
        "There is a field or parameter that the gateway does not know.",
        "Leave it out; docs/api.md lists the fields of each body and the parameters of each query.",
    ),
    Code.INVALID_VALUE: Meaning(
        400,
        False,
        "A field or parameter has a value that is not served.",
        "docs/api.md lists the type and range of each.",
    ),
    Code.QUERY_NOT_ALLOWED: Meaning(
        400, False, "This path takes no query parameters.", "Put every parameter into the body."
    ),
    Code.STREAM_UNSUPPORTED: Meaning(400, False, "Streaming is not served yet.", "Leave stream out, or send false."),
    Code.DRAINING: Meaning(
        503, True, "The gateway is shutting down and takes no new work.", "Try again; another instance answers."
    ),
    Code.OPERATION_KEY_REQUIRED: Meaning(
        400,
        False,
        "The header Idempotency-Key is missing.",
        "Send a fresh, random key for each new generation, and the same key when you repeat it.",
    ),
    Code.OPERATION_KEY_INVALID: Meaning(
        400, False, "The header Idempotency-Key is not 1 to 255 visible ASCII characters.", "Send for example a UUID."
    ),
    Code.OPERATION_KEY_REUSED: Meaning(
        422, False, "This key already belongs to a request with other parameters.", "Use a new key for a new request."
    ),
    Code.OPERATION_IN_PROGRESS: Meaning(
        409, True, "The operation under this key is still running.", "Ask again with the same key after Retry-After."
    ),
    Code.OUTCOME_UNKNOWN: Meaning(
        409,
        False,
        "The request may have been executed, and what became of it is not known.",
        "Look at the operation, or ask an operator to reconcile it. Use a new key only if it may happen twice.",
    ),
    Code.OPERATION_CLOSED: Meaning(
        409, False, "An operator has closed this operation.", "Use a new key if you still need an answer."
    ),
    Code.NOT_STARTED: Meaning(503, True, "The request was given back unsent.", "Try again with the same key."),
    Code.PROVIDER_UNREACHABLE: Meaning(
        503, True, "The provider could not be reached; nothing was sent.", "Try again with the same key."
    ),
    Code.PROVIDER_BUSY: Meaning(
        503,
        True,
        "The provider refused the request before any work, because it is busy.",
        "Try again with the same key.",
    ),
    Code.PROVIDER_REJECTED: Meaning(
        502,
        False,
        "The provider refused the request before any work.",
        "Ask an operator; the operation names the reason.",
    ),
    Code.PROVIDER_FAILED_CHARGED: Meaning(
        502,
        False,
        "The provider failed after work was done, and its cost was booked.",
        "Use a new key if you still need an answer.",
    ),
    Code.BUNDLE_SUPERSEDED: Meaning(
        409, False, "The bundle that this operation began with is no longer released.", "Use a new key."
    ),
    Code.REPLAY_SOURCE_FORBIDDEN: Meaning(
        403,
        False,
        "A source of the saved answer may not be read today.",
        "Ask the owner of the sources for access, or ask anew under a new key, citing the revisions in force.",
    ),
    Code.REPLAY_FORBIDDEN: Meaning(
        403, False, "The saved answer may not be shown to this principal today.", "See the policy codes of this answer."
    ),
    Code.RESULT_EXPIRED: Meaning(
        410, False, "The saved answer has expired.", "Use a new key if you need a new answer."
    ),
    Code.ACCESS_DENIED: Meaning(
        403, False, "Policy does not allow this request.", "See the policy codes of this answer."
    ),
    Code.NO_ROUTE_ALLOWED: Meaning(
        403,
        False,
        "Policy allows no profile of the released bundle for this request.",
        "See the policy codes of this answer.",
    ),
    Code.UNKNOWN_MODEL: Meaning(404, False, "There is no such model alias.", "Use an alias that your tenant may use."),
    Code.OUTPUT_EXCEEDS_PROFILE: Meaning(
        422, False, "More output is asked for than the profile allows.", "Lower max_tokens."
    ),
    Code.CONTEXT_EXCEEDED: Meaning(
        422, False, "Input and output together exceed the context window.", "Shorten the messages or lower max_tokens."
    ),
    Code.UNCOUNTABLE_INPUT: Meaning(
        422, False, "The input cannot be counted with the profile's counter.", "Send text only."
    ),
    Code.CONTROL_TOKEN: Meaning(
        422,
        False,
        "A text of the request contains a control token of the model's chat template.",
        "Remove it, or put a space into it: the model would read it as the start of another turn.",
    ),
    Code.BUDGET_EXHAUSTED: Meaning(
        429,
        True,
        "A budget has no room for this request; nothing was sent.",
        "Try again with the same key after Retry-After. Without it no waiting helps: ask for less, or an operator.",
    ),
    Code.CONCURRENCY_EXHAUSTED: Meaning(
        429,
        True,
        "As many calls as are allowed at once are running; nothing was sent.",
        "Try again with the same key after Retry-After. Without it no waiting helps: ask an operator.",
    ),
    Code.NO_READY_ROUTE: Meaning(503, True, "No approved profile is ready.", "Try again later with the same key."),
    Code.STRANDED: Meaning(
        503,
        True,
        "Every slot of the profile is held by a call whose outcome is not known.",
        "Ask an operator to close the unknown outcomes or to free their slots, and try again with the same key.",
    ),
    Code.POLICY_UNAVAILABLE: Meaning(
        503, True, "Policy could not be evaluated, so the request was refused.", "Try again later."
    ),
    Code.LEDGER_UNAVAILABLE: Meaning(503, True, "The ledger could not take the request.", "Try again later."),
    Code.UNKNOWN_PRINCIPAL: Meaning(
        404,
        False,
        "The registry has no such service account.",
        "Add it to the tenant in registry/tenants, and run: gateway reload",
    ),
    Code.UNKNOWN_TENANT: Meaning(
        404, False, "The registry has no such tenant.", "Add it below registry/tenants, and run: gateway reload"
    ),
    Code.UNKNOWN_KEY: Meaning(404, False, "There is no such key.", "gateway keys list shows the ids of all keys."),
    Code.UNKNOWN_SOURCE: Meaning(
        404, False, "The directory has no such source.", "gateway sources list shows them; a grant registers one."
    ),
    Code.UNKNOWN_DECISION: Meaning(
        404,
        False,
        "The audit has no such decision.",
        "Use the id that a refusal or the timeline of an operation names.",
    ),
    Code.SOURCE_OF_OTHER_TENANT: Meaning(
        409, False, "The source belongs to another tenant.", "Register it for this tenant under an id of its own."
    ),
    Code.SOURCE_WITHDRAWN: Meaning(
        409,
        False,
        "This revision of the source was withdrawn, which is for good.",
        "Grant it at another revision.",
    ),
    Code.RELOAD_REFUSED: Meaning(
        409,
        False,
        "The files cannot be put in force; what served before goes on serving.",
        "Mend the faults of this answer, and reload again.",
    ),
    Code.RELOAD_WITHOUT_SERVER: Meaning(
        409, False, "No server runs here, so there is nothing to reload.", "Run: gateway serve"
    ),
    Code.UNKNOWN_PROFILE: Meaning(
        404, False, "The registry has no such profile.", "gateway profiles list shows the ids of all profiles."
    ),
    Code.PROFILE_ACT_NOT_LEGAL: Meaning(
        409,
        False,
        "The profile is not in a state from which this is possible.",
        "Look at it with gateway profiles list: only a draining one is resumed, only a quarantined one released.",
    ),
    Code.ACT_NOT_LEGAL: Meaning(
        409,
        False,
        "The operation is not in a state from which this is possible.",
        "Look at the operation: only one whose outcome is unknown can be closed, and each slot is freed once.",
    ),
    Code.ACT_TOO_EARLY: Meaning(
        409,
        True,
        "The sender of this operation may still be sending.",
        "Try again after Retry-After, when its last deadline has passed, or write it off at the reserved amount.",
    ),
    Code.INTERNAL_ERROR: Meaning(
        500,
        False,
        "The gateway failed.",
        "Look at the operation before you repeat the request; tell the operator the time.",
    ),
}


class PolicyCode(Struct, frozen=True):
    """A check of policy that did not pass, as a caller may see it."""

    code: str
    remedy: str
    source: int | None = None
    """Index of the caller's own source that failed it."""


class Refusal(Struct, frozen=True, kw_only=True):
    """One "no", with nothing of the prompt and no secret in it."""

    code: Code
    status: int | None = None
    """Where it differs from the code's usual one: 504 for an outcome unknown at the deadline, 502 for one that
    is unknown at the first answer, 502 for a first answer that is stored but could not be handed over (a 503
    promises that nothing happened), 422 for a value that is out of range."""
    param: str | None = None
    """The field of the request that it is about."""
    fields: tuple[str, ...] = ()
    """Names of all fields concerned."""
    in_query: bool = False
    """Whether they are parameters of the query."""
    policy_codes: tuple[PolicyCode, ...] = ()
    retry_after_s: int | None = None
    retry: bool | None = None
    """Where it differs from the code's usual one."""
    operation_id: str | None = None
    operation_state: str | None = None
    replayed: bool = False
    decisions: tuple[Decision, ...] = ()
    """What policy decided on the way; kept in the audit, never shown."""
    facts: Mapping[str, Any] | None = None
    """Numbers that explain a bound, such as {"limit": 512, "asked": 600}, and words of the gateway's own."""
    faults: tuple[Fault, ...] = ()
    """Faults of files, for administrators alone."""
    entries: tuple[EntryFault, ...] = ()
    """Entries of a worksheet that are to be mended."""

    @property
    def meaning(self) -> Meaning:
        return MEANINGS[self.code]


class Answer(Struct, frozen=True, kw_only=True):
    """A stored answer on its way to a caller."""

    body: bytes
    operation_id: str
    replayed: bool
    bundle_digest: str
    policy_revision: str
