"""A tiny project in a folder of its own, run by a pytest of its own."""

import os
import subprocess
import sys
from collections.abc import Callable
from textwrap import dedent

import pytest
from msgspec import Struct

# Only the plugins under test are loaded: the rest takes most of a second.
INI = "[pytest]\ntestpaths = tests\nbdd_features_base_dir = features\naddopts = --strict-markers\n"
STEPS = """\
    from pytest_bdd import given, scenarios, then, when

    @given("a service")
    def _():
        pass

    @then("it answers")
    def _():
        assert True
"""
FEATURE = """\
    Feature: Answers
      @service
      Scenario: A service answers
        Given a service
        Then it answers
"""


class Result(Struct, frozen=True):
    """How the project's run ended, and all that it said."""

    code: int
    output: str


@pytest.fixture(scope="session")
def run_project(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Result]:
    """Run the default project with other features, steps or tests; ``args`` go to pytest."""

    def run(
        feature: str = FEATURE,
        steps: str = "",
        tests: str = 'scenarios("answers.feature")',
        args: tuple[str, ...] = ("-v",),
        files: dict[str, str] | None = None,
    ) -> Result:
        folder = tmp_path_factory.mktemp("project")
        files = {
            "pytest.ini": INI,
            "features/answers.feature": feature,
            "tests/conftest.py": 'pytest_plugins = ["gateway.testkit.plugin"]\n',
            "tests/test_answers.py": dedent(STEPS) + dedent(steps) + dedent(tests),
        } | (files or {})
        for name, text in files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(dedent(text), encoding="utf-8")
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-p", "pytest_bdd.plugin", *args],
            cwd=folder,
            env=os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
            capture_output=True,
            text=True,
            check=False,
        )
        return Result(done.returncode, done.stdout + done.stderr)

    return run
