"""``gateway policy check`` on the tests of the rules and on the codes that are generated from them."""

import json
from pathlib import Path
from shutil import copytree

import pytest
from policy_support import POLICIES, opa

from adapters.policy import codes
from adapters.policy.check_tests import failed_tests
from adapters.policy.codes import outdated_codes
from gateway.domain.fault import Fault


@pytest.fixture
def policies(tmp_path: Path) -> Path:
    return Path(copytree(POLICIES, tmp_path / "policies"))


def edit(path: Path, old: str, new: str) -> Path:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    return path


def told(faults: list[Fault]) -> list[tuple[str, str]]:
    """File name and sentence; a remedy has to be there."""
    assert all(fault.remedy for fault in faults)
    return [(Path(fault.file).name, fault.sentence) for fault in faults]


def test_a_test_that_fails_is_a_fault_with_its_line(policies: Path) -> None:
    edit(policies / "gateway" / "request" / "alias" / "alias.rego", "pass if ", "pass if not ")
    faults = failed_tests(policies, opa())
    assert ("alias_test.rego", "test_a_listed_alias_passes fails.") in told(faults)
    assert all(fault.line for fault in faults)
    assert faults == sorted(faults)


def test_a_test_that_is_skipped_is_a_fault(policies: Path) -> None:
    edit(policies / "gateway" / "request" / "alias" / "alias_test.rego", "test_a_listed", "todo_test_a_listed")
    assert told(failed_tests(policies, opa())) == [("alias_test.rego", "todo_test_a_listed_alias_passes was skipped.")]


def test_a_line_that_no_test_reaches_is_a_fault(policies: Path) -> None:
    rule = policies / "gateway" / "request" / "alias" / "alias.rego"
    rule.write_text(rule.read_text() + '\npass if {\n\tinput.alias == "untested"\n\tinput.purpose == "untested"\n}\n')
    faults = failed_tests(policies, opa())
    assert set(told(faults)) == {("alias.rego", "No test reaches this line.")}
    first = rule.read_text().splitlines().index('\tinput.alias == "untested"') + 1
    assert {fault.line for fault in faults} >= {first, first + 1}
    assert faults == sorted(set(faults))


def test_of_a_line_that_no_test_reaches_is_told_once(policies: Path) -> None:
    rule = policies / "gateway" / "request" / "alias" / "alias.rego"
    rule.write_text(rule.read_text() + '\npass if { input.alias == "untested"; input.purpose == "untested" }\n')
    assert told(failed_tests(policies, opa())) == [("alias.rego", "No test reaches this line.")]


def test_no_tests_at_all_are_a_fault(policies: Path) -> None:
    for path in policies.rglob("*_test.rego"):
        path.unlink()
    assert told(failed_tests(policies, opa())) == [("policies", "No test was run.")]


def test_codes_that_are_not_those_of_the_rules_are_faults(policies: Path) -> None:
    (policies.parent / "docs").mkdir()
    codes.write(policies, opa())
    assert outdated_codes(policies, opa()) == []
    known = json.loads((policies / "codes.json").read_text())
    assert known["source_forbidden"]["checks"].keys() == {"source/readable", "source/revision"}
    assert list(known) == sorted(known)
    assert all(
        entry["remedy"] and check["title"] and check["owner"]
        for entry in known.values()
        for check in entry["checks"].values()
    )
    page = policies.parent / "docs" / "policy-codes.md"
    assert all(f"`{code}`" in page.read_text() for code in known)
    edit(policies / "gateway" / "route" / "region" / "region.rego", "#   owner: privacy", "#   owner: security")
    stale = "The codes are not those of the rules."
    assert told(outdated_codes(policies, opa())) == [("codes.json", stale), ("policy-codes.md", stale)]
    page.unlink()
    assert ("policy-codes.md", stale) in told(outdated_codes(policies, opa()))
