"""One real engine for the tests that need it."""

import socket
from collections.abc import Iterator

import pytest

from gateway.demo.engine import Engine, start_engine


@pytest.fixture(scope="session")
def engine() -> Iterator[Engine]:
    """SmolLM2 in a child process, 4096 tokens of context in each of 2 slots."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with start_engine(port) as running:
        yield running
