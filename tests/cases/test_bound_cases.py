"""Failures of other systems around bounds and counting, by the ids of the collection of cases."""

import sqlite3
from typing import Any

from gateway.testkit.doors.http import DATABASE, HttpWorld
from gateway.testkit.doors.registry_edits import EDITS, PROFILE
from gateway.testkit.registry_copy import Edit
from gateway.testkit.world import Ask

# "user" counts 4 bytes, the message 8 and the request 32.
AROUND = 44
PIXEL = "data:image/png;base64,iVBORw0KGgo="


def bounds(context: int, output: int) -> tuple[Edit, ...]:
    return (
        Edit(file=PROFILE, old="context_window: 2048", new=f"context_window: {context}"),
        Edit(file=PROFILE, old="max_output: 256", new=f"max_output: {output}"),
    )


def nothing_happened(world: HttpWorld) -> bool:
    connection = sqlite3.connect(f"file:{world.gateway.data / DATABASE}?mode=ro", uri=True)
    try:
        holds = connection.execute("SELECT count(*) FROM hold WHERE scope_id = 'acme'").fetchall()
    finally:
        connection.close()
    return (holds, world.engine_calls()) == ([(0,)], [])


# BND-04: tools, system text and media were not counted


def tool(name: str) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, "description": "a" * 1000}}


def test_bnd_04_tools_beyond_the_context_are_refused(world: HttpWorld) -> None:
    world.edit_registry(*EDITS["the engine takes tools and images"])
    reply = world.ask(Ask(changes={"tools": [tool("a"), tool("b")]}))
    assert (reply.code, reply.param) == ("context_exceeded", "messages")
    assert nothing_happened(world)
    assert world.ask(Ask(key="k-2", changes={"tools": [tool("a")]})).code is None


def test_bnd_04_a_long_system_message_is_refused(world: HttpWorld) -> None:
    messages = [{"role": "system", "content": "a" * 2000}, {"role": "user", "content": "x"}]
    assert world.ask(Ask(changes={"messages": messages})).code == "context_exceeded"
    assert nothing_happened(world)


def test_bnd_04_results_of_tools_are_refused_like_text(world: HttpWorld) -> None:
    world.edit_registry(*EDITS["the engine takes tools and images"])
    call = {"id": "c-1", "type": "function", "function": {"name": "look_up", "arguments": "{}"}}
    messages = [
        {"role": "user", "content": "x"},
        {"role": "assistant", "tool_calls": [call]},
        {"role": "tool", "content": "a" * 2000, "tool_call_id": "c-1"},
    ]
    assert world.ask(Ask(changes={"messages": messages})).code == "context_exceeded"
    assert nothing_happened(world)


def test_bnd_04_media_without_a_rule_cannot_be_counted(world: HttpWorld) -> None:
    world.edit_registry(*EDITS["the engine takes tools and images"])
    parts = [{"type": "image_url", "image_url": {"url": PIXEL}}]
    reply = world.ask(Ask(changes={"messages": [{"role": "user", "content": parts}]}))
    assert (reply.code, reply.param) == ("uncountable_input", "messages")
    assert nothing_happened(world)


# BND-07: classic off-by-one


BOUNDARIES: list[tuple[int, int | None, str | None]] = [
    (60, 40, None),
    (61, 40, "context_exceeded"),
    (60, 41, "output_exceeds_profile"),
    (99, 1, None),
    (100, 1, "context_exceeded"),
    (60, None, None),
    (61, None, "context_exceeded"),
]
"""Tokens of input, cap, code; of a profile with a window of 100 and a maximum of 40."""


def test_bnd_07_each_limit_may_be_met_and_not_passed(world: HttpWorld) -> None:
    world.edit_registry(*bounds(100, 40))
    for number, (tokens, output, code) in enumerate(BOUNDARIES):
        cap = {} if output is None else {"max_tokens": output}
        reply = world.ask(Ask(question="a" * (tokens - AROUND), key=f"k-{number}", changes=cap))
        assert reply.code == code, (tokens, output)
    assert [call["max_tokens"] for call in world.engine_calls()] == [40, 1, 40]
    assert world.booked_tokens() <= 100 * 3


def test_bnd_07_no_output_and_no_input_are_refused(world: HttpWorld) -> None:
    for changes in ({"max_tokens": 0}, {"messages": []}):
        assert world.ask(Ask(changes=changes)).code == "invalid_value"
    assert nothing_happened(world)


# BND-15: arithmetic gives a negative charge


def test_bnd_15_usage_that_cannot_be_true_charges_what_was_reserved(world: HttpWorld) -> None:
    for number, used in enumerate([(-100, -5), (10**12, 1), (-100, 50), (20, 2**70)], start=1):
        world.engine_says_it_used(used)
        assert world.ask(Ask(key=f"k-{number}", changes={"max_tokens": 10})).code is None
        assert world.booked_tokens() == number * (AROUND + len("Is it?") + 10)
    assert world.held_tokens() == 0
    assert world.verify_ledger() == []
