"""What happened, for metrics and logs. Closed structs of ids and codes: there is no free text to leak (G11)."""

from typing import Literal, Protocol

from msgspec import Struct

from gateway.domain.operation import State
from gateway.domain.refusal import Code


class Answered(Struct, frozen=True):
    """A caller got an answer."""

    replayed: bool
    seconds: float


class Refused(Struct, frozen=True):
    """A caller got a refusal."""

    code: Code
    seconds: float


class Dispatched(Struct, frozen=True):
    """A dispatch ended; ``seconds`` run from its grant to its settlement."""

    profile: str
    state: State
    detail: str
    seconds: float


class Decided(Struct, frozen=True):
    """OPA was asked. ``failure`` is empty, or the reason of PolicyUnavailable."""

    entrypoint: str
    failure: str
    waited_s: float
    """Of ``seconds``: before its turn, while others were in flight."""
    seconds: float


class Recalled(Struct, frozen=True):
    """OPA was not asked, because the same was asked before, or is being asked."""

    entrypoint: str
    found: Literal["decided", "in_flight"]


class Denied(Struct, frozen=True):
    """Policy said no. One event for each code."""

    entrypoint: str
    code: str


class Reloaded(Struct, frozen=True):
    """Somebody asked for a reload. ``taken`` False: what served goes on serving."""

    taken: bool


class Committed(Struct, frozen=True):
    """The writer committed a batch."""

    transitions: int
    seconds: float


class ReadinessChanged(Struct, frozen=True):
    """A profile's readiness changed."""

    profile: str
    state: str
    reason: str


class AttemptsSwept(Struct, frozen=True):
    """A sweep resolved attempts without a task. By dispatch id, which is what a provider saw too."""

    released: tuple[str, ...]
    unknown: tuple[str, ...]


class Faulted(Struct, frozen=True):
    """Something broke that has no value for it. ``where`` and ``kind`` are names from the code."""

    where: str
    kind: str


Event = (
    Answered
    | Refused
    | Dispatched
    | Decided
    | Recalled
    | Denied
    | Reloaded
    | Committed
    | ReadinessChanged
    | AttemptsSwept
    | Faulted
)


class Events(Protocol):
    """Takes events. Never raises and never blocks."""

    def emit(self, event: Event) -> None: ...
