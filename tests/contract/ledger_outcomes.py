"""What attempts came to, by profile, and what of them counts."""

import hashlib
from typing import Any

from contract.ledger_ends import (
    NOW_US,
    Ends,
    WithEnds,
    a_key,
    an_act,
    budgets,
    decision_id,
    dispatched,
    granted,
    key_hash,
    left_unknown,
    outcome,
)
from msgspec.structs import replace

from gateway.domain.budget import Reservation, spent
from gateway.domain.money import Tariff, Tier
from gateway.domain.operation import Identity, State
from gateway.domain.usage import Usage
from gateway.ports.ledger import Settle, Settled
from gateway.ports.reads import OutcomeFilter, OutcomeSums

TARIFF = Tariff((Tier(0, 1_000_000_000, 2_000_000_000),))
"""One and two micro-units a token."""
PAID: dict[str, Any] = {"reserved": Reservation(300, 100, 500), "tariff": TARIFF}
EVER = OutcomeFilter(since_us=0)
DAY_US = 86_400_000_000


async def completed(ends: Ends, key: str, finish_reason: str, used: Usage | None) -> None:
    claim = await dispatched(ends, key, **PAID)
    made = outcome(claim.dispatch_id, State.COMPLETED)
    settlement = spent(State.COMPLETED, used, claim.reserved, TARIFF, finish_reason)
    assert await ends.ledger.settle(replace(made, settlement=settlement)) == Settled()


async def failed(ends: Ends, key: str, state: State, used: Usage | None = None) -> None:
    claim = await dispatched(ends, key, **PAID)
    settle: Settle = outcome(claim.dispatch_id, state)
    if state is State.CHARGED:
        settle = replace(settle, settlement=spent(state, used, claim.reserved, TARIFF, "aborted"))
    assert await ends.ledger.settle(settle) == Settled()


def row(name: str, attempts: int, at_reservation: int, *counted: int, profile: str = "small") -> OutcomeSums:
    input_tokens, output_tokens, cost = counted
    return OutcomeSums(
        profile=profile,
        outcome=name,
        attempts=attempts,
        at_reservation=at_reservation,
        input=input_tokens,
        output=output_tokens,
        cost=cost,
    )


class OutcomeContract(WithEnds):
    """Attempts by what they came to."""

    def test_every_outcome_counts_with_what_is_known_of_it(self) -> None:
        async def use(ends: Ends) -> None:
            await completed(ends, "1", "stop", Usage(200, 40))
            await completed(ends, "2", "length", Usage(100, 60))
            await completed(ends, "3", "stop", None)
            await completed(ends, "4", "content_filter", Usage(150, 7))
            await failed(ends, "5", State.CHARGED, Usage(120, 9))
            await failed(ends, "6", State.CHARGED)
            await failed(ends, "7", State.NO_EFFECT)
            await left_unknown(ends, "8", **PAID)
            await dispatched(ends, "9", **PAID)
            await granted(ends, "10", **PAID)
            given_back = await granted(ends, "11", **PAID)
            await ends.ledger.release(given_back.dispatch_id)
            assert await ends.accounts.outcomes(EVER) == (
                row("charged", 2, 1, 120 + 300, 9 + 100, 138 + 500),
                row("completed", 3, 1, 200 + 100 + 300, 40 + 60 + 100, 280 + 220 + 500),
                row("content_filter", 1, 0, 150, 7, 164),
                row("dispatching", 1, 1, 300, 100, 500),
                row("granted", 1, 1, 300, 100, 500),
                row("no_effect", 1, 0, 0, 0, 0),
                row("released", 1, 0, 0, 0, 0),
                row("unknown", 1, 1, 300, 100, 500),
            )

        self._with_ends(use)

    def test_what_an_operator_closed_counts_as_it_was_closed(self) -> None:
        async def use(ends: Ends) -> None:
            ends.clock.us += DAY_US
            written_off = await left_unknown(ends, "1", **PAID)
            proved = await left_unknown(ends, "2", **PAID)
            ends.clock.us += DAY_US
            await ends.ledger.act(an_act(written_off, "write_off"))
            await ends.ledger.act(an_act(proved, "charged"))
            assert await ends.accounts.outcomes(EVER) == (
                row("charged", 1, 0, 300, 20, 340),
                row("closed", 1, 1, 300, 100, 500),
            )

        self._with_ends(use)

    def test_a_detail_of_another_state_makes_no_content_filter(self) -> None:
        async def use(ends: Ends) -> None:
            claim = await dispatched(ends, "1", **PAID)
            settlement = spent(State.CHARGED, Usage(10, 1), claim.reserved, TARIFF, "content_filter")
            made = outcome(claim.dispatch_id, State.CHARGED)
            assert await ends.ledger.settle(replace(made, settlement=settlement)) == Settled()
            assert [one.outcome for one in await ends.accounts.outcomes(EVER)] == ["charged"]

        self._with_ends(use)

    def test_only_the_profile_and_the_tenant_that_are_asked_for_are_counted(self) -> None:
        async def use(ends: Ends) -> None:
            await granted(ends, "1")
            await granted(ends, "2", profile="large", budgets=budgets(profile="large"))
            credential = hashlib.sha256(b"of another tenant").digest()
            await ends.keys.create(a_key("key-2", tenant="globex", principal="mailer"), credential, actor=None)
            other = {"identity": Identity("globex", "mailer", key_hash("3")), "credential_hash": credential}
            await granted(ends, "3", budgets=budgets(tenant="globex"), **other)

            async def attempts(**wanted: str) -> dict[str, int]:
                found = await ends.accounts.outcomes(OutcomeFilter(since_us=0, **wanted))
                return {one.profile: one.attempts for one in found}

            assert await attempts() == {"large": 1, "small": 2}
            assert await attempts(profile="large") == {"large": 1}
            assert await attempts(tenant="globex") == {"small": 1}
            assert await attempts(tenant="globex", profile="large") == {}
            assert await attempts(profile="nothing") == {}

        self._with_ends(use)

    def test_an_operation_counts_from_its_own_millisecond_on_with_all_its_attempts(self) -> None:
        async def use(ends: Ends) -> None:
            made = await dispatched(ends, "1", operation_id=decision_id(NOW_US))
            await ends.ledger.settle(outcome(made.dispatch_id, State.NO_EFFECT))
            ends.clock.us += DAY_US
            await granted(ends, "1")

            async def attempts(since_us: int) -> int:
                return sum(one.attempts for one in await ends.accounts.outcomes(OutcomeFilter(since_us=since_us)))

            assert [await attempts(NOW_US + us) for us in (-1_000, -1, 0, 1, 1_000, DAY_US)] == [2, 2, 2, 0, 0, 0]

        self._with_ends(use)
