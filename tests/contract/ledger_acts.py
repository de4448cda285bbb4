"""What operators can do with an unknown, and what they cannot."""

import asyncio

import pytest
from contract.ledger_ends import (
    NOW_US,
    Ends,
    WithEnds,
    a_claim,
    an_act,
    dispatched,
    granted,
    left_unknown,
    outcome,
    state_of,
)

from gateway.domain.errors import IllegalMove
from gateway.domain.operation import State
from gateway.domain.reconciliation import LONGEST_WORDS, ActKind, Done, NoSuchOperation, NotLegal, TooEarly
from gateway.domain.usage import Usage
from gateway.ports.ledger import AlreadyExists, Claim, Settled, Superseded

KINDS: list[ActKind] = ["write_off", "no_effect", "charged", "free_slot"]
UNKNOWN_AFTER_US = NOW_US + 30_000_000 + 62_000_000
"""When the sender of a dispatch at NOW_US has ended for certain."""


async def stranded_slots(ends: Ends, claim: Claim) -> list[bool]:
    """For each stranded hold of an operation, whether its slot is held."""
    return [hold.slot_held for hold in await ends.accounts.stranded() if hold.operation_id == claim.operation_id]


class ActContract(WithEnds):
    """Acts of operators."""

    @pytest.mark.parametrize(
        ("kind", "state", "used", "basis", "detail"),
        [
            ("write_off", State.CLOSED, Usage(300, 100), "reserved", "written_off"),
            ("no_effect", State.CLOSED, Usage(0, 0), "provider", "found_without_effect"),
            ("charged", State.CHARGED, Usage(300, 20), "provider", "found_charged"),
        ],
    )
    def test_an_unknown_is_closed_by_an_operator(
        self, kind: ActKind, state: State, used: Usage, basis: str, detail: str
    ) -> None:
        async def use(ends: Ends) -> None:
            claim = await left_unknown(ends)
            ends.clock.us = UNKNOWN_AFTER_US
            assert await ends.ledger.act(an_act(claim, kind)) == Done(state)
            operation = await ends.operations.get(claim.operation_id)
            assert operation is not None
            last = operation.last
            assert (last.state, last.used_input, last.used_output) == (state, used.input, used.output)
            assert (last.usage_basis, last.detail, last.finished_us) == (basis, detail, UNKNOWN_AFTER_US)
            assert await ends.accounts.stranded() == ()
            assert await ends.ledger.claim(a_claim()) == AlreadyExists()

        self._with_ends(use)

    @pytest.mark.parametrize("kind", KINDS)
    @pytest.mark.parametrize("state", [state for state in State if state is not State.UNKNOWN])
    def test_no_act_is_legal_from_another_state(self, kind: ActKind, state: State) -> None:
        async def use(ends: Ends) -> None:
            match state:
                case State.GRANTED | State.RELEASED:
                    claim = await granted(ends)
                    if state is State.RELEASED:
                        await ends.ledger.release(claim.dispatch_id)
                case State.CLOSED:
                    claim = await left_unknown(ends)
                    await ends.ledger.act(an_act(claim, "write_off"))
                case _:
                    claim = await dispatched(ends)
                    if state is not State.DISPATCHING:
                        await ends.ledger.settle(outcome(claim.dispatch_id, state))
            ends.clock.us = UNKNOWN_AFTER_US
            before = await ends.operations.get(claim.operation_id)
            assert await ends.ledger.act(an_act(claim, kind)) == NotLegal(state)
            assert await ends.operations.get(claim.operation_id) == before

        self._with_ends(use)

    def test_that_nothing_happened_is_found_only_when_the_sender_has_ended(self) -> None:
        async def use(ends: Ends) -> None:
            claim = await left_unknown(ends)
            ends.clock.us = UNKNOWN_AFTER_US - 1
            assert await ends.ledger.act(an_act(claim, "no_effect")) == TooEarly(UNKNOWN_AFTER_US)
            assert await state_of(ends, claim) is State.UNKNOWN
            assert await stranded_slots(ends, claim) == [True] * 3
            ends.clock.us += 1
            assert await ends.ledger.act(an_act(claim, "no_effect")) == Done(State.CLOSED)

        self._with_ends(use)

    def test_the_sender_of_an_earlier_process_has_ended(self) -> None:
        async def use(ends: Ends) -> None:
            claim = await left_unknown(ends)
            ends.restart()
            assert await ends.ledger.act(an_act(claim, "no_effect")) == Done(State.CLOSED)

        self._with_ends(use)

    @pytest.mark.parametrize("kind", ["write_off", "charged", "free_slot"])
    def test_the_other_acts_need_not_wait(self, kind: ActKind) -> None:
        async def use(ends: Ends) -> None:
            claim = await left_unknown(ends)
            assert isinstance(await ends.ledger.act(an_act(claim, kind)), Done)

        self._with_ends(use)

    def test_a_freed_slot_leaves_the_outcome_unknown_and_cannot_be_freed_again(self) -> None:
        async def use(ends: Ends) -> None:
            claim = await left_unknown(ends)
            assert await stranded_slots(ends, claim) == [True] * 3
            assert await ends.ledger.act(an_act(claim, "free_slot")) == Done(State.UNKNOWN)
            assert await stranded_slots(ends, claim) == [False] * 3
            assert await ends.ledger.act(an_act(claim, "free_slot")) == NotLegal(State.UNKNOWN)
            assert await ends.ledger.claim(a_claim()) == AlreadyExists()
            assert await ends.ledger.act(an_act(claim, "write_off")) == Done(State.CLOSED)

        self._with_ends(use)

    @pytest.mark.parametrize("late", [State.COMPLETED, State.CHARGED])
    def test_a_late_answer_settles_an_unknown_whose_slot_is_free(self, late: State) -> None:
        async def use(ends: Ends) -> None:
            claim = await left_unknown(ends)
            await ends.ledger.act(an_act(claim, "free_slot"))
            assert await ends.ledger.settle(outcome(claim.dispatch_id, late)) == Settled()
            assert await ends.accounts.stranded() == ()
            assert await ends.accounts.verify() == ()

        self._with_ends(use)

    @pytest.mark.parametrize("kind", ["write_off", "no_effect"])
    def test_a_late_answer_to_what_was_closed_is_evidence_and_nothing_more(self, kind: ActKind) -> None:
        async def use(ends: Ends) -> None:
            claim = await left_unknown(ends)
            ends.clock.us = UNKNOWN_AFTER_US
            await ends.ledger.act(an_act(claim, kind))
            closed = await ends.operations.get(claim.operation_id)
            assert await ends.ledger.settle(outcome(claim.dispatch_id, State.COMPLETED)) == Superseded(State.CLOSED)
            assert await ends.operations.get(claim.operation_id) == closed
            assert await ends.operations.result(claim.operation_id) is None

        self._with_ends(use)

    def test_of_conflicting_acts_at_once_one_is_done(self) -> None:
        """Case DUP-11."""

        async def use(ends: Ends) -> None:
            claim = await left_unknown(ends)
            ends.clock.us = UNKNOWN_AFTER_US
            kinds: list[ActKind] = ["charged", "write_off", "no_effect", "free_slot"]
            answers = await asyncio.gather(*(ends.ledger.act(an_act(claim, kind)) for kind in kinds))
            assert answers == [Done(State.CHARGED)] + [NotLegal(State.CHARGED)] * 3

        self._with_ends(use)

    def test_of_an_act_and_a_late_answer_at_once_one_moves_the_operation(self) -> None:
        async def use(ends: Ends) -> None:
            claim = await left_unknown(ends)
            settled, acted = await asyncio.gather(
                ends.ledger.settle(outcome(claim.dispatch_id, State.COMPLETED)),
                ends.ledger.act(an_act(claim, "write_off")),
            )
            assert (settled, acted) == (Settled(), NotLegal(State.COMPLETED))

        self._with_ends(use)

    def test_there_is_nothing_to_do_for_an_operation_that_never_was(self) -> None:
        async def use(ends: Ends) -> None:
            for kind in KINDS:
                assert await ends.ledger.act(an_act(a_claim("never"), kind)) == NoSuchOperation()

        self._with_ends(use)

    @pytest.mark.parametrize(
        ("kind", "changes"),
        [
            ("write_off", {"words": ""}),
            ("write_off", {"words": "x" * (LONGEST_WORDS + 1)}),
            ("write_off", {"used": Usage(1, 1)}),
            ("free_slot", {"used": Usage(1, 1)}),
            ("charged", {"used": None}),
        ],
    )
    def test_an_act_that_is_not_well_formed_is_refused_and_harms_no_other(
        self, kind: ActKind, changes: dict[str, object]
    ) -> None:
        async def use(ends: Ends) -> None:
            claim, other = await left_unknown(ends), await left_unknown(ends, "other")
            refused, done = await asyncio.gather(
                ends.ledger.act(an_act(claim, kind, **changes)),
                ends.ledger.act(an_act(other, "write_off", words="x" * LONGEST_WORDS)),
                return_exceptions=True,
            )
            assert isinstance(refused, IllegalMove)
            assert done == Done(State.CLOSED)
            assert await state_of(ends, claim) is State.UNKNOWN

        self._with_ends(use)
