"""Decisions measured alone: what is counted, and that no failure passes for a decision."""

import asyncio
import os
from itertools import cycle
from typing import Any, cast

import pytest

from adapters.registry import load
from adapters.telemetry import Telemetry
from gateway.bench.children import BenchFault
from gateway.bench.decisions import ASKERS, BURSTS, TRIES, burst, deciding, hit
from gateway.bench.many_profiles import CANDIDATES, TENANT, alias, grown
from gateway.bench.questions import NOW_S, Asked, access, routes
from gateway.domain.questions import Failed
from gateway.domain.snapshot import Snapshot
from gateway.ports.policy import Policy
from gateway.service.memo import Memo
from gateway.testkit.fakes.policy import ScriptedPolicy
from gateway.testkit.registry_copy import EXAMPLE

NOBODY = cast(Policy, None)


def _snapshot() -> Snapshot:
    loaded = load(EXAMPLE, at_us=NOW_S * 1_000_000)
    assert not isinstance(loaded, tuple), loaded
    return grown(loaded.snapshot, 50)


def _asked(*ends: bool) -> tuple[Asked, list[int]]:
    """A question that comes out so in turn, and the seconds that it was asked of."""
    turns, seconds = cycle(ends), list[int]()

    async def ask(policy: Policy, after_s: int) -> bool:
        seconds.append(after_s)
        await asyncio.sleep(0.001)
        return next(turns)

    return Asked("question", ask), seconds


def test_questions_without_an_answer_are_counted_beside_those_with_one() -> None:
    asked, _ = _asked(True, False)
    found = asyncio.run(deciding(NOBODY, os.getpid(), asked, at_once=4, seconds=0.1))
    assert found.decisions >= 8
    assert found.failed == pytest.approx(found.decisions / 2, abs=1)
    assert found.p99_ms >= found.p50_ms >= 1


def test_what_was_never_decided_is_no_hit() -> None:
    asked, seconds = _asked(False)
    with pytest.raises(BenchFault, match="no decision"):
        asyncio.run(hit(NOBODY, asked))
    assert len(seconds) == TRIES


def test_no_burst_asks_of_the_second_of_another() -> None:
    asked, seconds = _asked(*([True] * 7), False)
    found = asyncio.run(burst(NOBODY, "nobody", asked, dict))
    assert found.failed == BURSTS * ASKERS / 8
    assert {seconds.count(second) for second in set(seconds)} == {ASKERS}
    assert len(set(seconds)) == BURSTS


def test_a_hit_asks_policy_once() -> None:
    policy = ScriptedPolicy(_snapshot())
    asyncio.run(hit(Memo(policy, Telemetry()), access(4)))
    assert len(policy.asked) == 1


@pytest.mark.parametrize("sources", [0, 1, 32])
def test_access_is_asked_with_so_many_sources(sources: int) -> None:
    policy = ScriptedPolicy(_snapshot())
    assert asyncio.run(access(sources).ask(policy, 3))
    (question,) = cast(list[Any], policy.asked)
    assert (len(question.sources), question.time_s) == (sources, NOW_S + 3)
    assert len(set(question.sources)) == sources


def test_a_decision_that_is_not_the_one_to_measure_is_a_fault() -> None:
    policy = ScriptedPolicy(_snapshot())
    policy.failed = Failed(request=("purpose",), source={})
    with pytest.raises(BenchFault, match="denied"):
        asyncio.run(access(0).ask(policy, 0))
    policy.routes_override = ()
    with pytest.raises(BenchFault, match="0 are eligible"):
        asyncio.run(routes(8).ask(policy, 0))
    policy.away = "timeout"
    assert not asyncio.run(access(0).ask(policy, 0))
    assert not asyncio.run(routes(8).ask(policy, 0))


def test_a_grown_registry_has_as_many_profiles_as_asked_and_no_name_without_its_object() -> None:
    snapshot = _snapshot()
    assert len(snapshot.profiles) == len(snapshot.profile_digests) == 50
    assert snapshot.bundles.keys() == snapshot.bundle_digests.keys() == set(snapshot.releases.values())
    for bundle in snapshot.bundles.values():
        assert all(snapshot.profile_digests[member.id] == member.digest for member in bundle.profiles)
    for tenant in snapshot.tenants.values():
        assert set(tenant.aliases) <= snapshot.releases.keys()
    for candidates in CANDIDATES:
        assert alias(candidates) in snapshot.tenants[TENANT].aliases
        assert len(snapshot.bundles[snapshot.releases[alias(candidates)]].profiles) == candidates
    assert {profile.kind for profile in snapshot.profiles.values()} == {"hosted", "self_hosted"}
