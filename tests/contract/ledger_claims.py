"""T1: which claims are granted."""

import asyncio
import hashlib
from typing import Any

import pytest
from contract.ledger_ends import (
    DIGEST,
    NOW_US,
    OPERATOR,
    Ends,
    WithEnds,
    a_claim,
    a_key,
    dispatched,
    grant,
    granted,
    key_hash,
    outcome,
    withdraw,
)

from gateway.domain.fingerprint import Fingerprint
from gateway.domain.operation import Identity, State
from gateway.domain.request import SourceRef
from gateway.ports.ledger import AlreadyExists, Granted, Settled, Stale
from gateway.ports.reads import Key


class ClaimContract(WithEnds):
    """T1: which claims are granted."""

    def test_a_new_key_is_granted_its_first_attempt(self) -> None:
        async def use(ends: Ends) -> None:
            claim = a_claim()
            assert await ends.ledger.claim(claim) == Granted(claim.operation_id, 1)
            found = await ends.operations.find(claim.identity)
            assert found is not None
            assert found == await ends.operations.get(claim.operation_id)
            assert (found.id, found.identity, found.fingerprint) == (
                claim.operation_id,
                claim.identity,
                claim.fingerprint,
            )
            assert (found.bundle, found.bundle_digest, found.max_attempts) == ("chat@1", DIGEST, 2)
            assert (found.created_us, found.attempts_dispatched) == (NOW_US, 0)
            last = found.last
            assert (last.n, last.state, last.dispatch_id) == (1, State.GRANTED, claim.dispatch_id)
            assert (last.reserved_input, last.reserved_output, last.granted_us) == (300, 100, NOW_US)
            assert (last.used_input, last.dispatching_us, last.finished_us, last.unknown_after_us) == (None,) * 4

        self._with_ends(use)

    def test_of_ten_claims_of_one_key_at_once_one_is_granted(self) -> None:
        async def use(ends: Ends) -> None:
            claims = [a_claim("the same") for _ in range(10)]
            answers = await asyncio.gather(*(ends.ledger.claim(claim) for claim in claims))
            assert [type(answer) for answer in answers] == [Granted] + [AlreadyExists] * 9

        self._with_ends(use)

    def test_a_key_belongs_to_its_principal(self) -> None:
        async def use(ends: Ends) -> None:
            other_credential = hashlib.sha256(b"another").digest()
            await ends.keys.create(a_key("key-2", principal="mailer"), other_credential, actor=None)
            await granted(ends, "the same")
            other = Identity("acme", "mailer", key_hash("the same"))
            await granted(ends, "the same", identity=other, credential_hash=other_credential)

        self._with_ends(use)

    @pytest.mark.parametrize("state", [State.COMPLETED, State.CHARGED, State.UNKNOWN])
    def test_a_key_whose_attempt_may_have_had_an_effect_gets_no_other(self, state: State) -> None:
        async def use(ends: Ends) -> None:
            claim = await dispatched(ends)
            assert await ends.ledger.settle(outcome(claim.dispatch_id, state)) == Settled()
            assert await ends.ledger.claim(a_claim()) == AlreadyExists()

        self._with_ends(use)

    def test_an_open_attempt_excludes_another(self) -> None:
        async def use(ends: Ends) -> None:
            claim = await granted(ends)
            assert await ends.ledger.claim(a_claim()) == AlreadyExists()
            await ends.ledger.dispatch(claim.dispatch_id)
            assert await ends.ledger.claim(a_claim()) == AlreadyExists()

        self._with_ends(use)

    def test_a_released_grant_may_be_granted_again_any_number_of_times(self) -> None:
        async def use(ends: Ends) -> None:
            first = await granted(ends)
            for n in (2, 3, 4):
                operation = await ends.operations.get(first.operation_id)
                assert operation is not None
                await ends.ledger.release(operation.last.dispatch_id)
                assert await ends.ledger.claim(a_claim()) == Granted(first.operation_id, n)

        self._with_ends(use)

    def test_attempts_without_effect_may_follow_each_other_up_to_the_maximum(self) -> None:
        async def use(ends: Ends) -> None:
            for n in (1, 2):
                claim = await dispatched(ends)
                assert await ends.ledger.settle(outcome(claim.dispatch_id, State.NO_EFFECT)) == Settled()
                operation = await ends.operations.find(claim.identity)
                assert operation is not None
                assert (operation.last.n, operation.attempts_dispatched) == (n, n)
            assert await ends.ledger.claim(a_claim()) == AlreadyExists()

        self._with_ends(use)

    @pytest.mark.parametrize(
        "changes",
        [
            {"fingerprint": Fingerprint(1, "e" * 64, {})},
            {"fingerprint": Fingerprint(2, "f" * 64, {})},
            {"bundle_digest": "sha256:" + "b" * 64},
        ],
        ids=["parameters", "version", "bundle"],
    )
    def test_another_attempt_needs_the_same_request_and_the_first_bundle(self, changes: dict[str, Any]) -> None:
        async def use(ends: Ends) -> None:
            claim = await granted(ends)
            await ends.ledger.release(claim.dispatch_id)
            assert await ends.ledger.claim(a_claim(**changes)) == AlreadyExists()
            assert isinstance(await ends.ledger.claim(a_claim()), Granted)

        self._with_ends(use)

    @pytest.mark.parametrize("key", [None, a_key("key-2", active=False), a_key("key-2", principal="mailer")])
    def test_a_credential_that_is_not_this_principals_active_one_is_stale(self, key: Key | None) -> None:
        async def use(ends: Ends) -> None:
            credential = hashlib.sha256(b"another").digest()
            if key is not None:
                await ends.keys.create(key, credential, actor=None)
            assert await ends.ledger.claim(a_claim(credential_hash=credential)) == Stale("credential_inactive")
            assert await ends.operations.find(a_claim().identity) is None

        self._with_ends(use)

    def test_a_source_that_changed_since_the_decision_is_stale(self) -> None:
        async def use(ends: Ends) -> None:
            await grant(ends)
            cited = {"sources": (SourceRef("handbook", "r1"), SourceRef("missing", "r1"))}
            await granted(ends, "before", **cited, source_versions=(1, 0))
            await withdraw(ends)
            stale = await ends.ledger.claim(a_claim("after", **cited, source_versions=(1, 0)))
            assert stale == Stale("source_changed")
            appeared = await ends.ledger.claim(a_claim("after", **cited, source_versions=(2, 1)))
            assert appeared == Stale("source_changed")
            await granted(ends, "after", **cited, source_versions=(2, 0))

        self._with_ends(use)

    def test_a_key_that_was_revoked_since_it_was_found_is_stale(self) -> None:
        async def use(ends: Ends) -> None:
            await granted(ends, "before")
            await ends.keys.revoke("key-1", actor=OPERATOR, os_user=None)
            assert await ends.ledger.claim(a_claim("after")) == Stale("credential_inactive")

        self._with_ends(use)

    def test_the_standing_is_asked_with_snapshot_and_profile_and_may_object(self) -> None:
        async def use(ends: Ends) -> None:
            ends.standing.reason = "registry_changed"
            assert await ends.ledger.claim(a_claim()) == Stale("registry_changed")
            assert ends.standing.asked == [(DIGEST, "small")]

        self._with_ends(use)

    def test_that_the_key_exists_wins_over_every_other_objection(self) -> None:
        async def use(ends: Ends) -> None:
            await granted(ends)
            ends.standing.reason = "registry_changed"
            assert await ends.ledger.claim(a_claim(credential_hash=b"x" * 32)) == AlreadyExists()

        self._with_ends(use)
