"""The tutorial of docs/policy-guide.md, followed to the letter: complete it passes, and no step can be left out."""

import re
from pathlib import Path
from shutil import copytree
from textwrap import dedent
from typing import NamedTuple

import pytest
from policy_support import POLICIES, ROOT, opa

from adapters import registry
from adapters.policy import check_policies, codes, mutate
from gateway.domain.snapshot import Snapshot

GUIDE = (ROOT / "docs" / "policy-guide.md").read_text()
TUTORIAL = GUIDE[GUIDE.index("## Your first policy change") :].partition("\n## Versions")[0]
CODES_STEP = 9


class Step(NamedTuple):
    number: int
    file: str
    blocks: list[tuple[str, str]]
    """Language and text of each."""


def steps() -> list[Step]:
    found = []
    for part in re.split(r"^(?=\d+\. )", TUTORIAL, flags=re.MULTILINE)[1:]:
        own = part.partition("\nWhat the check says")[0]
        blocks = re.findall(r"^   ```(rego|diff)\n(.*?)^   ```$", own, re.MULTILINE | re.DOTALL)
        named = re.search(r"`(policies/[^`]+)`", own)
        file = named[1] if named else ""
        found.append(Step(int(own.split(".")[0]), file, [(kind, dedent(text)) for kind, text in blocks]))
    return found


def forgotten() -> dict[int, str]:
    """Step and fault, from the table at the end of the tutorial."""
    return {int(step): said for step, said in re.findall(r"^\| step (\d+) \| (.*) \|$", TUTORIAL, re.MULTILINE)}


def change(path: Path, block: str) -> None:
    lines = block.splitlines()
    old = "\n".join(line[1:] for line in lines if line[:1] != "+")
    new = "\n".join(line[1:] for line in lines if line[:1] != "-")
    text = path.read_text()
    assert text.count(old) == 1, f"{path.name}: {old}"
    path.write_text(text.replace(old, new))


def follow(policies: Path, *, without: int = 0) -> None:
    for step in steps():
        for kind, text in step.blocks if step.number != without else []:
            path = policies.parent / step.file
            if kind == "rego":
                path.parent.mkdir(exist_ok=True)
                path.write_text(text)
            else:
                change(path, text)
    if without != CODES_STEP:
        codes.write(policies, opa())


@pytest.fixture
def policies(tmp_path: Path) -> Path:
    return Path(copytree(POLICIES, tmp_path / "policies"))


@pytest.fixture(scope="module")
def example() -> Snapshot:
    loaded = registry.load(ROOT / "registry", at_us=1_796_000_000_000_000)
    assert isinstance(loaded, registry.Loaded)
    return loaded.snapshot


def test_whoever_follows_the_guide_has_no_faults(policies: Path, example: Snapshot) -> None:
    follow(policies)
    assert check_policies(policies, opa(), example) == []
    assert "sources_kept" in (policies / codes.FILE).read_text()
    (outcome,), faults = mutate(policies, opa(), example, only="kept-for-a-day")
    assert (outcome.caught_by, faults) == ("its own tests", [])


@pytest.mark.parametrize("step", sorted(forgotten()))
def test_a_step_that_is_left_out_is_a_fault(step: int, policies: Path, example: Snapshot) -> None:
    follow(policies, without=step)
    said = [f"{Path(fault.file).name}: {fault.sentence}" for fault in check_policies(policies, opa(), example)]
    assert any(forgotten()[step].strip("`") in sentence for sentence in said), said


def test_the_guide_says_of_every_step_what_the_check_says_without_it() -> None:
    changing = [step.number for step in steps() if step.blocks]
    assert list(forgotten()) == [*changing, CODES_STEP]
