"""T3: result and settlement in one durable transaction; only then the answer (promise G3)."""

import hashlib

from gateway.domain.budget import Settlement, settle
from gateway.domain.completion import render
from gateway.domain.errors import LedgerUnavailable, LedgerUncertain
from gateway.domain.grant import FreshGrant
from gateway.domain.operation import StoredResult
from gateway.domain.outcome import Completed, Outcome
from gateway.domain.refusal import Answer, Refusal
from gateway.ports.clock import Clock
from gateway.ports.events import Dispatched, Events
from gateway.ports.ledger import Ledger, Settle, Superseded
from gateway.service.failures import first_refusal, outcome_unknown
from gateway.service.path import Routes, Session


class Persist:
    """What cannot be saved is not shown: the attempt stays open, and the sweep makes it ``unknown``."""

    def __init__(self, ledger: Ledger, clock: Clock, events: Events) -> None:
        self._ledger = ledger
        self._clock = clock
        self._events = events

    async def __call__(self, session: Session, routes: Routes, grant: FreshGrant, outcome: Outcome) -> Answer | Refusal:
        settlement = settle(outcome, grant.reserved)
        result = self._result(grant, outcome, settlement)
        settle_ = Settle(
            dispatch_id=grant.dispatch_id,
            settlement=settlement,
            result=result,
            provider_ref=outcome.provider_ref if isinstance(outcome, Completed) else None,
        )
        try:
            settled = await self._ledger.settle(settle_)
        except (LedgerUnavailable, LedgerUncertain):
            return outcome_unknown(grant.operation_id, status=502)
        self._events.emit(
            Dispatched(grant.profile.id, settlement.state, settlement.detail or "", self._clock.boot_s() - grant.made_s)
        )
        if isinstance(settled, Superseded):
            return outcome_unknown(grant.operation_id, status=502)
        if isinstance(outcome, Completed):
            assert result is not None, "a completed outcome was rendered above"
            return Answer(
                body=result.body,
                operation_id=grant.operation_id,
                replayed=False,
                bundle_digest=routes.bundle_digest,
                policy_revision=session.active.policy.revision,
            )
        return first_refusal(outcome, grant.operation_id)

    def _result(self, grant: FreshGrant, outcome: Outcome, settlement: Settlement) -> StoredResult | None:
        if not isinstance(outcome, Completed):
            return None
        assert settlement.used is not None, "completed is settled, by usage or by the reservation"
        body = render(
            outcome.completion,
            operation_id=grant.operation_id,
            created_s=self._clock.now_us() // 1_000_000,
            settled=settlement.used,
        )
        return StoredResult(body=body, digest=hashlib.sha256(body).hexdigest())
