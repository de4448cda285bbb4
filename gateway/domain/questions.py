"""What is asked of policy, and what it answers.

Every field of a question is required, none is unique to a request, and none is there that no rule reads.
Answers are closed: one more or one missing field makes the decision unavailable, never an "allow".
"""

from typing import Literal

from msgspec import Struct

from gateway.domain.source import SourceFact

Area = Literal["keys", "ledger", "operations", "policy", "profiles", "registry", "sources"]
"""What an administrator works on."""
Deed = Literal["read", "change"]


class AccessQuestion(Struct, frozen=True, kw_only=True):
    """May this principal ask this, from these sources, now?"""

    time_s: int
    tenant: str
    groups: tuple[str, ...]
    roles: tuple[str, ...]
    purpose: str
    alias: str
    sources: tuple[SourceFact, ...]


class RoutesQuestion(Struct, frozen=True, kw_only=True):
    """Which approved profiles of the bundle may serve it, best first?"""

    time_s: int
    tenant: str
    purpose: str
    alias: str
    bundle: str
    privacy_class: str
    features: tuple[str, ...]
    """Capabilities that the request needs; at least one."""


class ReplayQuestion(Struct, frozen=True, kw_only=True):
    """May this principal see this saved answer today? With the original sources under today's facts."""

    time_s: int
    tenant: str
    groups: tuple[str, ...]
    roles: tuple[str, ...]
    purpose: str
    sources: tuple[SourceFact, ...]


class VisibleQuestion(Struct, frozen=True, kw_only=True):
    """Which model aliases does this principal see?"""

    time_s: int
    tenant: str
    roles: tuple[str, ...]


class OperateQuestion(Struct, frozen=True, kw_only=True):
    """May this principal administer this?"""

    tenant: str
    roles: tuple[str, ...]
    area: Area
    deed: Deed


class Failed(Struct, frozen=True, forbid_unknown_fields=True):
    """Names of the checks that did not pass."""

    request: tuple[str, ...]
    source: dict[str, tuple[str, ...]]
    """By the index of the source, as a decimal string. A source that passed has an empty tuple."""


class AccessAnswer(Struct, frozen=True, forbid_unknown_fields=True):
    """``privacy_class`` is the highest of tenant, purpose and sources; empty where access is denied."""

    allow: bool
    privacy_class: str
    failed: Failed


class RoutesAnswer(Struct, frozen=True, forbid_unknown_fields=True):
    """Eligible profiles in the bundle's order, and for every profile of the bundle what failed."""

    routes: tuple[str, ...]
    failed: dict[str, tuple[str, ...]]


class ReplayAnswer(Struct, frozen=True, forbid_unknown_fields=True):
    """Whether the saved answer may be shown."""

    allow: bool
    failed: Failed


class VisibleAnswer(Struct, frozen=True, forbid_unknown_fields=True):
    """Aliases in alphabetical order; none where a check of the principal failed."""

    aliases: tuple[str, ...]
    failed: tuple[str, ...]
    """Names of request checks."""


class OperateAnswer(Struct, frozen=True, forbid_unknown_fields=True):
    """Whether the principal may administer."""

    allow: bool
    failed: tuple[str, ...]
    """Names of request checks."""


class FailedCheck(Struct, frozen=True, kw_only=True):
    """One check that did not pass, for those who look after policy. Callers see its code and remedy alone."""

    check: str
    """Level and name, such as route/region."""
    about: str
    """The index of the source, or the profile; empty for a check of the request."""
    code: str
    place: str
    """File and line of the rule below policies/, such as gateway/route/region/region.rego:9."""


class Decision(Struct, frozen=True, kw_only=True):
    """What is kept of a decision in the audit: never the question itself."""

    id: str
    """A uuid7 of its own for every use, also of a remembered decision."""
    entrypoint: str
    revision: str
    question_digest: str
    """Hexadecimal SHA-256 of the question's canonical JSON."""
    failed: tuple[FailedCheck, ...] = ()
    """As policy shows it: of a source that may not be read, only that."""
