"""Runs scenarios in a pytest of their own, and tells of each what became of it.

`run` starts the process; loaded with ``-p gateway.testkit.scenario_runs``, this module is the plugin in it that writes
a line of JSON for each scenario and door.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec import Struct

from gateway.testkit import guards
from gateway.testkit.features import DOORS

LOG = pytest.StashKey[Path]()


class ScenarioRun(Struct, frozen=True):
    """One scenario, or one row of its examples, through one door."""

    test: str
    """Id of the test, by which pytest runs it alone."""
    name: str
    door: str
    tags: tuple[str, ...]
    passed: bool
    seconds: float
    """Its set-up and tear-down included."""
    sentence: str
    """What the failure said last; empty where it passed."""


class NotRun(Exception):
    """pytest ended without having run a scenario; the text is the end of what it printed."""


def run(root: Path, expression: str, *, first_failure_only: bool = False) -> list[ScenarioRun]:
    """Run the scenarios of the tree at ``root`` whose tags fit ``expression``, in the order of their files.

    :raises NotRun: nothing fits, or pytest could not collect.
    """
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "runs.jsonl"
        command = [sys.executable, "-m", "pytest", "-q", "-p", "gateway.testkit.scenario_runs"]
        command += ["-p", "no:randomly", "-p", "no:cacheprovider", f"--scenario-runs={log}", "-m", expression]
        command += ["-x"] if first_failure_only else []
        # The tree's own packages, wherever this process has its own from.
        environment = os.environ | {"PYTHONPATH": str(root)}
        done = subprocess.run(
            [*command, "tests/features"], cwd=root, env=environment, capture_output=True, text=True, check=False
        )
        lines = log.read_bytes().splitlines() if log.exists() else []
    if not lines:
        raise NotRun((done.stdout + done.stderr)[-2000:])
    return [msgspec.json.decode(line, type=ScenarioRun) for line in lines]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--scenario-runs", type=Path, help="Write what became of each scenario here, a line of JSON each.")


def pytest_configure(config: pytest.Config) -> None:
    if path := config.getoption("--scenario-runs"):
        config.pluginmanager.register(_Log(path))


class _Log:
    def __init__(self, path: Path) -> None:
        self._path = path
        self._known: dict[str, tuple[str, str, tuple[str, ...]]] = {}
        self._reports: list[pytest.TestReport] = []

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self._known = dict(_known(session.items))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._reports.append(report)
        if report.when != "teardown" or report.nodeid not in self._known:
            return
        name, door, tags = self._known[report.nodeid]
        failed = [one for one in self._reports if one.failed]
        done = ScenarioRun(
            test=report.nodeid,
            name=name,
            door=door,
            tags=tags,
            passed=not failed,
            seconds=sum(one.duration for one in self._reports),
            sentence=_last_words(failed[0].longrepr) if failed else "",
        )
        self._reports.clear()
        with self._path.open("ab") as file:
            file.write(msgspec.json.encode(done) + b"\n")


def _known(items: list[pytest.Item]) -> Iterator[tuple[str, tuple[str, str, tuple[str, ...]]]]:
    for bound in guards.bound_scenarios(items):
        door = next(name for name in DOORS if bound.item.get_closest_marker(name))
        yield bound.item.nodeid, (bound.template.name, door, tuple(sorted(guards.tags_of(bound.template))))


def _last_words(told: Any) -> str:
    """The message of a failure, without its trace."""
    crash = getattr(told, "reprcrash", None)
    return str(crash.message if crash else told).strip().splitlines()[0]
