"""Usage that is known returns the surplus; usage that is not keeps the reservation."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.domain.budget import Reservation, settle
from gateway.domain.completion import Completion
from gateway.domain.money import Tariff, Tier
from gateway.domain.operation import HOLDING, LEGAL_MOVES, REPEATABLE, State
from gateway.domain.outcome import Charged, Completed, NoEffect, Outcome, Unknown
from gateway.domain.usage import Usage, plausible

TARIFF = Tariff((Tier(0, 1_000_000_000, 4_000_000_000),))
"""1 and 4 of the currency per million tokens: a micro-unit for a token of input, four for one of output."""
RESERVED = Reservation(input=100, output=50, cost=300)


def completed(usage: Usage | None) -> Completed:
    return Completed(Completion("m", "x", "stop", usage))


def test_known_usage_is_booked_as_the_provider_says() -> None:
    settlement = settle(completed(Usage(90, 10)), RESERVED, TARIFF)
    assert (settlement.state, settlement.used, settlement.basis) == (State.COMPLETED, Usage(90, 10), "provider")
    assert (settlement.cost, settlement.debt_tokens, settlement.debt_cost) == (130, 0, 0)


def test_missing_usage_books_the_whole_reservation() -> None:
    settlement = settle(completed(None), RESERVED, TARIFF)
    assert (settlement.used, settlement.basis, settlement.cost) == (Usage(100, 50), "reserved", 300)


def test_usage_above_the_reservation_is_a_debt() -> None:
    settlement = settle(completed(Usage(140, 60)), RESERVED, TARIFF)
    assert (settlement.debt_tokens, settlement.cost, settlement.debt_cost) == (50, 380, 80)


def test_more_output_and_less_input_can_cost_more_without_a_token_above_the_reservation() -> None:
    settlement = settle(completed(Usage(80, 70)), RESERVED, TARIFF)
    assert (settlement.debt_tokens, settlement.debt_cost) == (0, 60)


@pytest.mark.parametrize(
    ("outcome", "state"),
    [(NoEffect("connect_refused"), State.NO_EFFECT), (Unknown("connection_lost"), State.UNKNOWN)],
)
def test_what_did_not_happen_or_is_not_known_books_nothing(outcome: Outcome, state: State) -> None:
    settlement = settle(outcome, RESERVED, TARIFF)
    assert (settlement.state, settlement.used) == (state, None)
    assert settlement.detail == outcome.reason  # type: ignore[union-attr] # both have one


def test_a_charged_failure_without_usage_books_the_reservation() -> None:
    assert settle(Charged("other_model"), RESERVED, TARIFF).used == Usage(100, 50)


@given(st.integers(0, 10**6), st.integers(0, 10**6))
def test_what_is_used_never_exceeds_the_reservation_without_a_debt(tokens_in: int, tokens_out: int) -> None:
    settlement = settle(completed(Usage(tokens_in, tokens_out)), RESERVED, TARIFF)
    assert settlement.used is not None
    assert tokens_in + tokens_out - settlement.debt_tokens <= RESERVED.tokens
    assert settlement.cost - settlement.debt_cost <= RESERVED.cost


@pytest.mark.parametrize(
    ("tokens_in", "tokens_out"),
    [(-100, -5), (1.5, 3), (None, 3), ("9", 3), (True, 3), (0, 3), (9, 0), (4000, 97), (10**12, 3)],
)
def test_bnd_15_usage_that_cannot_be_true_is_none(tokens_in: object, tokens_out: object) -> None:
    assert plausible(tokens_in, tokens_out, has_output=True, context_window=4096) is None


def test_an_empty_answer_may_have_used_no_output() -> None:
    assert plausible(9, 0, has_output=False, context_window=4096) == Usage(9, 0)


def test_usage_may_fill_the_context_exactly() -> None:
    assert plausible(4000, 96, has_output=True, context_window=4096) == Usage(4000, 96)


def test_a_repeatable_state_is_never_reached_from_unknown() -> None:
    """A sender that was paused may still send, so an unknown must never open the way to another attempt."""
    reachable = {State.UNKNOWN}
    while more := {to for frm, to in LEGAL_MOVES if frm in reachable} - reachable:
        reachable |= more
    assert not reachable & REPEATABLE


def test_every_state_that_holds_can_still_move_and_no_other_can() -> None:
    assert {frm for frm, _ in LEGAL_MOVES if frm is not None} == HOLDING
