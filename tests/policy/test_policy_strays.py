"""Rules where nobody would check them, and packages that hide: neither escapes the check or a start."""

import os
from pathlib import Path
from shutil import copytree

import pytest
from policy_support import POLICIES, opa
from snapshots import snapshot

from adapters.policy import check_policies
from adapters.policy.check_layout import misplaced_files
from adapters.policy.strays import strays
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
    ],
)
def test_a_stray_is_the_only_fault(place: str, sentence: str, policies: Path) -> None:
    path = policies / place
    path.parent.mkdir(exist_ok=True)
    path.write_text(
        "package gateway.route.isolated # nothing\n\npass contains id if some id, _ in data.registry.profiles\n"
    )
    assert check_policies(policies, opa(), snapshot()) == strays(policies)
    assert [(fault.file, fault.sentence) for fault in strays(policies)] == [(str(path), sentence)]
    assert strays(policies)[0].remedy


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
