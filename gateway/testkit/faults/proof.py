"""The harness proves itself: each seeded bug, with failpoints aimed at it, must be caught.

Failpoints that were drawn at random alone missed the first four when this was tried.
"""

from collections.abc import Callable, Mapping
from pathlib import Path

from gateway.testkit.faults.bugs import BUGS
from gateway.testkit.faults.harness import run
from gateway.testkit.faults.plan import Failpoint
from gateway.testkit.faults.tally import Tally, Wanted

OPERATIONS = 400
"""Struck at most, while a bug hides."""


def _slow(point: str, *, nth: int = 2) -> Failpoint:
    return Failpoint(point=f"{point}.commit", action="slow", nth=nth, times=60, seconds=0.08)


def _kill(point: str, nth: int) -> Failpoint:
    return Failpoint(point=point, action="kill", nth=nth)


AIMED: Mapping[str, tuple[Failpoint, ...]] = {
    # The request is on its way while T2 is not committed.
    "send_before_t2": (_slow("t2"), _kill("t2.committed", 14)),
    # The provider has it, and whoever lost the connection asks again after the restart.
    "sweep_regrants_dispatching": (_kill("send.after", 40),),
    # The caller has the answer, and T3 is not committed.
    "acknowledge_before_t3": (_slow("t3"), _kill("t3.before", 60)),
    # Grants are being dispatched while the sweep holds on to what it has read.
    "release_without_compare_and_set": (_slow("t2"),),
    # A race, crashes or not.
    "admit_above_limits": (),
    "refuse_after_reserving": (),
    "free_slots_twice": (),
}
"""For each bug where to strike."""

CAUGHT_AS: Mapping[str, str] = {
    "send_before_t2": "I12: ",
    "sweep_regrants_dispatching": "G1: ",
    "acknowledge_before_t3": "I13: ",
    "release_without_compare_and_set": "G1: ",
    "admit_above_limits": "G9: ",
    "refuse_after_reserving": "G9: ",
    "free_slots_twice": "G9: ",
}
"""For each bug the check that must see it."""


async def prove(seed: int, folder: Path, say: Callable[[str], None]) -> list[str]:
    """The bugs that were not caught."""
    uncaught = []
    for bug in BUGS:
        tally = await run_with(bug, seed, folder / bug, lambda _: None)
        found = catches(bug, tally)
        said = found[0] if found else "NOT CAUGHT"
        say(f"{bug}: {len(tally.violations)} violations after {tally.rounds} rounds, {tally.seconds:.0f} s: {said}")
        if not found:
            uncaught.append(bug)
    return uncaught


def catches(bug: str, tally: Tally) -> list[str]:
    """The violations that show what the bug does to the outside, not only to the gateway's books."""
    return [sentence for sentence in tally.violations if sentence.startswith(CAUGHT_AS[bug])]


async def run_with(bug: str, seed: int, folder: Path, say: Callable[[str], None]) -> Tally:
    """Run with one bug until it is caught."""
    wanted = Wanted(operations=OPERATIONS, seed=seed, least=0, bug=bug, rounds=lambda _seed, _number: AIMED[bug])
    return await run(wanted, folder, say)
