from collections.abc import Iterator
from pathlib import Path

import pytest

from gateway.testkit.doors.http import FACE
from gateway.testkit.loops import LoopThread
from gateway.testkit.process import GatewayProcess
from gateway.testkit.provider.server import Provider
from gateway.testkit.registry_copy import NO_CANARY, slots


@pytest.fixture
def engine() -> Iterator[Provider]:
    loop = LoopThread("engine")
    provider = Provider(face=FACE)
    loop.call(provider.listen())
    yield provider
    loop.call(provider.__aexit__(None, None, None))
    loop.close()


@pytest.fixture
def gateway(tmp_path: Path, engine: Provider) -> Iterator[GatewayProcess]:
    process = GatewayProcess(tmp_path, engine.port, [*slots(FACE.slots), NO_CANARY])
    yield process
    process.close()
