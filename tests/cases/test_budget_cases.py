"""Failures of other systems around budgets, by the ids of the collection of cases."""

import json
import sqlite3
from collections import Counter
from typing import Any

import pytest

from gateway.testkit.doors.http import DATABASE, HttpWorld
from gateway.testkit.doors.registry_edits import ACME, PROFILE, QUOTA_SCOPE
from gateway.testkit.provider.behaviours import Behaviour
from gateway.testkit.registry_copy import NO_CANARY, Edit
from gateway.testkit.world import Ask

# "Is it?" is counted as 10 bytes, 8 for the message and 32 for the request.
INPUT = 50


def limit(name: str, value: object, file: str = ACME) -> Edit:
    return Edit(file=file, old=f"{name}: unlimited", new=f"{name}: {value}")


def rows(world: HttpWorld, query: str) -> list[tuple[Any, ...]]:
    connection = sqlite3.connect(f"file:{world.gateway.data / DATABASE}?mode=ro", uri=True)
    try:
        return connection.execute(query).fetchall()
    finally:
        connection.close()


# BUD-01: everybody reads the same value below the limit, and all pass


def test_bud_01_as_many_are_dispatched_as_fit_and_the_ledger_is_never_above_the_cap(world: HttpWorld) -> None:
    world.edit_registry(limit("tokens_per_day", 100))
    world.engine_says_it_used(None)
    replies = world.ask_at_once([Ask(key=f"k-{n}", changes={"max_tokens": 10}) for n in range(8)])
    assert Counter(reply.code for reply in replies) == {None: 1, "budget_exhausted": 7}
    assert len(world.engine_calls()) == 1
    assert rows(world, "SELECT day_tokens FROM budget WHERE scope_kind = 'tenant'") == [(INPUT + 10,)]
    assert world.verify_ledger() == []


@pytest.mark.parametrize("file", [ACME, PROFILE, QUOTA_SCOPE])
def test_bud_01_in_every_scope(world: HttpWorld, file: str) -> None:
    # The canary of the engine counts in the profile and its quota scope as well.
    world.edit_registry(limit("tokens_per_month", 2 * (INPUT + 10), file), NO_CANARY)
    world.engine_says_it_used(None)
    replies = world.ask_at_once([Ask(key=f"k-{n}", changes={"max_tokens": 10}) for n in range(16)])
    assert Counter(reply.code for reply in replies) == {None: 2, "budget_exhausted": 14}
    assert len(world.engine_calls()) == 2
    assert world.verify_ledger() == []


# BUD-03: an omitted cap reserves all that is left


def test_bud_03_an_omitted_cap_is_the_profiles_maximum_reserved_and_sent(world: HttpWorld) -> None:
    world.edit_registry(limit("tokens_per_day", 10_000))
    world.engine_fails(Behaviour(delay_ms=700))
    world.start_asking(Ask(key="k-1"))
    assert world.held_tokens() == INPUT + 256
    assert world.ask(Ask(key="k-2")).code is None
    assert world.finish_asking().code is None
    assert [call["max_tokens"] for call in world.engine_calls()] == [256, 256]


# BUD-04: an absurd cap takes the whole budget


def test_bud_04_an_absurd_cap_is_refused_before_anything_is_reserved(world: HttpWorld) -> None:
    world.edit_registry(limit("tokens_per_day", 400))
    absurd, usual = world.ask_at_once(
        [Ask(key="k-1", changes={"max_tokens": 999_999_999}), Ask(key="k-2", changes={"max_tokens": 100})]
    )
    assert (absurd.code, usual.code) == ("output_exceeds_profile", None)
    assert rows(world, "SELECT count(*) FROM hold WHERE scope_kind = 'tenant'") == [(1,)]
    assert len(world.engine_calls()) == 1


# BUD-13: a limiter that is made and never asked


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("requests_per_minute", 0),
        ("tokens_per_minute", 0),
        ("tokens_per_day", 0),
        ("tokens_per_month", 0),
        ("concurrency", 0),
        ("cost_per_month", '"0"'),
    ],
)
def test_bud_13_a_budget_of_nothing_lets_nothing_through_the_real_server(
    world: HttpWorld, name: str, value: object
) -> None:
    # A price, so that a budget in money counts for something.
    priced = Edit(file=PROFILE, old='output_per_million: "0"', new='output_per_million: "0.000000001"')
    world.edit_registry(limit(name, value), priced)
    reply = world.ask(Ask())
    assert reply.code == ("concurrency_exhausted" if name == "concurrency" else "budget_exhausted")
    assert reply.facts == {"scope": "tenant", "limit": name}
    assert (json.loads(reply.body)["status"], reply.retry_after_s, reply.may_retry) == (429, None, False)
    assert world.engine_calls() == []
    assert rows(world, "SELECT count(*) FROM operation WHERE tenant = 'acme'") == [(0,)]
    assert rows(world, "SELECT code FROM audit WHERE kind = 'refused'") == [(str(reply.code),)]


# BUD-15: without its store the limiter lets everything through


def test_bud_15_a_store_that_is_locked_lets_nothing_through(world: HttpWorld) -> None:
    world.edit_registry(limit("tokens_per_day", 10_000))
    assert world.ask(Ask(key="k-1")).code is None
    blocking = sqlite3.connect(world.gateway.data / DATABASE, isolation_level=None)
    try:
        blocking.execute("BEGIN IMMEDIATE")
        assert world.ask(Ask(key="k-2")).code == "ledger_unavailable"
    finally:
        blocking.close()
    assert len(world.engine_calls()) == 1
    assert world.ask(Ask(key="k-2")).code is None
    assert world.verify_ledger() == []
