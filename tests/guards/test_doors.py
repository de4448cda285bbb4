"""One scenario, several doors."""

from collections.abc import Callable

DOOR_STEPS = """
    import pytest

    @pytest.fixture(scope="session")
    def host(door):
        return door

    @pytest.fixture
    def world(door, host):
        assert door == host
        return f"world of {door}"

    @when("it is asked")
    def _(world):
        print(world)
"""
ASKED = """\
    Feature: Answers
      Scenario: A service answers
        Given a service
        When it is asked
        Then it answers
"""


def test_a_scenario_runs_once_through_each_door_that_it_is_tagged_with(run_project: Callable) -> None:
    feature = ASKED.replace("      Scenario", "      @service @http\n      Scenario")
    result = run_project(feature, steps=DOOR_STEPS, args=("-v", "-s"))
    assert result.code == 0, result.output
    assert "test_a_service_answers[service]" in result.output
    assert "test_a_service_answers[http]" in result.output
    assert "world of service" in result.output
    assert "world of http" in result.output
    assert "2 passed" in result.output


def test_doors_of_the_feature_and_of_the_rule_hold_for_their_scenarios(run_project: Callable) -> None:
    feature = """\
        @policy
        Feature: Answers
          @http
          Rule: Everybody is answered
            Scenario: A service answers
              Given a service
              Then it answers
    """
    result = run_project(feature)
    assert result.code == 0, result.output
    assert "[policy]" in result.output
    assert "[http]" in result.output


def test_every_row_of_an_outline_runs_through_every_door(run_project: Callable) -> None:
    feature = """\
        Feature: Answers
          @service @http
          Scenario Outline: A service answers <whom>
            Given <whom>
            Then it answers
            Examples:
              | whom      |
              | a service |
              | nobody    |
    """
    result = run_project(feature, steps='@given("nobody")\ndef _():\n    pass\n')
    assert "4 passed" in result.output


def test_a_door_can_be_run_alone(run_project: Callable) -> None:
    feature = ASKED.replace("      Scenario", "      @service @http\n      Scenario")
    result = run_project(feature, steps=DOOR_STEPS, args=("-v", "-m", "http"))
    assert "1 passed, 1 deselected" in result.output
    assert "test_a_service_answers[http] PASSED" in result.output


def test_a_scenario_without_a_door_stops_the_run(run_project: Callable) -> None:
    result = run_project(ASKED, steps=DOOR_STEPS)
    assert result.code != 0
    assert 'features/answers.feature:2: Scenario "A service answers" goes through no door.' in result.output


def test_a_test_that_is_no_scenario_has_no_door(run_project: Callable) -> None:
    plain = 'scenarios("answers.feature")\ndef test_plain(door):\n    pass\n'
    result = run_project(tests=plain)
    assert "Only scenarios have a door" in result.output
    assert result.code == 1


def test_a_tag_that_names_nothing_stops_the_run(run_project: Callable) -> None:
    feature = ASKED.replace("      Scenario", "      @service @code-unknown_modle\n      Scenario")
    result = run_project(feature, steps=DOOR_STEPS)
    assert result.code != 0
    assert "The tag @code-unknown_modle names no door and no behaviour" in result.output


def test_a_behaviour_can_be_run_alone(run_project: Callable) -> None:
    feature = ASKED.replace(
        "      Scenario", "      @service @code-unknown_model @G4 @move-none-granted\n      Scenario"
    )
    result = run_project(feature, steps=DOOR_STEPS, args=("-m", "code-unknown_model and G4 and move-none-granted"))
    assert "1 passed" in result.output
