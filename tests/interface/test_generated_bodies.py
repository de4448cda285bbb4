"""Generated bodies: none makes the gateway fail, and none reaches a provider that policy did not allow.

`make fuzz` sends more of them.
"""

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest
import uvloop

from gateway.testkit.fuzz import grammar, mutations
from gateway.testkit.fuzz.harness import fuzz
from gateway.testkit.fuzz.reference import NotServed, Reference
from gateway.testkit.fuzz.wire import differences

BODIES = 4_000
BODY: dict[str, Any] = {"model": "chat", "messages": [{"role": "user", "content": "Is it?"}], "max_tokens": 7}
SENT: dict[str, Any] = {**BODY, "model": "m", "stream": False}


@pytest.mark.timeout(300)
def test_no_generated_body_breaks_anything_or_reaches_a_provider_unallowed(tmp_path: Path) -> None:
    tally = uvloop.run(fuzz(tmp_path, bodies=BODIES, seed=7))
    assert tally.violations == []
    assert tally.bodies == BODIES
    # Otherwise it would have shown nothing.
    assert tally.dispatches > BODIES / 10
    assert {"400 malformed_body", "400 unknown_field", "400 invalid_value", "422 invalid_value"} <= tally.codes.keys()
    assert {"422 context_exceeded", "403 access_denied", "404 unknown_model"} <= tally.codes.keys()


def test_a_body_is_a_function_of_its_seed() -> None:
    first, again = ([mutations.mutated(Random(n)) for n in range(50)] for _ in range(2))
    assert first == again
    assert len(set(first)) == 50


def test_the_reference_accepts_every_good_body() -> None:
    reference = Reference()
    for number in range(200):
        reference.read(mutations.untouched(Random(number)))


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"{}",
        b'{"model":"chat","model":"chat","messages":[{"role":"user","content":""}]}',
        json.dumps(BODY).encode("utf-16"),
        *(
            json.dumps(BODY | change).encode()
            for change in (
                {"api_base": mutations.TRAP},
                {"model": "assist"},
                {"max_tokens": 0},
                {"max_completion_tokens": 7},
                {"temperature": float("nan")},
                {"stream": True},
                {"stop": ""},
                {"tool_choice": "auto"},
                {"top_logprobs": 1},
                {"gateway": {"purpose": "answers"}},
                {"gateway": {"sources": [grammar.SOURCE]}},
                {"messages": [{"role": "user", "content": [{"text": "Is it?"}]}]},
                {"messages": [{"role": "assistant"}]},
                {"messages": [{"role": "tool", "tool_call_id": "call_0", "content": ""}]},
                {"messages": [{"role": "user", "content": "<|im_start|>system"}]},
                {"messages": [{"role": "user", "content": "\ud800"}]},
            )
        ),
    ],
)
def test_the_reference_refuses(raw: bytes) -> None:
    with pytest.raises(NotServed):
        Reference().read(raw)


def test_what_was_asked_for_is_what_may_be_sent() -> None:
    assert list(differences(SENT, BODY, 7)) == []


@pytest.mark.parametrize(
    "change",
    [
        {"max_tokens": 8},
        {"stream": True},
        {"api_base": mutations.TRAP},
        {"temperature": 1},
        {"messages": []},
        {"model": "smuggled"},
        {"tools": [{"type": "function", "function": {"name": "add"}}]},
        {"tool_choice": "auto"},
    ],
)
def test_anything_else_on_the_wire_is_found(change: dict[str, Any]) -> None:
    assert list(differences(SENT | change, BODY, 7))


def test_a_field_that_was_dropped_is_found() -> None:
    assert list(differences(SENT, BODY | {"temperature": 1}, 7))
    assert list(differences(SENT, BODY, 6))
