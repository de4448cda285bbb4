"""Rounds of the harness itself."""

import asyncio
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from gateway.testkit.faults import checks
from gateway.testkit.faults.evidence import Evidence
from gateway.testkit.faults.harness import Harness
from gateway.testkit.faults.rooms import Limits
from gateway.testkit.faults.tally import Wanted
from gateway.testkit.faults.witness import Witness


def test_a_start_that_never_served_is_not_judged_by_what_was_seen_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def never(_: object) -> bool:
        return False

    child = SimpleNamespace(
        start=lambda *_: None, becomes_ready=never, limits=Limits(98, 0, 0), fired=[], data=tmp_path
    )
    witness = Witness()
    witness.most_slots = {"tenant": 100}  # under the limits of the start before
    judged: list[Evidence] = []

    def check(_: Path, evidence: Evidence) -> list[str]:
        judged.append(evidence)
        return []

    monkeypatch.setattr(checks, "check", check)
    wanted = Wanted(operations=1, seed=1, least=0, rounds=lambda _seed, _number: ())
    harness = Harness(wanted, cast(Any, child), cast(Any, SimpleNamespace(seen=[])), witness)
    asyncio.run(harness._round(()))
    assert [(one.limits.slots, dict(one.most_slots)) for one in judged] == [(98, {})]
