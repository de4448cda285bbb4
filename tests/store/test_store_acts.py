"""Acts of operators in the rows: holds, counters, audit and evidence, all or nothing."""

import asyncio
import json
from collections.abc import Sequence
from typing import Any

import pytest
from contract.ledger_ends import CALLER, a_claim, an_act, granted, left_unknown, outcome, state_of
from store_support import StoreEnds, with_store

from adapters.store import act as acts
from gateway.domain.errors import IllegalMove, LedgerUnavailable
from gateway.domain.operation import State
from gateway.domain.reconciliation import ActKind, Done
from gateway.domain.usage import Usage
from gateway.ports.ledger import Granted, Settled, Superseded

COUNTERS = "minute_requests, minute_tokens, month_tokens, held_tokens, debt_tokens, slots_used, slots_stranded"
LONG_AFTER_US = 300_000_000


def counters(ends: StoreEnds) -> tuple[int, ...]:
    """The same in all three scopes."""
    rows = set(ends.rows(f"SELECT {COUNTERS} FROM budget"))
    (row,) = rows
    return row


def test_an_unknown_holds_tokens_and_slot() -> None:
    async def use(ends: StoreEnds) -> None:
        await left_unknown(ends)
        assert counters(ends) == (1, 400, 400, 400, 0, 1, 1)

    with_store(use)


@pytest.mark.parametrize(
    ("kind", "used", "expected"),
    [
        ("write_off", None, (1, 400, 400, 0, 0, 0, 0)),
        ("no_effect", None, (1, 0, 0, 0, 0, 0, 0)),
        ("charged", Usage(300, 20), (1, 320, 320, 0, 0, 0, 0)),
        ("charged", Usage(300, 130), (1, 430, 430, 0, 30, 0, 0)),
        ("free_slot", None, (1, 400, 400, 400, 0, 0, 0)),
    ],
)
@pytest.mark.parametrize("freed_before", [False, True])
def test_an_act_settles_the_spend_and_frees_the_slot_once(
    kind: ActKind, used: Usage | None, expected: tuple[int, ...], freed_before: bool
) -> None:
    async def use(ends: StoreEnds) -> None:
        claim = await left_unknown(ends)
        ends.restart()
        if freed_before:
            await ends.ledger.act(an_act(claim, "free_slot"))
        await ends.ledger.act(an_act(claim, kind, used=used))
        assert counters(ends) == expected

    with_store(use)


def test_settlement_falls_into_the_windows_of_the_hold() -> None:
    async def use(ends: StoreEnds) -> None:
        old = await left_unknown(ends, "old")
        ends.clock.us += LONG_AFTER_US
        await granted(ends, "new")
        await ends.ledger.act(an_act(old, "no_effect"))
        assert counters(ends) == (1, 400, 400, 400, 0, 1, 0)

    with_store(use)


@pytest.mark.parametrize("late", [State.COMPLETED, State.CHARGED])
def test_a_late_answer_frees_no_slot_twice(late: State) -> None:
    async def use(ends: StoreEnds) -> None:
        claim = await left_unknown(ends)
        await granted(ends, "another")
        await ends.ledger.act(an_act(claim, "free_slot"))
        assert counters(ends) == (2, 800, 800, 800, 0, 1, 0)
        assert await ends.ledger.settle(outcome(claim.dispatch_id, late)) == Settled()
        assert counters(ends) == (2, 750, 750, 400, 0, 1, 0)

    with_store(use)


@pytest.mark.parametrize(
    ("kind", "used", "debts"),
    [
        ("write_off", None, [0, 50, 50, 50, 120]),
        ("no_effect", None, [350, 450, 450, 450, 520]),
        ("charged", Usage(300, 130), [30, 50, 50, 50, 120]),
    ],
)
def test_usage_proved_above_what_was_settled_is_owed_once_however_often_it_is_proved(
    kind: ActKind, used: Usage | None, debts: list[int]
) -> None:
    async def use(ends: StoreEnds) -> None:
        claim = await left_unknown(ends)
        ends.restart()
        await ends.ledger.act(an_act(claim, kind, used=used))
        owed = []
        for output, state in (
            (50, State.COMPLETED),
            (150, State.CHARGED),
            (150, State.CHARGED),
            (50, State.COMPLETED),
            (220, State.COMPLETED),
        ):
            late = await ends.ledger.settle(outcome(claim.dispatch_id, state, used=Usage(300, output)))
            assert isinstance(late, Superseded)
            owed.append(counters(ends)[4])
        assert owed == debts

    with_store(use)


@pytest.mark.parametrize("kind", ["write_off", "no_effect", "charged", "free_slot"])
def test_who_did_it_and_why_is_kept_twice_with_the_act(kind: ActKind) -> None:
    async def use(ends: StoreEnds) -> None:
        claim = await left_unknown(ends)
        ends.restart()
        words = "asked the provider: “no such request”"
        await ends.ledger.act(an_act(claim, kind, actor=CALLER, os_user="ops", words=words))
        audited = {"free_slot": "slot_freed", "charged": "charged"}.get(kind, "closed")
        ((told, tenant, principal, n, code, data),) = ends.rows(
            "SELECT kind, tenant, principal, n, code, data FROM audit WHERE incarnation = 2 AND op_id IS NOT NULL"
        )
        assert (told, tenant, principal, n, code) == (audited, "acme", "reports", 1, kind)
        assert json.loads(data) == {"words": words, "os_user": "ops"}
        used = (300, 20) if kind == "charged" else (None, None)
        assert ends.rows("SELECT dispatch_id, kind, used_input, used_output, who, words FROM evidence") == [
            (claim.dispatch_id, kind, *used, "acme/reports", words)
        ]

    with_store(use)


@pytest.mark.parametrize("broken", [{"words": "\ud800"}, {"used": Usage(2**53, 500)}, {"used": Usage(2**63, 1)}])
def test_an_act_that_the_database_refuses_leaves_nothing_and_harms_no_other(broken: dict[str, Any]) -> None:
    async def use(ends: StoreEnds) -> None:
        bad, good, answered = [await left_unknown(ends, key) for key in ("bad", "good", "answered")]
        before = ends.rows("SELECT * FROM attempt WHERE op_id = ?", bad.operation_id)
        answers = await asyncio.gather(
            ends.ledger.act(an_act(good, "write_off")),
            ends.ledger.act(an_act(bad, "charged", **broken)),
            ends.ledger.settle(outcome(answered.dispatch_id, State.COMPLETED)),
            ends.ledger.claim(a_claim("new")),
            return_exceptions=True,
        )
        assert [type(answer) for answer in answers] == [Done, LedgerUnavailable, Settled, Granted]
        assert ends.rows("SELECT * FROM attempt WHERE op_id = ?", bad.operation_id) == before
        assert ends.rows("SELECT count(*) FROM evidence") == [(1,)]
        assert await ends.ledger.act(an_act(bad, "charged")) == Done(State.CHARGED)

    with_store(use)


@pytest.mark.parametrize("statement", ["SELECT 1", "DROP TRIGGER attempt_moves"])
def test_an_act_compares_the_state_when_it_sets_it(monkeypatch: pytest.MonkeyPatch, statement: str) -> None:
    """With the trigger behind it and alone."""

    async def use(ends: StoreEnds) -> None:
        ends.rows(statement)
        claim = await left_unknown(ends)
        await ends.ledger.settle(outcome(claim.dispatch_id, State.COMPLETED))

        def outdated(op_id: str, n: int, _: str, *others: Any) -> acts.Last:
            return last(op_id, n, State.UNKNOWN, *others)

        last = acts.Last
        monkeypatch.setattr(acts, "Last", outdated)
        with pytest.raises(IllegalMove):
            await ends.ledger.act(an_act(claim, "write_off"))
        assert await state_of(ends, claim) is State.COMPLETED

    with_store(use)


def test_a_profile_whose_slots_were_freed_counts_them_no_more() -> None:
    async def use(ends: StoreEnds) -> None:
        lost = [await left_unknown(ends, str(n)) for n in range(3)]
        answers: Sequence[object] = await asyncio.gather(*(ends.ledger.act(an_act(one, "free_slot")) for one in lost))
        assert answers == [Done(State.UNKNOWN)] * 3
        assert counters(ends) == (3, 1200, 1200, 1200, 0, 0, 0)

    with_store(use)
