"""Failpoints around the ports: before and after each transition, before the first write, and at receive."""

from collections.abc import Callable

from gateway.domain.grant import Dispatch
from gateway.domain.outcome import Outcome
from gateway.domain.reconciliation import Act, ActResult
from gateway.ports.ledger import (
    Claim,
    Claimed,
    Disclosure,
    Dispatching,
    Granted,
    GrantLost,
    Ledger,
    RefusalRecord,
    ReloadRecord,
    Settle,
    Settled,
    Stale,
    Superseded,
    Swept,
)
from gateway.ports.transport import Transport
from gateway.testkit.faults.failpoints import Failpoints


class StruckLedger:
    """Implements Ledger. ``before``: not queued yet. ``after``: acknowledged, and nobody has been told."""

    def __init__(self, ledger: Ledger, failpoints: Failpoints) -> None:
        self._ledger = ledger
        self._reach = failpoints.reach

    async def claim(self, claim: Claim) -> Claimed:
        self._reach("t1.before")
        answer = await self._ledger.claim(claim)
        if isinstance(answer, Granted):
            self._reach("t1.after")
        return answer

    async def dispatch(self, dispatch_id: str) -> Dispatching | GrantLost:
        self._reach("t2.before")
        answer = await self._ledger.dispatch(dispatch_id)
        self._reach("t2.after")
        return answer

    async def settle(self, settle: Settle) -> Settled | Superseded:
        self._reach("t3.before")
        answer = await self._ledger.settle(settle)
        self._reach("t3.after")
        return answer

    async def release(self, dispatch_id: str) -> None:
        await self._ledger.release(dispatch_id)

    async def disclose(self, disclosure: Disclosure) -> Stale | None:
        return await self._ledger.disclose(disclosure)

    async def refuse(self, record: RefusalRecord) -> None:
        await self._ledger.refuse(record)

    async def reloaded(self, record: ReloadRecord) -> None:
        await self._ledger.reloaded(record)

    async def act(self, act: Act) -> ActResult:
        self._reach("reconcile.before")
        answer = await self._ledger.act(act)
        self._reach("reconcile.after")
        return answer

    async def sweep(self, alive: Callable[[], frozenset[str]], *, earlier_incarnations: bool) -> Swept:
        self._reach("sweep.before")
        swept = await self._ledger.sweep(alive, earlier_incarnations=earlier_incarnations)
        self._reach("sweep.after")
        return swept


class StruckTransport:
    """Implements Transport."""

    def __init__(self, transport: Transport, failpoints: Failpoints) -> None:
        self._transport = transport
        self._reach = failpoints.reach

    async def send(self, dispatch: Dispatch) -> Outcome:
        self._reach("send.before")
        outcome = await self._transport.send(dispatch)
        self._reach("receive")
        return outcome
