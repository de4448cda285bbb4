from collections.abc import Iterator
from pathlib import Path

import pytest

from gateway.testkit.doors.http import HttpWorld
from gateway.testkit.doors.policy import PolicyWorld
from gateway.testkit.doors.service import ServiceWorld
from gateway.testkit.steps.asking import Memory
from gateway.testkit.world import World

WORLDS = {"http": HttpWorld, "policy": PolicyWorld, "service": ServiceWorld}


@pytest.fixture
def world(door: str, tmp_path: Path) -> Iterator[World]:
    world = WORLDS[door](tmp_path)
    yield world
    world.close()


@pytest.fixture
def memory() -> Memory:
    return Memory()
