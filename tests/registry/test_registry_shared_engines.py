"""Profiles with the same endpoint are one engine, with one memory."""

import pathlib
import re

import pytest
from registry_examples import MEASURED, SELF_HOSTED_A, capacity_of, faults

from gateway.domain.fault import Fault
from gateway.testkit.registry_copy import PROFILE, Edit, copy_registry

HELD = 9
"""Sequences of 2,048 tokens that the example's device holds."""
SAME = Edit(SELF_HOSTED_A, "127.0.0.1:8092", "127.0.0.1:8091")
SCOPE = "quota-scopes/in-house.yaml"


def at_once(one: int | str, other: int | str) -> tuple[Edit, ...]:
    return (
        Edit(PROFILE, "concurrency: 2", f"concurrency: {one}"),
        Edit(SELF_HOSTED_A, "concurrency: 2", f"concurrency: {other}"),
    )


def told(tmp_path: pathlib.Path, *edits: Edit) -> list[Fault]:
    return faults(copy_registry(tmp_path, edits))


def test_promises_to_one_engine_are_counted_together(tmp_path: pathlib.Path) -> None:
    (fault,) = told(tmp_path, SAME, *at_once(5, 5))
    assert (pathlib.Path(fault.file).name, fault.path) == ("smollm2-135m.yaml", "/limits/concurrency")
    assert "concurrency: 5" in pathlib.Path(fault.file).read_text().splitlines()[fault.line - 1]
    assert fault.sentence.startswith(
        "Together with smollm2-135m-a, which has the same endpoint: 10 sequences of 2,048 tokens need 1."
    )
    assert f"Lower concurrency to at most {HELD} at this context" in fault.remedy
    assert told(tmp_path / "fewer", SAME, *at_once(5, HELD - 5)) == []


def test_engines_of_their_own_are_counted_alone(tmp_path: pathlib.Path) -> None:
    assert told(tmp_path, *at_once(HELD, HELD)) == []
    path = Edit(SELF_HOSTED_A, "127.0.0.1:8092/v1", "127.0.0.1:8091/other/v1")
    assert told(tmp_path / "path", path, *at_once(HELD, HELD)) == []


@pytest.mark.parametrize("spelt", ["localhost:8091/v1", "[::1]:8091/v1", "127.0.0.1:8091/v1/"])
def test_another_spelling_is_no_other_engine(spelt: str, tmp_path: pathlib.Path) -> None:
    (fault,) = told(tmp_path, Edit(SELF_HOSTED_A, "127.0.0.1:8092/v1", spelt), *at_once(HELD, 1))
    assert "which has the same endpoint: 10 sequences" in fault.sentence


def test_all_are_counted_with_the_longest_context(tmp_path: pathlib.Path) -> None:
    short = Edit(SELF_HOSTED_A, "context_window: 2048", "context_window: 1024")
    assert len(told(tmp_path, SAME, short, *at_once(5, 5))) == 1
    assert told(tmp_path / "fewer", SAME, short, *at_once(5, 4)) == []


def test_a_quota_scope_bounds_them_together(tmp_path: pathlib.Path) -> None:
    text = (pathlib.Path(copy_registry(tmp_path)) / SCOPE).read_text()
    (line,) = re.findall(r"concurrency: \S+", text)
    for most, count in ((HELD, 0), (HELD + 1, 1)):
        bound = Edit(SCOPE, line, f"concurrency: {most}")
        assert len(told(tmp_path / str(most), SAME, bound, *at_once(HELD, HELD))) == count


def test_what_has_no_bound_adds_nothing(tmp_path: pathlib.Path) -> None:
    assert told(tmp_path, SAME, *at_once(HELD, "unlimited")) == []
    assert told(tmp_path / "both", SAME, *at_once("unlimited", "unlimited")) == []


def test_what_is_not_released_takes_no_requests(tmp_path: pathlib.Path) -> None:
    """The way in which a profile is changed: a copy beside it, in a new bundle, and the alias moves."""
    directory = copy_registry(tmp_path, [SAME, *at_once(HELD, HELD)])
    bundle = directory / "bundles" / "chat@1.yaml"
    assert len(faults(directory)) == 1
    text = bundle.read_text()
    second = text.index("  - id: smollm2-135m-a\n")
    bundle.write_text(text[:second] + text[text.index("purposes:") :])
    found = faults(directory)
    assert not [fault for fault in found if "same endpoint" in fault.sentence]


def test_a_measurement_holds_them_together(tmp_path: pathlib.Path) -> None:
    measured = Edit(SELF_HOSTED_A, capacity_of(SELF_HOSTED_A), MEASURED)
    (fault,) = told(tmp_path, SAME, measured, *at_once(1, 2))
    assert pathlib.Path(fault.file).name == "smollm2-135m-a.yaml"
    assert "3 sequences of 2,048 tokens need 6,144 tokens of KV cache, and 4,096 were measured." in fault.sentence
    assert told(tmp_path / "fewer", SAME, measured, *at_once(1, 1)) == []


def test_a_fault_of_one_is_not_told_twice(tmp_path: pathlib.Path) -> None:
    (fault,) = told(tmp_path, SAME, *at_once(HELD + 1, 1))
    assert "Together" not in fault.sentence
    (fault,) = told(tmp_path / "format", SAME, Edit(PROFILE, "weights_format: q4_1", "weights_format: q4"))
    assert fault.path == "/engine/weights_format"
