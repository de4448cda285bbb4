"""Whether a profile may serve at all, whatever its engine shows: marks that a person or the gateway sets.

A profile without a mark serves. The two marks are independent: one that was drained and then found to be something
else stays drained when its quarantine ends. A mark belongs to the profile's id and outlives restarts, reloads and
good probes; only a person takes it away (docs/adr/0022).
"""

from collections.abc import Iterable
from typing import Literal

from msgspec import Struct

from gateway.domain.outcome import Charged, Outcome

MarkKind = Literal["draining", "quarantined"]
ProfileState = Literal["serving", "draining", "quarantined"]
ProfileActKind = Literal["drain", "resume", "release"]
"""What a person does: drain takes new work away, resume gives it back, release ends a quarantine."""

CONVICTING = frozenset({"other_model", "other_fingerprint"})
"""Outcomes that prove that the engine is not what was approved."""


class Shortfall(Struct, frozen=True):
    """An engine reports less than the registry promises of it. What is counted is what the reason beside it says."""

    promised: int
    reported: int


class Mark(Struct, frozen=True, kw_only=True):
    """Why a profile takes no new work. Times are microseconds UTC."""

    profile: str
    kind: MarkKind
    profile_digest: str
    """Of the contents that the profile had then."""
    reason: str
    """A person's words; of a quarantine a code of the probe, of the canary or of an outcome."""
    who: str
    """tenant/principal, or the gateway."""
    since_us: int
    dispatch_id: str | None = None
    """The dispatch whose answer proved it; None: a probe did, or a person."""
    shortfall: Shortfall | None = None
    """Of a quarantine, where the engine reports less than was promised."""


THE_GATEWAY = "gateway"
"""``who`` of a mark that nobody asked for."""


class ProfileAct(Struct, frozen=True, kw_only=True):
    """One act of a person."""

    kind: ProfileActKind
    profile: str
    profile_digest: str
    words: str
    """The reason, kept in the audit."""


class Quarantine(Struct, frozen=True, kw_only=True):
    """What the gateway found."""

    profile: str
    profile_digest: str
    reason: str
    dispatch_id: str | None = None
    shortfall: Shortfall | None = None


class ActNotLegal(Struct, frozen=True):
    """The profile is in this state, from which the act is not possible."""

    state: ProfileState


SETS: dict[ProfileActKind, tuple[MarkKind, bool]] = {
    "drain": ("draining", True),
    "resume": ("draining", False),
    "release": ("quarantined", False),
}
"""Which mark an act is about, and whether it is there afterwards."""


def state_of(marks: Iterable[Mark]) -> ProfileState:
    """The state of a profile with these marks. A quarantine is the graver one."""
    kinds = {mark.kind for mark in marks}
    return "quarantined" if "quarantined" in kinds else "draining" if kinds else "serving"


def convicts(outcome: Outcome) -> bool:
    """Whether an answer proves that the engine is not the approved one."""
    return isinstance(outcome, Charged) and outcome.reason in CONVICTING
