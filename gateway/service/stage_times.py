"""Where the time of one walk along the path goes: one reading of the clock at the end of each step."""

from collections.abc import Awaitable
from typing import TypeVar

from gateway.domain.engine_times import EngineTimes
from gateway.domain.outcome import Completed, Outcome
from gateway.domain.profile import Profile
from gateway.ports.clock import Clock
from gateway.ports.events import Stage, Walked

T = TypeVar("T")


class StageTimes:
    """The steps of one walk, each measured from the end of the one before."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._took: list[tuple[Stage, float]] = []
        self._profile = ""
        self._engine: EngineTimes | None = None
        self._last_s = clock.boot_s()

    async def of(self, stage: Stage, step: Awaitable[T]) -> T:
        """What the step comes to."""
        result = await step
        now_s = self._clock.boot_s()
        self._took.append((stage, now_s - self._last_s))
        self._last_s = now_s
        return result

    def engine(self, profile: Profile, outcome: Outcome) -> None:
        """Right after the call: whose it was, and what the engine says of its own time."""
        self._profile = profile.id
        if isinstance(outcome, Completed) and outcome.times is not None:
            _, call_s = self._took[-1]
            self._engine = outcome.times.within(call_s)

    def seen(self) -> Walked:
        """All of it, as an event."""
        return Walked(tuple(self._took), self._profile, self._engine)
