from collections.abc import Iterator
from pathlib import Path

import pytest

from gateway.testkit.doors.http import HttpWorld


@pytest.fixture
def world(tmp_path: Path) -> Iterator[HttpWorld]:
    world = HttpWorld(tmp_path)
    yield world
    world.close()
