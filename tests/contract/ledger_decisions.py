"""Decisions found by their ids, as they were made, with the audit row that names them."""

import pytest
from contract.ledger_ends import (
    CALLER,
    NOW_US,
    OPERATOR,
    Ends,
    WithEnds,
    a_disclosure,
    decision,
    decision_id,
    granted,
)

from gateway.domain.principal import Caller
from gateway.domain.questions import Decision, FailedCheck
from gateway.ports.ledger import RefusalRecord
from gateway.ports.reads import RecordedDecision

FAILED = (
    FailedCheck(
        check="route/region", about="small", code="region_not_allowed", place="gateway/route/region/region.rego:9"
    ),
    FailedCheck(
        check="source/current", about="1", code="source_not_current", place="gateway/source/current/current.rego:7"
    ),
)


def made(entrypoint: str) -> Decision:
    return decision(entrypoint, id=decision_id())


async def refused(ends: Ends, *decisions: Decision, caller: Caller = CALLER, operation_id: str | None = None) -> None:
    await ends.ledger.refuse(
        RefusalRecord(
            caller=caller,
            code="access_denied",
            policy_codes=("source_forbidden",),
            operation_id=operation_id,
            decisions=decisions,
        )
    )


class DecisionContract(WithEnds):
    """Decisions."""

    @pytest.mark.parametrize("entrypoint", ["access", "routes"])
    def test_a_decision_of_a_grant_is_found_with_its_operation(self, entrypoint: str) -> None:
        async def use(ends: Ends) -> None:
            decided = {"access": made("access"), "routes": decision("routes", id=decision_id(), failed=FAILED)}
            claim = await granted(ends, **decided)
            assert await ends.decisions.find(decided[entrypoint].id) == RecordedDecision(
                decision=decided[entrypoint],
                at_us=NOW_US,
                event="granted",
                code="small",
                tenant="acme",
                principal="reports",
                operation_id=claim.operation_id,
            )

        self._with_ends(use)

    def test_a_decision_of_a_disclosure_is_found_with_who_read(self) -> None:
        async def use(ends: Ends) -> None:
            replay = made("replay")
            assert await ends.ledger.disclose(a_disclosure(reader=OPERATOR, decision=replay)) is None
            assert await ends.decisions.find(replay.id) == RecordedDecision(
                decision=replay,
                at_us=NOW_US,
                event="disclosed",
                code="",
                tenant="system",
                principal="operator",
                operation_id="op",
            )

        self._with_ends(use)

    @pytest.mark.parametrize("operation_id", [None, "op"])
    def test_every_decision_of_a_refusal_is_found_with_what_failed(self, operation_id: str | None) -> None:
        async def use(ends: Ends) -> None:
            access, routes = made("access"), decision("routes", id=decision_id(), failed=FAILED)
            ends.clock.us += 7
            await refused(ends, access, routes, operation_id=operation_id)
            for decided in (access, routes):
                assert await ends.decisions.find(decided.id) == RecordedDecision(
                    decision=decided,
                    at_us=NOW_US + 7,
                    event="refused",
                    code="access_denied",
                    tenant="acme",
                    principal="reports",
                    operation_id=operation_id,
                )

        self._with_ends(use)

    def test_one_that_was_never_made_is_not_found_among_others(self) -> None:
        async def use(ends: Ends) -> None:
            access = made("access")
            await granted(ends, access=access)
            await refused(ends, made("access"), caller=OPERATOR)
            for missing in (decision_id(), decision_id(0), "", "nothing", "d-" + access.id, access.id + "0"):
                assert await ends.decisions.find(missing) is None
            assert await ends.decisions.find(access.id) is not None

        self._with_ends(use)

    def test_decisions_are_found_after_a_restart(self) -> None:
        async def use(ends: Ends) -> None:
            before, after = made("access"), made("access")
            await refused(ends, before)
            ends.restart()
            await refused(ends, after)
            for decided in (before, after):
                found = await ends.decisions.find(decided.id)
                assert found is not None
                assert found.decision == decided

        self._with_ends(use)
