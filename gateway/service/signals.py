"""What the process and its accounts look like, every few seconds and off the path of requests.

The accounts are read aside from the store, on a thread of their own; so a scrape asks the store for nothing.
"""

import asyncio
from collections.abc import Callable

from gateway.ports.events import Accounted, Events, Faulted, Sampled
from gateway.ports.reads import Accounts
from gateway.service.active import InForce
from gateway.service.running import Running
from gateway.service.settling import Settling

LOOK_EVERY_S = 1.0
ACCOUNTS_EVERY = 10
"""Looks between two readings of the accounts."""


class Signals:
    """Emits what no request would tell: what stands still makes no event of its own."""

    def __init__(
        self,
        *,
        accounts: Accounts,
        in_force: InForce,
        running: Running,
        settling: Settling,
        queued: Callable[[], int],
        events: Events,
    ) -> None:
        """:param queued: how many transitions wait for the store's writer."""
        self._accounts = accounts
        self._in_force = in_force
        self._running = running
        self._settling = settling
        self._queued = queued
        self._events = events

    async def run(self) -> None:
        """Look every second, for ever."""
        loop = asyncio.get_running_loop()
        while True:
            await self.account()
            for _ in range(ACCOUNTS_EVERY):
                due_s = loop.time() + LOOK_EVERY_S
                await asyncio.sleep(LOOK_EVERY_S)
                self.look(loop.time() - due_s)

    def look(self, loop_lag_s: float) -> None:
        """Tell how the process stands."""
        self._events.emit(
            Sampled(
                loop_lag_s=max(0.0, loop_lag_s),
                queued=self._queued(),
                running=len(self._running.alive()),
                unsaved_bytes=self._settling.unsaved_bytes,
            )
        )

    async def account(self) -> None:
        """Tell what the scopes of the registry count. Tenants are not told: there may be any number of them."""
        try:
            counted = await self._accounts.usage()
        except Exception as error:  # noqa: BLE001 - a figure that cannot be read must not end the gateway
            self._events.emit(Faulted("signals", type(error).__name__))
            return
        snapshot = self._in_force.active.snapshot
        known = {"profile": snapshot.profiles, "quota_scope": snapshot.quota_scopes}
        shown = (one for one in counted if one.scope.id in known.get(one.scope.kind, ()))
        self._events.emit(Accounted(tuple(shown)))
