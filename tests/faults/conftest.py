from pathlib import Path

import pytest
from faults_support import Copy, SmallRun


@pytest.fixture(scope="session")
def small_run(tmp_path_factory: pytest.TempPathFactory) -> SmallRun:
    return SmallRun(Path(tmp_path_factory.mktemp("faults")))


@pytest.fixture
def left(small_run: SmallRun) -> Copy:
    return small_run.copy()
