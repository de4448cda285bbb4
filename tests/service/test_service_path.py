"""The path of a request: the exact order of its effects, and which refusals leave a row."""

import asyncio
import hashlib
from collections.abc import Callable

import pytest
from msgspec.structs import replace
from service_support import ASKED, CITING, PROFILE, Surroundings, breaking

from gateway.domain.errors import LedgerUnavailable, LedgerUncertain, PolicyUnavailable
from gateway.domain.operation import State
from gateway.domain.outcome import NoEffect
from gateway.domain.questions import AccessQuestion, Failed, ReplayQuestion
from gateway.domain.refusal import Code, Refusal
from gateway.domain.request import Request
from gateway.ports.transport import Readiness
from gateway.service.path import Asked

TO_THE_RESERVATION = [
    "keys.find",
    "body.read",
    "keys.find",
    "operations.find",
    "sources.facts",
    "policy.access",
    "policy.routes",
    "counter.count",
    "ledger.claim",
]


def test_a_fresh_request_takes_its_steps_in_this_order_and_no_others() -> None:
    world = Surroundings()
    answer = world.answered()
    assert world.calls == [*TO_THE_RESERVATION, "ledger.dispatch", "transport.send", "ledger.settle", "keys.find"]
    assert not answer.replayed
    assert world.attempts[-1].state is State.COMPLETED
    assert world.rows.audit == []


def test_a_replay_decides_and_discloses_and_sends_nothing() -> None:
    world = Surroundings()
    first = world.answered()
    world.calls.clear()
    again = world.answered()
    assert world.calls == [
        "keys.find",
        "body.read",
        "keys.find",
        "operations.find",
        "operations.result",
        "sources.facts",
        "policy.replay",
        "ledger.disclose",
    ]
    assert again == replace(first, replayed=True)


def test_a_refusal_by_policy_ends_the_path_with_its_row() -> None:
    world = Surroundings()
    world.policy.failed = Failed(request=("purpose",), source={})
    assert world.refused().code is Code.ACCESS_DENIED
    assert world.calls == [*TO_THE_RESERVATION[:6], "ledger.refuse"]


def test_the_credential_is_looked_at_before_the_body_is_read() -> None:
    world = Surroundings()
    assert world.refused(who="stranger").code is Code.UNAUTHENTICATED
    assert world.calls == ["keys.find"]


def _revoked(world: Surroundings) -> None:
    world.put_key("assistant", active=False)


def _tenant_gone(world: Surroundings) -> None:
    world.put_in_force(tenants={})


@pytest.mark.parametrize("happens", [_revoked, _tenant_gone])
def test_what_happens_while_the_body_arrives_counts(happens: Callable[[Surroundings], None]) -> None:
    world = Surroundings()
    world.answered()

    async def read() -> Asked:
        happens(world)
        return Asked(hashlib.sha256(b"k-1").digest(), ASKED)

    end = asyncio.run(world.arriving(read, "gw_assistant"))
    assert end == Refusal(code=Code.UNAUTHENTICATED), "a saved answer was shown under yesterday's access"


def test_a_body_that_is_refused_ends_the_path_without_a_row() -> None:
    world = Surroundings()

    async def read() -> Asked | Refusal:
        return Refusal(code=Code.MALFORMED_BODY)

    end = asyncio.run(world.arriving(read, "gw_assistant"))
    assert end == Refusal(code=Code.MALFORMED_BODY)
    assert world.calls == ["keys.find"]


def _reused(world: Surroundings) -> Request:
    world.answered()
    return replace(ASKED, seed=4)


def _in_progress(world: Surroundings) -> Request:
    world.answered()
    world.put_state(State.DISPATCHING)
    return ASKED


@pytest.mark.parametrize(
    ("arrange", "code"), [(_reused, Code.OPERATION_KEY_REUSED), (_in_progress, Code.OPERATION_IN_PROGRESS)]
)
def test_a_conflict_comes_before_authorise_and_leaves_no_row(
    arrange: Callable[[Surroundings], Request], code: Code
) -> None:
    world = Surroundings()
    request = arrange(world)
    world.calls.clear()
    assert world.refused(request).code is code
    assert world.calls == ["keys.find", "body.read", "keys.find", "operations.find"]
    assert world.rows.audit == []


def _unknown_model(world: Surroundings) -> Request:
    return replace(ASKED, model="gpt-x")


def _denied(world: Surroundings) -> Request:
    world.policy.failed = Failed(request=("purpose",), source={"0": ("readable",)})
    return CITING


def _access_away(world: Surroundings) -> Request:
    world.notebook.at("policy.access", breaking(PolicyUnavailable("timeout")))
    return ASKED


def _routes_away(world: Surroundings) -> Request:
    world.notebook.at("policy.routes", breaking(PolicyUnavailable("timeout")))
    return ASKED


def _route_outside(world: Surroundings) -> Request:
    world.policy.routes_override = (PROFILE, "elsewhere")
    return ASKED


def _no_route(world: Surroundings) -> Request:
    world.policy.routes_override = ()
    return ASKED


def _not_ready(world: Surroundings) -> Request:
    world.board.note(world.profile, Readiness("mismatch", "other_model_file"))
    return ASKED


def _superseded(world: Surroundings) -> Request:
    world.transport.script(NoEffect("busy"))
    world.refused()
    world.put_in_force(bundle_digests=dict.fromkeys(world.snapshot.bundle_digests, "sha256:other"))
    return ASKED


def _too_much_output(world: Surroundings) -> Request:
    return replace(ASKED, max_output=world.profile.max_output + 1)


def _too_much_context(world: Surroundings) -> Request:
    world.counter.tokens = world.profile.context_window - world.profile.max_output + 1
    return ASKED


def _uncountable(world: Surroundings) -> Request:
    world.counter.tokens = None
    return ASKED


def _cannot_reserve(world: Surroundings) -> Request:
    world.notebook.at("ledger.claim", breaking(LedgerUnavailable("full")))
    return ASKED


FROM_AUTHORISE_ON: dict[str, tuple[Callable[[Surroundings], Request], Code, int]] = {
    "an alias that does not exist": (_unknown_model, Code.UNKNOWN_MODEL, 0),
    "access denied": (_denied, Code.ACCESS_DENIED, 1),
    "access cannot be decided": (_access_away, Code.POLICY_UNAVAILABLE, 0),
    "routes cannot be decided": (_routes_away, Code.POLICY_UNAVAILABLE, 1),
    "a route outside the bundle": (_route_outside, Code.POLICY_UNAVAILABLE, 2),
    "no route": (_no_route, Code.NO_ROUTE_ALLOWED, 2),
    "no ready route": (_not_ready, Code.NO_READY_ROUTE, 2),
    "a superseded bundle": (_superseded, Code.BUNDLE_SUPERSEDED, 1),
    "too much output": (_too_much_output, Code.OUTPUT_EXCEEDS_PROFILE, 2),
    "too much context": (_too_much_context, Code.CONTEXT_EXCEEDED, 2),
    "an input that cannot be counted": (_uncountable, Code.UNCOUNTABLE_INPUT, 2),
    "a ledger that cannot reserve": (_cannot_reserve, Code.LEDGER_UNAVAILABLE, 2),
}
"""What is wrong, the code of the refusal, and how many decisions its row keeps."""


@pytest.mark.parametrize("wrong", FROM_AUTHORISE_ON)
def test_a_refusal_from_authorise_on_reserves_nothing_and_leaves_exactly_one_row(wrong: str) -> None:
    arrange, code, decisions = FROM_AUTHORISE_ON[wrong]
    world = Surroundings()
    request = arrange(world)
    before = len(world.transport.received)
    refusal = world.refused(request)
    assert refusal.code is code
    (row,) = world.refusals
    assert (row.code, row.operation_id) == (code, refusal.operation_id)
    assert row.caller == world.session().caller
    assert row.policy_codes == tuple(found.code for found in refusal.policy_codes)
    assert len(row.decisions) == decisions
    assert len(world.transport.received) == before
    assert not any(attempt.state is State.GRANTED for attempts in world.rows.attempts.values() for attempt in attempts)


def test_the_built_in_operator_generates_nothing() -> None:
    world = Surroundings()
    assert world.refused(who="operator").code is Code.NOT_A_TENANT_PRINCIPAL
    assert world.refusals == []
    assert world.policy.asked == []
    assert "operations.find" not in world.calls


def test_policy_is_asked_with_the_roles_of_today() -> None:
    world = Surroundings()
    world.answered()
    (access, _) = world.policy.asked
    assert isinstance(access, AccessQuestion)
    assert access.roles == world.session().caller.principal.roles == ("generate",)


def test_an_account_whose_role_was_taken_away_does_not_see_what_it_generated() -> None:
    world = Surroundings()
    acme = world.snapshot.tenants["acme"]
    accounts = tuple(replace(account, roles=("auditor",)) for account in acme.service_accounts)
    first = world.answered()
    policy = world.put_in_force(tenants={"acme": replace(acme, service_accounts=accounts)})
    policy.failed = Failed(request=("role",), source={})
    refusal = world.refused()
    assert (refusal.code, refusal.operation_id) == (Code.REPLAY_FORBIDDEN, first.operation_id)
    assert [code.code for code in refusal.policy_codes] == ["request_role"]
    (question,) = policy.asked
    assert isinstance(question, ReplayQuestion)
    assert question.roles == ("auditor",)
    assert world.refused(key="k-2").code is Code.ACCESS_DENIED


def test_the_row_of_a_denial_keeps_which_checks_failed_and_where_and_the_caller_is_not_told() -> None:
    world = Surroundings()
    world.policy.failed = Failed(request=("purpose",), source={"0": ("readable",)})
    refusal = world.refused(CITING)
    (row,) = world.refusals
    (decision,) = row.decisions
    assert [(failed.check, failed.about) for failed in decision.failed] == [
        ("request/purpose", ""),
        ("source/readable", "0"),
    ]
    assert all(failed.place for failed in decision.failed)
    shown = replace(refusal, decisions=())
    assert not any(failed.place in repr(shown) for failed in decision.failed)


@pytest.mark.parametrize("error", [LedgerUnavailable("full"), LedgerUncertain("failed")])
def test_a_refusal_that_cannot_be_recorded_is_told_as_an_unavailable_ledger(error: Exception) -> None:
    world = Surroundings()
    world.policy.failed = Failed(request=("purpose",), source={})
    world.notebook.at("ledger.refuse", breaking(error))
    assert world.refused() == Refusal(code=Code.LEDGER_UNAVAILABLE)


def test_a_reservation_whose_commit_failed_is_unknown_and_nothing_is_sent() -> None:
    world = Surroundings()
    world.notebook.at("ledger.claim", breaking(LedgerUncertain("failed")))
    world.notebook.at("ledger.refuse", breaking(LedgerUnavailable("the writer has ended")))
    refusal = world.refused()
    assert (refusal.code, refusal.status) == (Code.OUTCOME_UNKNOWN, 502)
    assert refusal.operation_id is None  # whether it exists, a restart will tell
    assert world.calls[-2:] == ["ledger.claim", "ledger.refuse"]


def test_the_attempt_is_owned_before_its_claim_is_queued() -> None:
    world = Surroundings()
    alive: list[int] = []
    world.notebook.at("ledger.claim", lambda: alive.append(len(world.services.running.alive())))
    world.answered()
    assert alive == [1]
    assert world.services.running.alive() == frozenset()
