"""`make mutants`: every promise has its mutant, every old text stands in the code, and what survives is told."""

from pathlib import Path

import pytest
from click.testing import CliRunner
from msgspec.structs import replace

from gateway.testkit.behaviours import PROMISES
from gateway.testkit.features import read_features
from gateway.testkit.mutants import __main__ as command
from gateway.testkit.mutants.listed import MUTANTS, Edit, Mutant, apply, faults
from gateway.testkit.mutants.runner import outcomes, unsound
from gateway.testkit.scenario_runs import NotRun, ScenarioRun

ROOT = command.ROOT
FILE = "gateway/code.py"
MUTANT = Mutant(promise="G1", sentence="Anything goes.", edits=(Edit(FILE, "if guard:", "if True:"),))


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A repository of one guard, which nothing is copied from but that."""
    for folder in ("gateway", "adapters", "features", "policies", "registry", "tests/features"):
        (tmp_path / folder).mkdir(parents=True)
    for file in ("tests/conftest.py", "pyproject.toml"):
        (tmp_path / file).touch()
    (tmp_path / FILE).write_text("if guard:\n    pass\n")
    return tmp_path


def scenario(tree: Path, expression: str, **_: object) -> list[ScenarioRun]:
    """A run that notices that the guard is gone."""
    held = "if guard:" in (tree / FILE).read_text()
    return [ScenarioRun("test_guard", "It is guarded", "service", (expression,), held, 0.1, "" if held else "broken")]


def test_each_promise_has_a_mutant_that_applies_to_the_code_of_today() -> None:
    assert list(faults(ROOT)) == []
    assert {mutant.promise for mutant in MUTANTS} == set(PROMISES)


def test_each_mutant_has_scenarios_that_could_notice() -> None:
    scenarios = [one for file in read_features(ROOT / "features") for one in file.scenarios]
    for mutant in MUTANTS:
        assert any({mutant.promise, mutant.door} <= one.tags for one in scenarios), mutant.sentence


def test_each_mutant_is_still_python(tmp_path: Path) -> None:
    for mutant in MUTANTS:
        for edit in mutant.edits:
            path = tmp_path / edit.file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text((ROOT / edit.file).read_text())
        apply(mutant, tmp_path)
        for edit in mutant.edits:
            compile((tmp_path / edit.file).read_text(), edit.file, "exec")


@pytest.mark.parametrize(
    ("edit", "times"),
    [(Edit(FILE, "if nothing:", ""), 0), (Edit("gateway/gone.py", "if", ""), 0), (Edit(FILE, "s", ""), 2)],
)
def test_a_text_that_does_not_stand_there_once_is_a_fault(tree: Path, edit: Edit, times: int) -> None:
    found = list(faults(tree, (replace(MUTANT, edits=(edit,)),)))
    assert f"G1: the old text occurs {times} times in {edit.file}, not once: {edit.old}" in found


def test_a_promise_without_a_mutant_and_a_mutant_without_a_promise_are_faults(tree: Path) -> None:
    found = list(faults(tree, (replace(MUTANT, promise="G99"),)))
    assert "G99 is no promise." in found
    assert len(found) == len(PROMISES) + 1


def test_what_is_noticed_is_caught_and_the_tree_stays_as_it_was(tree: Path) -> None:
    (caught,) = outcomes(tree, (MUTANT,), scenario)
    assert caught.by is not None
    assert command.line(caught).splitlines() == [
        "G1   Anything goes.",
        "     caught by: It is guarded (service)",
        "     it said: broken",
    ]
    assert "if guard:" in (tree / FILE).read_text()


def test_what_nobody_notices_survives(tree: Path) -> None:
    (caught,) = outcomes(tree, (replace(MUTANT, edits=(Edit(FILE, "pass", "..."),)),), scenario)
    assert caught.by is None
    assert "SURVIVED G1 and service" in command.line(caught)


def test_where_nothing_ran_nothing_is_shown(tree: Path) -> None:
    def nothing(*_: object, **__: object) -> list[ScenarioRun]:
        raise NotRun("no tests ran")

    (caught,) = outcomes(tree, (MUTANT,), nothing)
    assert (caught.by, "NOTHING RAN: no tests ran" in command.line(caught)) == (None, True)


def test_a_scenario_that_fails_anyway_is_told_before_any_mutant(tree: Path) -> None:
    assert unsound(tree, (MUTANT,), scenario) == []
    (tree / FILE).write_text("")
    (failing,) = unsound(tree, (MUTANT,), scenario)
    assert failing.name == "It is guarded"


@pytest.mark.parametrize(("survived", "code"), [(0, 0), (1, 1)])
def test_a_survivor_fails_the_command(survived: int, code: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "try_all", lambda *_: survived)
    result = CliRunner().invoke(command.main, ["--promise", "G5"])
    assert (result.exit_code, result.output) == (code, f"{1 - survived} of 1 mutants were caught.\n")


def test_a_promise_that_is_none_is_refused() -> None:
    assert CliRunner().invoke(command.main, ["--promise", "G99"]).exit_code == 1
