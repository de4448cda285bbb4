"""What must hold of the files themselves."""

import re
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

LONGEST_MODULE = 400
LONG_MODULE = 200

_MACHINE_PATH = re.compile(r"(?<![\w.~$}-])/(?:home|mnt|opt|root|tmp|work|Users)/")
_REGISTRY_HOST = re.compile(
    r"\b(?:pypi\.org|[\w.]*pythonhosted\.org|registry\.npmjs\.org|proxy\.golang\.org|crates\.io|ghcr\.io|docker\.io)\b"
)
_PIN = re.compile(r"^[\w.-]+==\S+(?: ;.*)? \\$")


def _targets(makefile: str) -> set[str]:
    return set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE))


def test_make_alone_lists_every_target(root: Path, texts: Mapping[str, str]) -> None:
    shown = subprocess.run(
        ["make", "--no-print-directory"], cwd=root, capture_output=True, text=True, check=True
    ).stdout
    targets = _targets(texts["Makefile"])
    assert {"demo", "test", "check", "bench", "lock", "opa", "schemas", "clean"} <= targets
    assert set(re.findall(r"^  ([a-z-]+) +\S", shown, re.MULTILINE)) == targets


def test_every_target_is_phony(texts: Mapping[str, str]) -> None:
    (phony,) = re.findall(r"^\.PHONY: (.*)$", texts["Makefile"], re.MULTILINE)
    assert set(phony.split()) == _targets(texts["Makefile"])


def test_ci_runs_the_checks_and_the_tests_and_nothing_else(texts: Mapping[str, str]) -> None:
    lines = [line for line in texts[".ci/run"].splitlines() if line and not line.startswith(("#", "set ", "cd "))]
    assert [line.split("<")[0].strip() for line in lines] == ["make check", "make test"]


def test_no_module_is_longer_than_a_reader_can_hold(
    texts: Mapping[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    lengths = {name: len(text.splitlines()) for name, text in texts.items() if name.endswith(".py")}
    long = sorted(((lines, name) for name, lines in lengths.items() if lines > LONG_MODULE), reverse=True)
    if long:
        with capsys.disabled():
            print(f"\nModules above {LONG_MODULE} lines: " + ", ".join(f"{name} {lines}" for lines, name in long))
    assert [name for lines, name in long if lines > LONGEST_MODULE] == []


def test_no_file_names_a_path_of_one_machine(texts: Mapping[str, str]) -> None:
    assert _lines_with(_MACHINE_PATH, texts) == []


def test_no_file_names_the_host_of_a_package_registry(texts: Mapping[str, str]) -> None:
    assert _lines_with(_REGISTRY_HOST, {name: text for name, text in texts.items() if name != _THIS}) == []


_THIS = "tests/repository/test_repository.py"


def _lines_with(pattern: re.Pattern[str], texts: Mapping[str, str]) -> list[str]:
    return [
        f"{name}:{number}: {line.strip()[:100]}"
        for name, text in texts.items()
        for number, line in enumerate(text.splitlines(), 1)
        if pattern.search(line)
    ]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("see /" + "work/main/x", True),
        ('open("/' + 'tmp/a")', True),
        ("~/" + "work/x", False),
        ("$HOME/" + "work/x", False),
        ("policies/work/x", False),
    ],
)
def test_a_path_of_one_machine_is_told_from_others(text: str, found: bool) -> None:
    assert bool(_MACHINE_PATH.search(text)) is found


@pytest.mark.parametrize("lock", ["dev.txt", "hosted.txt", "runtime.txt", "uv.txt"])
def test_a_lock_pins_every_package_with_hashes_and_names_no_address(root: Path, lock: str) -> None:
    lines = (root / "requirements" / lock).read_text(encoding="utf-8").splitlines()
    assert lines
    assert [line for line in lines if "://" in line or line.startswith("-")] == []
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        if not line.startswith(("#", " ")):
            assert _PIN.match(line), line
            assert following.strip().startswith("--hash=sha256:"), line


def test_the_locks_hold_the_versions_that_the_project_names(texts: Mapping[str, str]) -> None:
    pins = re.findall(r'^    "([a-z0-9-]+==[^"]+)"', texts["pyproject.toml"], re.MULTILINE)
    assert len(pins) > 20
    assert [pin for pin in pins if f"{pin} " not in texts["requirements/dev.txt"]] == []


def test_the_locked_uv_is_the_one_that_the_makefile_names(texts: Mapping[str, str]) -> None:
    (version,) = re.findall(r"^UV_VERSION := (\S+)$", texts["Makefile"], re.MULTILINE)
    assert texts["requirements/uv.txt"].startswith(f"uv=={version} ")
