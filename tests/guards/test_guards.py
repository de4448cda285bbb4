"""Each guard finds what pytest-bdd lets pass. The bad examples are tiny projects, run by a pytest of their own."""

from collections.abc import Callable
from pathlib import Path
from textwrap import dedent

import pytest

from gateway.testkit.features import UnreadableFeature, read_feature
from gateway.testkit.guards import faults_of_feature

BAD_FEATURE = """\
    @service
    Feature: Answers
      Scenario: A service answers
        Given a service
        Then it answers

      Scenario: A step is never awaited
        Given a service
        When it is asked asynchronously
        Then it answers

      Scenario: A step has two definitions
        Given 12 services
        Then it answers

      Scenario: An outcome is hollow
        Given a service
        Then nothing is checked

      Scenario: Nobody binds this
        Given a service
        Then it answers
"""
BAD_STEPS = """
    from pytest_bdd import parsers, scenario

    @when("it is asked asynchronously")
    async def _():
        assert False, "would fail, if it ran"

    @given(parsers.parse("{count:d} services"))
    def _(count):
        pass

    @given(parsers.re(r".* services"))
    def _():
        pass

    @then("nothing is checked")
    def _():
        '''Nothing.'''
        pass
"""
BAD_TESTS = """
    @scenario("answers.feature", "A service answers")
    def test_once():
        pass

    @scenario("answers.feature", "A service answers")
    def test_twice():
        pass

    @scenario("answers.feature", "A step is never awaited")
    def test_async():
        pass

    @scenario("answers.feature", "A step has two definitions")
    def test_ambiguous():
        pass

    @scenario("answers.feature", "An outcome is hollow")
    def test_hollow():
        pass
"""
ORPHAN = """\
    Feature: Nobody binds this
      @service
      Scenario: A service answers
        Given a service
        Then it answers
"""


@pytest.fixture(scope="module")
def bad(run_project: Callable) -> str:
    """What the run of a project with every fault said."""
    result = run_project(BAD_FEATURE, BAD_STEPS, BAD_TESTS, files={"features/orphan.feature": ORPHAN})
    assert result.code != 0
    assert "passed" not in result.output
    return result.output


def test_an_async_step_stops_the_run(bad: str) -> None:
    assert 'The step "it is asked asynchronously" is async, so nothing would run it.' in bad


def test_a_step_that_two_definitions_fit_stops_the_run(bad: str) -> None:
    assert 'features/answers.feature:13: Several definitions fit the step "12 services"' in bad
    assert bad.count("Several definitions fit") == 1


def test_a_then_step_with_an_empty_body_stops_the_run(bad: str) -> None:
    assert 'The step "nothing is checked" has an empty body' in bad
    assert bad.count("has an empty body") == 1


def test_a_scenario_that_is_bound_twice_stops_the_run(bad: str) -> None:
    assert 'Scenario "A service answers" is bound more than once' in bad
    assert bad.count("is bound more than once") == 1


def test_a_feature_that_no_test_binds_stops_a_whole_run(bad: str) -> None:
    assert "features/orphan.feature: No test binds this feature." in bad


def test_a_scenario_that_is_not_collected_stops_a_whole_run(bad: str) -> None:
    assert 'features/answers.feature:20: Scenario "Nobody binds this" is not collected.' in bad
    assert bad.count("is not collected") == 1


def test_a_run_of_one_file_does_not_ask_for_every_feature(run_project: Callable) -> None:
    result = run_project(args=("tests/test_answers.py",), files={"features/orphan.feature": ORPHAN})
    assert "1 passed" in result.output


def test_a_step_that_several_modules_import_is_one_definition(run_project: Callable) -> None:
    tests = 'from shared import *\nscenarios("answers.feature")\n'
    shared = """\
        from pytest_bdd import given, then
        @given("a service")
        def _():
            pass
        @then("it answers")
        def _():
            assert True
    """
    files = {
        "tests/shared.py": shared,
        "tests/conftest.py": 'pytest_plugins = ["gateway.testkit.plugin"]\nfrom shared import *\n',
        "tests/test_answers.py": "from pytest_bdd import scenarios\n" + tests,
    }
    assert "1 passed" in run_project(files=files).output


def _faults(tmp_path: Path, text: str) -> list[str]:
    path = tmp_path / "a.feature"
    path.write_text(dedent(text), encoding="utf-8")
    return list(faults_of_feature(read_feature(path)))


@pytest.mark.parametrize(
    ("scenario", "fault"),
    [
        ("Scenario: A", "has no steps"),
        ("Scenario: A\n Given b", "has no Then"),
        ("Scenario: A\n When b\n And c", "has no Then"),
        ("Scenario: A\n Given b\n Then ", "has a step without text"),
        ("Scenario:\n Then b", "has no name"),
        ("Scenario Outline: A\n Then <b>\n Examples:\n | b |", "is an outline without example rows"),
        ("Scenario Outline: A\n Then <b>", "is an outline without example rows"),
        ("Scenario: A\n Then <b>\n @http\n Examples:\n | b |\n | c |", "has tags on its Examples"),
    ],
)
def test_a_scenario_that_checks_nothing_is_found(tmp_path: Path, scenario: str, fault: str) -> None:
    (found,) = _faults(tmp_path, f"@http\nFeature: F\n Background:\n Given a\n {scenario}\n")
    assert fault in found


def test_a_scenario_without_a_door_is_found(tmp_path: Path) -> None:
    (found,) = _faults(tmp_path, "@G1\nFeature: F\n Scenario: A\n  Then b\n")
    assert "goes through no door" in found


def test_two_scenarios_with_one_name_are_found_across_rules(tmp_path: Path) -> None:
    text = "@http\nFeature: F\n Scenario: A\n  Then b\n Rule: R\n  Scenario: A\n   Then c\n  Scenario: B\n   Then c\n"
    first, second = _faults(tmp_path, text)
    assert "a.feature:3" in first
    assert "a.feature:6" in second
    assert "shares its name" in first


@pytest.mark.parametrize(
    "text", ["", "Scenario: A\n Then b", "Feature: F\n Background:\n Given a\n Background:\n Given b"]
)
def test_a_file_that_is_no_feature_is_named(tmp_path: Path, text: str) -> None:
    path = tmp_path / "a.feature"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UnreadableFeature, match=r"a\.feature"):
        read_feature(path)


def test_a_module_that_cannot_be_collected_is_told_alone(run_project: Callable) -> None:
    result = run_project(tests="import nothing_of_that_name\n")
    assert "No module named 'nothing_of_that_name'" in result.output
    assert "No test binds this feature" not in result.output
