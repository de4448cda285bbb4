"""The fingerprint says whether a request under a known key is the same request."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.domain.fingerprint import differing_fields, fingerprint
from gateway.domain.message import SystemMessage, TextPart, UserMessage
from gateway.domain.request import Request, SourceRef

ENDPOINT = "POST /v1/chat/completions"
BASE = Request(model="chat", messages=(UserMessage("Hello?"),))
FULL = Request(
    model="chat",
    messages=(SystemMessage("Be brief."), UserMessage((TextPart("Hel"), TextPart("lo?")))),
    max_output=17,
    temperature=0.5,
    top_p=1.0,
    stop=("END",),
    seed=4,
    purpose="answers",
    sources=(SourceRef("b", "2"), SourceRef("a", "1")),
)
GOLDEN_V1 = {
    "base": "f1d3c4c7cf25b751d20acf0224751b894216b450e0d3f0114ebbfd125c125a1a",
    "full": "fd6e2427916e29b5d6205d6e680ffefc0a50a89f7ccffa01ed484f0ff6090617",
}
"""Digests that were published. They never change: stored operations are compared with them."""


@pytest.mark.parametrize(("name", "request_"), [("base", BASE), ("full", FULL)])
def test_a_published_version_never_changes(name: str, request_: Request) -> None:
    assert fingerprint(request_, ENDPOINT, 1).digest == GOLDEN_V1[name]


CHANGES = {
    "model": {"model": "other"},
    "messages": {"messages": (UserMessage("Hello!"),)},
    "max_tokens": {"max_output": 18},
    "temperature": {"temperature": 0.25},
    "top_p": {"top_p": 0.5},
    "stop": {"stop": ("STOP",)},
    "seed": {"seed": 5},
    "gateway.purpose": {"purpose": "drafting"},
    "gateway.sources": {"sources": (SourceRef("a", "2"),)},
}


@pytest.mark.parametrize("field", CHANGES)
def test_every_field_counts_and_is_named(field: str) -> None:
    changed = msgspec.structs.replace(FULL, **CHANGES[field])
    before, after = fingerprint(FULL, ENDPOINT), fingerprint(changed, ENDPOINT)
    assert before.digest != after.digest
    assert differing_fields(before, after) == (field,)


def test_every_field_of_a_request_is_covered() -> None:
    covered = {name for change in CHANGES.values() for name in change} | {"stream"}
    assert covered == set(Request.__struct_fields__)


def test_a_field_that_is_left_out_differs_from_one_that_is_sent() -> None:
    sent = msgspec.structs.replace(BASE, temperature=1.0)
    assert differing_fields(fingerprint(BASE, ENDPOINT), fingerprint(sent, ENDPOINT)) == ("temperature",)


def test_streaming_is_only_how_an_answer_travels() -> None:
    assert fingerprint(BASE, ENDPOINT) == fingerprint(msgspec.structs.replace(BASE, stream=True), ENDPOINT)


def test_the_order_of_sources_does_not_matter_and_that_of_messages_does() -> None:
    swapped = msgspec.structs.replace(FULL, sources=FULL.sources[::-1])
    assert fingerprint(FULL, ENDPOINT) == fingerprint(swapped, ENDPOINT)
    reordered = msgspec.structs.replace(FULL, messages=FULL.messages[::-1])
    assert fingerprint(FULL, ENDPOINT).digest != fingerprint(reordered, ENDPOINT).digest


def test_another_endpoint_is_another_request() -> None:
    assert fingerprint(BASE, ENDPOINT).digest != fingerprint(BASE, "POST /v1/responses").digest


def test_zero_has_one_sign() -> None:
    minus, plus = (msgspec.structs.replace(BASE, temperature=value) for value in (-0.0, 0.0))
    assert fingerprint(minus, ENDPOINT) == fingerprint(plus, ENDPOINT)


def test_the_fingerprint_holds_nothing_of_the_prompt() -> None:
    canary = msgspec.structs.replace(BASE, messages=(UserMessage("CANARY"),))
    assert b"CANARY" not in msgspec.json.encode(fingerprint(canary, ENDPOINT))


def test_an_unpublished_version_is_a_fault_of_the_program() -> None:
    with pytest.raises(KeyError):
        fingerprint(BASE, ENDPOINT, 2)


@given(st.text(), st.text())
def test_two_prompts_have_one_fingerprint_only_if_they_are_equal(first: str, second: str) -> None:
    a, b = (msgspec.structs.replace(BASE, messages=(UserMessage(text),)) for text in (first, second))
    assert (fingerprint(a, ENDPOINT).digest == fingerprint(b, ENDPOINT).digest) == (first == second)
