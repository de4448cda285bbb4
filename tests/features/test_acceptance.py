"""`make acceptance`: twelve titles, each with its one scenario, and an end that tells the truth."""

import pytest
from click.testing import CliRunner
from msgspec.structs import replace

from gateway.testkit import acceptance
from gateway.testkit.features import Scenario, read_features
from gateway.testkit.scenario_runs import NotRun, ScenarioRun

DISPATCH, MEMORY = "acceptance-approved_dispatch", "acceptance-memory_arithmetic"


def scenarios() -> list[Scenario]:
    return [scenario for file in read_features(acceptance.ROOT / "features") for scenario in file.scenarios]


def runs() -> list[ScenarioRun]:
    """A run in which everything that is built passed."""
    return [
        ScenarioRun(
            test=f"test_{tag}", name=tag, door="http", tags=(acceptance.TAG, tag), passed=True, seconds=1, sentence=""
        )
        for tag in acceptance.TITLES
        if tag not in acceptance.NOT_BUILT
    ]


def ended(monkeypatch: pytest.MonkeyPatch, found: list[ScenarioRun]) -> tuple[int, str]:
    monkeypatch.setattr(acceptance, "run", lambda *_: found)
    result = CliRunner().invoke(acceptance.main)
    return result.exit_code, result.output


def test_each_of_the_twelve_titles_has_its_one_scenario() -> None:
    assert len(acceptance.TITLES) == 12
    assert list(acceptance.faults(scenarios())) == []


def test_all_twelve_are_built(monkeypatch: pytest.MonkeyPatch) -> None:
    code, output = ended(monkeypatch, runs())
    assert (code, output.splitlines()[-1]) == (0, "12 of 12 passed, 0 failed, 0 not built yet.")


def test_what_is_not_built_is_neither_passed_nor_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(acceptance, "NOT_BUILT", {MEMORY: "comes with the worksheets"})
    code, output = ended(monkeypatch, runs())
    assert code == 0
    assert "not built yet: comes with the worksheets" in output
    assert output.splitlines()[-1] == "11 of 12 passed, 0 failed, 1 not built yet."


def test_one_door_that_fails_fails_its_title(monkeypatch: pytest.MonkeyPatch) -> None:
    first, *others = runs()
    broken = replace(first, door="service", passed=False, sentence="assert 1 == 2")
    code, output = ended(monkeypatch, [first, broken, *others])
    assert code == 1
    assert "Approved dispatch                        FAILED" in output
    assert "test_acceptance-approved_dispatch: assert 1 == 2" in output


def test_a_title_that_did_not_run_has_not_passed(monkeypatch: pytest.MonkeyPatch) -> None:
    code, output = ended(monkeypatch, runs()[1:])
    assert (code, output.splitlines()[-1]) == (1, "11 of 12 passed, 1 failed, 0 not built yet.")


def test_nothing_that_ran_is_told_as_such(monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing(*_: object) -> list[ScenarioRun]:
        raise NotRun("no tests ran")

    monkeypatch.setattr(acceptance, "run", nothing)
    result = CliRunner().invoke(acceptance.main)
    assert (result.exit_code, "no tests ran" in result.output) == (1, True)


def retagged(tags: set[str]) -> list[str]:
    """What is said if the scenario of the first title had these tags."""
    changed = [replace(one, tags=frozenset(tags)) if DISPATCH in one.tags else one for one in scenarios()]
    return list(acceptance.faults(changed))


def test_a_tag_that_is_lost_doubled_or_alone_is_a_fault() -> None:
    assert retagged({"http"}) == [f"Approved dispatch has 0 scenarios tagged @{DISPATCH}. Tag exactly one."]
    assert retagged({DISPATCH}) != []
    assert retagged({acceptance.TAG}) != []
    assert retagged({acceptance.TAG, DISPATCH, "acceptance-input_conflict"}) != []
    assert retagged({acceptance.TAG, MEMORY}) != []


def test_a_title_that_is_built_stays_in_no_list_of_what_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(acceptance, "NOT_BUILT", {MEMORY: "comes with the worksheets"})
    (fault,) = acceptance.faults(scenarios())
    assert fault == "Memory arithmetic has a scenario, so it is built. Remove it from NOT_BUILT."
