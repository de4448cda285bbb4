"""When the transport may say that no byte of a request left, and when it may not."""

import asyncio
import socket
import time

import aiohttp
import pytest
from transport_support import ASKED, SHORT, BootClock, both, dispatch, open_transports, profile

from adapters.transport.wire import Call, Wire
from adapters.transport.wire_result import Answered, NotSentResult
from gateway.domain.message import UserMessage
from gateway.domain.outcome import Completed, NoEffect, Outcome, Unknown
from gateway.domain.request import Request
from gateway.testkit.provider.child import ProviderProcess
from gateway.testkit.provider.server import Provider


def test_dup_06_refused_is_not_sent_and_may_be_tried_again():
    async def run() -> None:
        async with both() as (transports, provider):
            await provider.refuse()
            to = profile(provider.url)
            assert await transports.send(dispatch(to)) == NoEffect("connect_refused")
            await provider.listen()
            assert isinstance(await transports.send(dispatch(to)), Completed)
            assert provider.generation_count == 1

    asyncio.run(run())


def test_tls_that_fails_is_not_sent():
    heard: list[bytes] = []

    async def speak_no_tls(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heard.append(await reader.read(65_536))
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        writer.close()
        await writer.wait_closed()

    async def run() -> Outcome:
        server = await asyncio.start_server(speak_no_tls, "127.0.0.1", 0)
        async with server, open_transports() as transports:
            port = server.sockets[0].getsockname()[1]
            return await transports.send(dispatch(profile(f"https://127.0.0.1:{port}/v1")))

    assert asyncio.run(run()) == NoEffect("tls_failed")
    assert b"Say hello." not in b"".join(heard)


def test_a_name_that_does_not_resolve_is_not_sent(monkeypatch: pytest.MonkeyPatch):
    def fail(*_: object, **__: object) -> None:
        raise socket.gaierror(socket.EAI_NONAME, "no")

    async def run() -> Outcome:
        async with open_transports() as transports:
            return await transports.send(dispatch(profile("http://engine.test/v1")))

    monkeypatch.setattr(socket, "getaddrinfo", fail)
    assert asyncio.run(run()) == NoEffect("name_not_resolved")


@pytest.mark.parametrize("timeouts", [{"connect_ms": 100, "total_ms": 5000}, {"connect_ms": 5000, "total_ms": 100}])
def test_a_connection_that_is_never_accepted_is_not_sent(timeouts: dict[str, int]):
    async def run() -> Outcome:
        async with open_transports() as transports:
            return await transports.send(dispatch(profile(f"http://127.0.0.1:{port}/v1", timeouts=timeouts)))

    with socket.socket() as full, socket.socket() as first, socket.socket() as second:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        port = full.getsockname()[1]
        for one in (first, second):
            one.setblocking(False)
            one.connect_ex(("127.0.0.1", port))
        began = time.monotonic()
        assert asyncio.run(run()) == NoEffect("connect_timeout")
        assert time.monotonic() - began < 2


def test_the_send_by_deadline_is_looked_at_when_the_connection_stands(monkeypatch: pytest.MonkeyPatch):
    clock = BootClock()

    def resolve_slowly(*_: object, **__: object) -> list[tuple[object, ...]]:
        clock.ahead_s = 10.0
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", port))]

    async def run() -> None:
        nonlocal port
        async with Provider() as provider, open_transports(clock=clock) as transports:
            port = provider.port
            monkeypatch.setattr(socket, "getaddrinfo", resolve_slowly)
            to = profile(f"http://engine.test:{port}/v1")
            assert await transports.send(dispatch(to, send_by_s=clock.boot_s() + 2)) == NoEffect("send_by_passed")
            assert provider.connection_count == 1
            assert provider.generation_count == 0

    port = 0
    asyncio.run(run())


def test_an_engine_that_died_while_the_connection_was_idle_is_not_sent_to():
    async def run() -> Outcome:
        async with open_transports() as transports:
            with ProviderProcess() as engine:
                to = profile(engine.url)
                assert isinstance(await transports.send(dispatch(to)), Completed)
            time.sleep(0.05)  # noqa: ASYNC251 - the loop must not have noticed
            return await transports.send(dispatch(to))

    assert asyncio.run(run()) == NoEffect("connect_refused")


def test_a_request_that_is_only_half_written_at_the_deadline_is_unknown_and_cut_off():
    large = Request(model="chat", messages=(UserMessage("x" * 8_000_000),))

    async def run() -> tuple[Outcome, int]:
        async with open_transports() as transports:
            to = profile(f"http://127.0.0.1:{deaf.getsockname()[1]}/v1", timeouts=SHORT)
            outcome = await transports.send(dispatch(to, large))
            await asyncio.sleep(0)
            with deaf.accept()[0] as accepted:  # only now it reads
                accepted.settimeout(5)
                return outcome, await asyncio.to_thread(size_until_the_end, accepted)

    with socket.socket() as deaf:
        deaf.bind(("127.0.0.1", 0))
        deaf.listen(1)
        outcome, size = asyncio.run(run())
    assert outcome == Unknown("timeout_after_send")
    assert size < 8_000_000


def size_until_the_end(connection: socket.socket) -> int:
    size = 0
    try:
        while chunk := connection.recv(1_000_000):
            size += len(chunk)
    except ConnectionResetError:
        pass
    return size


def test_what_is_reported_as_not_sent_is_never_received():
    """Wherever the deadline falls, from before the connection to after the answer."""

    async def run() -> None:
        async with (
            both() as (_, provider),
            aiohttp.ClientSession(connector=aiohttp.TCPConnector(force_close=True)) as s,
        ):
            wire = Wire(s, time.monotonic)
            results = {str(n): await wire.post(call(provider.url, str(n))) for n in (*range(0, 1500, 10), 1_000_000)}
            await asyncio.sleep(0.05)
            received = {request.headers["x-request-id"] for request in provider.generations}
            not_sent = {n for n, result in results.items() if isinstance(result, NotSentResult)}
            assert not_sent
            assert not not_sent & received
            assert any(isinstance(result, Answered) for result in results.values())

    def call(url: str, microseconds: str) -> Call:
        return Call(
            url=url + "/chat/completions",
            headers={"X-Request-Id": microseconds},
            body=b"{}",
            connect_s=1,
            total_s=int(microseconds) / 1_000_000,
            send_by_s=float("inf"),
            max_answer_bytes=100_000,
        )

    asyncio.run(run())


def test_a_closed_session_is_not_sent_and_raises_nothing():
    async def run() -> Outcome:
        async with both() as (transports, provider):
            to = profile(provider.url)
        return await transports.send(dispatch(to, ASKED))

    assert asyncio.run(run()) == NoEffect("connect_refused")
