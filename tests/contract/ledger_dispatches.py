"""What becomes of a grant: dispatched once, given back, or swept."""

import asyncio

from contract.ledger_ends import NOW_US, Ends, WithEnds, dispatched, granted, nobody, outcome, state_of

from gateway.domain.operation import State
from gateway.ports.ledger import Dispatching, GrantLost, Swept


class DispatchContract(WithEnds):
    """What becomes of a grant: dispatched once, given back, or swept."""

    def test_a_grant_is_dispatched_once(self) -> None:
        async def use(ends: Ends) -> None:
            claim = await granted(ends)
            answers = await asyncio.gather(*(ends.ledger.dispatch(claim.dispatch_id) for _ in range(3)))
            assert answers == [Dispatching(), GrantLost("not_granted"), GrantLost("not_granted")]
            operation = await ends.operations.get(claim.operation_id)
            assert operation is not None
            assert operation.attempts_dispatched == 1
            assert operation.last.dispatching_us == NOW_US
            assert operation.last.unknown_after_us == NOW_US + 2_000_000 + 30_000_000 + 60_000_000

        self._with_ends(use)

    def test_a_grant_that_never_was_cannot_be_dispatched(self) -> None:
        async def use(ends: Ends) -> None:
            assert await ends.ledger.dispatch("nothing") == GrantLost("no_such_grant")

        self._with_ends(use)

    def test_a_grant_of_five_seconds_is_fresh_and_an_older_one_is_given_back(self) -> None:
        async def use(ends: Ends) -> None:
            fresh, old = await granted(ends, "fresh"), await granted(ends, "old")
            ends.clock.us += 5_000_000
            assert await ends.ledger.dispatch(fresh.dispatch_id) == Dispatching()
            ends.clock.us += 1
            assert await ends.ledger.dispatch(old.dispatch_id) == GrantLost("grant_expired")
            assert await state_of(ends, old) is State.RELEASED

        self._with_ends(use)

    def test_a_grant_whose_profile_is_no_longer_ready_is_given_back(self) -> None:
        async def use(ends: Ends) -> None:
            claim = await granted(ends)
            ends.standing.reason = "profile_not_ready"
            assert await ends.ledger.dispatch(claim.dispatch_id) == GrantLost("profile_not_ready")
            assert ends.standing.asked[-1] == (None, "small")
            assert await state_of(ends, claim) is State.RELEASED

        self._with_ends(use)

    def test_a_grant_of_an_earlier_process_cannot_be_dispatched(self) -> None:
        async def use(ends: Ends) -> None:
            claim = await granted(ends)
            ends.restart()
            assert await ends.ledger.dispatch(claim.dispatch_id) == GrantLost("not_granted")

        self._with_ends(use)

    def test_a_grant_can_be_given_back_and_a_dispatch_cannot(self) -> None:
        async def use(ends: Ends) -> None:
            unsent, sent = await granted(ends, "unsent"), await dispatched(ends, "sent")
            for dispatch_id in (unsent.dispatch_id, sent.dispatch_id, "nothing"):
                await ends.ledger.release(dispatch_id)
            assert (await state_of(ends, unsent), await state_of(ends, sent)) == (State.RELEASED, State.DISPATCHING)

        self._with_ends(use)

    def test_a_sweep_resolves_what_has_no_task_and_leaves_the_rest(self) -> None:
        async def use(ends: Ends) -> None:
            unsent, sent = await granted(ends, "unsent"), await dispatched(ends, "sent")
            held, sending = await granted(ends, "held"), await dispatched(ends, "sending")
            done = await dispatched(ends, "done")
            await ends.ledger.settle(outcome(done.dispatch_id, State.COMPLETED))
            alive = frozenset({held.dispatch_id, sending.dispatch_id})
            swept = await ends.ledger.sweep(lambda: alive, earlier_incarnations=False)
            assert swept == Swept((unsent.dispatch_id,), (sent.dispatch_id,))
            states = [await state_of(ends, claim) for claim in (unsent, sent, held, sending, done)]
            assert states == [
                State.RELEASED,
                State.UNKNOWN,
                State.GRANTED,
                State.DISPATCHING,
                State.COMPLETED,
            ]
            assert await ends.ledger.sweep(lambda: alive, earlier_incarnations=False) == Swept((), ())

        self._with_ends(use)

    def test_what_an_earlier_process_left_is_swept_at_start_only(self) -> None:
        async def use(ends: Ends) -> None:
            unsent, sent = await granted(ends, "unsent"), await dispatched(ends, "sent")
            ends.restart()
            assert await ends.ledger.sweep(nobody, earlier_incarnations=False) == Swept((), ())
            swept = await ends.ledger.sweep(nobody, earlier_incarnations=True)
            assert swept == Swept((unsent.dispatch_id,), (sent.dispatch_id,))
            assert (await state_of(ends, unsent), await state_of(ends, sent)) == (State.RELEASED, State.UNKNOWN)

        self._with_ends(use)
