"""Keys are made by operators, for accounts of the registry, and shown once."""

import asyncio
import base64
import hashlib
from typing import Any, cast

import pytest
from administering import permit
from msgspec.structs import replace
from service_support import Surroundings, breaking, token

from gateway.domain.errors import LedgerUnavailable
from gateway.domain.principal import BUILT_IN_OPERATOR, credential_hash
from gateway.domain.refusal import Code, Refusal
from gateway.ports.reads import Key, KeyFilter
from gateway.service.credentials import Credentials, NewKey, is_token, new_token


def create(world: Surroundings, **changes: str) -> NewKey | Refusal:
    whose = {"tenant": "acme", "principal": "assistant", "label": "laptop"} | changes
    return asyncio.run(world.services.admin.credentials.create(permit(world, "keys", "change"), **whose))


def revoke(world: Surroundings, key_id: str) -> Key | Refusal:
    return asyncio.run(world.services.admin.credentials.revoke(permit(world, "keys", "change"), key_id))


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


@pytest.mark.parametrize(
    ("tenant", "principal", "refused"),
    [
        ("acme", "nobody", Refusal(code=Code.UNKNOWN_PRINCIPAL, param="principal")),
        ("tenant-a", "assistant", Refusal(code=Code.UNKNOWN_PRINCIPAL, param="principal")),
        ("nobody", "assistant", Refusal(code=Code.UNKNOWN_TENANT, param="tenant")),
        ("system", "operator", Refusal(code=Code.UNKNOWN_TENANT, param="tenant")),
        ("", "", Refusal(code=Code.UNKNOWN_TENANT, param="tenant")),
    ],
)
def test_a_key_is_only_made_for_an_account_of_the_registry(tenant: str, principal: str, refused: Refusal) -> None:
    world = Surroundings()
    assert create(world, tenant=tenant, principal=principal) == refused
    assert world.calls == []


def test_a_key_that_cannot_be_stored_is_not_shown() -> None:
    world = Surroundings()
    world.notebook.at("keys.create", breaking(LedgerUnavailable("full")))
    assert create(world) == Refusal(code=Code.LEDGER_UNAVAILABLE)


def test_a_revoked_key_opens_no_door_and_the_other_keys_of_its_account_still_do() -> None:
    world = Surroundings()
    created = made(world)
    revoked = revoke(world, created.key.id)
    assert revoked == replace(created.key, active=False)
    assert asyncio.run(world.services.admin.authenticate(created.token)) == Refusal(code=Code.UNAUTHENTICATED)
    world.session("assistant")
    assert revoke(world, created.key.id) == revoked


def test_a_key_revoked_between_authentication_and_t1_dispatches_nothing() -> None:
    world = Surroundings()
    world.notebook.once("ledger.claim", lambda: world.put_key("assistant", active=False))
    assert world.refused().code is Code.UNAUTHENTICATED
    assert world.transport.received == []


def test_a_key_that_is_not_there_cannot_be_revoked() -> None:
    world = Surroundings()
    assert revoke(world, "nothing") == Refusal(code=Code.UNKNOWN_KEY)
    assert revoke(world, token("assistant")) == Refusal(code=Code.UNKNOWN_KEY)


def test_a_revocation_that_cannot_be_stored_is_none() -> None:
    world = Surroundings()
    world.notebook.at("keys.revoke", breaking(LedgerUnavailable("full")))
    assert revoke(world, "assistant") == Refusal(code=Code.LEDGER_UNAVAILABLE)
    world.session("assistant")


def test_who_revoked_a_key_is_on_record() -> None:
    world = Surroundings()
    done: list[tuple[Any, ...]] = []

    class Keys:
        async def create(self, _: Key, __: bytes, *, actor: Any, os_user: Any) -> None:
            done.append(("create", actor, os_user))

        async def revoke(self, _: str, *, actor: Any, os_user: Any) -> Key | None:
            done.append(("revoke", actor, os_user))
            return None

    credentials = Credentials(cast(Any, Keys()), world.clock, os_user="root")
    allowed = permit(world, "keys", "change")
    asyncio.run(credentials.create(allowed, tenant="acme", principal="assistant", label=""))
    asyncio.run(credentials.revoke(allowed, "k"))
    actor = world.session("operator").caller
    assert done == [("create", actor, "root"), ("revoke", actor, "root")]


def test_keys_are_found_by_whose_they_are() -> None:
    world = Surroundings()
    search = world.services.admin.credentials.search
    revoke(world, "reporter")

    def found(**wanted: Any) -> list[str]:
        return [key.id for key in asyncio.run(search(permit(world, "keys", "read"), KeyFilter(**wanted)))]

    assert found() == ["reporter", "operator", "assistant"]
    assert found(tenant="acme", active=True) == ["assistant"]
    assert found(principal="reporter") == ["reporter"]


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
    for one in tokens:
        assert is_token(one)
        assert one.startswith("gw_")
        assert len(base64.urlsafe_b64decode(one.removeprefix("gw_") + "=")) == 32


@pytest.mark.parametrize(
    "text",
    ["", "gw_", "gw_" + "a" * 42, "gw_" + "a" * 44, "gw_" + "a" * 43 + "\n", "GW_" + "a" * 43, "gw_" + "a" * 42 + "="],
)
def test_what_has_another_form_is_no_token(text: str) -> None:
    assert not is_token(text)
