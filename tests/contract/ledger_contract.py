"""What every Ledger with its reads keeps, the fake and the one on SQLite. A subclass provides the ends."""

import asyncio
import hashlib
from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager
from typing import Any, Protocol, TypeVar

import pytest
import uuid_utils
from msgspec.structs import replace

from gateway.domain.budget import Reservation, Scope, Settlement
from gateway.domain.errors import IllegalMove
from gateway.domain.fingerprint import Fingerprint
from gateway.domain.operation import Identity, State, StoredResult
from gateway.domain.principal import Caller, Principal
from gateway.domain.questions import Decision
from gateway.domain.request import SourceRef
from gateway.domain.usage import Usage
from gateway.ports.ledger import (
    AlreadyExists,
    Claim,
    Disclosure,
    Dispatching,
    Granted,
    GrantLost,
    Ledger,
    RefusalRecord,
    Settle,
    Settled,
    Stale,
    Superseded,
    Swept,
)
from gateway.ports.reads import Key, Operations, SourceChange

T = TypeVar("T")

CREDENTIAL = hashlib.sha256(b"the credential").digest()
CALLER = Caller(Principal("acme", "reports", ("staff",), ("generate",)), CREDENTIAL)
DIGEST = "sha256:" + "a" * 64
NOW_US = 1_796_040_000_000_000


def nobody() -> frozenset[str]:
    """No attempt has a task."""
    return frozenset()


class ManualClock:
    """A clock that stands still until it is moved."""

    def __init__(self) -> None:
        self.us = NOW_US

    def now_us(self) -> int:
        return self.us

    def boot_s(self) -> float:
        return self.us / 1e6


class ScriptedStanding:
    """Objects as a test wants it."""

    def __init__(self) -> None:
        self.reason: str | None = None
        self.asked: list[tuple[str | None, str]] = []

    def objection(self, snapshot_digest: str | None, profile: str) -> str | None:
        self.asked.append((snapshot_digest, profile))
        return self.reason


class Ends(Protocol):
    """A store, and what surrounds it."""

    clock: ManualClock
    standing: ScriptedStanding
    ledger: Ledger
    operations: Operations
    sources: Any
    """gateway.ports.reads.Sources with ``put``."""
    keys: Any

    def restart(self) -> None:
        """The process ends at once, and another begins on what is stored."""


def decision(entrypoint: str) -> Decision:
    return Decision(id=f"d-{entrypoint}", entrypoint=entrypoint, revision=DIGEST, question_digest="b" * 64)


def key_hash(key: str) -> bytes:
    return hashlib.sha256(key.encode()).digest()


def a_claim(key: str = "one", **changes: Any) -> Claim:
    claim = Claim(
        operation_id=str(uuid_utils.uuid7()),
        identity=Identity("acme", "reports", key_hash(key)),
        credential_hash=CREDENTIAL,
        fingerprint=Fingerprint(1, "f" * 64, {"model": "0" * 16}),
        alias="chat",
        purpose="general",
        sources=(),
        source_versions=(),
        snapshot_digest=DIGEST,
        profile="small",
        profile_digest=DIGEST,
        bundle="chat@1",
        bundle_digest=DIGEST,
        policy_revision=DIGEST,
        access=decision("access"),
        routes=decision("routes"),
        dispatch_id=str(uuid_utils.uuid7()),
        reserved=Reservation(300, 100),
        scopes=(Scope("tenant", "acme"), Scope("quota_scope", "engine"), Scope("profile", "small")),
        max_attempts=2,
        total_timeout_ms=30_000,
    )
    return replace(claim, **changes)


def outcome(dispatch_id: str, state: State, *, used: Usage | None = None, body: bytes = b'{"answer":42}') -> Settle:
    """T3 for a state, with what that state needs."""
    spent = state in (State.COMPLETED, State.CHARGED)
    settlement = Settlement(
        state=state,
        used=(used or Usage(300, 50)) if spent else None,
        basis="provider" if spent else None,
        detail=f"detail_{state.value}",
    )
    result = StoredResult(body, hashlib.sha256(body).hexdigest()) if state is State.COMPLETED else None
    return Settle(
        dispatch_id=dispatch_id, settlement=settlement, result=result, provider_ref="ref-1" if spent else None
    )


def a_source(source_id: str = "handbook", **changes: Any) -> SourceChange:
    change = SourceChange(
        id=source_id,
        revision="r1",
        tenant="acme",
        groups=("staff",),
        privacy_class="internal",
        released_s=1_700_000_000,
        withdrawn=False,
        actor=None,
    )
    return replace(change, **changes)


def a_key(key_id: str = "key-1", **changes: Any) -> Key:
    key = Key(id=key_id, tenant="acme", principal="reports", active=True, created_us=NOW_US, label="a laptop")
    return replace(key, **changes)


async def granted(ends: Ends, key: str = "one", **changes: Any) -> Claim:
    claim = a_claim(key, **changes)
    answer = await ends.ledger.claim(claim)
    assert isinstance(answer, Granted)
    return replace(claim, operation_id=answer.operation_id)


async def dispatched(ends: Ends, key: str = "one", **changes: Any) -> Claim:
    claim = await granted(ends, key, **changes)
    assert await ends.ledger.dispatch(claim.dispatch_id) == Dispatching()
    return claim


async def state_of(ends: Ends, claim: Claim) -> State:
    operation = await ends.operations.get(claim.operation_id)
    assert operation is not None
    return operation.last.state


class LedgerContract:
    """Inherit, and implement ``ends``."""

    ends: Callable[[], AbstractContextManager[Ends]]

    def _with_ends(self, use: Callable[[Ends], Awaitable[T]]) -> T:
        with self.ends() as ends:

            async def run() -> T:
                await ends.keys.create(a_key(), CREDENTIAL, actor=None)
                return await use(ends)

            return asyncio.run(run())

    # Claims

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
            await ends.sources.put(a_source())
            cited = {"sources": (SourceRef("handbook", "r1"), SourceRef("missing", "r1"))}
            await granted(ends, "before", **cited, source_versions=(1, 0))
            await ends.sources.put(a_source(withdrawn=True))
            stale = await ends.ledger.claim(a_claim("after", **cited, source_versions=(1, 0)))
            assert stale == Stale("source_changed")
            appeared = await ends.ledger.claim(a_claim("after", **cited, source_versions=(2, 1)))
            assert appeared == Stale("source_changed")
            await granted(ends, "after", **cited, source_versions=(2, 0))

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

    # Dispatches

    def test_a_grant_is_dispatched_once(self) -> None:
        async def use(ends: Ends) -> None:
            claim = await granted(ends)
            answers = await asyncio.gather(*(ends.ledger.dispatch(claim.dispatch_id) for _ in range(3)))
            assert answers == [Dispatching(), GrantLost("not_granted"), GrantLost("not_granted")]
            operation = await ends.operations.get(claim.operation_id)
            assert operation is not None
            assert operation.attempts_dispatched == 1
            assert operation.last.dispatching_us == NOW_US
            assert operation.last.unknown_after_us == NOW_US + 2_000_000 + 30_000_000 + 60_000_000

        self._with_ends(use)

    def test_a_grant_that_never_was_cannot_be_dispatched(self) -> None:
        async def use(ends: Ends) -> None:
            assert await ends.ledger.dispatch("nothing") == GrantLost("no_such_grant")

        self._with_ends(use)

    def test_a_grant_of_five_seconds_is_fresh_and_an_older_one_is_given_back(self) -> None:
        async def use(ends: Ends) -> None:
            fresh, old = await granted(ends, "fresh"), await granted(ends, "old")
            ends.clock.us += 5_000_000
            assert await ends.ledger.dispatch(fresh.dispatch_id) == Dispatching()
            ends.clock.us += 1
            assert await ends.ledger.dispatch(old.dispatch_id) == GrantLost("grant_expired")
            assert await state_of(ends, old) is State.RELEASED

        self._with_ends(use)

    def test_a_grant_whose_profile_is_no_longer_ready_is_given_back(self) -> None:
        async def use(ends: Ends) -> None:
            claim = await granted(ends)
            ends.standing.reason = "profile_not_ready"
            assert await ends.ledger.dispatch(claim.dispatch_id) == GrantLost("profile_not_ready")
            assert ends.standing.asked[-1] == (None, "small")
            assert await state_of(ends, claim) is State.RELEASED

        self._with_ends(use)

    def test_a_grant_of_an_earlier_process_cannot_be_dispatched(self) -> None:
        async def use(ends: Ends) -> None:
            claim = await granted(ends)
            ends.restart()
            assert await ends.ledger.dispatch(claim.dispatch_id) == GrantLost("not_granted")

        self._with_ends(use)

    # Settlements

    def test_a_completed_attempt_has_its_result_and_its_amounts(self) -> None:
        async def use(ends: Ends) -> None:
            claim = await dispatched(ends)
            assert await ends.operations.result(claim.operation_id) is None
            ends.clock.us += 7
            settle = outcome(claim.dispatch_id, State.COMPLETED)
            assert await ends.ledger.settle(settle) == Settled()
            assert await ends.operations.result(claim.operation_id) == settle.result
            operation = await ends.operations.get(claim.operation_id)
            assert operation is not None
            last = operation.last
            assert (last.state, last.used_input, last.used_output) == (State.COMPLETED, 300, 50)
            assert (last.usage_basis, last.detail, last.finished_us) == ("provider", "detail_completed", NOW_US + 7)

        self._with_ends(use)

    @pytest.mark.parametrize("late", [State.COMPLETED, State.CHARGED])
    def test_a_late_definite_outcome_closes_an_unknown(self, late: State) -> None:
        async def use(ends: Ends) -> None:
            claim = await dispatched(ends)
            assert await ends.ledger.settle(outcome(claim.dispatch_id, State.UNKNOWN)) == Settled()
            assert await ends.ledger.settle(outcome(claim.dispatch_id, late)) == Settled()
            assert await state_of(ends, claim) is late

        self._with_ends(use)

    def test_an_unknown_is_never_found_to_have_had_no_effect(self) -> None:
        async def use(ends: Ends) -> None:
            claim = await dispatched(ends)
            await ends.ledger.settle(outcome(claim.dispatch_id, State.UNKNOWN))
            late = await ends.ledger.settle(outcome(claim.dispatch_id, State.NO_EFFECT))
            assert late == Superseded(State.UNKNOWN)
            assert await state_of(ends, claim) is State.UNKNOWN

        self._with_ends(use)

    def test_of_two_outcomes_the_first_stands(self) -> None:
        async def use(ends: Ends) -> None:
            claim = await dispatched(ends)
            first = outcome(claim.dispatch_id, State.COMPLETED)
            answers = await asyncio.gather(
                ends.ledger.settle(first),
                ends.ledger.settle(outcome(claim.dispatch_id, State.CHARGED)),
                ends.ledger.settle(outcome(claim.dispatch_id, State.COMPLETED, body=b"another")),
            )
            assert answers == [Settled(), Superseded(State.COMPLETED), Superseded(State.COMPLETED)]
            assert await ends.operations.result(claim.operation_id) == first.result

        self._with_ends(use)

    @pytest.mark.parametrize("state", list(State))
    def test_nothing_is_settled_before_it_is_dispatching(self, state: State) -> None:
        async def use(ends: Ends) -> None:
            claim = await granted(ends)
            with pytest.raises(IllegalMove):
                await ends.ledger.settle(outcome(claim.dispatch_id, state))
            assert await state_of(ends, claim) is State.GRANTED

        self._with_ends(use)

    @pytest.mark.parametrize("state", [State.GRANTED, State.DISPATCHING, State.RELEASED, State.CLOSED])
    def test_a_sender_cannot_conclude_what_it_cannot_know(self, state: State) -> None:
        async def use(ends: Ends) -> None:
            claim = await dispatched(ends)
            with pytest.raises(IllegalMove):
                await ends.ledger.settle(outcome(claim.dispatch_id, state))
            assert await state_of(ends, claim) is State.DISPATCHING

        self._with_ends(use)

    def test_completed_needs_a_result_and_nothing_else_has_one(self) -> None:
        async def use(ends: Ends) -> None:
            claim = await dispatched(ends)
            completed = outcome(claim.dispatch_id, State.COMPLETED)
            with pytest.raises(IllegalMove):
                await ends.ledger.settle(replace(completed, result=None))
            with pytest.raises(IllegalMove):
                await ends.ledger.settle(replace(outcome(claim.dispatch_id, State.CHARGED), result=completed.result))
            assert await ends.ledger.settle(completed) == Settled()

        self._with_ends(use)

    # Releases and sweeps

    def test_a_grant_can_be_given_back_and_a_dispatch_cannot(self) -> None:
        async def use(ends: Ends) -> None:
            unsent, sent = await granted(ends, "unsent"), await dispatched(ends, "sent")
            for dispatch_id in (unsent.dispatch_id, sent.dispatch_id, "nothing"):
                await ends.ledger.release(dispatch_id)
            assert (await state_of(ends, unsent), await state_of(ends, sent)) == (State.RELEASED, State.DISPATCHING)

        self._with_ends(use)

    def test_a_sweep_resolves_what_has_no_task_and_leaves_the_rest(self) -> None:
        async def use(ends: Ends) -> None:
            unsent, sent = await granted(ends, "unsent"), await dispatched(ends, "sent")
            held, sending = await granted(ends, "held"), await dispatched(ends, "sending")
            done = await dispatched(ends, "done")
            await ends.ledger.settle(outcome(done.dispatch_id, State.COMPLETED))
            alive = frozenset({held.dispatch_id, sending.dispatch_id})
            swept = await ends.ledger.sweep(lambda: alive, earlier_incarnations=False)
            assert swept == Swept((unsent.dispatch_id,), (sent.dispatch_id,))
            states = [await state_of(ends, claim) for claim in (unsent, sent, held, sending, done)]
            assert states == [
                State.RELEASED,
                State.UNKNOWN,
                State.GRANTED,
                State.DISPATCHING,
                State.COMPLETED,
            ]
            assert await ends.ledger.sweep(lambda: alive, earlier_incarnations=False) == Swept((), ())

        self._with_ends(use)

    def test_what_an_earlier_process_left_is_swept_at_start_only(self) -> None:
        async def use(ends: Ends) -> None:
            unsent, sent = await granted(ends, "unsent"), await dispatched(ends, "sent")
            ends.restart()
            assert await ends.ledger.sweep(nobody, earlier_incarnations=False) == Swept((), ())
            swept = await ends.ledger.sweep(nobody, earlier_incarnations=True)
            assert swept == Swept((unsent.dispatch_id,), (sent.dispatch_id,))
            assert (await state_of(ends, unsent), await state_of(ends, sent)) == (State.RELEASED, State.UNKNOWN)

        self._with_ends(use)

    # Disclosures, refusals

    def test_a_disclosure_looks_at_the_sources_again(self) -> None:
        async def use(ends: Ends) -> None:
            await ends.sources.put(a_source())
            disclosure = Disclosure(
                operation_id="op",
                reader=CALLER,
                decision=decision("replay"),
                sources=(SourceRef("handbook", "r1"),),
                source_versions=(1,),
            )
            assert await ends.ledger.disclose(disclosure) is None
            await ends.sources.put(a_source(groups=()))
            assert await ends.ledger.disclose(disclosure) == Stale("source_changed")

        self._with_ends(use)

    def test_a_refusal_is_taken(self) -> None:
        async def use(ends: Ends) -> None:
            record = RefusalRecord(
                caller=CALLER,
                code="access_denied",
                policy_codes=("request_alias",),
                operation_id=None,
                decisions=(decision("access"),),
            )
            await ends.ledger.refuse(record)

        self._with_ends(use)

    # Reads

    def test_what_is_not_there_is_none(self) -> None:
        async def use(ends: Ends) -> None:
            assert await ends.operations.get("nothing") is None
            assert await ends.operations.find(a_claim("nothing").identity) is None
            assert await ends.operations.result("nothing") is None
            assert await ends.keys.find(b"n" * 32) is None

        self._with_ends(use)

    def test_facts_come_in_order_and_a_source_without_a_row_is_unknown(self) -> None:
        async def use(ends: Ends) -> None:
            await ends.sources.put(a_source())
            await ends.sources.put(a_source(revision="r2", groups=("staff", "board"), withdrawn=True))
            refs = (SourceRef("missing", "r9"), SourceRef("handbook", "r1"))
            missing, handbook = await ends.sources.facts(refs)
            assert (missing.ref, missing.version, missing.fact.known, missing.fact.withdrawn) == (
                refs[0],
                0,
                False,
                True,
            )
            assert (handbook.ref, handbook.version, handbook.fact.known) == (refs[1], 2, True)
            fact = handbook.fact
            assert (fact.cited, fact.revision, fact.tenant, fact.groups) == ("r1", "r2", "acme", ("staff", "board"))
            assert (fact.privacy_class, fact.released_s, fact.withdrawn) == ("internal", 1_700_000_000, True)

        self._with_ends(use)

    def test_a_key_is_found_by_the_hash_of_its_token(self) -> None:
        async def use(ends: Ends) -> None:
            inactive = a_key("key-2", active=False)
            await ends.keys.create(inactive, b"2" * 32, actor=CALLER)
            assert await ends.keys.find(CREDENTIAL) == a_key()
            assert await ends.keys.find(b"2" * 32) == inactive

        self._with_ends(use)
