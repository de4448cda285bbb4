"""``gateway policy check`` finds each kind of fault, and none in the repository."""

from pathlib import Path
from shutil import copytree, rmtree

import pytest
from policy_support import POLICIES, opa

from adapters import registry
from adapters.policy import check_policies
from adapters.policy import schemas as policy_schemas
from adapters.policy.capabilities import capabilities
from adapters.policy.check import failed_tests, unformatted, wrong_golden_decisions
from adapters.policy.check_fields import outdated_schemas, uncaught_typos, unread_fields
from adapters.policy.check_layout import dangling_references, faulty_checks, misplaced_files
from adapters.policy.command import compiled
from adapters.policy.modules import read_modules
from gateway.domain.fault import Fault
from gateway.domain.snapshot import Snapshot


@pytest.fixture
def policies(tmp_path: Path) -> Path:
    return Path(copytree(POLICIES, tmp_path / "policies"))


@pytest.fixture
def allowed(tmp_path: Path) -> Path:
    path = tmp_path / "capabilities.json"
    path.write_bytes(capabilities(opa()))
    return path


@pytest.fixture(scope="module")
def example() -> Snapshot:
    loaded = registry.load(POLICIES.parent / "registry", at_us=1_796_000_000_000_000)
    assert isinstance(loaded, registry.Loaded)
    return loaded.snapshot


def edit(path: Path, old: str, new: str) -> Path:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    return path


def told(faults: list[Fault]) -> list[tuple[str, str]]:
    """File name and sentence; a remedy has to be there."""
    assert all(fault.remedy for fault in faults)
    return [(Path(fault.file).name, fault.sentence) for fault in faults]


def test_the_repositorys_policies_have_no_faults(example: Snapshot) -> None:
    assert check_policies(POLICIES, opa(), example) == []


def test_a_misspelt_field_is_a_fault_with_its_line(policies: Path, example: Snapshot) -> None:
    rule = edit(policies / "gateway" / "source" / "current" / "current.rego", ".withdrawn ==", ".withdrawm ==")
    faults = check_policies(policies, opa(), example)
    assert [fault.sentence for fault in faults] == ["rego_type_error: undefined ref: input.sources[i].withdrawm."]
    misspelt = next(row for row, text in enumerate(rule.read_text().splitlines(), 1) if "withdrawm" in text)
    assert (faults[0].file, faults[0].line) == (str(rule), misspelt)


@pytest.mark.parametrize(
    ("path", "old", "new"),
    [
        ("route/approved/approved.rego", "approval.until_s >", "approval.untl_s >"),
        ("route/privacy/privacy.rego", ".privacy_class in", ".privacy_clas in"),
        ("request/purpose/purpose.rego", "tenants[input.tenant].purposes", "tenants[input.tenant].purpose"),
        ("request/purpose/purpose.rego", "data.registry.tenants", "data.registry.tenant"),
        ("request/alias/alias.rego", "pass if ", "pass if time.now_ns() > 0\n\npass if "),
    ],
)
def test_typos_and_forbidden_calls_do_not_compile(policies: Path, allowed: Path, path: str, old: str, new: str) -> None:
    rule = edit(policies / "gateway" / path, old, new)
    assert {fault.file for fault in compiled(policies, opa(), allowed)} == {str(rule)}


def test_schemas_that_are_not_applied_are_noticed(policies: Path, allowed: Path) -> None:
    """The canary: without the annotation nothing else would fail."""
    edit(policies / "gateway" / "gateway.rego", "#   - data.registry: schema.registry\n", "")
    assert compiled(policies, opa(), allowed) == []
    assert told(uncaught_typos(policies, opa(), allowed)) == [
        ("gateway.rego", "A misspelt field of data.registry would not be noticed.")
    ]
    edit(policies / "gateway" / "gateway.rego", "#   - input: schema.input\n", "")
    edit(policies / "gateway" / "gateway.rego", "# schemas:\n", "")
    assert len(uncaught_typos(policies, opa(), allowed)) == 2


def test_an_open_map_in_a_schema_is_noticed(policies: Path) -> None:
    edit(policies / "schemas" / "registry.json", '"additionalProperties": false', '"additionalProperties": true')
    assert told(outdated_schemas(policies)) == [
        ("registry.json", "The schema is not the one of the structs that are sent.")
    ]
    policy_schemas.write(policies)
    assert outdated_schemas(policies) == []


def test_a_schema_that_is_missing_is_noticed(policies: Path) -> None:
    (policies / "schemas" / "input.json").unlink()
    assert [Path(fault.file).name for fault in outdated_schemas(policies)] == ["input.json"]


def test_a_field_that_no_rule_reads_is_a_fault(policies: Path) -> None:
    rmtree(policies / "gateway" / "route" / "region")
    edit(policies / "gateway" / "source" / "revision" / "revision.rego", "\tinput.sources[i].known == true\n", "")
    edit(policies / "gateway" / "request" / "alias" / "alias.rego", "input.alias", "input.tenant")
    assert {fault.path for fault in unread_fields(policies, opa(), read_modules(policies, opa()))} == {
        "access/alias",
        "sources/*/known",
        "registry/tenants/*/regions",
        "registry/profiles/*/region",
    }


def test_an_unformatted_file_is_a_fault(policies: Path) -> None:
    edit(policies / "gateway" / "routes" / "routes.rego", '\t"routes"', '  "routes"')
    assert told(unformatted(policies, opa())) == [("routes.rego", "The file is not formatted.")]


def test_a_package_in_another_folder_is_a_fault(policies: Path) -> None:
    edit(policies / "gateway" / "routes" / "routes.rego", "package gateway.routes", "package gateway.route")
    edit(policies / "gateway" / "gateway_test.rego", "package gateway_test", "package gateway")
    assert told(misplaced_files(policies)) == [
        ("gateway_test.rego", "The package of this folder is gateway_test."),
        ("routes.rego", "The package of this folder is gateway.routes."),
    ]


def test_a_second_file_of_a_package_is_a_fault(policies: Path) -> None:
    (policies / "gateway" / "request" / "alias" / "more.rego").write_text("package gateway.request.alias\n")
    assert told(misplaced_files(policies)) == [
        ("alias.rego", "The package has a second file, more.rego."),
        ("more.rego", "The package has a second file, alias.rego."),
    ]


def test_a_check_without_a_test_is_a_fault(policies: Path) -> None:
    (policies / "gateway" / "request" / "alias" / "alias_test.rego").unlink()
    assert told(faulty_checks(policies, opa())) == [("alias", "The check has no alias_test.rego.")]


@pytest.mark.parametrize(
    ("line", "field"),
    [
        ("# title: ", "title"),
        ("# description: ", "description"),
        ("#   code: ", "custom.code"),
        ("#   remedy: ", "custom.remedy"),
        ("#   owner: ", "custom.owner"),
    ],
)
def test_incomplete_metadata_is_a_fault(policies: Path, line: str, field: str) -> None:
    rule = policies / "gateway" / "request" / "alias" / "alias.rego"
    kept = [text for text in rule.read_text().splitlines(keepends=True) if not text.startswith(line)]
    rule.write_text("".join(kept))
    faults = faulty_checks(policies, opa())
    assert told(faults) == [("alias.rego", f"METADATA has no {field}.")]
    assert faults[0].line == rule.read_text().splitlines().index("package gateway.request.alias") + 1


def test_a_check_without_metadata_is_a_fault(policies: Path) -> None:
    rule = policies / "gateway" / "request" / "alias" / "alias.rego"
    rule.write_text(rule.read_text()[rule.read_text().index("package ") :])
    assert told(faulty_checks(policies, opa())) == [("alias", "The check has no METADATA.")]


def test_a_check_that_nobody_requires_is_a_fault(policies: Path) -> None:
    edit(policies / "gateway" / "checks" / "checks.rego", '{"alias", ', "{")
    assert told(faulty_checks(policies, opa())) == [("alias", "No question requires this check.")]


def test_a_required_check_without_a_folder_is_a_fault(policies: Path) -> None:
    rmtree(policies / "gateway" / "request" / "alias")
    assert told(faulty_checks(policies, opa())) == [
        ("checks.rego", "The check request/alias is required, and has no folder.")
    ]


def test_a_test_that_fails_is_a_fault_with_its_line(policies: Path) -> None:
    edit(policies / "gateway" / "request" / "alias" / "alias.rego", "pass if ", "pass if not ")
    faults = failed_tests(policies, opa())
    assert ("alias_test.rego", "test_a_listed_alias_passes fails.") in told(faults)
    assert all(fault.line for fault in faults)


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


def test_no_tests_at_all_are_a_fault(policies: Path) -> None:
    for path in policies.rglob("*_test.rego"):
        path.unlink()
    assert told(failed_tests(policies, opa())) == [("policies", "No test was run.")]


def test_golden_decisions_that_are_wrong_or_cannot_be_asked_are_faults(policies: Path, example: Snapshot) -> None:
    edit(policies / "golden" / "access-general.json", '"internal"', '"private"')
    edit(policies / "golden" / "replay-shown.json", '"tenant": "acme"', '"tenant": "nobody"')
    assert told(wrong_golden_decisions(policies, opa(), example)) == [
        ("access-general.json", "Policy now decides this golden decision otherwise."),
        ("replay-shown.json", "The golden decision names a tenant or a bundle that the registry does not have."),
    ]


def test_what_would_stop_a_start_is_a_fault(policies: Path, example: Snapshot) -> None:
    edit(policies / "gateway" / "checks" / "checks.rego", "required := {", 'required := {"visible": {"alias"},')
    faults = check_policies(policies, opa(), example)
    assert len(faults) == 1
    assert "The list of required checks is not as the gateway reads it" in faults[0].sentence


@pytest.mark.parametrize(
    ("path", "old", "new", "missing"),
    [
        ("access/access.rego", "privacy.required", "privacy.require", "data.gateway.privacy.require"),
        ("replay/replay.rego", "checks.shown", "checks.show", "data.gateway.checks.show.replay"),
        ("checks/checks.rego", "gateway.source[name]", "gateway.sources[name]", "data.gateway.sources"),
        (
            "route/kind/kind.rego",
            "import data.gateway.checks",
            "import data.gateway.check as checks",
            "data.gateway.check",
        ),
    ],
)
def test_a_reference_to_a_rule_that_does_not_exist_is_a_fault(
    policies: Path, path: str, old: str, new: str, missing: str
) -> None:
    rule = edit(policies / "gateway" / path, old, new)
    found = dangling_references(policies, read_modules(policies, opa()))
    assert (rule.name, f"There is no {missing}.") in told(found)
    assert {fault.file for fault in found} == {str(rule)}
