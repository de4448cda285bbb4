"""The ledger's port over the writer: each method queues one transition and awaits its commit."""

from collections.abc import Callable

from adapters.store.act import act
from adapters.store.audit import Disclosures, refuse, reloaded
from adapters.store.claim import Claims
from adapters.store.dispatch import Dispatches
from adapters.store.release import release
from adapters.store.settle import settle
from adapters.store.sweep import Sweep, sweep
from adapters.store.writer import Rank, Transition, Writer
from gateway.domain.reconciliation import Act, ActResult
from gateway.ports.ledger import (
    Claim,
    Claimed,
    Disclosure,
    Dispatching,
    GrantLost,
    RefusalRecord,
    ReloadRecord,
    Settle,
    Settled,
    Stale,
    Standing,
    Superseded,
    Swept,
)

_SETTLE: Transition[Settle, Settled | Superseded] = Transition(Rank.T3, settle)
_ACT: Transition[Act, ActResult] = Transition(Rank.T3, act)
_RELEASE: Transition[str, None] = Transition(Rank.T3, release)
_SWEEP: Transition[Sweep, Swept] = Transition(Rank.T3, sweep)
_REFUSE: Transition[RefusalRecord, None] = Transition(Rank.OTHER, refuse)
_RELOADED: Transition[ReloadRecord, None] = Transition(Rank.OTHER, reloaded)


class StoredLedger:
    """Implements ``gateway.ports.ledger.Ledger``."""

    def __init__(self, writer: Writer, standing: Standing | None) -> None:
        self._writer = writer
        self._claim: Transition[Claim, Claimed] = Transition(Rank.T1, Claims(standing).apply)
        self._dispatch: Transition[str, Dispatching | GrantLost] = Transition(Rank.T2, Dispatches(standing).apply)
        self._disclose: Transition[Disclosure, Stale | None] = Transition(Rank.OTHER, Disclosures(standing).apply)

    async def claim(self, claim: Claim) -> Claimed:
        return await self._writer.run(self._claim, claim)

    async def dispatch(self, dispatch_id: str) -> Dispatching | GrantLost:
        return await self._writer.run(self._dispatch, dispatch_id)

    async def settle(self, settle: Settle) -> Settled | Superseded:
        return await self._writer.run(_SETTLE, settle)

    async def release(self, dispatch_id: str) -> None:
        await self._writer.run(_RELEASE, dispatch_id)

    async def disclose(self, disclosure: Disclosure) -> Stale | None:
        return await self._writer.run(self._disclose, disclosure)

    async def refuse(self, record: RefusalRecord) -> None:
        await self._writer.run(_REFUSE, record)

    async def reloaded(self, record: ReloadRecord) -> None:
        await self._writer.run(_RELOADED, record)

    async def act(self, act: Act) -> ActResult:
        return await self._writer.run(_ACT, act)

    async def sweep(self, alive: Callable[[], frozenset[str]], *, earlier_incarnations: bool) -> Swept:
        return await self._writer.run(_SWEEP, Sweep(alive, earlier_incarnations))
