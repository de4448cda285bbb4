"""One operation, for its owner and for operators; to anybody else it does not exist."""

import asyncio

import pytest
from msgspec.structs import replace
from service_support import PROFILE, Surroundings

from gateway.domain.operation import Operation, State
from gateway.domain.outcome import Unknown
from gateway.domain.refusal import Code, Refusal
from gateway.service.inspect import view


def inspected(world: Surroundings, who: str, operation_id: str | None = None) -> Operation | Refusal:
    inspect = world.services.admin.inspect
    return asyncio.run(inspect(world.session(who), operation_id or world.operation.id))


@pytest.fixture
def world() -> Surroundings:
    made = Surroundings()
    made.answered()
    return made


@pytest.mark.parametrize("who", ["assistant", "operator"])
def test_its_owner_and_an_operator_see_an_operation(world: Surroundings, who: str) -> None:
    assert inspected(world, who) == world.operation


def test_a_service_account_with_the_operator_role_sees_it_too(world: Surroundings) -> None:
    acme = world.snapshot.tenants["acme"]
    accounts = tuple(
        replace(account, roles=("operator",)) if account.id == "reporter" else account
        for account in acme.service_accounts
    )
    world.put_in_force(tenants={"acme": replace(acme, service_accounts=accounts)})
    assert inspected(world, "reporter") == world.operation


def test_a_foreign_operation_is_answered_like_one_that_never_was(world: Surroundings) -> None:
    foreign = inspected(world, "reporter")
    assert foreign == Refusal(code=Code.UNKNOWN_OPERATION)
    assert inspected(world, "reporter", "019acb5c-0000-7000-8000-000000000000") == foreign
    assert inspected(world, "operator", "nothing") == foreign


def test_an_account_of_the_same_name_in_another_tenant_is_another_principal(world: Surroundings) -> None:
    beta = replace(world.snapshot.tenants["acme"], id="beta")
    world.put_in_force(tenants={**world.snapshot.tenants, "beta": beta})
    world.put_key("assistant", tenant="beta")
    assert inspected(world, "assistant") == Refusal(code=Code.UNKNOWN_OPERATION)


def test_the_view_has_state_bundle_profile_times_and_amounts_and_no_text(world: Surroundings) -> None:
    shown = view(world.operation)
    attempt = shown["attempt"]
    assert (shown["id"], shown["object"], shown["state"]) == (world.operation.id, "operation", State.COMPLETED)
    assert (shown["model"], shown["purpose"], shown["bundle"]) == ("chat", "drafting", "chat@1")
    assert (shown["bundle_digest"], shown["policy_revision"]) == (world.operation.bundle_digest, "sha256:scripted")
    assert (shown["max_attempts"], shown["attempts_dispatched"], shown["created_us"]) == (3, 1, world.clock.us)
    assert (attempt["n"], attempt["profile"]) == (1, PROFILE)
    assert attempt["reserved"] == {"input": 20, "output": 256}
    assert attempt["used"] == {"input": 20, "output": 3, "basis": "provider"}
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
