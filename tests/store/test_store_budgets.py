"""Holds and counters: reserved, settled, released, kept, in the windows that they were taken in."""

import asyncio
from collections.abc import Mapping

import pytest
from contract.ledger_ends import NOW_US, a_claim, budgets, dispatched, granted, nobody, outcome
from store_support import StoreEnds, with_store

from gateway.domain.budget import Settlement
from gateway.domain.operation import State
from gateway.domain.usage import Usage
from gateway.domain.windows import Windows, windows
from gateway.ports.ledger import Settle, Settled, Superseded

SCOPES = {("profile", "small"), ("quota_scope", "engine"), ("tenant", "acme")}
MINUTE, DAY = 60_000_000, 86_400_000_000


def counters(ends: StoreEnds, kind: str = "tenant") -> Mapping[str, int]:
    names = [row[1] for row in ends.rows("PRAGMA table_info(budget)")]
    (row,) = ends.rows("SELECT * FROM budget WHERE scope_kind = ?", kind)
    return dict(zip(names, row, strict=True))


def sums(ends: StoreEnds) -> tuple[int, int, int, int, int]:
    found = counters(ends)
    return (
        found["minute_requests"],
        found["minute_tokens"],
        found["month_tokens"],
        found["held_tokens"],
        found["slots_used"],
    )


def with_usage(dispatch_id: str, used: int, debt: int) -> Settle:
    """A completed outcome of so many tokens, of which some are above the reservation of 400."""
    settle = outcome(dispatch_id, State.COMPLETED)
    settlement = Settlement(
        state=State.COMPLETED, used=Usage(300, used - 300), basis="provider", debt_tokens=debt, detail="stop"
    )
    return Settle(dispatch_id=dispatch_id, settlement=settlement, result=settle.result, provider_ref=None)


def test_a_claim_reserves_in_every_scope() -> None:
    async def use(ends: StoreEnds) -> None:
        await asyncio.gather(granted(ends, "one"), granted(ends, "two"))
        assert set(ends.rows("SELECT scope_kind, scope_id FROM budget")) == SCOPES
        assert ends.rows("SELECT count(*), sum(tokens) FROM hold WHERE spend = 'held' AND slot = 'held'") == [(6, 2400)]
        for kind, _ in SCOPES:
            found = counters(ends, kind)
            assert (found["minute_requests"], found["day_tokens"], found["slots_used"]) == (2, 800, 2)
        assert sums(ends) == (2, 800, 800, 800, 2)

    with_store(use)


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        (State.COMPLETED, (1, 350, 350, 0, 0)),
        (State.CHARGED, (1, 350, 350, 0, 0)),
        (State.NO_EFFECT, (0, 0, 0, 0, 0)),
        (State.UNKNOWN, (1, 400, 400, 400, 1)),
    ],
)
def test_an_outcome_settles_releases_or_keeps(state: State, expected: tuple[int, ...]) -> None:
    async def use(ends: StoreEnds) -> None:
        claim = await dispatched(ends)
        await ends.ledger.settle(outcome(claim.dispatch_id, state))
        assert sums(ends) == expected
        assert counters(ends)["slots_stranded"] == (1 if state is State.UNKNOWN else 0)

    with_store(use)


def test_a_grant_that_is_given_back_leaves_nothing_reserved() -> None:
    async def use(ends: StoreEnds) -> None:
        claim = await granted(ends)
        await ends.ledger.release(claim.dispatch_id)
        assert sums(ends) == (0, 0, 0, 0, 0)
        await granted(ends)
        assert sums(ends) == (1, 400, 400, 400, 1)

    with_store(use)


def test_an_unknown_strands_its_slot_until_its_late_outcome() -> None:
    async def use(ends: StoreEnds) -> None:
        claim = await dispatched(ends)
        await ends.ledger.sweep(nobody, earlier_incarnations=False)
        assert (counters(ends)["slots_used"], counters(ends)["slots_stranded"]) == (1, 1)
        await ends.ledger.settle(outcome(claim.dispatch_id, State.COMPLETED))
        assert (counters(ends)["slots_used"], counters(ends)["slots_stranded"]) == (0, 0)
        assert sums(ends) == (1, 350, 350, 0, 0)

    with_store(use)


def test_unknown_and_its_late_outcome_in_one_batch() -> None:
    async def use(ends: StoreEnds) -> None:
        claim = await dispatched(ends)
        answers = await asyncio.gather(
            ends.ledger.settle(outcome(claim.dispatch_id, State.UNKNOWN)),
            ends.ledger.settle(outcome(claim.dispatch_id, State.COMPLETED)),
        )
        assert answers == [Settled(), Settled()]
        assert sums(ends) == (1, 350, 350, 0, 0)

    with_store(use)


def test_usage_above_the_reservation_is_a_debt_that_counts_in_the_window() -> None:
    async def use(ends: StoreEnds) -> None:
        claim = await dispatched(ends)
        await ends.ledger.settle(with_usage(claim.dispatch_id, 450, 50))
        assert sums(ends) == (1, 450, 450, 0, 0)
        assert counters(ends)["debt_tokens"] == 50

    with_store(use)


def test_usage_proved_after_the_end_is_booked_once() -> None:
    async def use(ends: StoreEnds) -> None:
        claim = await dispatched(ends)
        await ends.ledger.settle(outcome(claim.dispatch_id, State.COMPLETED))
        for _ in range(2):
            late = await ends.ledger.settle(with_usage(claim.dispatch_id, 450, 50))
            assert late == Superseded(State.COMPLETED)
        assert counters(ends)["debt_tokens"] == 450 - 350
        kept = ends.rows("SELECT kind, used_input, used_output, who FROM evidence")
        assert kept == [("completed", 300, 150, "sender")] * 2
        assert sums(ends) == (1, 450, 450, 0, 0)

    with_store(use)


def test_a_settlement_corrects_only_windows_that_have_not_passed() -> None:
    async def use(ends: StoreEnds) -> None:
        early = await dispatched(ends, "early")
        ends.clock.us += MINUTE
        await dispatched(ends, "later")
        await ends.ledger.settle(outcome(early.dispatch_id, State.COMPLETED))
        assert sums(ends) == (1, 400, 750, 400, 1)
        assert counters(ends)["day_tokens"] == 750

    with_store(use)


def test_a_window_that_passes_frees_no_hold() -> None:
    async def use(ends: StoreEnds) -> None:
        await granted(ends, "early")
        ends.clock.us += 40 * DAY
        await granted(ends, "later")
        assert sums(ends) == (1, 400, 400, 800, 2)

    with_store(use)


def test_a_clock_that_is_set_back_forgives_no_usage() -> None:
    async def use(ends: StoreEnds) -> None:
        await granted(ends, "early")
        ends.clock.us -= 3 * MINUTE
        late = await granted(ends, "later")
        assert sums(ends) == (2, 800, 800, 800, 2)
        await ends.ledger.release(late.dispatch_id)
        assert sums(ends) == (1, 400, 400, 400, 1)

    with_store(use)


def test_scopes_are_separate() -> None:
    async def use(ends: StoreEnds) -> None:
        claim = a_claim("two", budgets=budgets(quota_scope="other", profile="large"), profile="large")
        await asyncio.gather(granted(ends, "one"), ends.ledger.claim(claim))
        used = ends.rows("SELECT scope_id, slots_used FROM budget ORDER BY scope_id")
        assert used == [("acme", 2), ("engine", 1), ("large", 1), ("other", 1), ("small", 1)]

    with_store(use)


def test_windows_start_at_the_minute_the_day_and_the_month_in_utc() -> None:
    # 2024-02-29T23:59:59.999999Z and the microsecond after it.
    last = 1_709_251_199_999_999
    assert windows(last) == Windows(1_709_251_140_000_000, 1_709_164_800_000_000, 1_706_745_600_000_000)
    assert windows(last + 1) == Windows(last + 1, last + 1, last + 1)
    assert windows(last).ends == windows(last + 1)
    assert windows(NOW_US).minute_us == NOW_US
