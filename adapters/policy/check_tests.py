"""Tests: they pass, none is skipped, and every line of a rule is reached."""

from pathlib import Path

import msgspec
from msgspec import Struct

from adapters.policy.bundle import read_rules
from adapters.policy.command import run
from gateway.domain.fault import Fault

_FAILED = 2
"""Exit status of OPA where a test fails."""
_OPTIONS = ("test", "--format", "json", "--timeout", "30s", "--schema", "schemas")


class _Position(Struct, frozen=True):
    row: int


class _Located(Struct, frozen=True):
    file: str
    row: int


class _Test(Struct, frozen=True):
    name: str
    location: _Located
    fail: bool = False
    error: object = None
    skip: bool = False


class _Range(Struct, frozen=True):
    start: _Position


class _File(Struct, frozen=True):
    not_covered: tuple[_Range, ...] = ()


class _Coverage(Struct, frozen=True):
    files: dict[str, _File]


def failed_tests(policies: Path, opa: Path) -> list[Fault]:
    """Tests that fail or are skipped; without any, lines that no test reaches."""
    if not (tests := _run(policies, opa, "gateway")):
        return [Fault(str(policies), 0, "", "No test was run.", "Write a test beside each rule.")]
    return _failing(policies, tests) or _unreached(policies, opa)


def failing_tests(policies: Path, opa: Path, only: str = "") -> list[Fault]:
    """Tests that fail or are skipped; with ``only``, of this one file. Of rules that do not compile, none."""
    return _failing(policies, _run(policies, opa, *((*read_rules(policies), only) if only else ("gateway",))))


def _run(policies: Path, opa: Path, *files: str) -> list[_Test]:
    finished = run(opa, *_OPTIONS, *files, cwd=policies)
    if finished.code not in (0, _FAILED):
        return []
    return msgspec.json.decode(finished.out or "[]", type=list[_Test] | None) or []


def _failing(policies: Path, tests: list[_Test]) -> list[Fault]:
    return sorted(
        Fault(
            file=str(policies / test.location.file),
            line=test.location.row,
            path="",
            sentence=f"{test.name} was skipped." if test.skip else f"{test.name} fails.",
            remedy="Mend the rule or the test.",
        )
        for test in tests
        if test.fail or test.error or test.skip
    )


def _unreached(policies: Path, opa: Path) -> list[Fault]:
    covered = msgspec.json.decode(run(opa, *_OPTIONS, "--coverage", "gateway", cwd=policies).out, type=_Coverage)
    missed = {(path, reach.start.row) for path, file in covered.files.items() for reach in file.not_covered}
    return [
        Fault(str(policies / path), row, "", "No test reaches this line.", "Write a test that does.")
        for path, row in sorted(missed)
    ]
