"""Steps about budgets: what is refused, what is left, and what an administrator sees of it."""

import json
from collections import Counter
from typing import Any

from pytest_bdd import given, parsers, then, when

from gateway.testkit.doors.http import HttpWorld
from gateway.testkit.doors.service import ServiceWorld
from gateway.testkit.steps.asking import Memory
from gateway.testkit.world import Ask, World

RESERVED = 50 + 256
"""Tokens of "Is it?" with the allowances of the template, and the profile's output maximum."""


@given("the engine does not say what it used")
def _no_usage(world: World) -> None:
    world.engine_says_it_used(None)


@given(parsers.parse("the engine says that it used {tokens_in:d} tokens of input and {tokens_out:d} of output"))
def _usage(world: World, tokens_in: int, tokens_out: int) -> None:
    world.engine_says_it_used((tokens_in, tokens_out))


@when("the month turns before the answer arrives")
def _month_turns(world: ServiceWorld, memory: Memory) -> None:
    world.month_turns()
    memory.replies.append(world.finish_asking())


@given("the engine takes longer than it may")
def _too_slow(world: World) -> None:
    world.engine_does("time_out")


@when(parsers.parse("{count:d} instances of the assistant ask at once, each under a key of its own"))
def _at_once(world: World, memory: Memory, count: int) -> None:
    memory.replies.extend(world.ask_at_once([Ask(key=f"k-{n}") for n in range(count)]))


@then(parsers.parse("{count:d} of them got the answer"))
def _answered(memory: Memory, count: int) -> None:
    assert Counter(reply.code for reply in memory.replies)[None] == count


@then(parsers.parse('{count:d} of them were refused as "{code}"'))
def _refused(memory: Memory, count: int, code: str) -> None:
    assert Counter(reply.code for reply in memory.replies)[code] == count


@then(parsers.parse('it is the "{limit}" of the "{scope}" that is short'))
def _short(memory: Memory, limit: str, scope: str) -> None:
    assert memory.last.facts == {"scope": scope, "limit": limit}


@then("it says when to try again")
def _when_again(memory: Memory) -> None:
    assert memory.last.may_retry
    assert memory.last.retry_after_s is not None
    # Nothing lasts longer than a month.
    assert 1 <= memory.last.retry_after_s <= 31 * 86_400


@then("it says that no waiting helps")
def _never(memory: Memory) -> None:
    assert (memory.last.may_retry, memory.last.retry_after_s) == (False, None)


@then(parsers.parse("the engine was told each time to stop at {tokens:d} tokens"))
def _told_each_time(world: World, tokens: int) -> None:
    calls = world.engine_calls()
    assert calls
    assert {call["max_tokens"] for call in calls} == {tokens}


@then(parsers.parse("what was reserved for {count:d} requests is kept"))
def _kept(world: World, count: int) -> None:
    assert (world.held_tokens(), world.held_slots()) == (count * RESERVED, count)


@then("all that was booked is still booked")
def _still_booked(world: World) -> None:
    assert (world.booked_tokens(), world.held_tokens()) == (RESERVED, 0)


@when(parsers.parse('"{who}" looks at the budget of the tenant "{tenant}"'))
def _looks(world: HttpWorld, memory: Memory, who: str, tenant: str) -> None:
    headers = {"Authorization": f"Bearer {world.token(who)}"}
    status, _, body = world.request("GET", f"/admin/ledger/usage?tenant={tenant}", headers)
    assert status == 200, body
    (memory.document,) = json.loads(body)["data"]


@when(parsers.parse('"{who}" counts what the attempts of the tenant "{tenant}" came to'))
def _counts(world: HttpWorld, memory: Memory, who: str, tenant: str) -> None:
    headers = {"Authorization": f"Bearer {world.token(who)}"}
    target = f"/admin/ledger/outcomes?since=2026-01-01T00:00:00Z&tenant={tenant}"
    status, _, body = world.request("GET", target, headers)
    assert status == 200, body
    memory.document = {row["outcome"]: row for row in json.loads(body)["data"]}


@then(parsers.parse('{attempts:d} attempt is "{outcome}" and used {tokens:d} tokens'))
def _used(memory: Memory, attempts: int, outcome: str, tokens: int) -> None:
    _assert_counted(memory.document.pop(outcome), attempts, tokens, at_reservation=0)


@then(parsers.parse('{attempts:d} attempt is "{outcome}" and counts with the {tokens:d} tokens that are reserved'))
def _counts_reserved(memory: Memory, attempts: int, outcome: str, tokens: int) -> None:
    _assert_counted(memory.document.pop(outcome), attempts, tokens, at_reservation=attempts)


@then("no other attempt is counted")
def _no_other(memory: Memory) -> None:
    assert memory.document == {}


def _assert_counted(row: Any, attempts: int, tokens: int, at_reservation: int) -> None:
    assert (row["attempts"], row["at_reservation"]) == (attempts, at_reservation)
    assert row["input"] + row["output"] == tokens


@then(parsers.parse("it shows {used:d} of {limit:d} tokens a month, and nothing held"))
def _shows(memory: Memory, used: int, limit: int) -> None:
    _assert_shown(memory, used, limit, held=0, stranded=0)


@then(parsers.parse("it shows {used:d} of {limit:d} tokens a month, and {held:d} held by {stranded:d} stranded slot"))
def _shows_held(memory: Memory, used: int, limit: int, held: int, stranded: int) -> None:
    _assert_shown(memory, used, limit, held, stranded)


def _assert_shown(memory: Memory, used: int, limit: int, held: int, stranded: int) -> None:
    month, slots = memory.document["tokens_per_month"], memory.document["concurrency"]
    assert (month["used"], month["limit"]) == (used, limit)
    assert memory.document["held"] == {"tokens": held, "cost": 0}
    assert slots == {"used": stranded, "stranded": stranded, "limit": "unlimited"}
