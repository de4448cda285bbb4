"""Who asks: the row says whose key it is, and the registry of this moment says the rest."""

import asyncio

import pytest
from msgspec.structs import replace
from service_support import Surroundings, token

from gateway.domain.principal import BUILT_IN_OPERATOR, credential_hash
from gateway.domain.refusal import Code, Refusal
from gateway.service.path import Session


def authenticated(world: Surroundings, credential: str | None) -> Session | Refusal:
    return asyncio.run(world.services.admin.authenticate(credential))


def test_a_service_account_has_the_groups_and_roles_of_the_registry() -> None:
    world = Surroundings()
    (account,) = (one for one in world.snapshot.tenants["acme"].service_accounts if one.id == "assistant")
    session = world.session()
    principal = session.caller.principal
    assert (principal.tenant, principal.id) == ("acme", "assistant")
    assert (principal.groups, principal.roles) == (account.groups, account.roles)
    assert session.caller.credential_hash == credential_hash(token("assistant"))
    assert session.active is world.in_force.active


def test_without_a_credential_the_store_is_not_asked() -> None:
    world = Surroundings()
    assert authenticated(world, None) == Refusal(code=Code.UNAUTHENTICATED)
    assert world.calls == []


@pytest.mark.parametrize("credential", ["", "gw_assistant ", "gw_ASSISTANT", "assistant", "gw_nobody"])
def test_a_credential_that_nobody_issued_is_refused(credential: str) -> None:
    assert authenticated(Surroundings(), credential) == Refusal(code=Code.UNAUTHENTICATED)


def test_a_revoked_key_is_refused_like_one_that_never_was() -> None:
    world = Surroundings()
    world.put_key("assistant", active=False)
    assert authenticated(world, token("assistant")) == Refusal(code=Code.UNAUTHENTICATED)


@pytest.mark.parametrize(("tenant", "who"), [("acme", "ghost"), ("beta", "assistant")])
def test_a_key_of_an_account_that_the_registry_no_longer_has_is_refused(tenant: str, who: str) -> None:
    world = Surroundings()
    world.put_key(who, tenant=tenant)
    assert authenticated(world, token(who)) == Refusal(code=Code.UNAUTHENTICATED)


def test_the_built_in_operator_stands_in_no_registry() -> None:
    world = Surroundings()
    assert world.session("operator").caller.principal == BUILT_IN_OPERATOR
    assert "system" not in world.snapshot.tenants


def test_a_service_account_called_operator_is_not_the_built_in_one() -> None:
    world = Surroundings()
    world.put_key("operator", tenant="acme")
    assert authenticated(world, token("operator")) == Refusal(code=Code.UNAUTHENTICATED)


def test_a_session_keeps_the_registry_that_it_began_with() -> None:
    world = Surroundings()
    session = world.session()
    world.put_in_force(tenants=replace(world.snapshot).tenants)
    assert session.active.snapshot.digest != world.in_force.active.snapshot.digest
