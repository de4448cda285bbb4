"""Every behaviour has a scenario: what the check finds, and that the repository passes it."""

from pathlib import Path
from textwrap import dedent

import pytest

from gateway.domain.operation import LEGAL_MOVES
from gateway.domain.refusal import Code
from gateway.testkit import behaviours
from gateway.testkit.behaviours import NOT_COVERED, PAGE, Behaviour, Waiver, check, known_behaviours

ROOT = Path(__file__).parents[2]
FEATURE = """\
    @service
    Feature: Replays
      A saved answer is shown again.

      @G4
      Rule: A duplicate never dispatches
        @code-unknown_model
        Scenario: A repeated request | replays
          Then it replays
"""
REGO = """\
    # METADATA
    # title: The purpose is one of the tenant's
    # custom:
    #   code: purpose_not_allowed
    #   remedy: Use another purpose.
    package gateway.request.purpose
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A repository whose only feature shows @G4 and @code-unknown_model; the rest is waived."""
    _write(tmp_path, "features/replays.feature", FEATURE)
    _write(tmp_path, "policies/purpose.rego", REGO)
    _waive(tmp_path, {b.tag for b in known_behaviours(tmp_path)} - {"G4", "code-unknown_model"})
    return tmp_path


def _write(root: Path, name: str, text: str) -> None:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(dedent(text), encoding="utf-8")


def _waive(root: Path, tags: set[str], reason: str = "Later") -> None:
    """Write the list of waivers, and the page that goes with it."""
    _write(root, str(NOT_COVERED), f"- reason: '{reason}'\n  behaviours: {sorted(tags)}\n")
    _write(root, str(PAGE), behaviours.page(root))


def _waived(root: Path) -> set[str]:
    return {tag for waiver in behaviours.read_waivers(root / NOT_COVERED) for tag in waiver.behaviours}


def test_this_repository_shows_or_waives_every_behaviour() -> None:
    assert check(ROOT) == []


def test_a_project_that_shows_or_waives_everything_is_sound(project: Path) -> None:
    assert check(project) == []


def test_codes_moves_promises_and_policy_codes_are_behaviours(project: Path) -> None:
    tags = {behaviour.tag for behaviour in known_behaviours(project)}
    assert {f"code-{code.value}" for code in Code} <= tags
    assert {f"G{n}" for n in range(1, 13)} <= tags
    assert {"move-none-granted", "move-dispatching-no_effect", "policy-purpose_not_allowed"} <= tags
    assert len(tags) == len(Code) + len(LEGAL_MOVES) + 12 + 1


@pytest.mark.parametrize("tag", ["G7", "code-draining", "move-none-granted", "policy-purpose_not_allowed"])
def test_a_behaviour_without_a_scenario_is_a_fault(project: Path, tag: str) -> None:
    _waive(project, _waived(project) - {tag})
    (fault,) = check(project)
    assert fault.startswith(f"@{tag} has no scenario.")


@pytest.mark.parametrize(
    ("tag", "sentence"),
    [("G4", "has a scenario now"), ("code-unknown_model", "has a scenario now"), ("G13", "names no behaviour")],
)
def test_the_list_of_waivers_can_only_shrink(project: Path, tag: str, sentence: str) -> None:
    _waive(project, _waived(project) | {tag})
    (fault,) = check(project)
    assert fault == f"{NOT_COVERED}: {tag} {sentence}. Remove it from the list."


def test_a_waiver_without_a_reason_is_a_fault(project: Path) -> None:
    _waive(project, _waived(project), reason=" ")
    (fault,) = check(project)
    assert "has no reason" in fault


def test_a_behaviour_waived_twice_is_a_fault() -> None:
    known = [Behaviour("Promises", "G1", "One attempt.")]
    (fault,) = behaviours.faults(known, [], [Waiver("Later", ["G1"]), Waiver("Never", ["G1"])])
    assert "G1 is listed more than once" in fault


@pytest.mark.parametrize("text", ["G1: later", "- reason: Later", "- [", "- {reason: a, behaviours: [], more: 1}"])
def test_a_list_that_cannot_be_read_is_a_fault(project: Path, text: str) -> None:
    _write(project, str(NOT_COVERED), text)
    (fault,) = check(project)
    assert "cannot be read" in fault


@pytest.mark.parametrize("tag", ["code-unknown_modle", "move-granted-completed", "G13", "policy-no_such_code"])
def test_a_tag_that_names_no_behaviour_is_a_fault(project: Path, tag: str) -> None:
    _write(project, "features/replays.feature", FEATURE.replace("@G4", f"@G4 @{tag}"))
    _write(project, str(PAGE), behaviours.page(project))
    (fault,) = check(project)
    assert f"@{tag} names no behaviour" in fault


def test_a_page_older_than_the_features_is_a_fault(project: Path) -> None:
    _write(project, "features/replays.feature", FEATURE.replace("repeated", "second"))
    assert check(project) == [f"{PAGE}: The page is older than the features. Run make schemas."]


def test_a_feature_that_cannot_be_read_is_a_fault(project: Path) -> None:
    _write(project, "features/replays.feature", "Then nothing\n")
    (fault,) = check(project)
    assert "replays.feature:1" in fault


def test_the_page_shows_scenarios_doors_and_behaviours(project: Path) -> None:
    page = (project / PAGE).read_text(encoding="utf-8")
    assert "## [Replays](../features/replays.feature)" in page
    assert "A saved answer is shown again." in page
    assert "Rule: A duplicate never dispatches" in page
    assert "| A repeated request \\| replays | service | `@G4` `@code-unknown_model` |" in page
    assert "| `@G4` | A duplicate never dispatches. | [A repeated request \\| replays](../features" in page
    assert "| `@policy-purpose_not_allowed` | The purpose is one of the tenant's | not yet: Later |" in page
