"""T3: result and settlement in one durable transaction; only then the answer (promise G3).

What cannot be saved is not shown. It is tried again for as long as the process lives.
"""

import hashlib

from gateway.domain.budget import Settlement, settle
from gateway.domain.completion import render
from gateway.domain.grant import FreshGrant
from gateway.domain.money import tariff
from gateway.domain.operation import StoredResult
from gateway.domain.outcome import Completed, Outcome
from gateway.domain.profile_state import convicts
from gateway.domain.refusal import Answer, Refusal
from gateway.ports.clock import Clock
from gateway.ports.events import Dispatched, Events, UsageAboveCount
from gateway.ports.ledger import Settle, Settled, Superseded
from gateway.service.failures import first_refusal, outcome_unknown
from gateway.service.path import Routes, Session
from gateway.service.quarantines import Quarantines
from gateway.service.settling import Settling


class Persist:
    """Renders the answer once, before it is stored."""

    def __init__(self, settling: Settling, quarantines: Quarantines, clock: Clock, events: Events) -> None:
        self._settling = settling
        self._quarantines = quarantines
        self._clock = clock
        self._events = events

    async def __call__(self, session: Session, routes: Routes, grant: FreshGrant, outcome: Outcome) -> Answer | Refusal:
        settled, result = await self.book(grant, outcome)
        if not isinstance(settled, Settled):
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

    async def book(
        self, grant: FreshGrant, outcome: Outcome
    ) -> tuple[Settled | Superseded | None, StoredResult | None]:
        """T3, of a caller's request and of a canary alike. What it proves of the engine counts before it is stored."""
        self._quarantines.learn(grant.profile, outcome, grant.dispatch_id)
        settlement = settle(outcome, grant.reserved, tariff(grant.profile.prices))
        result = self._result(grant, outcome, settlement)
        settled = await self._settling.settle(
            Settle(
                dispatch_id=grant.dispatch_id,
                settlement=settlement,
                result=result,
                provider_ref=outcome.provider_ref if isinstance(outcome, Completed) else None,
            )
        )
        if isinstance(settled, Settled):
            waited_s = self._clock.boot_s() - grant.made_s
            self._events.emit(Dispatched(grant.profile.id, settlement.state, settlement.detail or "", waited_s))
            if settlement.used is not None and (above := settlement.used.input - grant.reserved.input) > 0:
                self._events.emit(UsageAboveCount(grant.profile.id, above))
        if convicts(outcome):
            await self._quarantines.load()
        return settled, result

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
