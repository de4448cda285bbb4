"""T3: results, amounts, and outcomes that come late or twice."""

import asyncio

import pytest
from contract.ledger_ends import NOW_US, Ends, WithEnds, dispatched, granted, outcome, state_of
from msgspec.structs import replace

from gateway.domain.errors import IllegalMove
from gateway.domain.operation import State
from gateway.ports.ledger import Settled, Superseded


class SettlementContract(WithEnds):
    """T3: results, amounts, and outcomes that come late or twice."""

    def test_a_completed_attempt_has_its_result_and_its_amounts(self) -> None:
        async def use(ends: Ends) -> None:
            claim = await dispatched(ends)
            assert await ends.operations.result(claim.operation_id) is None
            ends.clock.us += 7
            settle = outcome(claim.dispatch_id, State.COMPLETED)
            assert await ends.ledger.settle(settle) == Settled()
            assert await ends.operations.result(claim.operation_id) == settle.result
            operation = await ends.operations.get(claim.operation_id)
            assert operation is not None
            last = operation.last
            assert (last.state, last.used_input, last.used_output) == (State.COMPLETED, 300, 50)
            assert (last.usage_basis, last.detail, last.finished_us) == ("provider", "detail_completed", NOW_US + 7)

        self._with_ends(use)

    @pytest.mark.parametrize("late", [State.COMPLETED, State.CHARGED])
    def test_a_late_definite_outcome_closes_an_unknown(self, late: State) -> None:
        async def use(ends: Ends) -> None:
            claim = await dispatched(ends)
            assert await ends.ledger.settle(outcome(claim.dispatch_id, State.UNKNOWN)) == Settled()
            assert await ends.ledger.settle(outcome(claim.dispatch_id, late)) == Settled()
            assert await state_of(ends, claim) is late

        self._with_ends(use)

    def test_an_unknown_is_never_found_to_have_had_no_effect(self) -> None:
        async def use(ends: Ends) -> None:
            claim = await dispatched(ends)
            await ends.ledger.settle(outcome(claim.dispatch_id, State.UNKNOWN))
            late = await ends.ledger.settle(outcome(claim.dispatch_id, State.NO_EFFECT))
            assert late == Superseded(State.UNKNOWN)
            assert await state_of(ends, claim) is State.UNKNOWN

        self._with_ends(use)

    def test_of_two_outcomes_the_first_stands(self) -> None:
        async def use(ends: Ends) -> None:
            claim = await dispatched(ends)
            first = outcome(claim.dispatch_id, State.COMPLETED)
            answers = await asyncio.gather(
                ends.ledger.settle(first),
                ends.ledger.settle(outcome(claim.dispatch_id, State.CHARGED)),
                ends.ledger.settle(outcome(claim.dispatch_id, State.COMPLETED, body=b"another")),
            )
            assert answers == [Settled(), Superseded(State.COMPLETED), Superseded(State.COMPLETED)]
            assert await ends.operations.result(claim.operation_id) == first.result

        self._with_ends(use)

    @pytest.mark.parametrize("state", list(State))
    def test_nothing_is_settled_before_it_is_dispatching(self, state: State) -> None:
        async def use(ends: Ends) -> None:
            claim = await granted(ends)
            with pytest.raises(IllegalMove):
                await ends.ledger.settle(outcome(claim.dispatch_id, state))
            assert await state_of(ends, claim) is State.GRANTED

        self._with_ends(use)

    @pytest.mark.parametrize("state", [State.GRANTED, State.DISPATCHING, State.RELEASED, State.CLOSED])
    def test_a_sender_cannot_conclude_what_it_cannot_know(self, state: State) -> None:
        async def use(ends: Ends) -> None:
            claim = await dispatched(ends)
            with pytest.raises(IllegalMove):
                await ends.ledger.settle(outcome(claim.dispatch_id, state))
            assert await state_of(ends, claim) is State.DISPATCHING

        self._with_ends(use)

    def test_completed_needs_a_result_and_nothing_else_has_one(self) -> None:
        async def use(ends: Ends) -> None:
            claim = await dispatched(ends)
            completed = outcome(claim.dispatch_id, State.COMPLETED)
            with pytest.raises(IllegalMove):
                await ends.ledger.settle(replace(completed, result=None))
            with pytest.raises(IllegalMove):
                await ends.ledger.settle(replace(outcome(claim.dispatch_id, State.CHARGED), result=completed.result))
            assert await ends.ledger.settle(completed) == Settled()

        self._with_ends(use)
