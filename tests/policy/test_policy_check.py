"""``gateway policy check`` finds each kind of fault, and none in the repository."""

import json
import os
import subprocess
import sys
from pathlib import Path
from shutil import copytree, rmtree

import pytest
from policy_support import POLICIES, opa

from adapters import registry
from adapters.policy import check_policies
from adapters.policy import schemas as policy_schemas
from adapters.policy.capabilities import capabilities
from adapters.policy.check import unformatted, wrong_golden_decisions
from adapters.policy.check_fields import outdated_schemas, uncaught_typos, unread_fields
from adapters.policy.check_folders import faulty_checks
from adapters.policy.check_golden import missing_golden_decisions
from adapters.policy.check_layout import dangling_references, misplaced_files
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


def remedy(rule: Path) -> str:
    """The line of METADATA."""
    return next(line for line in rule.read_text().splitlines() if line.startswith("#   remedy: "))


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
    (fault,) = unformatted(policies, opa())
    assert told([fault]) == [("routes.rego", "The file is not formatted.")]
    environment = os.environ | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    subprocess.run(["sh", "-c", fault.remedy.removeprefix("Run: ")], env=environment, check=True)
    assert unformatted(policies, opa()) == []


def test_a_package_in_another_folder_is_a_fault(policies: Path) -> None:
    edit(policies / "gateway" / "routes" / "routes.rego", "package gateway.routes", "package gateway.route")
    edit(policies / "gateway" / "gateway_test.rego", "package gateway_test", "package gateway")
    assert told(misplaced_files(policies, opa())) == [
        ("gateway_test.rego", "The package is gateway, and the folder wants gateway_test."),
        ("routes.rego", "The package is gateway.route, and the folder wants gateway.routes."),
    ]


def test_a_second_file_of_a_package_is_a_fault(policies: Path) -> None:
    (policies / "gateway" / "request" / "alias" / "more.rego").write_text("package gateway.request.alias\n")
    assert told(misplaced_files(policies, opa())) == [
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
    assert told(faults) == [("alias.rego", f"{field} is missing in METADATA.")]
    assert faults[0].line == rule.read_text().splitlines().index("package gateway.request.alias") + 1


def test_a_check_without_metadata_is_a_fault(policies: Path) -> None:
    rule = policies / "gateway" / "request" / "alias" / "alias.rego"
    rule.write_text(rule.read_text()[rule.read_text().index("package ") :])
    (fault,) = faulty_checks(policies, opa())
    assert (fault.file, fault.line, fault.sentence) == (str(rule), 1, "The check has no METADATA.")


def test_a_package_that_is_misspelt_is_the_only_fault(policies: Path, example: Snapshot) -> None:
    rule = edit(policies / "gateway" / "request" / "alias" / "alias.rego", "request.alias", "request.alia")
    (fault,) = check_policies(policies, opa(), example)
    assert fault.sentence == "The package is gateway.request.alia, and the folder wants gateway.request.alias."
    assert (fault.file, fault.line) == (
        str(rule),
        rule.read_text().splitlines().index("package gateway.request.alia") + 1,
    )


def test_a_check_that_nobody_requires_is_a_fault(policies: Path) -> None:
    listing = edit(policies / "gateway" / "checks" / "checks.rego", '{"alias", ', "{")
    (fault,) = faulty_checks(policies, opa())
    assert told([fault]) == [("alias.rego", "No question requires this check.")]
    assert fault.remedy == f"Name it in `required` of {listing}, or delete it."


def test_a_required_check_without_a_folder_is_the_only_fault(policies: Path, example: Snapshot) -> None:
    rmtree(policies / "gateway" / "source" / "classified")
    (fault,) = check_policies(policies, opa(), example)
    assert told([fault]) == [("checks.rego", "There is no check source/classified.")]
    rows = (policies / "gateway" / "checks" / "checks.rego").read_text().splitlines()
    assert fault.line == next(row for row, text in enumerate(rows, 1) if '"source": {"classified"' in text)


def test_a_misspelt_name_among_the_required_ones_is_told_where_it_stands(policies: Path, example: Snapshot) -> None:
    listing = edit(policies / "gateway" / "checks" / "checks.rego", '"isolated"', '"isolatd"')
    faults = check_policies(policies, opa(), example)
    assert told(faults) == [
        ("isolated.rego", "No question requires this check."),
        ("checks.rego", "There is no check route/isolatd."),
    ]
    assert faults[1].remedy.startswith("Did you mean isolated?")
    assert "isolatd" in listing.read_text().splitlines()[faults[1].line - 1]


def test_two_checks_with_one_code_are_a_fault(policies: Path) -> None:
    rule = policies / "gateway" / "route" / "region" / "region.rego"
    edit(rule, "code: region_not_allowed", "code: provider_not_allowed")
    (fault,) = faulty_checks(policies, opa())
    assert told([fault]) == [("region.rego", "The check route/provider has the same code.")]
    assert rule.read_text().splitlines()[fault.line - 1] == "package gateway.route.region"
    declared = "code: provider_not_allowed\n#   shares_code:\n#     route/provider: An example."
    edit(rule, "code: provider_not_allowed", declared)
    assert told(faulty_checks(policies, opa())) == [
        ("region.rego", "The check route/provider has the same code and another remedy.")
    ]
    other = policies / "gateway" / "route" / "provider" / "provider.rego"
    edit(rule, remedy(rule), remedy(other))
    assert faulty_checks(policies, opa()) == []
    edit(rule, "route/provider: An example.", "route/provider:")
    assert len(faulty_checks(policies, opa())) == 1
    edit(rule, "route/provider:", "route/kind: An example.")
    assert len(faulty_checks(policies, opa())) == 1
    edit(other, "code: provider_not_allowed", declared.replace("route/provider", "route/region"))
    assert faulty_checks(policies, opa()) == []


def test_a_code_is_shared_with_nobody_but_the_one_that_is_named(policies: Path) -> None:
    for level, name in (("route", "kind"), ("source", "current")):
        rule = policies / "gateway" / level / name / f"{name}.rego"
        code = next(line for line in rule.read_text().splitlines() if line.startswith("#   code: "))
        edit(rule, code, "#   code: source_forbidden")
    assert sorted({sentence for _, sentence in told(faulty_checks(policies, opa()))}) == [
        "The check route/kind has the same code.",
        "The check source/current has the same code.",
    ]


@pytest.mark.parametrize("edited", ["test_request_alias_decide", "with data.gateway.request.aliases as {}"])
def test_a_check_of_which_no_test_shows_that_it_decides_is_a_fault(policies: Path, edited: str) -> None:
    tests = policies / "gateway" / "gateway_test.rego"
    old = "test_request_alias_decides" if edited.startswith("test") else "with data.gateway.request.alias as {}"
    text = tests.read_text()
    start = text.index("test_request_alias_decides")
    tests.write_text(text[:start] + text[start:].replace(old, edited, 1))
    assert told(faulty_checks(policies, opa())) == [
        ("gateway_test.rego", "No test test_request_alias_decides shows that the check request/alias decides.")
    ]


def test_golden_decisions_that_are_wrong_or_cannot_be_asked_are_faults(policies: Path, example: Snapshot) -> None:
    edit(policies / "golden" / "access-general.json", '"internal"', '"private"')
    edit(policies / "golden" / "replay-shown.json", '"tenant": "acme"', '"tenant": "nobody"')
    edit(policies / "golden" / "replay-embargo.json", '"time_s"', '"times_s"')
    assert told(wrong_golden_decisions(policies, opa(), example)) == [
        (
            "access-general.json",
            "Policy now decides this golden decision otherwise: /answer/privacy_class written private, now internal.",
        ),
        (
            "replay-embargo.json",
            "This is not a golden decision: Object missing required field `time_s` - at `$.question`.",
        ),
        ("replay-shown.json", "The golden decision names a tenant or a bundle that the registry does not have."),
    ]


def test_each_entrypoint_needs_a_golden_decision_that_allows_and_one_that_denies(policies: Path) -> None:
    assert missing_golden_decisions(policies) == []
    for path in (policies / "golden").glob("operate-*.json"):
        if not json.loads(path.read_text())["answer"]["allow"]:
            path.unlink()
    assert told(missing_golden_decisions(policies)) == [("golden", "No golden decision of operate denies.")]
    rmtree(policies / "golden")
    assert {sentence for _, sentence in told(missing_golden_decisions(policies))} == {
        f"No golden decision of {entrypoint} {says}."
        for entrypoint in ("access", "operate", "replay", "routes", "visible")
        for says in ("allows", "denies")
    }


def test_what_would_stop_a_start_is_a_fault(policies: Path, example: Snapshot) -> None:
    edit(policies / "gateway" / "checks" / "checks.rego", "required := {", 'required := {\n\t"other": {"alias"},')
    faults = check_policies(policies, opa(), example)
    assert told(faults) == [("checks.rego", "The list of required checks is not as the gateway reads it.")]


@pytest.mark.parametrize(
    ("folder", "sentence"),
    [("nowhere", "There is no such folder."), ("other", "This folder does not hold the policies.")],
)
def test_of_another_folder_it_is_told_only_that_it_holds_no_policies(
    folder: str, sentence: str, tmp_path: Path, example: Snapshot
) -> None:
    (tmp_path / "other").mkdir()
    (fault,) = check_policies(tmp_path / folder, opa(), example)
    assert (fault.file, fault.sentence) == (str(tmp_path / folder), sentence)
    assert "GATEWAY_POLICIES" in fault.remedy


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
    before = (policies / "gateway" / path).read_text().splitlines()
    rule = edit(policies / "gateway" / path, old, new)
    found = dangling_references(policies, read_modules(policies, opa()))
    assert (rule.name, f"There is no {missing}.") in told(found)
    assert {fault.file for fault in found} == {str(rule)}
    changed = {row for row, text in enumerate(rule.read_text().splitlines(), 1) if text not in before}
    assert {fault.line for fault in found} >= changed


def test_a_golden_file_names_the_line_of_what_differs(policies: Path, example: Snapshot) -> None:
    golden = policies / "golden" / "routes-released.json"
    whole = json.loads(golden.read_text())
    whole["answer"] = {"routes": ["other", "smollm2-135m"], "failed": {"smollm2-135m": ["isolated", "kind"]}}
    golden.write_text(json.dumps(whole, indent=2))
    (fault,) = wrong_golden_decisions(policies, opa(), example)
    assert fault.sentence == (
        "Policy now decides this golden decision otherwise: /answer/routes/0 written other, now smollm2-135m; "
        "/answer/routes/1 written smollm2-135m, now none; "
        "/answer/failed/smollm2-135m/0 written isolated, now none; "
        "/answer/failed/smollm2-135m/1 written kind, now none."
    )
    assert fault.path == "/answer/routes/0"
    assert golden.read_text().splitlines()[fault.line - 1].strip() == '"other",'


def test_lint_codes_and_mutations_are_a_part_of_the_check(policies: Path, example: Snapshot) -> None:
    rule = edit(policies / "gateway" / "route" / "region" / "region.rego", "code: region_not", "code: region_is_not")
    edit(rule, "pass contains id if ", "_odd if input.alias != 7\n\npass contains id if ")
    edit(policies / "mutations.yaml", "name: any-region", "name: any-provider")
    for path in (policies / "golden").glob("replay-*.json"):
        path.unlink()
    found = told(check_policies(policies, opa(), example))
    assert ("region.rego", "same-types: The two are never of one type.") in found
    assert ("codes.json", "The codes are not those of the rules.") in found
    assert ("mutations.yaml", "Another mutation is named any-provider too.") in found
    assert ("golden", "No golden decision of replay allows.") in found
