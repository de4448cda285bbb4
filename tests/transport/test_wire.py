"""What the transport concludes from a provider that behaves or misbehaves, over real sockets."""

import asyncio
import socket
import time

import aiohttp
import pytest
from transport_support import ASKED, BootClock, Recorded, both, dispatch, profile, sent_to

from adapters.transport.transports import IDLE_S, Transports
from adapters.transport.wire import Call, Wire
from adapters.transport.wire_result import Answered, NotSentResult
from gateway.domain.completion import Completion
from gateway.domain.outcome import Charged, Completed, NoEffect, Outcome, Unknown
from gateway.domain.request import Message, Request
from gateway.domain.usage import Usage
from gateway.ports.events import Faulted
from gateway.testkit.provider.behaviours import Behaviour, duplicate_keys, error, malformed_json
from gateway.testkit.provider.behaviours import redirect as redirect_to
from gateway.testkit.provider.child import ProviderProcess
from gateway.testkit.provider.server import Provider

SHORT = {"connect_ms": 500, "total_ms": 200}

EACH: dict[str, tuple[Behaviour, Outcome]] = {
    "hang": (Behaviour(delivery="hang"), Unknown("timeout_after_send")),
    "answer after the deadline": (Behaviour(delay_ms=900), Unknown("timeout_after_send")),
    "trickle": (Behaviour(delivery="trickle"), Unknown("timeout_after_send")),
    "drop before headers": (Behaviour(delivery="drop"), Unknown("connection_lost")),
    "reset": (Behaviour(delivery="reset"), Unknown("connection_lost")),
    "drop after headers": (Behaviour(delivery="drop_after_headers"), Unknown("truncated_answer")),
    "truncated": (Behaviour(delivery="truncated"), Unknown("truncated_answer")),
    "truncated chunked": (Behaviour(delivery="truncated_chunked"), Unknown("truncated_answer")),
    "not HTTP": (Behaviour(delivery="not_http"), Unknown("malformed_answer")),
    "malformed JSON": (malformed_json(), Unknown("malformed_answer")),
    "duplicate keys": (duplicate_keys(), Unknown("malformed_answer")),
    "finish null": (Behaviour(finish_reason=None), Unknown("unknown_finish_reason")),
    "finish abort": (Behaviour(finish_reason="abort"), Unknown("unknown_finish_reason")),
    "status 400": (error(400), NoEffect("rejected")),
    "status 401": (error(401), NoEffect("rejected")),
    "status 404": (error(404), NoEffect("rejected")),
    "status 429": (error(429), NoEffect("busy")),
    "status 403": (error(403), Unknown("unlisted_status")),
    "status 408": (error(408), Unknown("unlisted_status")),
    "status 409": (error(409), Unknown("unlisted_status")),
    "status 500": (error(500), Unknown("unlisted_status")),
    "status 503": (error(503), Unknown("unlisted_status")),
    "status 201": (Behaviour(status=201), Unknown("unlisted_status")),
    "other model": (Behaviour(model="other@1"), Charged("other_model", Usage(input=20, output=3))),
}


@pytest.mark.parametrize("name", EACH)
def test_dup_01_every_failure_is_one_request_and_one_exact_outcome(name: str):
    behaviour, expected = EACH[name]
    assert asyncio.run(sent_to(behaviour, timeouts=SHORT)) == (expected, 1)


def test_a_good_answer_is_completed_with_the_providers_own_words():
    outcome, received = asyncio.run(sent_to(Behaviour(content="Good day.")))
    completion = Completion("scripted@1", "Good day.", "stop", Usage(input=20, output=3))
    assert (outcome, received) == (Completed(completion, "chatcmpl-scripted"), 1)


@pytest.mark.parametrize(
    "usage",
    [
        None,
        {},
        "20",
        {"prompt_tokens": -20, "completion_tokens": 3},
        {"prompt_tokens": 20, "completion_tokens": 3.5},
        {"prompt_tokens": 20, "completion_tokens": 0},
        {"prompt_tokens": True, "completion_tokens": 3},
        {"prompt_tokens": 20, "completion_tokens": 10**12},
    ],
)
def test_nonsense_in_usage_never_loses_the_answer_and_never_counts(usage: object):
    outcome, _ = asyncio.run(sent_to(Behaviour(usage=usage)))
    assert isinstance(outcome, Completed)
    assert (outcome.completion.content, outcome.completion.usage) == ("Hello.", None)


def test_an_answer_without_a_usage_field_is_completed():
    outcome, _ = asyncio.run(sent_to(Behaviour(omit=("usage",))))
    assert isinstance(outcome, Completed)
    assert outcome.completion.usage is None


@pytest.mark.parametrize("delivery", ["whole", "truncated_chunked"])  # with a length in its head, and without
def test_reading_stops_at_the_largest_answer_and_it_is_charged(delivery: str):
    async def run() -> None:
        async with both() as (transports, provider):
            provider.script(Behaviour(content="x" * 300_000, delivery=delivery))
            outcome = await transports.send(dispatch(profile(provider.url, max_answer_bytes=65_536)))
            assert (outcome, provider.generation_count) == (Charged("answer_too_large"), 1)
            await asyncio.sleep(0.05)
            assert provider.open_connections == 0

    asyncio.run(run())


def test_an_answer_of_exactly_the_largest_size_is_read():
    size = len(asyncio.run(body_received(Behaviour())))
    outcome, _ = asyncio.run(sent_to(Behaviour(content="x" * 2000), max_answer_bytes=size - len("Hello.") + 2000))
    assert isinstance(outcome, Completed)
    outcome, _ = asyncio.run(sent_to(Behaviour(content="x" * 2001), max_answer_bytes=size - len("Hello.") + 2000))
    assert outcome == Charged("answer_too_large")


async def body_received(behaviour: Behaviour) -> bytes:
    async with Provider(default=behaviour) as provider:
        reader, writer = await asyncio.open_connection("127.0.0.1", provider.port)
        writer.write(b"POST /v1/chat/completions HTTP/1.1\r\nContent-Length: 0\r\n\r\n")
        head = await reader.readuntil(b"\r\n\r\n")
        length = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
        body = await reader.readexactly(length)
        writer.close()
        await writer.wait_closed()
        return body


def test_a_body_is_never_unpacked():
    outcome, _ = asyncio.run(sent_to(Behaviour(headers={"Content-Encoding": "gzip"})))
    assert isinstance(outcome, Completed)


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


def test_a_trickle_ends_at_the_total_deadline_and_its_socket_is_closed():
    async def run() -> None:
        async with both() as (transports, provider):
            provider.script(Behaviour(delivery="trickle", interval_ms=10))
            began = time.monotonic()
            outcome = await transports.send(dispatch(profile(provider.url, timeouts=SHORT)))
            assert outcome == Unknown("timeout_after_send")
            assert 0.2 <= time.monotonic() - began < 0.6
            await asyncio.sleep(0.05)
            assert provider.open_connections == 0

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
        async with server, Transports(BootClock(), Recorded()) as transports:
            port = server.sockets[0].getsockname()[1]
            return await transports.send(dispatch(profile(f"https://127.0.0.1:{port}/v1")))

    assert asyncio.run(run()) == NoEffect("tls_failed")
    assert b"Say hello." not in b"".join(heard)


def test_a_name_that_does_not_resolve_is_not_sent(monkeypatch: pytest.MonkeyPatch):
    def fail(*_: object, **__: object) -> None:
        raise socket.gaierror(socket.EAI_NONAME, "no")

    async def run() -> Outcome:
        async with Transports(BootClock(), Recorded()) as transports:
            return await transports.send(dispatch(profile("http://engine.test/v1")))

    monkeypatch.setattr(socket, "getaddrinfo", fail)
    assert asyncio.run(run()) == NoEffect("name_not_resolved")


@pytest.mark.parametrize("timeouts", [{"connect_ms": 100, "total_ms": 5000}, {"connect_ms": 5000, "total_ms": 100}])
def test_a_connection_that_is_never_accepted_is_not_sent(timeouts: dict[str, int]):
    async def run() -> Outcome:
        async with Transports(BootClock(), Recorded()) as transports:
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
        async with Provider() as provider, Transports(clock, Recorded()) as transports:
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
        async with Transports(BootClock(), Recorded()) as transports:
            with ProviderProcess() as engine:
                to = profile(engine.url)
                assert isinstance(await transports.send(dispatch(to)), Completed)
            time.sleep(0.05)  # noqa: ASYNC251 - the loop must not have noticed
            return await transports.send(dispatch(to))

    assert asyncio.run(run()) == NoEffect("connect_refused")


def test_a_stale_connection_is_replaced_before_anything_is_written():
    async def run() -> None:
        with ProviderProcess() as engine:
            async with Transports(BootClock(), Recorded()) as transports:
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


def test_a_request_that_is_only_half_written_at_the_deadline_is_unknown_and_cut_off():
    large = Request(model="chat", messages=(Message(role="user", content="x" * 8_000_000),))

    async def run() -> tuple[Outcome, int]:
        async with Transports(BootClock(), Recorded()) as transports:
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


def test_what_nobody_foresaw_is_unknown_and_reported_by_its_class_alone(monkeypatch: pytest.MonkeyPatch):
    async def fail(*_: object) -> None:
        raise RuntimeError("a text that could hold a prompt")

    async def run() -> None:
        events = Recorded()
        async with Provider() as provider, Transports(BootClock(), events) as transports:
            assert await transports.send(dispatch(profile(provider.url))) == Unknown("transport_failed")
            assert events.events == [Faulted("transport", "RuntimeError")]

    monkeypatch.setattr("adapters.transport.wire._read", fail)
    asyncio.run(run())


def test_an_adapter_that_is_not_served_sends_nothing_and_is_reported():
    async def run() -> None:
        events = Recorded()
        async with Provider() as provider, Transports(BootClock(), events) as transports:
            outcome = await transports.send(dispatch(profile(provider.url, adapter="openai")))
            assert outcome == NoEffect("rejected")
            assert provider.connection_count == 0
            assert events.events == [Faulted("transport", "adapter_not_served")]

    asyncio.run(run())


def test_a_closed_session_is_not_sent_and_raises_nothing():
    async def run() -> Outcome:
        async with both() as (transports, provider):
            to = profile(provider.url)
        return await transports.send(dispatch(to, ASKED))

    assert asyncio.run(run()) == NoEffect("connect_refused")
