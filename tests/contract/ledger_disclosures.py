"""A saved answer is shown only while what was decided upon still holds."""

import hashlib
from typing import Any

import pytest
from contract.ledger_ends import (
    CALLER,
    CREDENTIAL,
    DIGEST,
    OPERATOR,
    Ends,
    WithEnds,
    a_disclosure,
    a_key,
    decision,
    decision_id,
    dispatched,
    grant,
    outcome,
    revoke,
)
from msgspec.structs import replace

from gateway.domain.operation import State
from gateway.domain.principal import Caller
from gateway.domain.request import SourceRef
from gateway.ports.ledger import Stale
from gateway.ports.reads import Key


async def _is_stale(ends: Ends, reason: str, **changes: Any) -> None:
    """Refused for this reason, without a row."""
    refused = a_disclosure(decision=decision("replay", id=decision_id()), **changes)
    assert await ends.ledger.disclose(refused) == Stale(reason)
    assert await ends.decisions.find(refused.decision.id) is None


class DisclosureContract(WithEnds):
    """Disclosures."""

    def test_a_disclosure_looks_at_the_sources_again(self) -> None:
        async def use(ends: Ends) -> None:
            await grant(ends)
            cited = {"sources": (SourceRef("handbook", "r1"),), "source_versions": (1,)}
            assert await ends.ledger.disclose(a_disclosure(**cited)) is None
            await revoke(ends)
            await _is_stale(ends, "source_changed", **cited)

        self._with_ends(use)

    def test_a_disclosure_looks_at_the_readers_credential_again(self) -> None:
        async def use(ends: Ends) -> None:
            assert await ends.ledger.disclose(a_disclosure()) is None
            second = hashlib.sha256(b"another").digest()
            await ends.keys.create(a_key("key-2"), second, actor=OPERATOR)
            await ends.keys.revoke("key-1", actor=OPERATOR, os_user=None)
            await _is_stale(ends, "credential_inactive")
            assert await ends.ledger.disclose(a_disclosure(reader=replace(CALLER, credential_hash=second))) is None

        self._with_ends(use)

    @pytest.mark.parametrize(
        "key",
        [
            None,
            a_key("key-2", active=False),
            a_key("key-2", principal="mailer"),
            a_key("key-2", tenant="umbrella"),
        ],
    )
    def test_a_credential_that_is_not_the_readers_active_one_is_stale(self, key: Key | None) -> None:
        async def use(ends: Ends) -> None:
            credential = hashlib.sha256(b"another").digest()
            if key is not None:
                await ends.keys.create(key, credential, actor=None)
            await _is_stale(ends, "credential_inactive", reader=Caller(CALLER.principal, credential))

        self._with_ends(use)

    def test_the_standing_is_asked_with_the_revision_alone_and_may_object(self) -> None:
        async def use(ends: Ends) -> None:
            ends.standing.reason = "profile_not_ready"
            assert await ends.ledger.disclose(a_disclosure()) is None
            ends.standing.reason = "registry_changed"
            await _is_stale(ends, "registry_changed", policy_revision="sha256:earlier")
            assert ends.standing.decided == [DIGEST, "sha256:earlier"]
            assert ends.standing.asked == []

        self._with_ends(use)

    def test_the_credential_is_looked_at_first_and_the_sources_before_the_revision(self) -> None:
        async def use(ends: Ends) -> None:
            ends.standing.reason = "registry_changed"
            cited = {"sources": (SourceRef("missing", "r1"),), "source_versions": (1,)}
            await _is_stale(ends, "source_changed", **cited)
            await _is_stale(
                ends, "credential_inactive", reader=replace(CALLER, credential_hash=CREDENTIAL[::-1]), **cited
            )

        self._with_ends(use)

    def test_a_refused_disclosure_is_no_part_of_the_timeline(self) -> None:
        async def use(ends: Ends) -> None:
            claim = await dispatched(ends)
            await ends.ledger.settle(outcome(claim.dispatch_id, State.COMPLETED))
            before = await ends.operations.timeline(claim.operation_id)
            await ends.keys.revoke("key-1", actor=OPERATOR, os_user=None)
            await _is_stale(ends, "credential_inactive", operation_id=claim.operation_id)
            assert await ends.operations.timeline(claim.operation_id) == before

        self._with_ends(use)
