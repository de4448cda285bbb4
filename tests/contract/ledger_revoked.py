"""Whoever changes something still may in the moment of the change."""

import asyncio
import hashlib
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from contract.ledger_ends import (
    CALLER,
    CREDENTIAL,
    OPERATOR,
    OPERATORS_KEY,
    Ends,
    WithEnds,
    a_claim,
    a_grant,
    a_key,
    an_act,
    grant,
    granted,
    left_unknown,
    state_of,
)
from msgspec.structs import replace

from gateway.domain.errors import CredentialRevoked
from gateway.domain.operation import State
from gateway.domain.principal import Caller
from gateway.domain.reconciliation import Done
from gateway.domain.source import RevokeSource, Source, WithdrawSource
from gateway.ports.ledger import ReloadRecord
from gateway.ports.reads import Key, KeyFilter, SourceFilter

ANOTHER = hashlib.sha256(b"another").digest()
MADE = hashlib.sha256(b"made").digest()
NOBODYS = Caller(OPERATOR.principal, ANOTHER)

Change = Callable[[Ends, Caller], Awaitable[Any]]
CHANGES: dict[str, Change] = {
    "grant": lambda ends, actor: ends.sources.change(a_grant(revision="r2"), actor=actor, os_user=None),
    "close": lambda ends, actor: ends.sources.change(RevokeSource(id="handbook", groups=()), actor=actor, os_user=None),
    "withdraw": lambda ends, actor: ends.sources.change(WithdrawSource(id="handbook"), actor=actor, os_user=None),
    "create": lambda ends, actor: ends.keys.create(a_key("key-9"), MADE, actor=actor),
    "alone": lambda ends, actor: ends.keys.create(a_key("key-9"), MADE, actor=actor, alone=True),
    "revoke": lambda ends, actor: ends.keys.revoke("key-1", actor=actor, os_user=None),
    "revoke nothing": lambda ends, actor: ends.keys.revoke("nothing", actor=actor, os_user=None),
    "reload": lambda ends, actor: ends.ledger.reloaded(
        ReloadRecord(actor=actor, taken=True, registry_digest="r", policy_revision="p")
    ),
}


async def everything(ends: Ends) -> list[object]:
    """What a change of the directory could change."""
    return [await ends.sources.search(SourceFilter()), await ends.keys.search(KeyFilter()), await ends.keys.find(MADE)]


class RevokedContract(WithEnds):
    """Changes under a credential that does not count any more."""

    @pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
    def test_a_credential_that_was_revoked_meanwhile_changes_nothing(self, change: Change) -> None:
        async def use(ends: Ends) -> None:
            await grant(ends)
            await ends.keys.create(replace(OPERATORS_KEY, id="key-2"), ANOTHER, actor=None)
            await ends.keys.revoke("key-2", actor=OPERATOR, os_user=None)
            before = await everything(ends)
            with pytest.raises(CredentialRevoked):
                await change(ends, NOBODYS)
            assert await everything(ends) == before
            await change(ends, OPERATOR)

        self._with_ends(use)

    @pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
    @pytest.mark.parametrize(
        "key", [None, a_key("key-2"), a_key("key-2", tenant="system"), a_key("key-2", principal="operator")]
    )
    def test_a_credential_that_is_not_the_actors_changes_nothing(self, change: Change, key: Key | None) -> None:
        async def use(ends: Ends) -> None:
            await grant(ends)
            if key is not None:
                await ends.keys.create(key, ANOTHER, actor=None)
            before = await everything(ends)
            with pytest.raises(CredentialRevoked):
                await change(ends, NOBODYS)
            assert await everything(ends) == before

        self._with_ends(use)

    @pytest.mark.parametrize("kind", ["write_off", "no_effect", "charged", "free_slot"])
    def test_an_act_under_a_revoked_credential_leaves_the_operation_as_it_was(self, kind: Any) -> None:
        async def use(ends: Ends) -> None:
            claim = await left_unknown(ends)
            before = await ends.operations.timeline(claim.operation_id), await ends.accounts.stranded()
            for act in (an_act(claim, kind, actor=NOBODYS), an_act(a_claim("never"), kind, actor=NOBODYS)):
                with pytest.raises(CredentialRevoked):
                    await ends.ledger.act(act)
            assert (await ends.operations.timeline(claim.operation_id), await ends.accounts.stranded()) == before
            ends.clock.us += 10**9
            assert isinstance(await ends.ledger.act(an_act(claim, kind)), Done)

        self._with_ends(use)

    def test_one_who_may_not_any_more_harms_none_of_those_beside(self) -> None:
        async def use(ends: Ends) -> None:
            unknown, other = await left_unknown(ends, "one"), await left_unknown(ends, "other")
            answers = await asyncio.gather(
                ends.sources.change(a_grant(), actor=OPERATOR, os_user=None),
                ends.sources.change(a_grant("faq"), actor=NOBODYS, os_user=None),
                ends.sources.change(a_grant("notes"), actor=CALLER, os_user=None),
                ends.ledger.act(an_act(unknown, "write_off", actor=NOBODYS)),
                ends.ledger.act(an_act(other, "write_off")),
                ends.keys.create(a_key("key-2"), ANOTHER[::-1], actor=NOBODYS),
                ends.keys.create(a_key("key-3"), MADE, actor=OPERATOR),
                ends.ledger.reloaded(ReloadRecord(actor=NOBODYS, taken=True, registry_digest="r", policy_revision="p")),
                granted(ends, "third"),
                return_exceptions=True,
            )
            revoked = [position for position, answer in enumerate(answers) if isinstance(answer, CredentialRevoked)]
            assert revoked == [1, 3, 5, 7]
            assert [type(answers[position]) for position in (0, 2)] == [Source, Source]
            assert [await state_of(ends, claim) for claim in (unknown, other)] == [State.UNKNOWN, State.CLOSED]
            assert [row.id for row in await ends.sources.search(SourceFilter())] == ["handbook", "notes"]
            assert [key.id for key in await ends.keys.search(KeyFilter(tenant="acme"))] == ["key-3", "key-1"]

        self._with_ends(use)

    def test_the_server_itself_is_not_checked(self) -> None:
        async def use(ends: Ends) -> None:
            await ends.keys.revoke("key-0", actor=OPERATOR, os_user=None)
            await ends.keys.create(replace(OPERATORS_KEY, id="key-2"), ANOTHER, actor=None, alone=True)
            await grant_as(ends, NOBODYS)

        self._with_ends(use)

    def test_ones_own_key_may_be_revoked_and_then_revokes_nothing_more(self) -> None:
        async def use(ends: Ends) -> None:
            revoked = await ends.keys.revoke("key-0", actor=OPERATOR, os_user=None)
            assert revoked == replace(OPERATORS_KEY, active=False)
            for key_id in ("key-0", "key-1"):
                with pytest.raises(CredentialRevoked):
                    await ends.keys.revoke(key_id, actor=OPERATOR, os_user=None)
            assert await ends.keys.find(CREDENTIAL) == a_key()

        self._with_ends(use)

    def test_of_two_who_revoke_each_other_at_once_one_is_left(self) -> None:
        async def use(ends: Ends) -> None:
            await ends.keys.create(replace(OPERATORS_KEY, id="key-2"), ANOTHER, actor=None)
            answers = await asyncio.gather(
                ends.keys.revoke("key-2", actor=OPERATOR, os_user=None),
                ends.keys.revoke("key-0", actor=NOBODYS, os_user=None),
                return_exceptions=True,
            )
            assert [type(answer) for answer in answers] == [Key, CredentialRevoked]
            assert [key.id for key in await ends.keys.search(KeyFilter(tenant="system", active=True))] == ["key-0"]

        self._with_ends(use)

    def test_a_key_that_is_to_be_alone_ends_what_its_actors_others_ask_for_beside(self) -> None:
        async def use(ends: Ends) -> None:
            own = replace(OPERATORS_KEY, id="key-2")
            answers = await asyncio.gather(
                ends.keys.create(own, ANOTHER, actor=OPERATOR, alone=True),
                ends.keys.create(a_key("key-3"), MADE, actor=OPERATOR),
                return_exceptions=True,
            )
            assert [type(answer) for answer in answers] == [type(None), CredentialRevoked]
            assert await ends.keys.find(MADE) is None
            await grant_as(ends, NOBODYS)

        self._with_ends(use)


async def grant_as(ends: Ends, actor: Caller) -> None:
    assert isinstance(await ends.sources.change(a_grant(), actor=actor, os_user=None), Source)
