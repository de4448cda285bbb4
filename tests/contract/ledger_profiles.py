"""Marks of profiles: set and taken away by persons, set by the gateway, kept over restarts; and canaries."""

import asyncio
from typing import Any

import pytest
from contract.ledger_ends import (
    DIGEST,
    NOW_US,
    OPERATOR,
    Ends,
    WithEnds,
    a_claim,
    budgets,
    dispatched,
    granted,
    key_hash,
    outcome,
    state_of,
)
from msgspec.structs import replace

from gateway.domain.errors import CredentialRevoked
from gateway.domain.operation import Identity, State
from gateway.domain.principal import CANARY, SYSTEM_TENANT
from gateway.domain.profile_state import ActNotLegal, Mark, ProfileAct, ProfileActKind, Quarantine, Shortfall
from gateway.ports.ledger import Claim, Dispatching, GrantLost, Settle, Settled, Stale, Superseded

FOUND = Quarantine(profile="small", profile_digest=DIGEST, reason="other_alias")
QUARANTINED = Mark(
    profile="small", kind="quarantined", profile_digest=DIGEST, reason="other_alias", who="gateway", since_us=NOW_US
)
DRAINED = replace(QUARANTINED, kind="draining", reason="new drivers", who="system/operator")


async def act(ends: Ends, kind: ProfileActKind, **changes: Any) -> ActNotLegal | None:
    asked = ProfileAct(kind=kind, profile="small", profile_digest=DIGEST, words="new drivers")
    return await ends.profiles.act(replace(asked, **changes), actor=OPERATOR, os_user="root")


def convicted(dispatch_id: str, reason: str = "other_model") -> Settle:
    settle = outcome(dispatch_id, State.CHARGED)
    return replace(settle, settlement=replace(settle.settlement, detail=reason))


def a_canary(key: str = "canary-1", **changes: Any) -> Claim:
    own: dict[str, Any] = {
        "identity": Identity(SYSTEM_TENANT, CANARY, key_hash(key)),
        "credential_hash": None,
        "access": None,
        "routes": None,
        "budgets": budgets()[:2],
    }
    return a_claim(key, **(own | changes))


class ProfileContract(WithEnds):
    """A profile serves unless it has a mark."""

    def test_what_is_drained_is_draining_until_it_is_resumed(self) -> None:
        async def use(ends: Ends) -> None:
            assert await ends.profiles.marks() == ()
            assert await act(ends, "drain") is None
            assert await ends.profiles.marks() == (DRAINED,)
            ends.restart()
            assert await ends.profiles.marks() == (DRAINED,)
            assert await act(ends, "resume") is None
            assert await ends.profiles.marks() == ()

        self._with_ends(use)

    def test_a_quarantine_outlives_a_restart_and_only_a_person_ends_it(self) -> None:
        async def use(ends: Ends) -> None:
            assert await ends.profiles.quarantine(FOUND) is True
            ends.restart()
            ends.clock.us += 7
            later = replace(FOUND, reason="other_model_file", profile_digest="sha256:later")
            assert await ends.profiles.quarantine(later) is False
            assert await ends.profiles.marks() == (QUARANTINED,)
            assert await act(ends, "resume") == ActNotLegal("quarantined")
            assert await act(ends, "release", profile_digest="sha256:later") is None
            assert await ends.profiles.marks() == ()

        self._with_ends(use)

    def test_a_quarantine_keeps_what_was_promised_and_what_was_reported(self) -> None:
        async def use(ends: Ends) -> None:
            short = Shortfall(131_072, 0)
            assert await ends.profiles.quarantine(replace(FOUND, reason="kv_cache_too_small", shortfall=short)) is True
            ends.restart()
            kept = replace(QUARANTINED, reason="kv_cache_too_small", shortfall=short)
            assert await ends.profiles.marks() == (kept,)
            again = replace(FOUND, reason="too_few_slots", shortfall=Shortfall(2, 1))
            assert await ends.profiles.quarantine(again) is False
            assert await ends.profiles.marks() == (kept,)

        self._with_ends(use)

    def test_one_that_was_drained_and_then_quarantined_is_still_drained_after_its_release(self) -> None:
        async def use(ends: Ends) -> None:
            await act(ends, "drain")
            await ends.profiles.quarantine(FOUND)
            assert await ends.profiles.marks() == (DRAINED, QUARANTINED)
            assert await act(ends, "drain") == ActNotLegal("quarantined")
            await act(ends, "release")
            assert await ends.profiles.marks() == (DRAINED,)

        self._with_ends(use)

    @pytest.mark.parametrize(
        ("before", "kind", "state"),
        [((), "resume", "serving"), ((), "release", "serving"), (("drain",), "drain", "draining")],
    )
    def test_an_act_on_what_is_so_already_is_not_legal(
        self, before: tuple[ProfileActKind, ...], kind: ProfileActKind, state: Any
    ) -> None:
        async def use(ends: Ends) -> None:
            for earlier in before:
                await act(ends, earlier)
            marks = await ends.profiles.marks()
            assert await act(ends, kind) == ActNotLegal(state)
            assert await ends.profiles.marks() == marks

        self._with_ends(use)

    def test_of_two_at_once_one_is_legal(self) -> None:
        async def use(ends: Ends) -> None:
            done = await asyncio.gather(act(ends, "drain"), act(ends, "drain"))
            assert sorted(done, key=lambda one: one is not None) == [None, ActNotLegal("draining")]
            found = await asyncio.gather(ends.profiles.quarantine(FOUND), ends.profiles.quarantine(FOUND))
            assert sorted(found) == [False, True]

        self._with_ends(use)

    def test_marks_are_of_one_profile(self) -> None:
        async def use(ends: Ends) -> None:
            await act(ends, "drain", profile="large")
            assert await act(ends, "resume") == ActNotLegal("serving")
            assert [mark.profile for mark in await ends.profiles.marks()] == ["large"]

        self._with_ends(use)

    @pytest.mark.parametrize("kind", ["drain", "resume", "release"])
    def test_whose_credential_does_not_count_any_more_changes_nothing(self, kind: ProfileActKind) -> None:
        async def use(ends: Ends) -> None:
            await ends.keys.revoke("key-0", actor=OPERATOR, os_user=None)
            with pytest.raises(CredentialRevoked):
                await act(ends, kind)
            assert await ends.profiles.marks() == ()

        self._with_ends(use)

    @pytest.mark.parametrize("reason", ["other_model", "other_fingerprint"])
    def test_an_answer_of_another_engine_quarantines_in_the_same_transaction(self, reason: str) -> None:
        async def use(ends: Ends) -> None:
            claim = await dispatched(ends)
            assert await ends.ledger.settle(convicted(claim.dispatch_id, reason)) == Settled()
            assert await ends.profiles.marks() == (replace(QUARANTINED, reason=reason, dispatch_id=claim.dispatch_id),)

        self._with_ends(use)

    def test_one_that_comes_too_late_quarantines_too(self) -> None:
        async def use(ends: Ends) -> None:
            claim = await dispatched(ends)
            await ends.ledger.settle(outcome(claim.dispatch_id, State.COMPLETED))
            late = await ends.ledger.settle(convicted(claim.dispatch_id))
            assert late == Superseded(State.COMPLETED)
            assert [mark.dispatch_id for mark in await ends.profiles.marks()] == [claim.dispatch_id]

        self._with_ends(use)

    @pytest.mark.parametrize("state", [State.COMPLETED, State.CHARGED, State.NO_EFFECT, State.UNKNOWN])
    def test_no_other_outcome_quarantines(self, state: State) -> None:
        async def use(ends: Ends) -> None:
            claim = await dispatched(ends)
            await ends.ledger.settle(outcome(claim.dispatch_id, state))
            assert await ends.profiles.marks() == ()

        self._with_ends(use)

    # Canaries

    def test_a_canary_is_dispatched_to_a_profile_that_is_not_ready(self) -> None:
        async def use(ends: Ends) -> None:
            ends.standing.objects_to_profiles = True
            claim = await granted(ends, **_changes_of(a_canary()))
            assert ends.standing.asked == [(DIGEST, None)]
            assert await ends.ledger.dispatch(claim.dispatch_id) == Dispatching()
            assert await ends.ledger.claim(a_claim("two")) == Stale("profile_not_ready")

        self._with_ends(use)

    def test_a_canary_is_not_dispatched_to_a_profile_that_is_drained(self) -> None:
        async def use(ends: Ends) -> None:
            claim = await granted(ends, **_changes_of(a_canary()))
            ends.standing.objects_to_profiles = ends.standing.marked = True
            assert await ends.ledger.dispatch(claim.dispatch_id) == GrantLost("profile_not_ready")

        self._with_ends(use)

    def test_a_canary_is_not_exempt_from_the_registry_in_force(self) -> None:
        async def use(ends: Ends) -> None:
            ends.standing.reason = "registry_changed"
            assert await ends.ledger.claim(a_canary()) == Stale("registry_changed")

        self._with_ends(use)

    def test_no_other_claim_is_without_a_credential(self) -> None:
        async def use(ends: Ends) -> None:
            assert await ends.ledger.claim(a_claim(credential_hash=None)) == Stale("credential_inactive")
            almost = Identity(SYSTEM_TENANT, "operator", key_hash("one"))
            assert await ends.ledger.claim(a_canary(identity=almost)) == Stale("credential_inactive")

        self._with_ends(use)

    def test_what_a_canary_used_is_counted_where_it_was_reserved(self) -> None:
        async def use(ends: Ends) -> None:
            claim = await granted(ends, **_changes_of(a_canary()))
            await ends.ledger.dispatch(claim.dispatch_id)
            await ends.ledger.settle(outcome(claim.dispatch_id, State.COMPLETED))
            assert await state_of(ends, claim) is State.COMPLETED
            used = {one.scope.kind: one.sums.day_tokens for one in await ends.accounts.usage()}
            assert used == {"profile": 350, "quota_scope": 350}
            assert await ends.accounts.verify() == ()
            events = [entry.event for entry in await ends.operations.timeline(claim.operation_id)]
            assert events == ["claimed", "dispatching", "settled"]

        self._with_ends(use)

    @pytest.mark.parametrize("end", ["settle", "sweep"])
    def test_a_canary_of_unknown_outcome_keeps_its_tokens_and_no_slot(self, end: str) -> None:
        async def use(ends: Ends) -> None:
            claim = await granted(ends, **_changes_of(a_canary()))
            await ends.ledger.dispatch(claim.dispatch_id)
            if end == "settle":
                await ends.ledger.settle(outcome(claim.dispatch_id, State.UNKNOWN))
            else:
                await ends.ledger.sweep(frozenset, earlier_incarnations=False)
            assert await state_of(ends, claim) is State.UNKNOWN
            for one in await ends.accounts.usage():
                assert (one.sums.slots_used, one.sums.slots_stranded) == (0, 0)
                assert one.sums.held_tokens == claim.reserved.tokens
            assert [hold.slot_held for hold in await ends.accounts.stranded()] == [False, False]
            assert await ends.accounts.verify() == ()
            *_, unknown, freed = await ends.operations.timeline(claim.operation_id)
            assert (unknown.event, freed.event) == ("unknown", "slot_freed")
            assert (freed.facts["by"], freed.facts["act"]) == ("system/canary", "free_slot")
            # It is closed like any other.
            await ends.ledger.settle(outcome(claim.dispatch_id, State.COMPLETED))
            assert await state_of(ends, claim) is State.COMPLETED
            assert await ends.accounts.verify() == ()

        self._with_ends(use)


def _changes_of(claim: Claim) -> dict[str, Any]:
    return {"key": "canary-1"} | {
        name: getattr(claim, name) for name in ("identity", "credential_hash", "access", "routes", "budgets")
    }
