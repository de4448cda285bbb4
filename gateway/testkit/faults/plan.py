"""What is struck, where and how: all of it a function of the seed.

A failpoint is a place and an action. Each round strikes one that ends the process, taken in turn so that none is
left to chance, and a few that do not. Places before and after a transition lie around the ports; ``statement``,
``commit`` and ``committed`` lie within the writer's transaction; ``send.after`` is where the provider has the request.
"""

import random
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from msgspec import Struct

Action = Literal["kill", "stop", "eio", "enospc", "slow"]
TRANSITIONS = ("t1", "t2", "t3", "sweep", "reconcile")

SHORT_STOP_S = 0.3
BEYOND_SEND_BY_S = 2.3
"""Longer than the send-by deadline."""
BEYOND_GRANT_S = 5.3
"""Longer than a grant lasts."""


class Place(Struct, frozen=True, order=True):
    """A failpoint: a point and what happens there."""

    point: str
    action: Action

    def __str__(self) -> str:
        return f"{self.point} {self.action}"


class Failpoint(Struct, frozen=True, kw_only=True):
    """A failpoint of one round: it strikes at the ``nth`` pass of its point, and ``times`` passes in a row."""

    point: str
    action: Action
    nth: int
    times: int = 1
    seconds: float = 0.0
    """How long the process is stopped, or a COMMIT takes."""

    @property
    def place(self) -> Place:
        return Place(self.point, self.action)


class ServerPlan(Struct, frozen=True, kw_only=True):
    """What the server's process is told."""

    log: str
    """File to which every strike is written before it happens."""
    failpoints: tuple[Failpoint, ...]
    bug: str | None = None


LETHAL: tuple[Place, ...] = (
    *(Place(f"{name}.{side}", "kill") for name in TRANSITIONS for side in ("before", "after", "committed")),
    *(Place(f"{name}.commit", "kill") for name in ("t1", "t2", "t3")),
    *(Place(f"{name}.commit", "enospc" if name in ("t1", "t3") else "eio") for name in TRANSITIONS),
    *(Place(f"{name}.committed", "eio") for name in TRANSITIONS),
    Place("send.before", "kill"),
    Place("send.after", "kill"),
    Place("receive", "kill"),
)
"""After these the process has ended, or ends by itself because a COMMIT failed."""

STOPS: Mapping[Place, float] = {
    Place("t1.after", "stop"): BEYOND_GRANT_S,
    Place("t2.before", "stop"): SHORT_STOP_S,
    Place("t2.after", "stop"): BEYOND_SEND_BY_S,
    Place("send.before", "stop"): BEYOND_SEND_BY_S,
    Place("send.after", "stop"): SHORT_STOP_S,
    Place("receive", "stop"): SHORT_STOP_S,
    Place("t3.before", "stop"): SHORT_STOP_S,
}
"""SIGSTOP, and SIGCONT after so many seconds."""

STATEMENTS: tuple[Place, ...] = tuple(
    Place(f"{name}.statement", action) for name in TRANSITIONS for action in ("eio", "enospc")
)
SLOW: tuple[Place, ...] = tuple(Place(f"{name}.commit", "slow") for name in TRANSITIONS)

PLACES: tuple[Place, ...] = (*LETHAL, *STOPS, *STATEMENTS, *SLOW)
OUTSIDE = Place("outside", "kill")
"""kill -9 by the harness, in rounds whose failpoint did not end the process."""

STRIKES = frozenset({"kill", "stop", "eio", "enospc"})
"""Actions that strike whatever is in flight. A slow COMMIT only makes room for races."""


def round_plan(seed: int, number: int) -> tuple[Failpoint, ...]:
    """The failpoints of a round, counted from 0."""
    rng = random.Random(f"{seed}/{number}")
    lethal = _in_turn(LETHAL, seed, number, 1)
    others = [
        *_in_turn(tuple(STOPS), seed, number, 1),
        *_in_turn(STATEMENTS, seed, number, 2),
        *_in_turn(SLOW, seed, number, 2),
    ]
    # The rarest stop costs five seconds.
    if others[0].point == "t1.after" and number % 3:
        others = others[1:]
    return tuple(_aimed(place, rng) for place in _compatible(lethal, others))


def aimed_at(missing: Sequence[Place], seed: int, number: int) -> tuple[Failpoint, ...]:
    """The failpoints of a round that goes after these: one that ends the process, and the others before it."""
    rng = random.Random(f"{seed}/{number}/missing")
    lethal = [place for place in missing if place in LETHAL]
    others = [place for place in missing if place not in LETHAL]
    return tuple(_aimed(place, rng) for place in _compatible(rng.sample(lethal, min(1, len(lethal))), others))


def _in_turn(places: Sequence[Place], seed: int, number: int, count: int) -> list[Place]:
    """The next places of an endless sequence of shuffles, so that each comes equally often."""
    taken = []
    for position in range(number * count, (number + 1) * count):
        cycle, index = divmod(position, len(places))
        shuffled = list(places)
        random.Random(f"{seed}/{cycle}/{places[0]}").shuffle(shuffled)
        taken.append(shuffled[index])
    return taken


def _compatible(lethal: Iterable[Place], others: Iterable[Place]) -> list[Place]:
    """One action per point: the lethal one must not wait behind another."""
    chosen = {place.point: place for place in lethal}
    for place in others:
        chosen.setdefault(place.point, place)
    return list(chosen.values())


_PASSES = {
    # The first sweep of a process is the one at its start, over what its predecessor has left.
    "sweep": ((1, 2), (1, 2)),
    "reconcile": ((1, 2), (3, 6)),
    # Batches, each of many transitions.
    "batch": ((1, 4), (6, 12)),
    "call": ((3, 20), (25, 70)),
}
"""At which passes of a point it strikes, where that does not end the process and where it does."""


def _kind(point: str) -> str:
    name, _, side = point.partition(".")
    if name in ("sweep", "reconcile"):
        return name
    return "batch" if side in ("statement", "commit", "committed") else "call"


def _aimed(place: Place, rng: random.Random) -> Failpoint:
    """At which pass. What does not end the process strikes before what does."""
    first, last = _PASSES[_kind(place.point)][place in LETHAL]
    nth = rng.randint(first, last)
    if place.point == "sweep.statement":
        nth = 2  # a start whose sweep fails is none
    match place.action:
        case "stop":
            return Failpoint(point=place.point, action="stop", nth=nth, seconds=STOPS[place])
        case "slow":
            times = rng.randint(2, 5)
            return Failpoint(point=place.point, action="slow", nth=nth, times=times, seconds=rng.uniform(0.03, 0.12))
        case "eio" | "enospc" if place in STATEMENTS:
            return Failpoint(point=place.point, action=place.action, nth=nth, times=rng.randint(1, 3))
        case _:
            return Failpoint(point=place.point, action=place.action, nth=nth)
