"""What a timeline tells: all that happened to an operation, in order, each with its time and evidence."""

from typing import Any

import pytest
from contract.ledger_ends import (
    CALLER,
    DIGEST,
    NOW_US,
    Ends,
    WithEnds,
    a_disclosure,
    an_act,
    decision,
    dispatched,
    granted,
    left_unknown,
    nobody,
    outcome,
)

from gateway.domain.operation import State
from gateway.domain.reconciliation import ActKind
from gateway.domain.usage import Usage
from gateway.ports.ledger import Claim, RefusalRecord

Told = list[tuple[int, str, int | None, dict[str, Any]]]


async def told(ends: Ends, claim: Claim) -> Told:
    """Entries as time since NOW_US, event, attempt and facts."""
    entries = await ends.operations.timeline(claim.operation_id)
    return [(entry.at_us - NOW_US, entry.event, entry.attempt, entry.facts) for entry in entries]


async def events(ends: Ends, claim: Claim) -> list[tuple[str, int | None]]:
    return [(event, n) for _, event, n, _ in await told(ends, claim)]


class TimelineContract(WithEnds):
    """Timelines."""

    def test_an_answered_operation_tells_its_three_transitions(self) -> None:
        async def use(ends: Ends) -> None:
            claim = await granted(ends)
            ends.clock.us += 1
            await ends.ledger.dispatch(claim.dispatch_id)
            ends.clock.us += 1
            settle = outcome(claim.dispatch_id, State.COMPLETED)
            assert settle.result is not None
            await ends.ledger.settle(settle)
            assert await told(ends, claim) == [
                (
                    0,
                    "claimed",
                    1,
                    {
                        "profile": "small",
                        "bundle": "chat@1",
                        "bundle_digest": DIGEST,
                        "policy_revision": DIGEST,
                        "access": "d-access",
                        "routes": "d-routes",
                        "reserved": {"profile small": 400, "quota_scope engine": 400, "tenant acme": 400},
                    },
                ),
                (1, "dispatching", 1, {"profile": "small", "dispatch_id": claim.dispatch_id}),
                (
                    2,
                    "settled",
                    1,
                    {
                        "state": "completed",
                        "by": "sender",
                        "detail": "detail_completed",
                        "used_input": 300,
                        "used_output": 50,
                        "usage_basis": "provider",
                        "result_digest": settle.result.digest,
                        "provider_ref": "ref-1",
                    },
                ),
            ]

        self._with_ends(use)

    def test_every_attempt_is_told_and_who_gave_it_back(self) -> None:
        async def use(ends: Ends) -> None:
            first = await granted(ends)
            await ends.ledger.release(first.dispatch_id)
            await granted(ends)
            await ends.ledger.sweep(nobody, earlier_incarnations=False)
            third = await dispatched(ends)
            await ends.ledger.settle(outcome(third.dispatch_id, State.NO_EFFECT))
            happened = await told(ends, first)
            assert [(event, n) for _, event, n, _ in happened] == [
                ("claimed", 1),
                ("released", 1),
                ("claimed", 2),
                ("released", 2),
                ("claimed", 3),
                ("dispatching", 3),
                ("settled", 3),
            ]
            assert happened[1][3] == {"by": "sender", "detail": "given_back"}
            assert happened[3][3] == {"by": "sweep", "detail": "no_task"}
            assert happened[6][3]["state"] == "no_effect"
            assert happened[6][3]["used_input"] is None

        self._with_ends(use)

    def test_an_unknown_tells_who_said_so(self) -> None:
        async def use(ends: Ends) -> None:
            by_sender, by_sweep = await left_unknown(ends, "sender"), await dispatched(ends, "sweep")
            await ends.ledger.sweep(nobody, earlier_incarnations=False)
            assert (await told(ends, by_sender))[2][1:] == (
                "unknown",
                1,
                {"by": "sender", "detail": "detail_unknown"},
            )
            assert (await told(ends, by_sweep))[2][1:] == ("unknown", 1, {"by": "sweep", "detail": "no_task"})

        self._with_ends(use)

    @pytest.mark.parametrize(
        ("kind", "event", "state", "used"),
        [
            ("write_off", "closed", "closed", (300, 100, "reserved")),
            ("no_effect", "closed", "closed", (0, 0, "provider")),
            ("charged", "settled", "charged", (300, 20, "provider")),
        ],
    )
    def test_what_an_operator_closed_tells_by_whom_and_why(
        self, kind: ActKind, event: str, state: str, used: tuple[int, int, str]
    ) -> None:
        async def use(ends: Ends) -> None:
            claim = await left_unknown(ends)
            await ends.ledger.act(an_act(claim, "free_slot", words="the engine was restarted", os_user="root"))
            ends.restart()
            await ends.ledger.act(an_act(claim, kind))
            freed, closed = (await told(ends, claim))[3:]
            assert freed == (
                0,
                "slot_freed",
                1,
                {
                    "by": "system/operator",
                    "os_user": "root",
                    "act": "free_slot",
                    "words": "the engine was restarted",
                },
            )
            assert closed == (
                0,
                event,
                1,
                {
                    "state": state,
                    "by": "system/operator",
                    "os_user": None,
                    "act": kind,
                    "words": "no trace of it in the provider's log",
                    "used_input": used[0],
                    "used_output": used[1],
                    "usage_basis": used[2],
                    "result_digest": None,
                    "provider_ref": None,
                },
            )

        self._with_ends(use)

    def test_late_answers_are_told_as_evidence_with_the_debt_that_they_proved_once(self) -> None:
        async def use(ends: Ends) -> None:
            claim = await left_unknown(ends)
            await ends.ledger.act(an_act(claim, "write_off"))
            for output in (130, 130, 120, 150):
                await ends.ledger.settle(outcome(claim.dispatch_id, State.CHARGED, used=Usage(300, output)))
            await ends.ledger.settle(outcome(claim.dispatch_id, State.NO_EFFECT))
            evidence = [facts for _, event, _, facts in await told(ends, claim) if event == "evidence"]
            assert [facts["debt_tokens"] for facts in evidence] == [30, 0, 0, 20, 0]
            assert evidence[0] == {
                "by": "sender",
                "state": "charged",
                "used_input": 300,
                "used_output": 130,
                "digest": None,
                "provider_ref": "ref-1",
                "debt_tokens": 30,
                "debt_cost": 0,
            }
            assert (evidence[4]["state"], evidence[4]["used_input"]) == ("no_effect", None)

        self._with_ends(use)

    def test_who_was_shown_it_and_who_was_refused_is_told(self) -> None:
        async def use(ends: Ends) -> None:
            claim = await dispatched(ends)
            await ends.ledger.settle(outcome(claim.dispatch_id, State.COMPLETED))
            await ends.ledger.disclose(a_disclosure(operation_id=claim.operation_id))
            for operation_id in (claim.operation_id, None):
                await ends.ledger.refuse(
                    RefusalRecord(
                        caller=CALLER,
                        code="replay_source_forbidden",
                        policy_codes=("source_withdrawn",),
                        operation_id=operation_id,
                        decisions=(decision("replay"), decision("routes")),
                    )
                )
            assert (await told(ends, claim))[3:] == [
                (0, "disclosed", None, {"to": "acme/reports", "replay": "d-replay"}),
                (
                    0,
                    "refused",
                    None,
                    {
                        "to": "acme/reports",
                        "code": "replay_source_forbidden",
                        "policy_codes": ["source_withdrawn"],
                        "decisions": ["d-replay", "d-routes"],
                    },
                ),
            ]

        self._with_ends(use)

    def test_the_order_is_that_of_events_and_not_of_a_clock_that_was_set_back(self) -> None:
        async def use(ends: Ends) -> None:
            claim = await granted(ends)
            ends.clock.us -= 3_600_000_000
            await ends.ledger.dispatch(claim.dispatch_id)
            ends.restart()
            await ends.ledger.sweep(nobody, earlier_incarnations=True)
            assert await events(ends, claim) == [("claimed", 1), ("dispatching", 1), ("unknown", 1)]

        self._with_ends(use)

    def test_operations_do_not_mix(self) -> None:
        async def use(ends: Ends) -> None:
            one, other = await left_unknown(ends, "one"), await granted(ends, "other")
            assert await events(ends, one) == [("claimed", 1), ("dispatching", 1), ("unknown", 1)]
            assert await events(ends, other) == [("claimed", 1)]
            assert await ends.operations.timeline("nothing") == ()

        self._with_ends(use)
