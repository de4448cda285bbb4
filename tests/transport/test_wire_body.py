"""The body on the wire, field by field."""

import asyncio
from typing import Any

import pytest
from transport_support import ASKED, both, dispatch, profile

from gateway.domain.message import SystemMessage, TextPart, UserMessage
from gateway.domain.request import Request, SourceRef
from gateway.testkit.provider.connection import Received

FULL = Request(
    model="chat",
    messages=(
        SystemMessage("Be brief."),
        UserMessage((TextPart(text="Say"), TextPart(text="hello."))),
    ),
    max_output=5,
    temperature=0.5,
    top_p=0.9,
    stop=("END",),
    seed=7,
    purpose="support",
    sources=(SourceRef(id="handbook", revision="3"),),
)


def received(request: Request, *, cap: int, **changes: Any) -> Received:
    async def run() -> Received:
        async with both() as (transports, provider):
            await transports.send(dispatch(profile(provider.url, **changes), request, dispatch_id="0190-d", cap=cap))
            (only,) = provider.generations
            return only

    return asyncio.run(run())


def test_rte_07_the_body_is_exactly_the_allow_list():
    assert received(FULL, cap=5).json() == {
        "model": "scripted@1",
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": [{"type": "text", "text": "Say"}, {"type": "text", "text": "hello."}]},
        ],
        "max_tokens": 5,
        "temperature": 0.5,
        "top_p": 0.9,
        "stop": ["END"],
        "seed": 7,
        "stream": False,
    }


@pytest.mark.parametrize("adapter", ["llama_cpp", "vllm"])
def test_bnd_08_the_cap_on_the_wire_is_the_reserved_one_whatever_was_asked(adapter: str):
    assert received(ASKED, cap=512, adapter=adapter).json() == {
        "model": "scripted@1",
        "messages": [{"role": "user", "content": "Say hello."}],
        "max_tokens": 512,
        "stream": False,
    }
    assert received(FULL, cap=3, adapter=adapter).json()["max_tokens"] == 3


def test_the_model_on_the_wire_is_the_profiles_and_never_the_alias():
    assert received(ASKED, cap=5, model="served@2").json()["model"] == "served@2"


def test_zero_is_sent_and_not_taken_for_absent():
    body = received(Request(model="chat", messages=ASKED.messages, temperature=0.0, seed=0), cap=5).json()
    assert (body["temperature"], body["seed"]) == (0.0, 0)


def test_the_headers_are_a_closed_set_and_the_request_id_is_the_dispatch_id():
    request = received(FULL, cap=5)
    host = request.headers.pop("host")
    assert host.startswith("127.0.0.1:")
    assert request.headers == {
        "accept": "application/json",
        "accept-encoding": "identity",
        "content-type": "application/json",
        "content-length": str(len(request.body)),
        "user-agent": "policy-gateway",
        "x-request-id": "0190-d",
    }
    assert (request.method, request.path) == ("POST", "/v1/chat/completions")


def test_a_large_body_arrives_whole():
    text = "é" * 800_000
    request = Request(model="chat", messages=(UserMessage(text),))
    assert received(request, cap=5).json()["messages"][0]["content"] == text
