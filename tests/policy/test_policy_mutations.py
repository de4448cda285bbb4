"""Mutations: the list covers every check, what survives is a fault, and what is no mutation is told where it stands."""

from pathlib import Path
from shutil import copytree

import pytest
from policy_support import POLICIES, opa

from adapters import registry
from adapters.policy import mutate
from adapters.policy.mutation_list import faulty_mutations, read_mutations
from gateway.domain.fault import Fault
from gateway.domain.snapshot import Snapshot

ENTRY = """
- name: {name}
  file: {file}
  old: {old}
  new: {new}
  loosens: An example.
"""
DECLARED = "The mutation odd changes a package, METADATA or a comment, and no rule."
REGION = "gateway/route/region/region.rego"


@pytest.fixture
def policies(tmp_path: Path) -> Path:
    return Path(copytree(POLICIES, tmp_path / "policies"))


@pytest.fixture(scope="module")
def example() -> Snapshot:
    loaded = registry.load(POLICIES.parent / "registry", at_us=1_796_000_000_000_000)
    assert isinstance(loaded, registry.Loaded)
    return loaded.snapshot


def add(policies: Path, name: str, file: str, old: str, new: str) -> int:
    """The line of the new entry."""
    path = policies / "mutations.yaml"
    text = path.read_text().rstrip("\n")
    path.write_text(text + ENTRY.format(name=name, file=file, old=old, new=new))
    return text.count("\n") + 2


def told(faults: list[Fault]) -> list[tuple[str, int, str]]:
    assert all(fault.remedy for fault in faults)
    return [(Path(fault.file).name, fault.line, fault.sentence) for fault in faults]


def test_the_repositorys_list_has_no_faults_and_is_long_enough() -> None:
    listed, faults = read_mutations(POLICIES)
    assert faults == []
    assert len(listed) >= 40


def test_what_a_test_notices_is_caught_by_it_and_what_nothing_notices_is_a_fault(
    policies: Path, example: Snapshot
) -> None:
    (outcome,), faults = mutate(policies, opa(), example, only="any-region")
    assert (outcome.caught_by, faults) == ("its own tests", [])
    row = add(policies, "harmless", REGION, "pass contains", "pass  contains")
    (outcome,), faults = mutate(policies, opa(), example, only="harmless")
    assert outcome.caught_by == ""
    assert told(faults) == [("mutations.yaml", row, "Nothing catches the mutation harmless: An example.")]


def test_a_mutation_that_is_no_rego_shows_nothing(policies: Path, example: Snapshot) -> None:
    row = add(policies, "broken", REGION, "pass contains id if", "pass contains id if (")
    _, faults = mutate(policies, opa(), example, only="broken")
    assert told(faults) == [("mutations.yaml", row, "The mutation broken is no Rego, so that it shows nothing.")]


@pytest.mark.parametrize(
    ("name", "caught_by"),
    [
        ("request-passes-by-being-there", "lint"),
        ("isolation-not-required", "required checks"),
    ],
)
def test_every_stage_of_the_check_takes_part(name: str, caught_by: str, example: Snapshot) -> None:
    (outcome,), faults = mutate(POLICIES, opa(), example, only=name)
    assert (outcome.caught_by, faults) == (caught_by, [])


def test_a_reference_that_leads_nowhere_is_caught_by_the_layout(policies: Path, example: Snapshot) -> None:
    add(policies, "nowhere", "gateway/checks/checks.rego", "needed in required", "needed in gateway.nowhere.required")
    outcomes, faults = mutate(policies, opa(), example, only="nowhere")
    assert [outcome.caught_by for outcome in outcomes] == ["layout"]
    assert faults == []


def test_policies_with_faults_are_not_mutated(policies: Path, example: Snapshot) -> None:
    rule = policies / REGION
    rule.write_text(rule.read_text() + "\npass contains id if not data.registry.profiles[id]\n")
    outcomes, (fault,) = mutate(policies, opa(), example, only="any-region")
    assert outcomes == []
    assert "have faults already" in fault.sentence


def test_a_check_without_a_mutation_is_a_fault(policies: Path) -> None:
    path = policies / "mutations.yaml"
    path.write_text(path.read_text().replace(REGION, "gateway/route/provider/provider.rego"))
    assert ("region.rego", 0, "No mutation loosens the check route/region.") in told(faulty_mutations(policies))


@pytest.mark.parametrize(
    ("file", "old", "new", "sentence"),
    [
        ("gateway/nowhere.rego", "a", "b", "The mutation odd does not apply: there is no gateway/nowhere.rego."),
        (REGION, "region", "b", "The mutation odd does not apply: its old text occurs "),
        (REGION, "nowhere", "b", "The mutation odd does not apply: its old text occurs 0 times."),
        (REGION, '""', "b", "The mutation odd does not apply: its old text occurs 0 times."),
        ("access.rego", "a", "b", "The mutation odd is of no file of rules."),
        ("codes.json", "a", "b", "The mutation odd is of no file of rules."),
        ("/victim.rego", "a", "b", "The mutation odd is of no file of rules."),
        ("gateway/../../victim.rego", "a", "b", "The mutation odd is of no file of rules."),
        ("gateway//access/access.rego", "a", "b", "The mutation odd is of no file of rules."),
        (REGION, "package gateway.route.region", "package gateway.route.regions", DECLARED),
        (REGION, "'owner: privacy'", "'owner: nobody'", DECLARED),
        (REGION, "pass contains", "'#pass contains'", DECLARED),
        ("[x]", "a", "b", "This is not a mutation: Expected `str`, got `array` - at `$.file`."),
        (REGION, "[a]", "b", "This is not a mutation: Expected `str`, got `array` - at `$.old`."),
    ],
)
def test_an_entry_that_does_not_apply_is_a_fault_with_its_line(
    policies: Path, file: str, old: str, new: str, sentence: str
) -> None:
    row = add(policies, "odd", file, old, new)
    ((name, line, said),) = told(faulty_mutations(policies))
    assert (name, line) == ("mutations.yaml", row), said
    assert said.startswith(sentence)


def test_two_mutations_of_one_name_are_a_fault(policies: Path) -> None:
    row = add(policies, "any-region", REGION, "pass contains", "pass contains ")
    assert told(faulty_mutations(policies)) == [("mutations.yaml", row, "Another mutation is named any-region too.")]


def test_a_key_that_an_entry_has_twice_is_a_fault(policies: Path) -> None:
    row = add(policies, "twice", REGION, ".provider", ".region")
    path = policies / "mutations.yaml"
    path.write_text(path.read_text() + "  new: .provider\n")
    assert told(faulty_mutations(policies)) == [("mutations.yaml", row, "This entry has new twice.")]


def test_a_mutation_changes_nothing_outside_of_its_copy(policies: Path, example: Snapshot, tmp_path: Path) -> None:
    victim = tmp_path / "victim.rego"
    victim.write_text("one")
    add(policies, "odd", str(victim), "one", "two")
    assert mutate(policies, opa(), example, only="odd")[0] == []
    assert victim.read_text() == "one"


@pytest.mark.parametrize(
    ("text", "line", "sentence"),
    [
        (None, 0, "There is no list of mutations."),
        ("a: ]", 1, "This is not YAML."),
        ("a: 1", 1, "This is not a list of mutations."),
        ("", 1, "This is not a list of mutations."),
        ("[" * 3000, 0, "This is not YAML."),
        ("- 2026-99-99", 0, "This is not YAML."),
        ("\udcff", 0, "This is not YAML."),
    ],
)
def test_a_list_that_is_none_is_a_fault(policies: Path, text: str | None, line: int, sentence: str) -> None:
    path = policies / "mutations.yaml"
    path.unlink()
    if text is not None:
        path.write_text(text, errors="surrogateescape")
    assert told(faulty_mutations(policies)) == [("mutations.yaml", line, sentence)]
