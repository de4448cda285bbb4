"""One real gateway for all that is asked of the interface, with a scripted engine that answers well."""

from collections.abc import Iterator

import pytest

from gateway.testkit.doors.http import HttpWorld


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpWorld]:
    world = HttpWorld(tmp_path_factory.mktemp("interface"))
    world.start()
    yield world
    world.close()
