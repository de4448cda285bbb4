"""Each rule of the lint finds its bad example at the right line, where OPA itself finds nothing."""

from collections.abc import Iterator
from pathlib import Path
from shutil import copytree

import pytest
from msgspec import Struct
from policy_support import POLICIES, opa

from adapters import registry
from adapters.policy import schemas
from adapters.policy.capabilities import capabilities
from adapters.policy.check_structs import optional_fields
from adapters.policy.command import compiled
from adapters.policy.lint import RULES, lint
from adapters.policy.lint_literals import registered
from gateway.domain.fault import Fault

BAD = Path(__file__).parent / "bad"
NAMES = frozenset({"acme", "tenant-a", "staff"})
"""What a registry in force could list."""


def tree(folder: Path, *overlays: str) -> Path:
    """The good policies of ``bad/good`` with others over them, and the schemas of today."""
    policies = folder / "policies"
    for name in ("good", *overlays):
        copytree(BAD / name, policies, dirs_exist_ok=True)
    schemas.write(policies)
    (folder / "capabilities.json").write_bytes(capabilities(opa()))
    return policies


def marked(policies: Path) -> Iterator[tuple[str, int]]:
    """Files and lines that say of themselves that they are bad."""
    for path in sorted(policies.rglob("*.rego")):
        for row, text in enumerate(path.read_text().splitlines(), 1):
            if text.endswith("# BAD"):
                yield str(path), row


def places(faults: list[Fault], name: str) -> list[tuple[str, int]]:
    return sorted({(fault.file, fault.line) for fault in faults if fault.sentence.startswith(f"{name}: ")})


@pytest.mark.parametrize("name", sorted(RULES))
def test_a_rule_of_the_lint_finds_its_bad_example(name: str, tmp_path: Path) -> None:
    policies = tree(tmp_path, name)
    assert compiled(policies, opa(), tmp_path / "capabilities.json") == [], "OPA alone would have found it"
    faults = lint(policies, opa(), NAMES)
    assert places(faults, name) == sorted(marked(policies)) != []
    assert all(fault.remedy for fault in faults)


def test_every_bad_example_belongs_to_a_rule() -> None:
    assert {path.name for path in BAD.iterdir()} == {"good", *RULES}


def test_the_lint_has_nothing_against_good_rules(tmp_path: Path) -> None:
    policies = tree(tmp_path)
    assert compiled(policies, opa(), tmp_path / "capabilities.json") == []
    assert lint(policies, opa(), NAMES) == []


def test_the_lint_has_nothing_against_the_repositorys_policies() -> None:
    loaded = registry.load(POLICIES.parent / "registry", at_us=1_796_000_000_000_000)
    assert isinstance(loaded, registry.Loaded)
    names = registered(loaded.snapshot)
    assert {"acme", "chat", "chat@1", "drafting", "staff", "smollm2-135m", "openai", "eu"} <= names
    assert lint(POLICIES, opa(), names) == []


class Inner(Struct, kw_only=True):
    right: str
    may_be_null: int | None  # BAD


class Outer(Struct, kw_only=True):
    inner: tuple[Inner, ...]
    may_be_missing: str = ""  # BAD
    by_name: dict[str, Inner]
    anything: object  # BAD


def test_an_optional_field_of_a_struct_is_a_fault_with_its_line() -> None:
    text = Path(__file__).read_text().splitlines()
    bad = [row for row, line in enumerate(text, 1) if line.endswith("  # BAD")]
    faults = optional_fields([Outer])
    assert [fault.line for fault in faults] == bad
    assert {Path(fault.file).name for fault in faults} == {Path(__file__).name}
    assert all(fault.remedy and fault.sentence.startswith("no-optional-fields: ") for fault in faults)


def test_no_field_that_is_sent_is_optional() -> None:
    assert optional_fields() == []
