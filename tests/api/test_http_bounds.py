"""What arrives on a connection is bounded, and never taken for something else. Raw bytes over real sockets."""

import contextlib
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from gateway import http_protocol
from gateway.testkit.doors.http import HttpWorld
from gateway.testkit.world import Ask

BODY = b'{"model":"chat","messages":[{"role":"user","content":"Is it?"}]}'


@pytest.fixture
def world(tmp_path: Path) -> Iterator[HttpWorld]:
    world = HttpWorld(tmp_path)
    world.start()
    yield world
    world.close()


def exchange(world: HttpWorld, *segments: bytes, wait_s: float = 5.0) -> bytes:
    """Send segments, and read until the gateway closes or says nothing more."""
    answer = b""
    connection = socket.create_connection(("127.0.0.1", world.port), timeout=wait_s)
    with connection, contextlib.suppress(OSError):
        for segment in segments:
            connection.sendall(segment)
            time.sleep(0.05)
        while chunk := connection.recv(65536):
            answer += chunk
    return answer


def post(world: HttpWorld, key: str, *extra: str) -> bytes:
    headers = world.headers(Ask(key=key)) | {"Host": "gateway", "Content-Length": str(len(BODY))}
    lines = ["POST /v1/chat/completions HTTP/1.1", *(f"{name}: {text}" for name, text in headers.items()), *extra]
    return "\r\n".join([*lines, "", ""]).encode() + BODY


@pytest.mark.parametrize("protocol", ["h2c", "websocket"])
def test_a_request_that_asks_for_an_upgrade_is_refused_and_its_body_is_no_request(
    world: HttpWorld, protocol: str
) -> None:
    inner = post(world, "smuggled")
    outer = (
        f"POST /v1/chat/completions HTTP/1.1\r\nHost: gateway\r\nUpgrade: {protocol}\r\nConnection: Upgrade\r\n"
        f"Content-Length: {len(inner)}\r\n\r\n"
    ).encode()
    answer = exchange(world, outer, inner)
    assert answer.startswith(b"HTTP/1.1 400")
    assert answer.count(b"HTTP/1.1 ") == 1
    assert world.engine_calls() == []


def test_a_head_that_does_not_end_is_refused(world: HttpWorld) -> None:
    line = b"a: " + b"b" * 1000 + b"\r\n"
    answer = exchange(
        world, b"GET /livez HTTP/1.1\r\n", *[line] * 33
    )  # nothing is sent after the bound, or the answer would be lost
    assert answer.startswith(b"HTTP/1.1 400")


def test_one_endless_header_is_refused(world: HttpWorld) -> None:
    answer = exchange(world, b"GET /livez HTTP/1.1\r\na: ", *[b"b" * 10_000] * 4)
    assert answer.startswith(b"HTTP/1.1 400")


@pytest.mark.parametrize(("headers", "status"), [(99, b"200"), (101, b"400")])
def test_a_hundred_headers_are_enough(world: HttpWorld, headers: int, status: bytes) -> None:
    head = b"GET /livez HTTP/1.1\r\n" + b"a: b\r\n" * (headers - 1) + b"Connection: close\r\n\r\n"
    assert exchange(world, head).startswith(b"HTTP/1.1 " + status)


def test_an_endless_path_is_refused(world: HttpWorld) -> None:
    assert exchange(world, b"GET /" + b"a" * 9000 + b" HTTP/1.1\r\n\r\n").startswith(b"HTTP/1.1 400")


@pytest.mark.parametrize("begun", [b"", b"GET /livez HT"])
def test_a_connection_without_a_request_is_closed(
    world: HttpWorld, monkeypatch: pytest.MonkeyPatch, begun: bytes
) -> None:
    monkeypatch.setattr(http_protocol, "HEAD_WITHIN_S", 0.3)
    began = time.monotonic()
    assert exchange(world, begun, wait_s=5.0) == b""
    assert time.monotonic() - began < 3


def test_callers_never_get_all_descriptors(world: HttpWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_protocol.resource, "getrlimit", lambda _: (8, 8))
    with contextlib.ExitStack() as stack:
        for _ in range(4):
            stack.enter_context(socket.create_connection(("127.0.0.1", world.port), timeout=5))
        time.sleep(0.1)
        assert exchange(world, b"GET /livez HTTP/1.1\r\n\r\n") == b""
    time.sleep(0.1)
    assert world.request("GET", "/livez", {})[0] == 200


def test_a_large_body_behind_a_small_head_is_no_large_head(world: HttpWorld) -> None:
    body = BODY[:-1] + b" " * 200_000 + b"}"
    status, _, _ = world.request("POST", "/v1/chat/completions", world.headers(Ask()), body)
    assert status == 200


def test_a_second_request_on_the_connection_is_served(world: HttpWorld) -> None:
    answer = exchange(world, post(world, "k-1"), post(world, "k-2", "Connection: close"))
    assert answer.count(b"HTTP/1.1 200") == 2
