"""Entries of the cost worksheet from the ledger and from the prices of a profile."""

import asyncio
import json
import os
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from cli_support import CommandLine
from contract.ledger_ends import budgets, dispatched, left_unknown, outcome, put_keys
from msgspec.structs import replace
from store.store_support import StoreEnds

from adapters.clock import SystemClock
from gateway.bootstrap.registry import load_registry
from gateway.cli import plan_sources
from gateway.domain.budget import Reservation, spent
from gateway.domain.errors import StartRefused
from gateway.domain.money import Tariff, Tier
from gateway.domain.operation import State
from gateway.domain.usage import Usage
from gateway.domain.worksheets.catalogue import WORKSHEETS
from gateway.settings import Settings, from_environment

TARIFF = Tariff((Tier(0, 400_000_000, 1_600_000_000),))
"""The prices of the hosted profile below: 0.40 and 1.60 a million tokens."""
SINCE = "2026-01-01T00:00:00Z"
HOSTED = "gpt-4.1-mini-eu"


@pytest.fixture
def settings(gateway: CommandLine) -> Settings:
    """Those of the command line, which are in the environment."""
    assert gateway.data
    return from_environment(os.environ)


async def _attempts(ends: StoreEnds, profile: str) -> None:
    """Four completed, one filtered, one charged, one unknown, one without effect, one still going on."""
    paid = {
        "profile": profile,
        "budgets": budgets(profile=profile),
        "reserved": Reservation(900, 400, 1000),
        "tariff": TARIFF,
    }
    for n, finish_reason in enumerate(["stop", "stop", "length", "tool_calls", "content_filter"]):
        claim = await dispatched(ends, f"{profile}-{n}", **paid)
        settlement = spent(State.COMPLETED, Usage(500, 100), claim.reserved, TARIFF, finish_reason)
        await ends.ledger.settle(replace(outcome(claim.dispatch_id, State.COMPLETED), settlement=settlement))
    claim = await dispatched(ends, f"{profile}-charged", **paid)
    settlement = spent(State.CHARGED, Usage(600, 0), claim.reserved, TARIFF, "aborted")
    await ends.ledger.settle(replace(outcome(claim.dispatch_id, State.CHARGED), settlement=settlement))
    await left_unknown(ends, f"{profile}-unknown", **paid)
    claim = await dispatched(ends, f"{profile}-none", **paid)
    await ends.ledger.settle(outcome(claim.dispatch_id, State.NO_EFFECT))
    await dispatched(ends, f"{profile}-open", **paid)


@pytest.fixture
def serve(gateway: CommandLine) -> Callable[..., None]:
    """Puts attempts at profiles into the store of the command line."""

    def put(*profiles: str) -> None:
        gateway.data.mkdir(mode=0o700)
        ends = StoreEnds(gateway.data, clock=SystemClock())

        async def run() -> None:
            await put_keys(ends)
            for profile in profiles:
                await _attempts(ends, profile)

        asyncio.run(run())
        ends.store.close()

    return put


def test_usage_of_the_ledger_becomes_entries_that_were_measured(settings: Settings, serve: Callable[..., None]) -> None:
    serve(HOSTED)
    entries = plan_sources.from_ledger(settings, SINCE, HOSTED)
    assert [entries[name] for name in ("completed", "content_filter", "charged", "unknown")] == ["4", "1", "1", "1"]
    # Seven were paid for: five of 500 and 100, one of 600, and one of all that is still reserved.
    assert entries["input_tokens"] == "571.42857142857142857"
    assert entries["output_tokens"] == "128.57142857142857143"
    assert entries["currency"] == "EUR"
    assert "unknown" in entries["measured"].split(",")


def test_ledger_and_prices_make_the_cost_that_the_ledger_counts(settings: Settings, serve: Callable[..., None]) -> None:
    serve(HOSTED)
    sources = plan_sources.from_profile(settings, HOSTED), plan_sources.from_ledger(settings, SINCE, HOSTED)
    figures = WORKSHEETS["cost"].compute(plan_sources.merged({}, *sources)).figures
    # 4,000 tokens in and 900 out of seven attempts, of which four succeeded.
    paid = Fraction("4000") * Fraction("0.40") / 10**6 + Fraction("900") * Fraction("1.60") / 10**6
    assert abs(Fraction(str(figures["hosted_per_request"].value)) - paid / 7) < Fraction(1, 10**18)
    assert abs(Fraction(str(figures["hosted_per_success"].value)) - paid / 4) < Fraction(1, 10**18)


def answering(
    monkeypatch: pytest.MonkeyPatch, rows: list[dict[str, Any]], canaries: list[dict[str, Any]] | None = None
) -> None:
    """A gateway whose ledger has these outcomes, and among them these of canaries."""

    def call(*_: object, query: dict[str, str]) -> dict[str, Any]:
        return {"currency": "EUR", "data": (canaries or []) if query.get("tenant") == "system" else rows}

    monkeypatch.setattr("gateway.cli.remote.call", call)


def rows_of(outcome: str, attempts: int, tokens: int, profile: str = "p") -> dict[str, Any]:
    return {
        "profile": profile,
        "outcome": outcome,
        "attempts": attempts,
        "input": tokens,
        "output": tokens,
        "cost": tokens,
    }


def test_canaries_are_no_requests(monkeypatch: pytest.MonkeyPatch, settings: Settings) -> None:
    """Each has one token of output, and an engine that starts often would seem to answer cheaply."""
    rows = [rows_of("completed", 10, 106), rows_of("unknown", 1, 20), rows_of("completed", 3, 3, "q")]
    canaries = [rows_of("completed", 6, 6), rows_of("completed", 3, 3, "q"), rows_of("charged", 1, 1)]
    answering(monkeypatch, rows, canaries)
    entries = plan_sources.from_ledger(settings, SINCE)
    assert (entries["completed"], entries["unknown"], entries["charged"]) == ("4", "1", "0")
    # 100 tokens of four that were answered, and 20 of the one that is unknown. Of q there were canaries alone.
    assert (entries["input_tokens"], entries["output_tokens"]) == ("24", "24")
    answering(monkeypatch, canaries[:2], canaries)
    with pytest.raises(StartRefused, match="counts no attempt since then"):
        plan_sources.from_ledger(settings, SINCE)


def test_without_a_success_there_is_no_price_of_one(monkeypatch: pytest.MonkeyPatch, settings: Settings) -> None:
    answering(monkeypatch, [rows_of("unknown", 3, 30)])
    entries = plan_sources.merged({"input_price": "1", "output_price": "1"}, plan_sources.from_ledger(settings, SINCE))
    assert (entries["completed"], entries["unknown"], entries["input_tokens"]) == ("0", "3", "10")
    figures = WORKSHEETS["cost"].compute(entries).figures
    assert figures["hosted_per_request"].value
    assert figures["hosted_per_success"].value is None


def test_what_an_operator_wrote_off_stays_an_unknown(monkeypatch: pytest.MonkeyPatch, settings: Settings) -> None:
    rows = [
        {"profile": "p", "outcome": name, "attempts": attempts, "input": 10 * attempts, "output": attempts, "cost": 0}
        for name, attempts in (("closed", 2), ("unknown", 3), ("completed", 5), ("released", 7), ("granted", 9))
    ]
    answering(monkeypatch, rows)
    entries = plan_sources.from_ledger(settings, SINCE)
    assert (entries["unknown"], entries["completed"]) == ("5", "5")
    assert (entries["input_tokens"], entries["output_tokens"]) == ("10", "1")


def test_a_ledger_without_attempts_and_one_of_several_profiles_say_what_to_do(
    settings: Settings, serve: Callable[..., None]
) -> None:
    serve(HOSTED, "claude-haiku-eu")
    with pytest.raises(StartRefused, match=r"Name one of them: claude-haiku-eu, gpt-4\.1-mini-eu"):
        plan_sources.from_ledger(settings, SINCE)
    with pytest.raises(StartRefused, match="counts no attempt since then"):
        plan_sources.from_ledger(settings, "2999-01-01T00:00:00Z", HOSTED)
    with pytest.raises(StartRefused, match="It is about since"):
        plan_sources.from_ledger(settings, "yesterday", HOSTED)


def test_prices_are_those_of_a_hosted_profile_of_the_registry(settings: Settings) -> None:
    assert plan_sources.from_profile(settings, HOSTED) == {
        "currency": "EUR",
        "input_price": "0.40",
        "output_price": "1.60",
        "per_tokens": "1000000",
    }
    for name in ("smollm2-135m", "nothing"):
        with pytest.raises(StartRefused, match=r"Its hosted ones are claude-haiku-eu, gpt-4\.1-mini-eu"):
            plan_sources.from_profile(settings, name)


def test_a_profile_with_tiers_of_prices_is_not_guessed_at(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    snapshot = load_registry(settings, SystemClock())
    profile = snapshot.profiles[HOSTED]
    tiers = (*profile.prices.tiers, replace(profile.prices.tiers[0], above_input_tokens=9000))
    tiered = replace(profile, prices=replace(profile.prices, tiers=tiers))
    changed = replace(snapshot, profiles=dict(snapshot.profiles) | {HOSTED: tiered})
    monkeypatch.setattr("gateway.bootstrap.registry.load_registry", lambda *_: changed)
    with pytest.raises(StartRefused, match="several tiers"):
        plan_sources.from_profile(settings, HOSTED)


def test_what_is_entered_stands_over_a_source_and_is_not_said_to_be_measured() -> None:
    source = {"input_tokens": "10", "unknown": "1", "measured": "input_tokens,unknown", "measured_by": "the ledger"}
    assert plan_sources.merged({}, source) == source
    assert plan_sources.merged({"unknown": "0"}, source) == source | {"unknown": "0", "measured": "input_tokens"}
    both = {"unknown": "0", "input_tokens": "11"}
    assert plan_sources.merged(both, source) == both
    own = {"measured": "unknown", "measured_by": "Robin"}
    assert plan_sources.merged(own, source) == {"input_tokens": "10", "unknown": "1"} | own


def test_outcomes_are_a_table_and_json(gateway: CommandLine, serve: Callable[..., None]) -> None:
    serve(HOSTED)
    said = gateway("ledger", "outcomes", "--since", SINCE, "--profile", HOSTED)
    assert (said.code, said.err) == (0, "")
    head, *lines = [line.split() for line in said.out.splitlines()]
    assert head[-1] == "EUR"
    assert [line[1:4] for line in lines] == [
        ["charged", "1", "0"],
        ["completed", "4", "0"],
        ["content_filter", "1", "0"],
        ["dispatching", "1", "1"],
        ["no_effect", "1", "0"],
        ["unknown", "1", "1"],
    ]
    assert lines[1][4:] == ["2000", "400", "0.001440"]
    document = json.loads(gateway("ledger", "outcomes", "--since", SINCE, "--tenant", "nobody", "--json").out)
    assert document == {"object": "list", "currency": "EUR", "since": SINCE, "data": []}


def test_a_time_that_is_none_is_refused_with_a_sentence(gateway: CommandLine) -> None:
    gateway.make_store()
    said = gateway("ledger", "outcomes", "--since", "yesterday")
    assert (said.code, said.out) == (1, "")
    assert "It is about since." in said.err
    assert "yesterday" not in said.err
    assert gateway("ledger", "outcomes").code == 2
