"""What cannot be read, or comes to no end, is a fault with the file, and never a traceback."""

import asyncio
from pathlib import Path
from shutil import copytree

import pytest
from policy_support import POLICIES, Recorder, opa

from adapters import registry
from adapters.policy import check_policies, command, start
from adapters.policy.capabilities import capabilities
from adapters.policy.command import compiled
from gateway.domain.errors import StartRefused
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


DEEP = "[" * 1500 + "]" * 1500
LONG = " + ".join(["1"] * 1500)


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        (f"_odd := {DEEP}", "This is nested too deeply to be checked."),
        (f"_odd := {LONG}", "This is nested too deeply to be checked."),
        ("_odd := 1e400", "This file cannot be read: "),
    ],
)
def test_rules_that_cannot_be_read_are_one_fault_with_the_file(
    value: str, sentence: str, policies: Path, example: Snapshot
) -> None:
    rule = policies / "gateway" / "route" / "region" / "region.rego"
    rule.write_text(rule.read_text() + f"\n{value}\n")
    (fault,) = check_policies(policies, opa(), example)
    assert fault.file == str(rule)
    assert fault.sentence.startswith(sentence)


def test_values_that_cannot_be_read_in_tests_and_golden_decisions_are_no_crash(
    policies: Path, example: Snapshot
) -> None:
    tests = policies / "gateway" / "route" / "region" / "region_test.rego"
    tests.write_text(tests.read_text() + f"\n_odd := {DEEP}\n\n_odder := 1e400\n")
    (policies / "golden" / "deep.json").write_text(f'{{"odd": {DEEP}}}')
    (policies / "golden" / "large.json").write_text('{"entrypoint": "visible", "title": 1e400}')
    faults = check_policies(policies, opa(), example)
    assert {(Path(fault.file).name, fault.sentence) for fault in faults if fault.file != str(tests)} == {
        ("deep.json", "This is not a golden decision: maximum recursion depth exceeded while deserializing an object."),
        ("large.json", "This is not a golden decision: Number out of range - at `$.title`."),
    }
    with pytest.raises(StartRefused) as refusal:
        asyncio.run(start(snapshot=example, policies=policies, opa=opa(), events=Recorder()))
    assert {Path(fault.file).name for fault in refusal.value.faults} == {"deep.json", "large.json"}


@pytest.mark.parametrize(
    "call", ["numbers.range(1, 100000000)", "numbers.range_step(1, 100000000, 1)", "bits.lsh(1, 9)"]
)
def test_what_fills_the_memory_in_one_call_may_not_be_called(call: str, policies: Path, allowed: Path) -> None:
    rule = policies / "gateway" / "route" / "region" / "region.rego"
    rule.write_text(rule.read_text() + f"\n_odd := {call}\n")
    assert [fault.file for fault in compiled(policies, opa(), allowed)] == [str(rule)]


def test_an_opa_that_does_not_come_to_an_end_is_a_fault(
    policies: Path, example: Snapshot, monkeypatch: pytest.MonkeyPatch
) -> None:
    listing = policies / "gateway" / "checks" / "checks.rego"
    slow = "count({[a, b, c] | some a in _many; some b in _many; some c in _many}) > 0"
    many = f"_many := {list(range(900))}"
    text = listing.read_text().replace("required := {", "_required := {", 1)
    listing.write_text(f"{text}\nrequired := _required if {slow}\n\n{many}\n")
    monkeypatch.setattr(command, "_LIMIT_S", 3)
    (fault,) = check_policies(policies, opa(), example)
    assert fault.sentence == "opa eval takes longer than 3 s on these rules."
    with pytest.raises(StartRefused, match="opa eval takes longer than 3 s"):
        asyncio.run(start(snapshot=example, policies=policies, opa=opa(), events=Recorder()))
