"""What a run is asked for, what it came to, and whether that shows anything."""

from collections import Counter
from collections.abc import Callable, Iterator

from msgspec import Struct, field

from gateway.testkit.faults.plan import PLACES, Failpoint, Place, aimed_at, round_plan

SCOPES = ("tenant", "quota_scope", "profile")
LEAST_COMPLETED = 0.15
"""Share of the operations that must have been completed, of those that got past their first transaction: a gateway
that refuses everything breaks nothing."""
STRUCK_A_ROUND = 10
"""Far fewer than a round strikes. A run that takes more rounds than this needs will never end."""


class Wanted(Struct, frozen=True, kw_only=True):
    """What a run is to do. It ends when all of it is reached, or with the first violation if it has a bug."""

    operations: int
    """Operations to strike."""
    seed: int
    least: int = 1
    """How often every failpoint must fire; 0 asks for none."""
    bug: str | None = None
    rounds: Callable[[int, int], tuple[Failpoint, ...]] = round_plan
    """Failpoints of a round, by seed and number."""

    @property
    def most_rounds(self) -> int:
        """After so many the run ends, and says what it has not reached."""
        return 10 + self.operations // STRUCK_A_ROUND + 4 * self.least * len(PLACES)


class Tally(Struct, kw_only=True):
    """What a run came to."""

    rounds: int = 0
    operations: int = 0
    struck: int = 0
    in_flight: int = 0
    """Operations that were in flight when a strike came."""
    misbehaved: int = 0
    """Operations whose provider misbehaved."""
    requests: int = 0
    """That reached the provider's generation endpoint."""
    fired: Counter[Place] = field(default_factory=Counter)
    behaviours: Counter[str] = field(default_factory=Counter)
    states: Counter[str] = field(default_factory=Counter)
    short: Counter[str] = field(default_factory=Counter)
    """Calls that were refused for want of budget, by the kind of scope that was short."""
    replays: int = 0
    acts: int = 0
    seconds: float = 0.0
    violations: list[str] = field(default_factory=list)

    def not_fired(self, least: int) -> list[Place]:
        """Failpoints that have fired less often."""
        return [place for place in PLACES if self.fired[place] < least]


def next_round(wanted: Wanted, tally: Tally) -> tuple[Failpoint, ...]:
    """As planned; and once enough is struck, aimed at what a race has kept from firing."""
    missing = tally.not_fired(wanted.least)
    if tally.struck >= wanted.operations and missing:
        return aimed_at(missing, wanted.seed, tally.rounds)
    return wanted.rounds(wanted.seed, tally.rounds)


def is_reached(wanted: Wanted, tally: Tally) -> bool:
    """Whether the run may end."""
    if tally.rounds >= wanted.most_rounds or (wanted.bug is not None and tally.violations):
        return True
    return tally.struck >= wanted.operations and not tally.not_fired(wanted.least)


def shortfalls(wanted: Wanted, tally: Tally) -> Iterator[str]:
    """A run that has not struck where it should, or in which nothing worked, has shown nothing."""
    for place in tally.not_fired(wanted.least):
        yield f"proof: {place} fired {tally.fired[place]} times, wanted are {wanted.least}"
    if tally.struck < wanted.operations:
        yield f"proof: {tally.struck} operations were struck, wanted are {wanted.operations}"
    begun = tally.states.total()
    if tally.states["completed"] < LEAST_COMPLETED * begun:
        yield f"proof: {tally.states['completed']} of {begun} operations completed"
    for scope in SCOPES:
        if wanted.least and not tally.short[scope]:
            yield f"proof: no limit of a {scope} has refused anybody"
