"""A ledger that can be made to fail, around a real one or a fake."""

from collections.abc import Callable

from gateway.domain.errors import LedgerUnavailable
from gateway.domain.reconciliation import Act, ActResult
from gateway.ports.ledger import (
    Claim,
    Claimed,
    Disclosure,
    Dispatching,
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


class FaultyLedger:
    """Passes everything on, except the transition that is named in ``failing``."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self.failing: str | None = None
        """reserve, send or save"""
        self.before_dispatch: Callable[[], None] = lambda: None

    async def claim(self, claim: Claim) -> Claimed:
        if self.failing == "reserve":
            raise LedgerUnavailable("made to fail")
        return await self._ledger.claim(claim)

    async def dispatch(self, dispatch_id: str) -> Dispatching | GrantLost:
        self.before_dispatch()
        if self.failing == "send":
            raise LedgerUnavailable("made to fail")
        return await self._ledger.dispatch(dispatch_id)

    async def settle(self, settle: Settle) -> Settled | Superseded:
        if self.failing == "save":
            raise LedgerUnavailable("made to fail")
        return await self._ledger.settle(settle)

    async def release(self, dispatch_id: str) -> None:
        await self._ledger.release(dispatch_id)

    async def disclose(self, disclosure: Disclosure) -> Stale | None:
        return await self._ledger.disclose(disclosure)

    async def refuse(self, record: RefusalRecord) -> None:
        await self._ledger.refuse(record)

    async def reloaded(self, record: ReloadRecord) -> None:
        await self._ledger.reloaded(record)

    async def act(self, act: Act) -> ActResult:
        return await self._ledger.act(act)

    async def sweep(self, alive: Callable[[], frozenset[str]], *, earlier_incarnations: bool) -> Swept:
        return await self._ledger.sweep(alive, earlier_incarnations=earlier_incarnations)
