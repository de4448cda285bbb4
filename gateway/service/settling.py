"""T3, again and again, with the answer in memory: what was received survives as long as the process does."""

import asyncio

from gateway.domain.errors import LedgerUnavailable, LedgerUncertain
from gateway.ports.events import Events, Faulted
from gateway.ports.ledger import Ledger, Settle, Settled, Superseded
from gateway.service.running import Running

ANSWER_WITHIN_S = 5.0
"""How long a caller waits for a ledger that does not take his answer, before he is told that it is unknown."""
UNSAVED_BYTES_BOUND = 64 * 2**20
"""Answers that may wait in memory; above it nothing new is begun."""
FIRST_WAIT_S = 0.05
LONGEST_WAIT_S = 1.0


class Settling:
    """Settles attempts. The task that keeps trying owns the attempt, so that no sweep takes it away."""

    def __init__(self, ledger: Ledger, running: Running, events: Events) -> None:
        self._ledger = ledger
        self._running = running
        self._events = events
        self.answer_within_s = ANSWER_WITHIN_S
        self.unsaved_bytes = 0

    @property
    def is_full(self) -> bool:
        """Too many answers wait to be saved for another one to be asked for."""
        return self.unsaved_bytes > UNSAVED_BYTES_BOUND

    async def settle(self, settle: Settle) -> Settled | Superseded | None:
        """None: it is not known to be stored yet, or never will be; if it can be, it goes on being tried."""
        try:
            return await self._ledger.settle(settle)
        except LedgerUncertain:
            return None
        except LedgerUnavailable:
            self._events.emit(Faulted("settle", LedgerUnavailable.__name__))
        trying = self._running.begin(self._until_stored(settle))
        await asyncio.wait({trying}, timeout=self.answer_within_s)
        return trying.result() if trying.done() else None

    async def _until_stored(self, settle: Settle) -> Settled | Superseded | None:
        self._running.adopt(settle.dispatch_id)
        size = len(settle.result.body) if settle.result else 0
        self.unsaved_bytes += size
        wait_s = FIRST_WAIT_S
        try:
            while True:
                await asyncio.sleep(wait_s)
                try:
                    return await self._ledger.settle(settle)
                except LedgerUncertain:
                    return None
                except LedgerUnavailable:
                    wait_s = min(2 * wait_s, LONGEST_WAIT_S)
        finally:
            self.unsaved_bytes -= size
