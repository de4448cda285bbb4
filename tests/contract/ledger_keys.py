"""Keys: several per principal, listed, and revoked for good."""

import asyncio
import hashlib
from typing import Any

import pytest
from contract.ledger_ends import CREDENTIAL, OPERATOR, OPERATORS_KEY, Ends, WithEnds, a_claim, a_key, granted

from gateway.ports.ledger import Stale
from gateway.ports.reads import LONGEST_PAGE, Key, KeyFilter


async def made(ends: Ends, key_id: str, **changes: Any) -> bytes:
    """A key whose token is its id; returns the hash."""
    hashed = hashlib.sha256(key_id.encode()).digest()
    await ends.keys.create(a_key(key_id, **changes), hashed, actor=OPERATOR, os_user="root")
    return hashed


async def revoked(ends: Ends, key_id: str) -> Key | None:
    return await ends.keys.revoke(key_id, actor=OPERATOR, os_user=None)


class KeyContract(WithEnds):
    """Lists and revocations of keys."""

    def test_every_key_of_a_principal_counts_until_it_is_revoked(self) -> None:
        async def use(ends: Ends) -> None:
            second = await made(ends, "key-2")
            await granted(ends, "one", credential_hash=CREDENTIAL)
            await granted(ends, "two", credential_hash=second)
            assert await revoked(ends, "key-1") == a_key(active=False)
            assert await ends.keys.find(CREDENTIAL) == a_key(active=False)
            assert await ends.keys.find(second) == a_key("key-2")
            assert await ends.ledger.claim(a_claim("three")) == Stale("credential_inactive")
            await granted(ends, "three", credential_hash=second)

        self._with_ends(use)

    def test_twice_is_once_also_at_once(self) -> None:
        async def use(ends: Ends) -> None:
            answers = await asyncio.gather(*(revoked(ends, "key-1") for _ in range(3)), revoked(ends, "nothing"))
            assert answers == [a_key(active=False)] * 3 + [None]

        self._with_ends(use)

    def test_a_key_that_is_to_be_alone_retires_the_others_of_its_principal(self) -> None:
        async def use(ends: Ends) -> None:
            await made(ends, "key-2", principal="mailer")
            await made(ends, "key-3", tenant="umbrella")
            await ends.keys.create(a_key("key-4"), b"4" * 32, actor=None, alone=True)
            found = await ends.keys.search(KeyFilter(active=True))
            assert [key.id for key in found] == ["key-4", "key-3", "key-2", "key-0"]

        self._with_ends(use)

    @pytest.mark.parametrize(
        ("wanted", "expected"),
        [
            ({}, ["key-4", "key-3", "key-2", "key-1", "key-0"]),
            ({"tenant": "acme"}, ["key-4", "key-2", "key-1"]),
            ({"tenant": "acme", "principal": "reports"}, ["key-4", "key-1"]),
            ({"principal": "mailer"}, ["key-3", "key-2"]),
            ({"active": True}, ["key-3", "key-2", "key-1", "key-0"]),
            ({"active": False}, ["key-4"]),
            ({"before": "key-3"}, ["key-2", "key-1", "key-0"]),
            ({"before": "key-3", "limit": 1}, ["key-2"]),
            ({"limit": 0}, []),
            ({"limit": -1}, []),
            ({"tenant": "nobody"}, []),
        ],
    )
    def test_keys_are_found_by_what_is_wanted_newest_first(
        self, wanted: dict[str, object], expected: list[str]
    ) -> None:
        async def use(ends: Ends) -> None:
            await made(ends, "key-2", principal="mailer")
            await made(ends, "key-3", tenant="umbrella", principal="mailer")
            await made(ends, "key-4")
            await revoked(ends, "key-4")
            found = await ends.keys.search(KeyFilter(**wanted))
            assert [key.id for key in found] == expected
            assert a_key() in found or "key-1" not in expected

        self._with_ends(use)

    def test_a_page_of_keys_has_its_bound(self) -> None:
        async def use(ends: Ends) -> None:
            await asyncio.gather(*(made(ends, f"key-{n}") for n in range(1_000, 1_000 + LONGEST_PAGE)))
            page = await ends.keys.search(KeyFilter(limit=10 * LONGEST_PAGE))
            assert len(page) == LONGEST_PAGE
            assert await ends.keys.search(KeyFilter(before=page[-1].id)) == (a_key(), OPERATORS_KEY)

        self._with_ends(use)
