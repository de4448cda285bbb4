"""One dispatch is one request to one host: no redirect, proxy, retry, queue or cookie adds to it."""

import asyncio
import socket
import time

import pytest
from transport_support import SHORT, both, dispatch, open_transports, profile

from adapters.transport.transports import IDLE_S
from gateway.domain.outcome import Completed, Unknown
from gateway.testkit.provider.behaviours import Behaviour
from gateway.testkit.provider.behaviours import redirect as redirect_to
from gateway.testkit.provider.child import ProviderProcess
from gateway.testkit.provider.server import Provider


def test_a_redirect_is_unknown_and_the_other_host_sees_no_connection():
    async def run() -> None:
        async with both() as (transports, provider), Provider() as other:
            for status in (301, 302, 303, 307, 308):
                provider.script(redirect_to(other.url + "/chat/completions", status))
                assert await transports.send(dispatch(profile(provider.url))) == Unknown("redirect")
            assert (provider.generation_count, other.connection_count) == (5, 0)

    asyncio.run(run())


def test_proxy_variables_are_ignored(monkeypatch: pytest.MonkeyPatch):
    async def run() -> None:
        async with both() as (transports, provider), Provider() as proxy:
            for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
                monkeypatch.setenv(name, f"http://127.0.0.1:{proxy.port}")
            assert isinstance(await transports.send(dispatch(profile(provider.url))), Completed)
            assert (provider.generation_count, proxy.connection_count) == (1, 0)

    asyncio.run(run())


def test_dup_02_after_a_timeout_no_other_provider_is_asked():
    async def run() -> None:
        async with both() as (transports, slow), Provider() as healthy:
            slow.script(Behaviour(delivery="hang"))
            assert isinstance(await transports.send(dispatch(profile(healthy.url))), Completed)
            outcome = await transports.send(dispatch(profile(slow.url, timeouts=SHORT)))
            assert outcome == Unknown("timeout_after_send")
            assert (slow.generation_count, healthy.generation_count) == (1, 1)

    asyncio.run(run())


def test_a_stale_connection_is_replaced_before_anything_is_written():
    async def run() -> None:
        with ProviderProcess() as engine:
            async with open_transports() as transports:
                to = profile(engine.url)
                engine.script(*[Behaviour(delivery="close_after", delay_ms=50, interval_ms=50)] * 3)
                await asyncio.gather(*(transports.send(dispatch(to)) for _ in range(3)))
                time.sleep(0.15)  # noqa: ASYNC251 - the loop must not have noticed
                assert isinstance(await transports.send(dispatch(to, dispatch_id="second")), Completed)
            ids = [received.headers["x-request-id"] for received in engine.state().generations]
            assert ids == ["d1", "d1", "d1", "second"]

    asyncio.run(run())


def test_a_request_lost_on_a_kept_connection_is_unknown_and_not_sent_again():
    async def run() -> None:
        async with both() as (transports, provider):
            provider.script(Behaviour(), Behaviour(delivery="drop"))
            to = profile(provider.url)
            assert isinstance(await transports.send(dispatch(to)), Completed)
            assert await transports.send(dispatch(to)) == Unknown("connection_lost")
            assert [request.connection for request in provider.generations] == [1, 1]

    asyncio.run(run())


def test_idle_connections_are_closed_before_the_engine_would(monkeypatch: pytest.MonkeyPatch):
    assert IDLE_S <= 2.5  # half of the five seconds of uvicorn and llama.cpp
    monkeypatch.setattr("adapters.transport.transports.IDLE_S", 0.05)

    async def run() -> None:
        async with both() as (transports, provider):
            assert isinstance(await transports.send(dispatch(profile(provider.url))), Completed)
            assert provider.open_connections == 1
            await asyncio.sleep(0.2)
            assert provider.open_connections == 0

    asyncio.run(run())


def test_the_transport_never_queues():
    async def run() -> None:
        async with both() as (transports, provider):
            provider.default = Behaviour(delivery="hang")
            to = profile(provider.url, timeouts={"connect_ms": 10_000, "total_ms": 20_000})
            tasks = [asyncio.create_task(transports.send(dispatch(to))) for _ in range(150)]
            for _ in range(300):
                if provider.generation_count == 150:
                    break
                await asyncio.sleep(0.01)
            assert provider.generation_count == 150
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)

    asyncio.run(run())


def test_a_cookie_of_a_provider_is_never_sent_back(monkeypatch: pytest.MonkeyPatch):
    async def run() -> None:
        async with both() as (transports, provider):
            found = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", provider.port))]
            monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: found)
            provider.default = Behaviour(headers={"Set-Cookie": "tenant=a; Path=/"})
            for _ in range(2):
                await transports.send(dispatch(profile(f"http://engine.test:{provider.port}/v1")))
            assert [request.headers.get("cookie") for request in provider.generations] == [None, None]

    asyncio.run(run())
