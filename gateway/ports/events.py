"""What happened, for metrics and logs. Closed structs of ids and codes: there is no free text to leak (G11)."""

from typing import Literal, Protocol

from msgspec import Struct

from gateway.domain.engine_times import EngineTimes
from gateway.domain.operation import State
from gateway.domain.profile_state import Shortfall
from gateway.domain.refusal import Code
from gateway.ports.reads import ScopeSums

Stage = Literal["look_up", "authorise", "select", "count", "reserve", "engine", "persist", "hand_over"]
"""Steps of the path, by what takes the time in them: ``count`` is bound, ``engine`` is execute, T2 with the call."""


class Answered(Struct, frozen=True):
    """A caller got an answer."""

    replayed: bool
    seconds: float


class Refused(Struct, frozen=True):
    """A caller got a refusal."""

    code: Code
    seconds: float


class Walked(Struct, frozen=True):
    """A walk along the path ended, however it ended. A request walks more than once where T1 sends it back."""

    stages: tuple[tuple[Stage, float], ...]
    """Seconds of each step that was taken, in their order."""
    profile: str
    """Whose engine was called; empty: none."""
    engine: EngineTimes | None
    """What that engine says of its own time."""


class Dispatched(Struct, frozen=True):
    """A dispatch ended; ``seconds`` run from its grant to its settlement."""

    profile: str
    state: State
    detail: str
    seconds: float


class UsageAboveCount(Struct, frozen=True):
    """A provider reports more input than was counted: the profile's counter or its allowances are too low."""

    profile: str
    tokens: int
    """Above the count."""


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


class Sampled(Struct, frozen=True):
    """A look at the process, once a second."""

    loop_lag_s: float
    """How much later than asked for the event loop woke up."""
    queued: int
    """Transitions that wait for the writer."""
    running: int
    """Attempts that have a task."""
    unsaved_bytes: int
    """Answers that the ledger has not taken yet."""


class Accounted(Struct, frozen=True):
    """What profiles and quota scopes of the registry count, every few seconds. All of them: others have gone."""

    scopes: tuple[ScopeSums, ...]


class ReadinessChanged(Struct, frozen=True):
    """A profile's readiness changed."""

    profile: str
    state: str
    reason: str
    shortfall: Shortfall | None = None
    """What was promised and what the engine reports, where the reason is that it is less."""


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
    | Walked
    | Dispatched
    | UsageAboveCount
    | Decided
    | Recalled
    | Denied
    | Reloaded
    | Committed
    | Sampled
    | Accounted
    | ReadinessChanged
    | AttemptsSwept
    | Faulted
)


class Events(Protocol):
    """Takes events. Never raises and never blocks."""

    def emit(self, event: Event) -> None: ...
