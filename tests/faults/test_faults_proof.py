"""The harness proves itself: it catches bugs that are put in, and says when a run has shown nothing."""

import asyncio
from collections import Counter
from pathlib import Path

import pytest

from gateway.testkit.faults.bugs import BUGS
from gateway.testkit.faults.plan import PLACES
from gateway.testkit.faults.proof import catches, run_with
from gateway.testkit.faults.report import summary
from gateway.testkit.faults.tally import SCOPES, Tally, Wanted, is_reached, shortfalls


@pytest.mark.timeout(240)
@pytest.mark.parametrize("bug", BUGS)
def test_a_seeded_bug_is_caught_by_what_was_seen_outside(bug: str, tmp_path: Path) -> None:
    tally = asyncio.run(run_with(bug, 1, tmp_path, lambda _: None))
    assert catches(bug, tally), tally.violations[:5]


def test_a_bug_that_only_the_books_show_is_not_caught() -> None:
    assert catches("acknowledge_before_t3", Tally(violations=["G1: executed", "tenant acme: held_tokens is 1"])) == []


def full(**changes: object) -> Tally:
    """A run that has shown something."""
    fields = {
        "operations": 100,
        "struck": 100,
        "states": Counter(completed=50),
        "fired": Counter(PLACES),
        "short": Counter(SCOPES),
    }
    return Tally(**(fields | changes))  # type: ignore[arg-type] # fields of the struct


def test_a_full_run_has_no_shortfall_and_is_over() -> None:
    wanted = Wanted(operations=100, seed=1)
    assert list(shortfalls(wanted, full())) == []
    assert is_reached(wanted, full())


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"fired": Counter(PLACES[1:])}, f"proof: {PLACES[0]} fired 0 times, wanted are 1"),
        ({"struck": 99}, "proof: 99 operations were struck, wanted are 100"),
        ({"states": Counter(unknown=95, completed=5)}, "proof: 5 of 100 operations completed"),
        ({"short": Counter(SCOPES[1:])}, "proof: no limit of a tenant has refused anybody"),
        ({"short": Counter(SCOPES[:2])}, "proof: no limit of a profile has refused anybody"),
    ],
)
def test_a_run_that_has_shown_nothing_says_so(changes: dict[str, object], sentence: str) -> None:
    assert list(shortfalls(Wanted(operations=100, seed=1), full(**changes))) == [sentence]


def test_a_run_goes_on_until_everything_has_fired_but_not_for_ever() -> None:
    wanted = Wanted(operations=100, seed=1)
    assert not is_reached(wanted, full(fired=Counter()))
    assert not is_reached(wanted, full(struck=99))
    assert is_reached(wanted, full(fired=Counter(), rounds=wanted.most_rounds))


def test_a_run_with_a_bug_is_over_at_the_first_violation() -> None:
    wanted = Wanted(operations=100, seed=1, least=0, bug="send_before_t2")
    assert is_reached(wanted, full(struck=0, violations=["I12"]))
    assert not is_reached(wanted, full(struck=0))


def test_the_last_line_counts_the_violations() -> None:
    assert summary(full(), 1).splitlines()[-1] == "violations: 0"
    lines = summary(full(violations=[f"I{n}" for n in range(30)]), 1).splitlines()
    assert lines[-1] == "violations: 30"
    assert sum(line.startswith("VIOLATION ") for line in lines) == 20
