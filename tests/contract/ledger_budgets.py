"""T1's condition 6: what the limits of three scopes let through, and what a refusal says."""

import asyncio
from typing import Any

import pytest
from contract.ledger_ends import (
    NOW_US,
    Ends,
    WithEnds,
    a_claim,
    an_act,
    budgets,
    dispatched,
    granted,
    left_unknown,
    outcome,
)
from msgspec.structs import replace

from gateway.domain.budget import Reservation, Scope, spent
from gateway.domain.limits import BudgetShort, Sums
from gateway.domain.money import Tariff, Tier
from gateway.domain.operation import State
from gateway.domain.usage import Usage
from gateway.ports.ledger import AlreadyExists, Granted, Settle, Stale

TARIFF = Tariff((Tier(0, 1_000_000_000, 2_000_000_000), Tier(250, 3_000_000_000, 2_000_000_000)))
"""One and two micro-units a token; three for input above 250 tokens."""
RESERVED = Reservation(300, 100, 1100)
MINUTE_US, DAY_US = 60_000_000, 86_400_000_000
# NOW_US is 2026-11-30T12:00:00Z.
TO_MIDNIGHT_S = 43_200


async def sums(ends: Ends, kind: str = "tenant") -> Sums:
    (found,) = [one.sums for one in await ends.accounts.usage() if one.scope.kind == kind]
    return found


def settled(claim: Any, used: Usage | None) -> Settle:
    """Completed, at this usage; None: the provider said none that can be true."""
    made = outcome(claim.dispatch_id, State.COMPLETED)
    return replace(made, settlement=spent(State.COMPLETED, used, claim.reserved, claim.tariff, "stop"))


class BudgetContract(WithEnds):
    """Limits, admitted in arrival order, in all scopes or in none."""

    @pytest.mark.parametrize("kind", ["tenant", "quota_scope", "profile"])
    @pytest.mark.parametrize(
        ("limits", "admitted", "name", "retry_after_s"),
        [
            ({"requests_per_minute": 3}, 3, "requests_per_minute", 60),
            ({"tokens_per_minute": 1200}, 3, "tokens_per_minute", 60),
            ({"tokens_per_minute": 1599}, 3, "tokens_per_minute", 60),
            ({"tokens_per_day": 1600}, 4, "tokens_per_day", TO_MIDNIGHT_S),
            ({"tokens_per_month": 400}, 1, "tokens_per_month", TO_MIDNIGHT_S),
            ({"cost_per_month": 3300}, 3, "cost_per_month", TO_MIDNIGHT_S),
            ({"cost_per_month": 3299}, 2, "cost_per_month", TO_MIDNIGHT_S),
            ({"concurrency": 2}, 2, "concurrency", 1),
            ({"requests_per_minute": 0}, 0, "requests_per_minute", None),
            ({"tokens_per_minute": 399}, 0, "tokens_per_minute", None),
            ({"tokens_per_day": 0}, 0, "tokens_per_day", None),
            ({"cost_per_month": 1099}, 0, "cost_per_month", None),
            ({"concurrency": 0}, 0, "concurrency", None),
        ],
    )
    def test_of_eight_at_once_as_many_are_granted_as_fit_and_the_first_ones(
        self, kind: str, limits: dict[str, int], admitted: int, name: str, retry_after_s: int | None
    ) -> None:
        async def use(ends: Ends) -> None:
            limited: dict[str, Any] = {f"of_{kind}": limits}
            claims = [a_claim(str(n), reserved=RESERVED, tariff=TARIFF, budgets=budgets(**limited)) for n in range(8)]
            answers = await asyncio.gather(*(ends.ledger.claim(claim) for claim in claims))
            assert [type(answer) for answer in answers] == [Granted] * admitted + [BudgetShort] * (8 - admitted)
            assert set(answers[admitted:]) == {BudgetShort(kind, name, retry_after_s)}  # type: ignore[arg-type]
            for one in ("tenant", "quota_scope", "profile"):
                found = await sums(ends, one)
                assert (found.minute_requests, found.slots_used) == (admitted, admitted) or not admitted
                assert (found.held_tokens, found.held_cost) == (400 * admitted, 1100 * admitted)

        self._with_ends(use)

    def test_one_short_scope_leaves_the_others_untouched_and_the_key_free(self) -> None:
        async def use(ends: Ends) -> None:
            short = budgets(of_tenant={"tokens_per_day": 400}, of_quota_scope={"tokens_per_day": 100})
            assert await ends.ledger.claim(a_claim(budgets=short)) == BudgetShort("quota_scope", "tokens_per_day", None)
            assert await ends.operations.find(a_claim().identity) is None
            await granted(ends, budgets=budgets(of_tenant={"tokens_per_day": 400}))

        self._with_ends(use)

    def test_of_several_shortages_the_one_that_lasts_longest_is_told(self) -> None:
        async def use(ends: Ends) -> None:
            await granted(ends, "first")
            minute = {"requests_per_minute": 1, "concurrency": 1}
            both = budgets(of_profile=minute, of_tenant={"tokens_per_day": 400})
            ends.clock.us += 10_500_000
            assert await ends.ledger.claim(a_claim("next", budgets=budgets(of_profile=minute))) == BudgetShort(
                "profile", "requests_per_minute", 50
            )
            assert await ends.ledger.claim(a_claim("next", budgets=both)) == BudgetShort(
                "tenant", "tokens_per_day", TO_MIDNIGHT_S - 10
            )
            never = budgets(of_profile=minute, of_quota_scope={"tokens_per_minute": 1}, of_tenant={"tokens_per_day": 1})
            assert await ends.ledger.claim(a_claim("next", budgets=never)) == BudgetShort(
                "quota_scope", "tokens_per_minute", None
            )

        self._with_ends(use)

    @pytest.mark.parametrize(
        ("name", "wait_us"),
        [
            ("tokens_per_minute", MINUTE_US),
            ("tokens_per_day", TO_MIDNIGHT_S * 1_000_000),
            ("tokens_per_month", TO_MIDNIGHT_S * 1_000_000),
        ],
    )
    def test_what_retry_after_says_is_when_there_is_room_and_not_before(self, name: str, wait_us: int) -> None:
        async def use(ends: Ends) -> None:
            limited = budgets(of_tenant={name: 400})
            await granted(ends, "first", budgets=limited)
            refused = await ends.ledger.claim(a_claim("next", budgets=limited))
            assert isinstance(refused, BudgetShort)
            assert refused.retry_after_s == wait_us // 1_000_000
            ends.clock.us = NOW_US + wait_us - 1
            assert isinstance(again := await ends.ledger.claim(a_claim("next", budgets=limited)), BudgetShort)
            assert again.retry_after_s == 1
            ends.clock.us = NOW_US + wait_us
            await granted(ends, "next", budgets=limited)

        self._with_ends(use)

    def test_what_is_given_back_or_not_used_is_room_again(self) -> None:
        async def use(ends: Ends) -> None:
            limited = budgets(of_tenant={"tokens_per_month": 700, "cost_per_month": 1900})
            priced = {"budgets": limited, "reserved": RESERVED, "tariff": TARIFF}
            first = await granted(ends, "first", **priced)
            assert isinstance(await ends.ledger.claim(a_claim("next", **priced)), BudgetShort)
            await ends.ledger.release(first.dispatch_id)
            second = await dispatched(ends, "second", **priced)
            await ends.ledger.settle(settled(second, Usage(250, 50)))
            found = await sums(ends)
            assert (found.month_tokens, found.month_cost, found.held_cost) == (300, 350, 0)
            await granted(ends, "third", **priced)

        self._with_ends(use)

    def test_usage_that_is_not_known_keeps_the_whole_reservation(self) -> None:
        async def use(ends: Ends) -> None:
            claim = await dispatched(ends, reserved=RESERVED, tariff=TARIFF)
            await ends.ledger.settle(settled(claim, None))
            found = await sums(ends)
            assert (found.month_tokens, found.month_cost, found.debt_cost) == (400, 1100, 0)
            operation = await ends.operations.get(claim.operation_id)
            assert operation is not None
            assert (operation.last.reserved_cost, operation.last.used_cost) == (1100, 1100)

        self._with_ends(use)

    def test_a_debt_lowers_what_is_left_of_its_window(self) -> None:
        async def use(ends: Ends) -> None:
            limited = budgets(of_tenant={"tokens_per_month": 850})
            first = await dispatched(ends, "first", budgets=limited, reserved=RESERVED, tariff=TARIFF)
            await ends.ledger.settle(settled(first, Usage(301, 150)))
            found = await sums(ends)
            assert (found.month_tokens, found.debt_tokens) == (451, 51)
            assert (found.month_cost, found.debt_cost) == (1203, 103)
            refused = await ends.ledger.claim(a_claim("next", budgets=limited))
            assert refused == BudgetShort("tenant", "tokens_per_month", TO_MIDNIGHT_S)
            await granted(ends, "small", budgets=limited, reserved=Reservation(299, 100))

        self._with_ends(use)

    def test_a_debt_may_pass_the_limit_and_its_window_ends_it(self) -> None:
        async def use(ends: Ends) -> None:
            limited = budgets(of_tenant={"tokens_per_day": 400})
            first = await dispatched(ends, "first", budgets=limited)
            await ends.ledger.settle(settled(first, Usage(300, 500)))
            assert (await sums(ends)).day_tokens == 800
            assert isinstance(await ends.ledger.claim(a_claim("next", budgets=limited)), BudgetShort)
            ends.clock.us += DAY_US
            await granted(ends, "next", budgets=limited)
            found = await sums(ends)
            assert (found.day_tokens, found.debt_tokens) == (400, 400)

        self._with_ends(use)

    def test_usage_that_is_proved_late_counts_in_the_windows_of_its_hold(self) -> None:
        async def use(ends: Ends) -> None:
            claim = await left_unknown(ends, reserved=RESERVED, tariff=TARIFF)
            ends.restart()
            await ends.ledger.act(an_act(claim, "no_effect"))
            assert ((await sums(ends)).day_tokens, (await sums(ends)).month_cost) == (0, 0)
            await ends.ledger.settle(settled(claim, Usage(300, 20)))
            found = await sums(ends)
            assert (found.day_tokens, found.month_cost, found.debt_tokens, found.debt_cost) == (320, 940, 320, 940)

        self._with_ends(use)

    def test_an_act_is_settled_at_the_prices_that_were_reserved_at(self) -> None:
        async def use(ends: Ends) -> None:
            claim = await left_unknown(ends, reserved=RESERVED, tariff=TARIFF)
            await ends.ledger.act(an_act(claim, "charged", used=Usage(250, 20)))
            found = await sums(ends)
            assert (found.month_tokens, found.month_cost, found.held_cost) == (270, 290, 0)

        self._with_ends(use)

    def test_a_lowered_limit_refuses_new_work_and_breaks_nothing(self) -> None:
        async def use(ends: Ends) -> None:
            high, low = budgets(of_tenant={"tokens_per_month": 1200}), budgets(of_tenant={"tokens_per_month": 500})
            first, second = [await dispatched(ends, key, budgets=high) for key in ("first", "second")]
            assert isinstance(await ends.ledger.claim(a_claim("third", budgets=low)), BudgetShort)
            await ends.ledger.settle(settled(first, Usage(300, 100)))
            await ends.ledger.settle(settled(second, Usage(300, 100)))
            assert (await sums(ends)).month_tokens == 800
            await granted(ends, "third", budgets=high)

        self._with_ends(use)

    def test_a_slot_is_free_when_the_call_is_known_to_have_ended(self) -> None:
        async def use(ends: Ends) -> None:
            limited = budgets(of_tenant={"concurrency": 1})
            busy = BudgetShort("tenant", "concurrency", 1)
            first = await dispatched(ends, "first", budgets=limited)
            assert await ends.ledger.claim(a_claim("next", budgets=limited)) == busy
            await ends.ledger.settle(outcome(first.dispatch_id, State.UNKNOWN))
            assert await ends.ledger.claim(a_claim("next", budgets=limited)) == busy
            await ends.ledger.act(an_act(first, "free_slot"))
            await granted(ends, "next", budgets=limited)

        self._with_ends(use)

    def test_a_profile_is_stranded_when_every_slot_of_it_belongs_to_an_unknown(self) -> None:
        async def use(ends: Ends) -> None:
            limited = budgets(of_profile={"concurrency": 2})
            first = await left_unknown(ends, "first", budgets=limited)
            second = await dispatched(ends, "second", budgets=limited)
            third = a_claim("third", budgets=limited)
            assert await ends.ledger.claim(third) == BudgetShort("profile", "concurrency", 1)
            await ends.ledger.settle(outcome(second.dispatch_id, State.UNKNOWN))
            assert await ends.ledger.claim(third) == BudgetShort("profile", "concurrency", None, stranded=True)
            none = replace(third, budgets=budgets(of_profile={"concurrency": 2}, of_tenant={"tokens_per_day": 0}))
            assert await ends.ledger.claim(none) == BudgetShort("tenant", "tokens_per_day", None)
            await ends.ledger.act(an_act(first, "write_off"))
            await granted(ends, "third", budgets=limited)

        self._with_ends(use)

    def test_that_the_key_exists_wins_over_a_short_budget_and_so_does_a_stale_claim(self) -> None:
        async def use(ends: Ends) -> None:
            await granted(ends)
            nothing = budgets(of_tenant={"tokens_per_day": 0})
            assert await ends.ledger.claim(a_claim(budgets=nothing)) == AlreadyExists()
            ends.standing.reason = "registry_changed"
            assert await ends.ledger.claim(a_claim("next", budgets=nothing)) == Stale("registry_changed")

        self._with_ends(use)

    def test_another_attempt_under_the_same_key_needs_room_as_well(self) -> None:
        async def use(ends: Ends) -> None:
            limited = budgets(of_tenant={"tokens_per_day": 400})
            first = await dispatched(ends, budgets=limited)
            await ends.ledger.settle(outcome(first.dispatch_id, State.NO_EFFECT))
            await granted(ends, "other", budgets=limited)
            assert isinstance(await ends.ledger.claim(a_claim(budgets=limited)), BudgetShort)
            ends.clock.us += DAY_US
            assert await ends.ledger.claim(a_claim(budgets=limited)) == Granted(first.operation_id, 2)

        self._with_ends(use)

    def test_a_clock_that_is_set_back_opens_no_window_again(self) -> None:
        async def use(ends: Ends) -> None:
            limited = budgets(of_tenant={"requests_per_minute": 1})
            await granted(ends, "first", budgets=limited)
            ends.clock.us -= 2 * MINUTE_US
            assert await ends.ledger.claim(a_claim("next", budgets=limited)) == BudgetShort(
                "tenant", "requests_per_minute", 180
            )

        self._with_ends(use)

    def test_usage_lists_every_scope_that_was_asked_for_something(self) -> None:
        async def use(ends: Ends) -> None:
            await granted(ends)
            await granted(ends, "two", budgets=budgets(profile="large"), profile="large")
            assert [one.scope for one in await ends.accounts.usage()] == [
                Scope("profile", "large"),
                Scope("profile", "small"),
                Scope("quota_scope", "engine"),
                Scope("tenant", "acme"),
            ]

        self._with_ends(use)
