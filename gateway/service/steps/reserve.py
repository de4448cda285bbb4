"""T1, the point of decision: claim, decisions, holds and grant in one durable transaction.

The only maker of a FreshGrant. Budgets are reserved before transport and shared by all (promise G9).
"""

import hashlib

import uuid_utils

from gateway.domain.budget import Reservation, Scope
from gateway.domain.canary import CANARY_REQUEST
from gateway.domain.errors import LedgerUnavailable, LedgerUncertain
from gateway.domain.fingerprint import fingerprint
from gateway.domain.grant import FreshGrant
from gateway.domain.limits import NO_CEILINGS, Budget, BudgetShort, ceilings
from gateway.domain.money import tariff
from gateway.domain.operation import Identity
from gateway.domain.principal import CANARY, SYSTEM_TENANT
from gateway.domain.profile import Profile
from gateway.domain.questions import Decision
from gateway.domain.refusal import Code, Refusal
from gateway.ports.clock import Clock
from gateway.ports.ledger import AlreadyExists, Claim, Granted, Ledger
from gateway.service.active import Active
from gateway.service.path import Access, Again, Bounded, Opening, Routes, Session
from gateway.service.running import Running
from gateway.service.settling import Settling


class Reserve:
    """Adopts the attempt first, so that the store never holds a grant that nobody owns."""

    def __init__(self, ledger: Ledger, running: Running, settling: Settling, clock: Clock) -> None:
        self._ledger = ledger
        self._running = running
        self._settling = settling
        self._clock = clock

    async def __call__(
        self, session: Session, opening: Opening, access: Access, routes: Routes, bounded: Bounded
    ) -> FreshGrant | Again | Refusal:
        if self._settling.is_full:
            return Refusal(code=Code.LEDGER_UNAVAILABLE, decisions=(access.decision, routes.decision))
        claim = self._claim(session, opening, access, routes, bounded)
        self._running.adopt(claim.dispatch_id)
        try:
            claimed = await self._ledger.claim(claim)
        except LedgerUnavailable:
            return Refusal(code=Code.LEDGER_UNAVAILABLE, decisions=(access.decision, routes.decision))
        except LedgerUncertain:
            # No id: whether this operation exists, a restart will tell.
            return Refusal(code=Code.OUTCOME_UNKNOWN, status=502)
        if isinstance(claimed, Granted):
            return self._grant(claim, claimed, bounded.profile)
        if isinstance(claimed, BudgetShort):
            return _short(claimed, (access.decision, routes.decision))
        return Again("look_up" if isinstance(claimed, AlreadyExists) else "authenticate")

    async def canary(self, profile: Profile, reserved: Reservation, active: Active) -> FreshGrant | None:
        """A grant for a readiness canary. None: T1 did not take it, or is not known to have."""
        claim = _canary(profile, reserved, active)
        self._running.adopt(claim.dispatch_id)
        try:
            claimed = await self._ledger.claim(claim)
        except (LedgerUnavailable, LedgerUncertain):
            return None
        return self._grant(claim, claimed, profile) if isinstance(claimed, Granted) else None

    def _grant(self, claim: Claim, granted: Granted, profile: Profile) -> FreshGrant:
        return FreshGrant(
            operation_id=granted.operation_id,
            identity=claim.identity,
            attempt=granted.attempt,
            dispatch_id=claim.dispatch_id,
            profile=profile,
            reserved=claim.reserved,
            made_s=self._clock.boot_s(),
        )

    def _claim(self, session: Session, opening: Opening, access: Access, routes: Routes, bounded: Bounded) -> Claim:
        profile, snapshot = bounded.profile, session.active.snapshot
        tenant = opening.identity.tenant
        return Claim(
            operation_id=opening.prior.id if opening.prior else str(uuid_utils.uuid7()),
            identity=opening.identity,
            credential_hash=session.caller.credential_hash,
            fingerprint=opening.fingerprint,
            alias=opening.request.model,
            purpose=access.purpose,
            sources=tuple(source.ref for source in access.sources),
            source_versions=tuple(source.version for source in access.sources),
            snapshot_digest=snapshot.digest,
            profile=profile.id,
            profile_digest=snapshot.profile_digests[profile.id],
            bundle=routes.bundle.id,
            bundle_digest=routes.bundle_digest,
            policy_revision=session.active.policy.revision,
            access=access.decision,
            routes=routes.decision,
            dispatch_id=str(uuid_utils.uuid7()),
            reserved=bounded.reserved,
            tariff=tariff(profile.prices),
            budgets=(
                Budget(Scope("profile", profile.id), ceilings(profile.limits)),
                Budget(
                    Scope("quota_scope", profile.quota_scope),
                    ceilings(snapshot.quota_scopes[profile.quota_scope].limits),
                ),
                Budget(Scope("tenant", tenant), ceilings(snapshot.tenants[tenant].limits)),
            ),
            max_attempts=routes.bundle.max_attempts,
            total_timeout_ms=profile.timeouts.total_ms,
        )


def _canary(profile: Profile, reserved: Reservation, active: Active) -> Claim:
    """Counted in the profile's scope and its quota scope, and refused by no limit of them.

    A spent budget must not make a profile seem unready: its callers are told 429, and when there is room again. No
    tenant is charged: nobody asked for it.
    """
    snapshot = active.snapshot
    key = str(uuid_utils.uuid7())
    return Claim(
        operation_id=str(uuid_utils.uuid7()),
        identity=Identity(SYSTEM_TENANT, CANARY, hashlib.sha256(key.encode()).digest()),
        credential_hash=None,
        fingerprint=fingerprint(CANARY_REQUEST, CANARY),
        alias=CANARY,
        purpose=CANARY,
        sources=(),
        source_versions=(),
        snapshot_digest=snapshot.digest,
        profile=profile.id,
        profile_digest=snapshot.profile_digests[profile.id],
        bundle=CANARY,
        bundle_digest="",
        policy_revision=active.policy.revision,
        access=None,
        routes=None,
        dispatch_id=str(uuid_utils.uuid7()),
        reserved=reserved,
        tariff=tariff(profile.prices),
        budgets=(
            Budget(Scope("profile", profile.id), NO_CEILINGS),
            Budget(Scope("quota_scope", profile.quota_scope), NO_CEILINGS),
        ),
        max_attempts=1,
        total_timeout_ms=profile.timeouts.total_ms,
    )


def _short(short: BudgetShort, decisions: tuple[Decision, ...]) -> Refusal:
    """Which limit of which kind of scope, and no number: what others of a shared scope use is not the caller's."""
    if short.stranded:
        return Refusal(code=Code.STRANDED, decisions=decisions)
    return Refusal(
        code=Code.CONCURRENCY_EXHAUSTED if short.limit == "concurrency" else Code.BUDGET_EXHAUSTED,
        facts={"scope": short.scope, "limit": short.limit},
        retry_after_s=short.retry_after_s,
        retry=short.retry_after_s is not None,
        decisions=decisions,
    )
