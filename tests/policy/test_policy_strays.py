"""Rules where nobody would check them, and packages that hide: neither escapes the check or a start."""

import asyncio
import os
from pathlib import Path
from shutil import copytree

import pytest
from policy_support import POLICIES, Recorder, opa
from snapshots import snapshot

from adapters.policy import check_policies, mutate, start
from adapters.policy.bundle import read_rules
from adapters.policy.check_layout import misplaced_files
from adapters.policy.strays import strays
from gateway.domain.errors import StartRefused
from gateway.domain.fault import Fault


@pytest.fixture
def policies(tmp_path: Path) -> Path:
    return Path(copytree(POLICIES, tmp_path / "policies"))


def told(faults: list[Fault]) -> list[tuple[str, str]]:
    """File name and sentence; a remedy has to be there."""
    assert all(fault.remedy for fault in faults)
    return [(Path(fault.file).name, fault.sentence) for fault in faults]


@pytest.mark.parametrize(
    "declared",
    ["package gateway.route.isolated # nothing", "  package\n    gateway.route.isolated", "package gateway[`zz`]"],
)
def test_a_package_is_what_opa_takes_for_it_however_it_is_written(policies: Path, declared: str) -> None:
    folder = policies / "gateway" / "z.z"
    folder.mkdir()
    (folder / "z.rego").write_text(f"# package gateway.zz\n{declared}\n\npass if true\n")
    (fault,) = misplaced_files(policies, opa())
    assert "and the folder wants gateway.z.z." in fault.sentence
    assert fault.line == 2


def test_a_package_with_a_dot_in_a_name_is_not_one_in_a_deeper_folder(policies: Path) -> None:
    for place, package in (("z.z", "z.z"), ("y/y", '["y.y"]')):
        (policies / "gateway" / place).mkdir(parents=True)
        (policies / "gateway" / place / "a.rego").write_text(f"package gateway.{package}\n".replace(".[", "["))
    assert [Path(fault.file).parent.name for fault in misplaced_files(policies, opa())] == ["y", "z.z"]


def test_a_file_without_a_package_is_a_fault(policies: Path) -> None:
    (policies / "gateway" / "zz.rego").write_text("pass if true\n")
    assert ("zz.rego", "The file has no package.") in told(misplaced_files(policies, opa()))


OUTSIDE = "Rules have no place here."
AMONG_RULES = "This has no place among the rules."
LINK = "This is a link."
NO_GOLDEN = "This is no golden decision, and nobody would ask it."
FOLDER = "This folder is named as a file of rules."


@pytest.mark.parametrize(
    ("place", "sentence"),
    [
        ("open.rego", OUTSIDE),
        ("zz/open.rego", OUTSIDE),
        ("zz/.rego", OUTSIDE),
        ("golden/OPEN.Rego", OUTSIDE),
        ("schemas/open_test.rego", OUTSIDE),
        ("gateway/data.json", AMONG_RULES),
        ("gateway/route/data.yaml", AMONG_RULES),
        ("gateway/route/isolated/isolated.REGO", AMONG_RULES),
        ("gateway/route/.hidden.rego", AMONG_RULES),
        ("golden/access-general.JSON", NO_GOLDEN),
        ("golden/more/access-general.json", NO_GOLDEN),
        ("golden/.hidden.json", NO_GOLDEN),
        ("golden/README.md", NO_GOLDEN),
    ],
)
def test_a_stray_is_the_only_fault(place: str, sentence: str, policies: Path) -> None:
    path = policies / place
    path.parent.mkdir(exist_ok=True)
    path.write_text(
        "package gateway.route.isolated # nothing\n\npass contains id if some id, _ in data.registry.profiles\n"
    )
    assert check_policies(policies, opa(), snapshot()) == strays(policies)
    assert (str(path), sentence) in [(fault.file, fault.sentence) for fault in strays(policies)]
    assert all(fault.remedy for fault in strays(policies))


@pytest.mark.parametrize("place", ["zz", "gateway/zz", "gateway/route/isolated/more.rego", "golden/more.json"])
def test_a_link_is_a_stray(place: str, policies: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "open.rego").write_text("package gateway.zz\n")
    (policies / place).symlink_to(tmp_path / "elsewhere" / ("open.rego" if "." in place else ""))
    assert told(strays(policies)) == [(Path(place).name, LINK)]


def test_a_hidden_folder_and_a_pipe_are_strays_among_the_rules(policies: Path) -> None:
    (policies / "gateway" / ".zz").mkdir()
    os.mkfifo(policies / "gateway" / "zz.rego")
    assert told(strays(policies)) == [(".zz", AMONG_RULES), ("zz.rego", AMONG_RULES)]


@pytest.mark.parametrize(
    ("place", "sentence"),
    [
        ("zz.rego", FOLDER),
        ("gateway/zz.rego", FOLDER),
        ("gateway/route/zz.REGO", FOLDER),
        ("golden/zz.rego", FOLDER),
        ("golden/zz.json", NO_GOLDEN),
        ("golden/zz", NO_GOLDEN),
    ],
)
def test_a_folder_that_is_named_as_a_file_is_a_stray_and_serves_nothing(
    place: str, sentence: str, policies: Path
) -> None:
    (policies / place).mkdir()
    (fault,) = check_policies(policies, opa(), snapshot())
    assert (fault.file, fault.sentence) == (str(policies / place), sentence)
    assert mutate(policies, opa(), snapshot()) == ([], [fault])
    assert place not in read_rules(policies)
    with pytest.raises(StartRefused) as refusal:
        asyncio.run(start(snapshot=snapshot(), policies=policies, opa=opa(), events=Recorder()))
    assert str(refusal.value) == str(fault)


@pytest.mark.parametrize(
    ("character", "told_as"),
    [
        ("\u202e", "U+202E"),
        ("\u2066", "U+2066"),
        ("\u200b", "U+200B"),
        ("\u2060", "U+2060"),
        ("\ufeff", "U+FEFF"),
        ("\u2028", "U+2028"),
        ("\u2029", "U+2029"),
        ("\u0085", "U+0085"),
        ("\u00a0", "U+00A0"),
        ("\r", "U+000D"),
        ("\x00", "U+0000"),
    ],
)
def test_a_character_that_nobody_sees_is_a_fault_with_its_line(character: str, told_as: str, policies: Path) -> None:
    path = policies / "gateway" / "route" / "region" / "region.rego"
    lines = path.read_text().split("\n")
    lines[4] += f"{character}pass"
    path.write_bytes("\n".join(lines).encode())
    (fault,) = check_policies(policies, opa(), snapshot())
    assert (fault.file, fault.line, fault.sentence) == (str(path), 5, f"The character {told_as} stands here unseen.")


@pytest.mark.parametrize(
    "place", ["mutations.yaml", "codes.json", "golden/access-general.json", "schemas/input.json", "note"]
)
def test_no_file_may_hold_what_nobody_sees_or_what_is_no_text(place: str, policies: Path) -> None:
    path = policies / place
    kept = path.read_bytes() if path.exists() else b""
    path.write_bytes(b"\n\n\xe2\x80\xae" + kept)
    (fault,) = strays(policies)
    assert (fault.file, fault.line) == (str(path), 3)
    path.write_bytes(b"\n\xff" + kept)
    assert [(fault.file, fault.line, fault.sentence) for fault in strays(policies)] == [
        (str(path), 2, "This is not UTF-8.")
    ]


def test_lines_may_end_as_they_do_elsewhere(policies: Path) -> None:
    (policies / "note").write_bytes(b"one\r\n\ttwo\r\n")
    assert strays(policies) == []
