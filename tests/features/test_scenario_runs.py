"""What became of a scenario is told as it was: by name and door, with its time, and why it failed."""

from pathlib import Path

import pytest

from gateway.testkit.scenario_runs import NotRun, run

INI = "[pytest]\ntestpaths = tests\nbdd_features_base_dir = features\naddopts = --strict-markers\n"
FEATURE = """\
Feature: Answers
  @service @http @G1
  Scenario: A service answers
    Given a service
    Then it answers

  @service @G2
  Scenario: A service is silent
    Given a service
    Then it is silent

  @service @G3
  Scenario: There is no service
    Given a broken service
    Then it answers
"""
STEPS = """\
import pytest
from pytest_bdd import given, scenarios, then

@pytest.fixture
def broken():
    raise ValueError("it did not start")

@given("a service")
def _(): pass

@given("a broken service")
def _(broken): pass

@then("it answers")
def _(): assert True

@then("it is silent")
def _(): assert 1 == 2, "it spoke"

scenarios("answers.feature")
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    files = {
        "pytest.ini": INI,
        "features/answers.feature": FEATURE,
        "tests/conftest.py": 'pytest_plugins = ["gateway.testkit.plugin"]\n',
        "tests/features/test_answers.py": STEPS,
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    (tmp_path / "gateway").symlink_to(Path(__file__).resolve().parents[2] / "gateway")
    return tmp_path


def test_every_door_of_every_scenario_is_told_with_its_end(project: Path) -> None:
    found = run(project, "G1 or G2 or G3")
    assert {(one.name, one.door): one.sentence for one in found} == {
        ("A service answers", "service"): "",
        ("A service answers", "http"): "",
        ("A service is silent", "service"): "AssertionError: it spoke",
        ("There is no service", "service"): "ValueError: it did not start",
    }
    assert [one.passed for one in found] == [not one.sentence for one in found]
    assert all("service" in one.tags and 0 < one.seconds < 60 for one in found)


def test_a_run_may_end_at_the_first_failure(project: Path) -> None:
    assert [one.name for one in run(project, "G2 or G3", first_failure_only=True)] == ["A service is silent"]


def test_nothing_that_fits_is_no_run(project: Path) -> None:
    with pytest.raises(NotRun):
        run(project, "G12")
