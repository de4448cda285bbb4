"""What a run came to, for people. The last line is for everybody: ``violations: 0``."""

from collections import Counter
from collections.abc import Iterator

from gateway.testkit.faults.plan import OUTSIDE, PLACES
from gateway.testkit.faults.tally import Tally, Wanted

SHOWN = 20
"""Violations that are written out."""


def summary(tally: Tally, seed: int) -> str:
    """The whole text."""
    return "\n".join(
        [
            f"seed {seed}, {tally.rounds} rounds, {tally.seconds:.0f} s",
            f"operations: {tally.operations}, struck: {tally.struck} "
            f"({tally.in_flight} in flight when a strike came, {tally.misbehaved} with a provider that misbehaved)",
            f"requests that the provider received: {tally.requests}",
            f"replays verified: {tally.replays}, acts of operators: {tally.acts}",
            f"states: {_counts(tally.states)}",
            f"refused for want of budget: {_counts(tally.short)}",
            f"provider: {_counts(tally.behaviours)}",
            "failpoints fired:",
            *_fired(tally),
            *(f"VIOLATION {sentence}" for sentence in tally.violations[:SHOWN]),
            *([f"and {len(tally.violations) - SHOWN} more"] if len(tally.violations) > SHOWN else []),
            f"violations: {len(tally.violations)}",
        ]
    )


def progress(wanted: Wanted, tally: Tally) -> str:
    """One line after each round; once enough is struck, also what has not fired yet."""
    line = (
        f"round {tally.rounds}: {tally.struck} operations struck, {len(tally.violations)} violations, "
        f"{tally.seconds:.0f} s"
    )
    if tally.struck < wanted.operations or not (missing := tally.not_fired(wanted.least)):
        return line
    return f"{line}; not fired often enough: {', '.join(map(str, missing))}"


def _fired(tally: Tally) -> Iterator[str]:
    points: dict[str, list[str]] = {}
    for place in sorted((*PLACES, OUTSIDE)):
        points.setdefault(place.point, []).append(f"{place.action} {tally.fired[place]}")
    for point, actions in points.items():
        yield f"  {point:<20} {', '.join(actions)}"


def _counts(counter: Counter[str]) -> str:
    return ", ".join(f"{name} {count}" for name, count in sorted(counter.items()))
