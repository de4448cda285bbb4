"""A body is bounded in size and in time, whatever its headers promise; and what a request must have."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from api_support import CHAT, QUESTION, Api, chat_headers
from starlette.requests import Request as HttpRequest

from gateway.api.body import BodyBounds, read_body
from gateway.domain.refusal import Code, Refusal

BOUNDS = BodyBounds(max_bytes=10, within_s=0.05)
Receive = Callable[[], Awaitable[dict[str, Any]]]


def arriving(*chunks: bytes, then: str = "end") -> Receive:
    """A client that sends these chunks, and then ends, hangs or goes away."""
    messages = [{"type": "http.request", "body": chunk, "more_body": True} for chunk in chunks]
    if then == "end":
        messages[-1]["more_body"] = False

    async def receive() -> dict[str, Any]:
        if messages:
            return messages.pop(0)
        if then == "hang":
            await asyncio.Event().wait()
        return {"type": "http.disconnect"}

    return receive


def read(receive: Receive) -> bytes | Refusal:
    async def run() -> bytes | Refusal:
        return await read_body(HttpRequest({"type": "http", "headers": []}, receive), BOUNDS)

    return asyncio.run(run())


def test_a_body_in_chunks_is_read_whole() -> None:
    assert read(arriving(b"abc", b"", b"defghij")) == b"abcdefghij"


def test_a_body_ends_at_its_bound_however_it_is_cut_up() -> None:
    too_large = Refusal(code=Code.BODY_TOO_LARGE, facts={"limit": 10})
    assert read(arriving(b"a" * 11)) == too_large
    assert read(arriving(*[b"a"] * 11, then="hang")) == too_large


def test_a_body_that_does_not_arrive_is_given_up() -> None:
    assert read(arriving(b"abc", then="hang")) == Refusal(code=Code.BODY_TIMEOUT)


def test_a_client_that_goes_away_amid_its_body_is_not_read_as_far_as_it_came() -> None:
    refusal = read(arriving(b"{}", then="go"))
    assert refusal == Refusal(code=Code.MALFORMED_BODY, facts={"reason": "disconnected"})


@pytest.mark.parametrize(
    ("key", "body", "code"),
    [
        (None, b"no JSON", Code.OPERATION_KEY_REQUIRED),
        ("", b"no JSON", Code.OPERATION_KEY_INVALID),
        ("k" * 256, b"no JSON", Code.OPERATION_KEY_INVALID),
        ("k-1", b"no JSON", Code.MALFORMED_BODY),
        ("k-1", json.dumps(QUESTION | {"stream": True}).encode(), Code.STREAM_UNSUPPORTED),
        ("k-1", json.dumps(QUESTION | {"api_base": "x"}).encode(), Code.UNKNOWN_FIELD),
    ],
)
def test_the_key_is_looked_at_before_the_body_and_neither_before_the_credential(
    key: str | None, body: bytes, code: Code
) -> None:
    api = Api()
    assert api.request("POST", CHAT, chat_headers(key=key), body).document["code"] == code
    assert api.world.calls == ["keys.find"]
    assert api.request("POST", CHAT, chat_headers(who=None, key=key), body).document["code"] == Code.UNAUTHENTICATED


def test_work_that_the_drain_cuts_off_is_told_as_unknown() -> None:
    api = Api()

    async def ask_and_drain() -> Any:
        sent = asyncio.Event()
        api.world.transport.hold()
        api.world.notebook.once("transport.send", sent.set)
        asking = asyncio.ensure_future(api.requesting("POST", CHAT, chat_headers(), json.dumps(QUESTION).encode()))
        await sent.wait()
        assert await api.world.services.running.drain(0.01) == 1
        return await asking

    reply = asyncio.run(ask_and_drain())
    assert (reply.status, reply.document["code"]) == (502, Code.OUTCOME_UNKNOWN)
    assert reply.headers["x-should-retry"] == "false"
