"""The shape of every answer to those who administer (openapi_answers.py has the others, and says what they are for)."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from gateway.api.openapi_answers import Cost, Micros, OperationView
from gateway.domain.fault import Fault
from gateway.domain.profile_state import MarkKind, ProfileState, Shortfall
from gateway.domain.questions import FailedCheck
from gateway.ports.reads import StrandedHold
from gateway.ports.transport import ReadinessState
from gateway.service.facts import Fact


class OperationRow(OperationView, frozen=True, kw_only=True):
    """The same with its owner, for operators."""

    tenant: str
    principal: str


class OperationPage(Struct, frozen=True):
    """Operations, newest first."""

    object: Literal["list"]
    data: tuple[OperationRow, ...]
    has_more: bool


class KeyView(Struct, frozen=True, kw_only=True):
    """A credential of a service account, without its token."""

    id: str
    tenant: str
    principal: str
    label: str
    active: bool
    created_us: Micros


class NewKey(KeyView, frozen=True, kw_only=True):
    """The same with its token, this once."""

    token: str


class KeyPage(Struct, frozen=True):
    """Keys, newest first."""

    object: Literal["list"]
    data: tuple[KeyView, ...]
    has_more: bool


class SourceView(Struct, frozen=True, kw_only=True):
    """A source as the directory has it."""

    id: str
    tenant: str
    groups: tuple[str, ...]
    privacy_class: str
    revision: str
    released: Annotated[str, Meta(extra_json_schema={"format": "date-time"})] | None
    withdrawn: bool
    as_of: Annotated[str, Meta(extra_json_schema={"format": "date-time"})]
    version: int


class SourcePage(Struct, frozen=True):
    """Sources, by id."""

    object: Literal["list"]
    data: tuple[SourceView, ...]
    has_more: bool


class Differences(Struct, frozen=True):
    """What does not add up, a sentence each; empty if the ledger adds up."""

    differences: tuple[str, ...]


class StrandedList(Struct, frozen=True):
    """Holds of unknown outcomes, oldest first."""

    object: Literal["list"]
    data: tuple[StrandedHold, ...]


class ScopeName(Struct, frozen=True):
    """One account."""

    kind: Literal["tenant", "quota_scope", "profile"]
    id: str


Limit = int | Literal["unlimited"] | None


class Windowed(Struct, frozen=True):
    """What counts in the window that runs now; ``limit`` null where the registry has no such scope."""

    used: int
    limit: Limit
    ends_us: Micros


class Slots(Struct, frozen=True):
    """Calls at once."""

    used: int
    stranded: int
    limit: Limit


class Sum(Struct, frozen=True):
    """Tokens and what they cost."""

    tokens: int
    cost: Cost


class ScopeUsageView(Struct, frozen=True, kw_only=True):
    """What one scope has used, beside its limits."""

    scope: ScopeName
    requests_per_minute: Windowed
    tokens_per_minute: Windowed
    tokens_per_day: Windowed
    tokens_per_month: Windowed
    cost_per_month: Windowed
    concurrency: Slots
    held: Sum
    debt: Sum


class UsageList(Struct, frozen=True):
    """What each budget has used."""

    object: Literal["list"]
    currency: str
    data: tuple[ScopeUsageView, ...]


class OutcomeRow(Struct, frozen=True, kw_only=True):
    """Attempts of one profile that came to the same, and what of them counts; costs in micro-units of the currency."""

    profile: str
    outcome: Literal[
        "granted",
        "dispatching",
        "completed",
        "content_filter",
        "no_effect",
        "charged",
        "unknown",
        "released",
        "closed",
    ]
    attempts: int
    at_reservation: int
    input: int
    output: int
    cost: int


class OutcomeList(Struct, frozen=True):
    """What attempts came to, in the order of profiles and outcomes."""

    object: Literal["list"]
    currency: str
    since: str
    data: tuple[OutcomeRow, ...]


class DecisionView(Struct, frozen=True, kw_only=True):
    """A decision of policy, with what it failed on."""

    id: str
    object: Literal["decision"]
    entrypoint: str
    policy_revision: str
    question_digest: str
    at_us: Micros
    event: Literal["granted", "disclosed", "refused"]
    code: str
    tenant: str
    principal: str
    operation_id: str | None
    failed: tuple[FailedCheck, ...]


class RevisionView(Struct, frozen=True):
    """What is in force."""

    registry_digest: str
    policy_revision: str


class ReloadView(Struct, frozen=True):
    """What was in force, what is now, and what the files were warned of."""

    object: Literal["reload"]
    earlier: RevisionView
    now: RevisionView
    warnings: tuple[Fault, ...]


class MarkView(Struct, frozen=True, kw_only=True):
    """Why a profile takes no new work."""

    state: MarkKind
    reason: str
    by: str
    since_us: Micros
    dispatch_id: str | None
    profile_digest: str
    shortfall: Shortfall | None


class ReadinessView(Struct, frozen=True):
    """What a probe found, and until when that counts."""

    state: ReadinessState
    reason: str
    since_us: Micros | None
    until_us: Micros | None
    shortfall: Shortfall | None


class ProfileRow(Struct, frozen=True, kw_only=True):
    """A profile: whether it serves, and which facts of it are attested."""

    id: str
    kind: Literal["hosted", "self_hosted"]
    adapter: str
    serves: bool
    state: ProfileState
    marks: tuple[MarkView, ...]
    readiness: ReadinessView
    facts: tuple[Fact, ...]


class ProfileList(Struct, frozen=True):
    """Every profile of the registry, by id."""

    object: Literal["list"]
    data: tuple[ProfileRow, ...]
