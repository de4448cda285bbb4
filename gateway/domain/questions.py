"""What is asked of policy, and what it answers.

Every field of a question is required, none is unique to a request, and none is there that no rule reads.
Answers are closed: one more or one missing field makes the decision unavailable, never an "allow".
"""

from msgspec import Struct

from gateway.domain.source import SourceFact


class AccessQuestion(Struct, frozen=True, kw_only=True):
    """May this principal ask this, from these sources, now?"""

    time_s: int
    tenant: str
    groups: tuple[str, ...]
    purpose: str
    alias: str
    sources: tuple[SourceFact, ...]


class RoutesQuestion(Struct, frozen=True, kw_only=True):
    """Which approved profiles of the bundle may serve it, best first?"""

    time_s: int
    tenant: str
    alias: str
    bundle: str
    privacy_class: str


class ReplayQuestion(Struct, frozen=True, kw_only=True):
    """May this principal see this saved answer today? With the original sources under today's facts."""

    time_s: int
    tenant: str
    groups: tuple[str, ...]
    purpose: str
    sources: tuple[SourceFact, ...]


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


class Decision(Struct, frozen=True, kw_only=True):
    """What is kept of a decision in the audit: never the question itself."""

    id: str
    entrypoint: str
    revision: str
    question_digest: str
    """Hexadecimal SHA-256 of the question's canonical JSON."""
