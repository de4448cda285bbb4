"""Contract tests against engines that are too large for every run: run by ``make engines``, and by nothing else."""

import time
from collections.abc import Iterator

import pytest
from engine_figures import Figures
from vllm_process import PYTHON, VllmProcess, running

_FIGURES = pytest.StashKey[list[str]]()


@pytest.fixture(scope="session")
def vllm(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Iterator[VllmProcess]:
    """One engine for all tests: it takes most of a minute to start."""
    if not PYTHON.exists():
        pytest.skip("There is no .engines: run make engines.")
    began = time.monotonic()
    with running(tmp_path_factory.mktemp("vllm")) as engine:
        _figures(request.config).append(f"started in {time.monotonic() - began:.0f} s")
        yield engine


@pytest.fixture
def figures(request: pytest.FixtureRequest) -> Figures:
    return Figures(_figures(request.config))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    terminalreporter.section("measured")
    for line in _figures(config):
        terminalreporter.line(line)


def _figures(config: pytest.Config) -> list[str]:
    return config.stash.setdefault(_FIGURES, [])
