"""A store as the contract sees it, and examples of what goes into one."""

import asyncio
import hashlib
from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager
from typing import Any, Protocol, TypeVar
from uuid import UUID

import uuid_utils
from msgspec.structs import replace

from gateway.domain.budget import Reservation, Scope, Settlement
from gateway.domain.fingerprint import Fingerprint
from gateway.domain.limits import Budget, Ceilings
from gateway.domain.money import Tariff, Tier
from gateway.domain.operation import Identity, State, StoredResult
from gateway.domain.principal import Caller, Principal
from gateway.domain.questions import Decision
from gateway.domain.reconciliation import Act, ActKind
from gateway.domain.source import GrantSource, RevokeSource, Source, SourceAct, SourceActResult, WithdrawSource
from gateway.domain.usage import Usage
from gateway.ports.ledger import Claim, Disclosure, Dispatching, Granted, Ledger, Settle, Settled
from gateway.ports.profiles import Profiles
from gateway.ports.reads import Accounts, Decisions, Key, Keys, Operations, Sources

T = TypeVar("T")

CREDENTIAL = hashlib.sha256(b"the credential").digest()
CALLER = Caller(Principal("acme", "reports", ("staff",), ("generate",)), CREDENTIAL)
OPERATOR = Caller(Principal("system", "operator", (), ("operator",)), hashlib.sha256(b"the operator's").digest())
DIGEST = "sha256:" + "a" * 64
NOW_US = 1_796_040_000_000_000
FREE = Tariff((Tier(0, 0, 0),))
NO_LIMITS = Ceilings(
    requests_per_minute=None,
    tokens_per_minute=None,
    tokens_per_day=None,
    tokens_per_month=None,
    cost_per_month=None,
    concurrency=None,
)


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
        self.objects_to_profiles = False
        """Whether no profile is ready."""
        self.marked = False
        """Whether all are drained."""
        self.asked: list[tuple[str | None, str | None]] = []
        self.decided: list[str] = []

    def objection(self, policy_revision: str | None, profile: str | None) -> str | None:
        self.asked.append((policy_revision, profile))
        return "profile_not_ready" if self.objects_to_profiles and profile is not None else self.reason

    def is_marked(self, profile: str) -> bool:  # noqa: ARG002 - as Standing's
        return self.marked

    def is_in_force(self, policy_revision: str) -> bool:
        self.decided.append(policy_revision)
        return self.reason != "registry_changed"


class Ends(Protocol):
    """A store, and what surrounds it."""

    clock: ManualClock
    standing: ScriptedStanding
    ledger: Ledger
    operations: Operations
    accounts: Accounts
    decisions: Decisions
    sources: Sources
    keys: Keys
    profiles: Profiles

    def restart(self) -> None:
        """The process ends at once, and another begins on what is stored."""


def decision(entrypoint: str, **changes: Any) -> Decision:
    made = Decision(id=f"d-{entrypoint}", entrypoint=entrypoint, revision=DIGEST, question_digest="b" * 64)
    return replace(made, **changes)


def decision_id(made_us: int = NOW_US) -> str:
    """A new uuid7 of that time, in whole milliseconds."""
    random = uuid_utils.uuid7().int & (2**80 - 1)
    return str(UUID(int=made_us // 1_000 << 80 | random))


def key_hash(key: str) -> bytes:
    return hashlib.sha256(key.encode()).digest()


def budgets(
    *, tenant: str = "acme", quota_scope: str = "engine", profile: str = "small", **limits: Any
) -> tuple[Budget, ...]:
    """Three scopes without limits. ``limits`` are those of the kinds of scopes, such as ``of_tenant={...}``."""
    scopes = (Scope("profile", profile), Scope("quota_scope", quota_scope), Scope("tenant", tenant))
    return tuple(Budget(scope, replace(NO_LIMITS, **limits.get(f"of_{scope.kind}", {}))) for scope in scopes)


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
        tariff=FREE,
        budgets=budgets(),
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


def a_grant(source_id: str = "handbook", **changes: Any) -> GrantSource:
    grant = GrantSource(
        id=source_id,
        tenant="acme",
        groups=("staff",),
        privacy_class="internal",
        revision="r1",
        released_s=1_700_000_000,
        as_of_s=NOW_US // 1_000_000,
    )
    return replace(grant, **changes)


async def try_to_change(ends: Ends, act: SourceAct) -> SourceActResult:
    return await ends.sources.change(act, actor=OPERATOR, os_user=None)


async def change(ends: Ends, act: SourceAct) -> Source:
    row = await try_to_change(ends, act)
    assert isinstance(row, Source)
    return row


async def grant(ends: Ends, source_id: str = "handbook", **changes: Any) -> Source:
    return await change(ends, a_grant(source_id, **changes))


async def revoke(ends: Ends, *groups: str, source_id: str = "handbook") -> Source:
    return await change(ends, RevokeSource(id=source_id, groups=groups))


async def withdraw(ends: Ends, source_id: str = "handbook") -> Source:
    return await change(ends, WithdrawSource(id=source_id))


def a_key(key_id: str = "key-1", **changes: Any) -> Key:
    key = Key(id=key_id, tenant="acme", principal="reports", active=True, created_us=NOW_US, label="a laptop")
    return replace(key, **changes)


OPERATORS_KEY = a_key("key-0", tenant="system", principal="operator", label="data directory")


async def put_keys(ends: Ends) -> None:
    """The credentials of CALLER and of OPERATOR, as a start puts them there."""
    await ends.keys.create(a_key(), CREDENTIAL, actor=None)
    await ends.keys.create(OPERATORS_KEY, OPERATOR.credential_hash, actor=None)


async def granted(ends: Ends, key: str = "one", **changes: Any) -> Claim:
    claim = a_claim(key, **changes)
    answer = await ends.ledger.claim(claim)
    assert isinstance(answer, Granted)
    return replace(claim, operation_id=answer.operation_id)


async def dispatched(ends: Ends, key: str = "one", **changes: Any) -> Claim:
    claim = await granted(ends, key, **changes)
    assert await ends.ledger.dispatch(claim.dispatch_id) == Dispatching()
    return claim


async def left_unknown(ends: Ends, key: str = "one", **changes: Any) -> Claim:
    claim = await dispatched(ends, key, **changes)
    assert await ends.ledger.settle(outcome(claim.dispatch_id, State.UNKNOWN)) == Settled()
    return claim


def a_disclosure(**changes: Any) -> Disclosure:
    disclosure = Disclosure(
        operation_id="op",
        reader=CALLER,
        policy_revision=DIGEST,
        decision=decision("replay"),
        sources=(),
        source_versions=(),
    )
    return replace(disclosure, **changes)


def an_act(claim: Claim, kind: ActKind, **changes: Any) -> Act:
    act = Act(
        kind=kind,
        operation_id=claim.operation_id,
        actor=OPERATOR,
        os_user=None,
        words="no trace of it in the provider's log",
        used=Usage(300, 20) if kind == "charged" else None,
    )
    return replace(act, **changes)


async def state_of(ends: Ends, claim: Claim) -> State:
    operation = await ends.operations.get(claim.operation_id)
    assert operation is not None
    return operation.last.state


class WithEnds:
    """Inherit, and implement ``ends``."""

    ends: Callable[[], AbstractContextManager[Ends]]

    def _with_ends(self, use: Callable[[Ends], Awaitable[T]]) -> T:
        with self.ends() as ends:

            async def run() -> T:
                await put_keys(ends)
                return await use(ends)

            return asyncio.run(run())
