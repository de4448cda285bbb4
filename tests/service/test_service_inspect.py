"""One operation, for its owner and for administrators; to anybody else it does not exist."""

import asyncio

import pytest
from administering import permit
from msgspec.structs import replace
from service_support import PROFILE, Surroundings, breaking

from gateway.domain.errors import PolicyUnavailable
from gateway.domain.operation import Operation, State
from gateway.domain.outcome import Unknown
from gateway.domain.refusal import Code, Refusal
from gateway.service.inspect import view


def inspected(world: Surroundings, who: str, operation_id: str | None = None) -> Operation | Refusal:
    operation_id = operation_id or world.operation.id
    session = world.session(who)
    world.calls.clear()
    return asyncio.run(world.services.admin.inspect(session, operation_id))


@pytest.fixture
def world() -> Surroundings:
    made = Surroundings()
    made.answered()
    return made


@pytest.mark.parametrize("who", ["assistant", "operator"])
def test_its_owner_and_whoever_policy_permits_see_an_operation(world: Surroundings, who: str) -> None:
    assert inspected(world, who) == world.operation


def test_for_its_owner_policy_is_not_asked(world: Surroundings) -> None:
    world.policy.operate_denied = True
    assert inspected(world, "assistant") == world.operation
    assert "policy.operate" not in world.calls


def test_a_foreign_operation_is_answered_like_one_that_never_was_on_the_same_path() -> None:
    ways = []
    for there in (True, False):
        world = Surroundings()
        world.answered()
        world.policy.operate_denied = True
        refusal = inspected(world, "reporter", None if there else "019acb5c-0000-7000-8000-000000000000")
        assert isinstance(refusal, Refusal)
        (row,) = world.refusals
        ways.append((refusal.code, refusal.policy_codes, refusal.operation_id, row.operation_id, world.calls))
    assert ways[0] == ways[1]
    assert ways[0][0] is Code.UNKNOWN_OPERATION


def test_an_administrator_is_told_that_there_is_none(world: Surroundings) -> None:
    assert inspected(world, "operator", "nothing") == Refusal(code=Code.UNKNOWN_OPERATION)


@pytest.mark.parametrize("there", [True, False])
def test_without_policy_nobody_but_the_owner_sees_anything(world: Surroundings, there: bool) -> None:
    world.policy.away = "timeout"
    refused = inspected(world, "operator", None if there else "nothing")
    assert refused == Refusal(code=Code.POLICY_UNAVAILABLE)
    assert inspected(world, "assistant") == world.operation


def test_the_words_of_an_operator_are_for_administrators(world: Surroundings) -> None:
    world.transport.script(Unknown("connection_lost"))
    unknown = world.refused(key="k-2").operation_id
    assert unknown is not None
    admin = world.services.admin
    asyncio.run(admin.operators.act(permit(world, "operations", "change"), "write_off", unknown, "nobody knows"))
    shown = {
        who: repr(asyncio.run(admin.inspect.timeline(world.session(who), unknown))) for who in ("assistant", "operator")
    }
    assert "nobody knows" in shown["operator"]
    assert "nobody knows" not in shown["assistant"]
    assert "write_off" in shown["assistant"]


def test_an_account_of_the_same_name_in_another_tenant_is_another_principal(world: Surroundings) -> None:
    beta = replace(world.snapshot.tenants["acme"], id="beta")
    world.put_in_force(tenants={**world.snapshot.tenants, "beta": beta})
    world.put_key("assistant", tenant="beta")
    world.notebook.at("policy.operate", breaking(PolicyUnavailable("timeout")))
    assert inspected(world, "assistant") == Refusal(code=Code.POLICY_UNAVAILABLE)  # asked, so not the owner


def test_the_view_has_state_bundle_profile_times_and_amounts_and_no_text(world: Surroundings) -> None:
    shown = view(world.operation)
    attempt = shown["attempt"]
    assert (shown["id"], shown["object"], shown["state"]) == (world.operation.id, "operation", State.COMPLETED)
    assert (shown["model"], shown["purpose"], shown["bundle"]) == ("chat", "drafting", "chat@1")
    assert (shown["bundle_digest"], shown["policy_revision"]) == (world.operation.bundle_digest, "sha256:scripted")
    assert (shown["max_attempts"], shown["attempts_dispatched"], shown["created_us"]) == (3, 1, world.clock.us)
    assert (attempt["n"], attempt["profile"]) == (1, PROFILE)
    assert attempt["reserved"] == {"input": 20, "output": 256, "cost": 0}
    assert attempt["used"] == {"input": 20, "output": 3, "cost": 0, "basis": "provider"}
    assert attempt["granted_us"] == attempt["dispatching_us"] == attempt["finished_us"] == world.clock.us
    assert "Hello" not in repr(shown)
    assert "Is it?" not in repr(shown)
    assert world.operation.identity.key_hash.hex() not in repr(shown)


def test_an_operation_whose_outcome_is_unknown_shows_no_usage() -> None:
    world = Surroundings()
    world.transport.script(Unknown("connection_lost"))
    world.refused()
    shown = view(world.operation)
    assert (shown["state"], shown["detail"]) == (State.UNKNOWN, "connection_lost")
    assert shown["attempt"]["used"] is None
    assert shown["attempt"]["finished_us"] is None
