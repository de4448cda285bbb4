"""What the transport concludes from what a provider answers, well or badly, over real sockets."""

import asyncio
import time

import pytest
from transport_support import SHORT, Recorded, both, dispatch, open_transports, profile, sent_to

from gateway.domain.completion import Completion
from gateway.domain.outcome import Charged, Completed, NoEffect, Outcome, Unknown
from gateway.domain.usage import Usage
from gateway.ports.events import Faulted
from gateway.testkit.provider.behaviours import Behaviour, aborted, called, duplicate_keys, error, malformed_json
from gateway.testkit.provider.server import Provider

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
    "finish abort": (aborted(), Charged("aborted", Usage(input=20, output=3))),
    "a call without a name": (called("", "{}"), Unknown("malformed_answer")),
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


def test_what_nobody_foresaw_is_unknown_and_reported_by_its_class_alone(monkeypatch: pytest.MonkeyPatch):
    async def fail(*_: object) -> None:
        raise RuntimeError("a text that could hold a prompt")

    async def run() -> None:
        events = Recorded()
        async with Provider() as provider, open_transports(events) as transports:
            assert await transports.send(dispatch(profile(provider.url))) == Unknown("transport_failed")
            assert events.events == [Faulted("transport", "RuntimeError")]

    monkeypatch.setattr("adapters.transport.wire._read", fail)
    asyncio.run(run())
