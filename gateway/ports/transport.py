"""One request to one profile, once; and whether that profile is what it should be."""

from typing import Literal, Protocol

from msgspec import Struct

from gateway.domain.grant import Dispatch
from gateway.domain.outcome import Outcome
from gateway.domain.profile import Profile
from gateway.domain.profile_state import Shortfall

ReadinessState = Literal["unknown", "starting", "ready", "unready", "mismatch", "draining", "quarantined"]
"""The last two are never a probe's: a person or the gateway has taken the profile out of service."""
Attested = Literal["alias", "model_file", "context", "slots", "version", "fingerprint", "prefix_cache", "kv_tokens"]
"""What an engine can say of itself. ``alias`` is the served model's id, ``context`` the tokens of one sequence,
``kv_tokens`` those of all sequences together that its KV cache holds."""


class Readiness(Struct, frozen=True):
    """What a probe found. ``reason`` is one of a closed set, safe to show to anybody."""

    state: ReadinessState
    reason: str = ""
    facts: tuple[Attested, ...] = ()
    """What the engine itself reported, and was compared with the profile. All else is only declared."""
    shortfall: Shortfall | None = None
    """Of a mismatch: the numbers, where the engine reports less than the registry promises. For administrators."""


class Transport(Protocol):
    """Sends a dispatch exactly once and says what is known of its outcome."""

    async def send(self, dispatch: Dispatch) -> Outcome:
        """Raises nothing but CancelledError: what broke on the wire is an outcome."""


class Probe(Protocol):
    """Asks an engine who it is. Sends nothing of any request (promise G2)."""

    async def check(self, profile: Profile) -> Readiness: ...
