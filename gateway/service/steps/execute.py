"""T2, then one call. Nothing leaves before ``dispatching`` is durable (promise G2)."""

from contextlib import suppress

from gateway.domain.errors import LedgerUnavailable, LedgerUncertain
from gateway.domain.grant import FreshGrant
from gateway.domain.outcome import Outcome
from gateway.domain.refusal import Code, Refusal
from gateway.domain.request import Request
from gateway.ports.clock import Clock
from gateway.ports.ledger import GrantLost, Ledger
from gateway.ports.transport import Transport
from gateway.service.failures import outcome_unknown

SEND_WITHIN_S = 2.0
"""After this the request is not written any more: a paused sender must not send what an operator closed."""


class Execute:
    """Takes a FreshGrant, which a duplicate cannot have (promise G4)."""

    def __init__(self, ledger: Ledger, transport: Transport, clock: Clock) -> None:
        self._ledger = ledger
        self._transport = transport
        self._clock = clock

    async def __call__(self, grant: FreshGrant, request: Request) -> Outcome | Refusal:
        # Read before T2 is queued: read after its commit, a pause in between would extend the deadline.
        send_by_s = self._clock.boot_s() + SEND_WITHIN_S
        try:
            dispatching = await self._ledger.dispatch(grant.dispatch_id)
        except LedgerUnavailable:
            await self._give_back(grant)
            return self._not_started(grant)
        except LedgerUncertain:
            return outcome_unknown(grant.operation_id, status=502)
        if isinstance(dispatching, GrantLost):
            return self._not_started(grant)
        return await self._transport.send(grant.spend(request, send_by_s=send_by_s))

    async def _give_back(self, grant: FreshGrant) -> None:
        """At once where the ledger takes it; otherwise the sweep does it within a second."""
        with suppress(LedgerUnavailable, LedgerUncertain):
            await self._ledger.release(grant.dispatch_id)

    def _not_started(self, grant: FreshGrant) -> Refusal:
        return Refusal(code=Code.NOT_STARTED, operation_id=grant.operation_id, operation_state="released")
