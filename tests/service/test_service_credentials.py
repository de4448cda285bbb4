"""Keys are made by operators, for accounts of the registry, and shown once."""

import asyncio
import base64
import hashlib

import pytest
from service_support import Surroundings, breaking

from gateway.domain.errors import LedgerUnavailable
from gateway.domain.principal import BUILT_IN_OPERATOR, credential_hash
from gateway.domain.refusal import Code, Refusal
from gateway.service.credentials import NewKey, is_token, new_token


def create(world: Surroundings, who: str = "operator", **changes: str) -> NewKey | Refusal:
    whose = {"tenant": "acme", "principal": "assistant", "label": "laptop"} | changes
    caller = world.session(who).caller
    world.calls.clear()
    return asyncio.run(world.services.admin.credentials.create(caller, world.snapshot, **whose))


def made(world: Surroundings) -> NewKey:
    created = create(world)
    assert isinstance(created, NewKey)
    return created


def test_a_new_key_opens_the_door_at_once() -> None:
    world = Surroundings()
    created = made(world)
    session = asyncio.run(world.services.admin.authenticate(created.token))
    assert not isinstance(session, Refusal)
    assert (session.caller.principal.tenant, session.caller.principal.id) == ("acme", "assistant")
    key = created.key
    assert (key.tenant, key.principal, key.label, key.active) == ("acme", "assistant", "laptop", True)
    assert key.created_us == world.clock.now_us()


def test_only_the_hash_of_a_token_is_stored() -> None:
    world = Surroundings()
    created = made(world)
    assert world.rows.keys[hashlib.sha256(created.token.encode()).digest()] == created.key
    assert created.token not in repr(world.rows.keys)


def test_no_two_keys_are_alike() -> None:
    world = Surroundings()
    first, second = made(world), made(world)
    assert first.key.id != second.key.id
    assert first.token != second.token


def test_a_service_account_makes_no_keys() -> None:
    world = Surroundings()
    assert create(world, who="assistant") == Refusal(code=Code.OPERATOR_REQUIRED)
    assert world.calls == []


@pytest.mark.parametrize(
    ("tenant", "principal"), [("acme", "nobody"), ("beta", "assistant"), ("system", "operator"), ("", "")]
)
def test_a_key_is_only_made_for_an_account_of_the_registry(tenant: str, principal: str) -> None:
    world = Surroundings()
    refusal = create(world, tenant=tenant, principal=principal)
    assert refusal == Refusal(code=Code.UNKNOWN_PRINCIPAL, param="principal")
    assert world.calls == []


def test_a_key_that_cannot_be_stored_is_not_shown() -> None:
    world = Surroundings()
    world.notebook.at("keys.create", breaking(LedgerUnavailable("full")))
    assert create(world) == Refusal(code=Code.LEDGER_UNAVAILABLE)


def test_the_data_directory_s_credential_becomes_the_built_in_operator_s_once() -> None:
    world = Surroundings()
    token = new_token()
    for _ in range(2):
        asyncio.run(world.services.admin.credentials.ensure_operator(token))
    assert world.called("keys.create") == 1
    key = world.rows.keys[credential_hash(token)]
    assert (key.tenant, key.principal) == (BUILT_IN_OPERATOR.tenant, BUILT_IN_OPERATOR.id)


def test_a_token_is_a_prefix_and_thirty_two_random_bytes() -> None:
    tokens = {new_token() for _ in range(100)}
    assert len(tokens) == 100
    for token in tokens:
        assert is_token(token)
        assert token.startswith("gw_")
        assert len(base64.urlsafe_b64decode(token.removeprefix("gw_") + "=")) == 32


@pytest.mark.parametrize(
    "text",
    ["", "gw_", "gw_" + "a" * 42, "gw_" + "a" * 44, "gw_" + "a" * 43 + "\n", "GW_" + "a" * 43, "gw_" + "a" * 42 + "="],
)
def test_what_has_another_form_is_no_token(text: str) -> None:
    assert not is_token(text)
