from collections.abc import Iterator
from pathlib import Path

import pytest

from gateway.cli.main import gateway as commands
from gateway.testkit.doors.checking import Checked
from gateway.testkit.doors.http import HttpWorld
from gateway.testkit.doors.planning import CommandLine, OverHttp, Planner
from gateway.testkit.doors.policy import PolicyWorld
from gateway.testkit.doors.service import ServiceWorld
from gateway.testkit.steps.asking import Memory
from gateway.testkit.steps.worksheets import Plans
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


@pytest.fixture
def planner(door: str, request: pytest.FixtureRequest) -> Planner:
    if door == "cli":
        return CommandLine(commands, request.getfixturevalue("tmp_path"))
    return OverHttp(request.getfixturevalue("world"))


@pytest.fixture
def checked(tmp_path: Path) -> Checked:
    return Checked(tmp_path)


@pytest.fixture
def plans() -> Plans:
    return Plans()
