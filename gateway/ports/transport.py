"""One request to one profile, once; and whether that profile is what it should be."""

from typing import Literal, Protocol

from msgspec import Struct

from gateway.domain.grant import Dispatch
from gateway.domain.outcome import Outcome
from gateway.domain.profile import Profile

ReadinessState = Literal["unknown", "starting", "ready", "unready", "mismatch"]


class Readiness(Struct, frozen=True):
    """What a probe found. ``reason`` is one of a closed set, safe to show to an operator."""

    state: ReadinessState
    reason: str = ""


class Transport(Protocol):
    """Sends a dispatch exactly once and says what is known of its outcome."""

    async def send(self, dispatch: Dispatch) -> Outcome:
        """Raises nothing but CancelledError: what broke on the wire is an outcome."""


class Probe(Protocol):
    """Asks an engine who it is. Sends nothing of any request (promise G2)."""

    async def check(self, profile: Profile) -> Readiness: ...
