"""Policy says who administers. Without its permit nothing is done, and a permit is for one thing alone."""

import asyncio
from typing import Any, cast, get_args

import pytest
from administering import asked, permit
from service_support import Surroundings, breaking

from gateway.domain.errors import LedgerUnavailable, LedgerUncertain, PermitMisused, PolicyUnavailable
from gateway.domain.questions import Area, Deed, OperateAnswer, OperateQuestion
from gateway.domain.refusal import Code, PolicyCode, Refusal
from gateway.ports.reads import KeyFilter, OperationFilter, SourceFilter
from gateway.service.administer import Permit
from gateway.service.directory import Grant

AREAS: tuple[Area, ...] = get_args(Area)
DEEDS: tuple[Deed, ...] = get_args(Deed)
GRANT = Grant(id="s", tenant="acme", groups=(), revision="1", privacy_class="internal")


@pytest.mark.parametrize("who", ["operator", "assistant"])
def test_policy_is_asked_about_everybody_and_python_knows_no_role(who: str) -> None:
    world = Surroundings()
    world.policy.administrators = frozenset({"operator", "generate"})
    session = world.session(who)
    permitted = permit(world, "keys", "change", who)
    assert permitted.actor("keys", "change") == session.caller
    principal = session.caller.principal
    question = OperateQuestion(tenant=principal.tenant, roles=principal.roles, area="keys", deed="change")
    assert world.policy.asked == [question]


def test_a_denial_is_a_refusal_with_codes_and_a_row() -> None:
    world = Surroundings()
    world.policy.operate_denied = True
    refusal = asked(world, "sources", "read", "assistant")
    assert isinstance(refusal, Refusal)
    assert refusal.code is Code.OPERATOR_REQUIRED
    assert refusal.policy_codes == (PolicyCode("request_administers", "Ask whoever wrote the scenario."),)
    (row,) = world.refusals
    assert (row.caller.principal.id, row.code, row.policy_codes) == (
        "assistant",
        Code.OPERATOR_REQUIRED,
        ("request_administers",),
    )
    assert row.decisions == refusal.decisions
    assert [failed.check for failed in row.decisions[0].failed] == ["request/administers"]


def test_policy_that_is_away_permits_nobody_not_even_the_built_in_operator() -> None:
    world = Surroundings()
    world.policy.away = "timeout"
    assert asked(world, "keys", "read") == Refusal(code=Code.POLICY_UNAVAILABLE)
    assert world.refusals == []


@pytest.mark.parametrize("allow", [1, "true", None, [True]])
def test_only_true_is_a_yes(allow: Any) -> None:
    world = Surroundings()
    session = world.session("operator")

    class Policy:
        async def operate(self, question: OperateQuestion) -> Any:
            decided = await world.policy.operate(question)
            return type("Decided", (), {"answer": OperateAnswer(allow, ()), "decision": decided.decision})

        def explain(self, level: str, check: str) -> PolicyCode:
            return world.policy.explain(level, check)

    judged = type(session)(session.caller, type(session.active)(session.active.snapshot, cast(Any, Policy())))
    refusal = asyncio.run(world.services.admin.administer(judged, "keys", "read"))
    assert isinstance(refusal, Refusal)
    assert refusal.code is Code.OPERATOR_REQUIRED


@pytest.mark.parametrize("error", [LedgerUnavailable("full"), LedgerUncertain("full")])
def test_a_denial_that_cannot_be_recorded_is_503(error: Exception) -> None:
    world = Surroundings()
    world.policy.operate_denied = True
    world.notebook.at("ledger.refuse", breaking(error))
    assert asked(world, "keys", "read") == Refusal(code=Code.LEDGER_UNAVAILABLE)


def test_where_nobody_may_learn_what_there_is_a_denial_has_another_code_and_no_policy_codes() -> None:
    world = Surroundings()
    world.policy.operate_denied = True
    administer = world.services.admin.administer
    refusal = asyncio.run(administer(world.session(), "operations", "read", denied=Code.UNKNOWN_OPERATION))
    assert isinstance(refusal, Refusal)
    assert (refusal.code, refusal.policy_codes) == (Code.UNKNOWN_OPERATION, ())
    (row,) = world.refusals
    assert (row.code, row.policy_codes) == (Code.UNKNOWN_OPERATION, ("request_administers",))


USES: dict[tuple[Area, Deed], list[Any]] = {
    ("keys", "change"): [
        lambda admin, permit: admin.credentials.create(permit, tenant="acme", principal="assistant", label=""),
        lambda admin, permit: admin.credentials.revoke(permit, "assistant"),
    ],
    ("keys", "read"): [lambda admin, permit: admin.credentials.search(permit, KeyFilter())],
    ("sources", "change"): [
        lambda admin, permit: admin.directory.grant(permit, GRANT),
        lambda admin, permit: admin.directory.revoke(permit, "s", ()),
        lambda admin, permit: admin.directory.withdraw(permit, "s"),
    ],
    ("sources", "read"): [lambda admin, permit: admin.directory.search(permit, SourceFilter())],
    ("operations", "change"): [lambda admin, permit: admin.operators.act(permit, "write_off", "o", "because")],
    ("operations", "read"): [lambda admin, permit: admin.operators.search(permit, OperationFilter())],
    ("ledger", "read"): [
        lambda admin, permit: admin.operators.verify(permit),
        lambda admin, permit: admin.operators.stranded(permit),
    ],
    ("policy", "read"): [lambda admin, permit: admin.explain(permit, "d")],
    ("registry", "change"): [lambda admin, permit: admin.reload(permit)],
}
"""Everything that needs a permit, by what it is for."""


@pytest.mark.parametrize(("area", "deed"), [(area, deed) for area in AREAS for deed in DEEDS])
def test_a_permit_opens_what_it_is_for_and_nothing_else(area: Area, deed: Deed) -> None:
    world = Surroundings()
    allowed = permit(world, area, deed)
    for (other_area, other_deed), uses in USES.items():
        for use in uses:
            world.calls.clear()
            if (other_area, other_deed) == (area, deed):
                asyncio.run(use(world.services.admin, allowed))
                assert world.calls, "it did nothing"
            else:
                with pytest.raises(PermitMisused):
                    asyncio.run(use(world.services.admin, allowed))
                assert world.calls == []


def test_a_permit_can_be_asked_of_policy_alone() -> None:
    world = Surroundings()
    world.notebook.at("policy.operate", breaking(PolicyUnavailable("timeout")))
    for area in AREAS:
        for deed in DEEDS:
            assert not isinstance(asked(world, area, deed), Permit)
