"""The tutorial of docs/policy-guide.md, followed to the letter: complete it passes, and no step can be left out."""

import os
import re
import subprocess
import sys
from pathlib import Path
from shutil import copytree
from textwrap import dedent
from typing import NamedTuple

import pytest
from policy_support import ROOT, opa

from adapters import registry
from adapters.policy import check_policies, codes, mutate
from gateway.domain.snapshot import Snapshot
from gateway.testkit import behaviours
from gateway.testkit.features import read_features

GUIDE = (ROOT / "docs" / "policy-guide.md").read_text()
TUTORIAL = GUIDE[GUIDE.index("## Your first policy change") :].partition("\n## Versions")[0]
SCENARIO_STEP, CODES_STEP = 9, 12
TOLD_TOGETHER = (6, 7, 8, CODES_STEP)
"""Steps whose faults hide none of the others', so that one check, which takes seconds, tells them all."""
BY_CHECK, BY_TEST = "make check", "make test"


class Step(NamedTuple):
    number: int
    file: str
    blocks: list[tuple[str, str]]
    """Language and text of each."""


def steps() -> list[Step]:
    found = []
    for part in re.split(r"^(?=\d+\. )", TUTORIAL, flags=re.MULTILINE)[1:]:
        own = part.partition("\nWhat is said of a step")[0]
        blocks = re.findall(r"^ {3,4}```(rego|diff)\n(.*?)^ {3,4}```$", own, re.MULTILINE | re.DOTALL)
        named = re.search(r"`((?:policies|features|tests)/[^`]+)`", own)
        file = named[1] if named else ""
        found.append(Step(int(own.split(".")[0]), file, [(kind, dedent(text)) for kind, text in blocks]))
    return found


def forgotten(by: str) -> dict[int, str]:
    """Step and fault, from the table at the end of the tutorial."""
    rows = re.findall(rf"^\| step (\d+) \| `{by}` \| `(.*)` \|$", TUTORIAL, re.MULTILINE)
    return {int(step): said for step, said in rows}


def change(path: Path, block: str) -> None:
    lines = block.splitlines()
    old = "\n".join(line[1:] for line in lines if line[:1] != "+")
    new = "\n".join(line[1:] for line in lines if line[:1] != "-")
    text = path.read_text()
    assert text.count(old) == 1, f"{path.name}: {old}"
    path.write_text(text.replace(old, new))


def follow(copy: Path, *, without: tuple[int, ...] = ()) -> None:
    for step in steps():
        for kind, text in step.blocks if step.number not in without else []:
            path = copy / step.file
            if kind == "rego":
                path.parent.mkdir(exist_ok=True)
                path.write_text(text)
            else:
                change(path, text)
    if CODES_STEP not in without:
        codes.write(copy / "policies", opa())


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """Of whatever the tutorial changes and its tests read."""
    for folder in ("policies", "registry", "features", "tests/policy"):
        copytree(ROOT / folder, tmp_path / folder)
    for file in ("pyproject.toml", "tests/conftest.py"):
        (tmp_path / file).write_text((ROOT / file).read_text())
    return tmp_path


@pytest.fixture(scope="module")
def example() -> Snapshot:
    loaded = registry.load(ROOT / "registry", at_us=1_796_000_000_000_000)
    assert isinstance(loaded, registry.Loaded)
    return loaded.snapshot


COMPARED = """
import test_policy_reference as tests
from reference_mutator import mutated
from reference_questions import built, example

registries = {"example": example(), "built": built()}
asked = [
    tests.Asked("routes", question, name)
    for entrypoint, name, questions in tests.known(registries)
    if entrypoint == "routes"
    for question in mutated("routes", registries[name], questions, 200, seed=7)
]
found = tests.differences(asked, registries)
assert not found, found[:3]
"""
"""What the reference says of a part of those thousands of questions; all of them take half a minute."""


def _python(copy: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    """Python beside the tests of the copy."""
    environment = {name: text for name, text in os.environ.items() if not name.startswith("PYTEST")}
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=copy,
        env=environment | {"PYTHONPATH": str(copy / "tests" / "policy")},
        capture_output=True,
        text=True,
        check=False,
    )


def _fails(copy: Path, name: str) -> str:
    """What the test of this name says of the copy; nothing where it passes."""
    if name == "test_11_000_mutated_questions_are_answered_as_the_reference_says":
        done = _python(copy, "-c", COMPARED)
    else:
        files = [
            str(path) for path in (copy / "tests" / "policy").glob("test_*.py") if f"def {name}(" in path.read_text()
        ]
        done = _python(copy, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", name, *files)
    return "" if done.returncode == 0 else done.stdout[-3000:] + done.stderr[-3000:]


def unseen(copy: Path) -> list[str]:
    """What the check of behaviours says of the copy."""
    waivers = behaviours.read_waivers(copy / behaviours.NOT_COVERED)
    return list(behaviours.faults(behaviours.known_behaviours(copy), read_features(copy / "features"), waivers))


def test_whoever_follows_the_guide_has_no_faults(copy: Path, example: Snapshot) -> None:
    follow(copy)
    policies = copy / "policies"
    assert check_policies(policies, opa(), example) == []
    assert "sources_kept" in (policies / codes.FILE).read_text()
    (outcome,), faults = mutate(policies, opa(), example, only="kept-for-a-day")
    assert (outcome.caught_by, faults) == ("its own tests", [])
    assert unseen(copy) == []
    assert [said for name in forgotten(BY_TEST).values() if (said := _fails(copy, name))] == []


@pytest.mark.parametrize("left_out", [(1,), (2,), (3,), (4,), (5,), TOLD_TOGETHER], ids=str)
def test_a_step_that_is_left_out_is_a_fault(left_out: tuple[int, ...], copy: Path, example: Snapshot) -> None:
    follow(copy, without=left_out)
    said = [f"{Path(fault.file).name}: {fault.sentence}" for fault in check_policies(copy / "policies", opa(), example)]
    for step in left_out:
        assert any(forgotten(BY_CHECK)[step] in sentence for sentence in said), (step, said)


def test_without_the_scenario_the_check_of_behaviours_asks_for_it(copy: Path) -> None:
    follow(copy, without=(SCENARIO_STEP,))
    (said,) = unseen(copy)
    assert forgotten(BY_CHECK)[SCENARIO_STEP] in said


@pytest.mark.parametrize("step", sorted(forgotten(BY_TEST)))
def test_a_step_that_only_the_tests_miss_fails_the_one_that_the_guide_names(step: int, copy: Path) -> None:
    follow(copy, without=(step,))
    assert "AssertionError" in _fails(copy, forgotten(BY_TEST)[step])


def test_the_guide_says_of_every_step_what_is_said_without_it() -> None:
    changing = [step.number for step in steps() if step.blocks]
    told = forgotten(BY_CHECK).keys() | forgotten(BY_TEST).keys()
    assert sorted(told) == [*changing, CODES_STEP]
    assert sorted(forgotten(BY_CHECK)) == sorted((1, 2, 3, 4, 5, SCENARIO_STEP, *TOLD_TOGETHER))
