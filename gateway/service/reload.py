"""Another registry and another policy in force, while requests go on. All of the files, or nothing of them."""

import asyncio
from contextlib import suppress

from msgspec import Struct

from gateway.domain.errors import CredentialRevoked, LedgerUnavailable, LedgerUncertain, WorkAbandoned
from gateway.domain.fault import Fault
from gateway.domain.principal import Caller
from gateway.domain.refusal import Code, Refusal
from gateway.ports.clock import Clock
from gateway.ports.events import Events, Faulted, Reloaded
from gateway.ports.ledger import Ledger, ReloadRecord
from gateway.ports.policy import Policy
from gateway.ports.reads import Accounts
from gateway.ports.revisions import Rejected, Revision, Revisions
from gateway.service.active import Active, InForce
from gateway.service.administer import Permit
from gateway.service.in_use import dropped
from gateway.service.running import Running

DECIDING_S = 15.0
"""Seconds after its body within which a request asks its policy for the last time: at most six walks (pipeline.py)
of two decisions, each answered or refused within a second, and the first commits in between. A request that takes
longer than that is refused as ``policy_unavailable``, which promises that it had no effect."""


class Taken(Struct, frozen=True):
    """What was in force, what is now, and what the files were warned of."""

    earlier: Active
    now: Active
    warnings: tuple[Fault, ...]


class LastReload(Struct, frozen=True):
    """Whether the last reload was taken, and when (microseconds UTC)."""

    taken: bool
    at_us: int


class Reload:
    """One after another: a second one waits, and then reads the files as they lie by then."""

    def __init__(
        self,
        *,
        revisions: Revisions,
        ledger: Ledger,
        accounts: Accounts,
        in_force: InForce,
        running: Running,
        clock: Clock,
        events: Events,
        body_within_s: float,
    ) -> None:
        self._revisions = revisions
        self._ledger = ledger
        self._accounts = accounts
        self._in_force = in_force
        self._running = running
        self._clock = clock
        self._events = events
        self.pinned_s = body_within_s + DECIDING_S
        """How long requests may be pinned to what was in force."""
        self._turn = asyncio.Lock()
        self._ending = asyncio.Event()
        self._retiring: set[asyncio.Task[None]] = set()
        self.last: LastReload | None = None

    async def __call__(self, permit: Permit) -> Taken | Refusal:
        """Put the files in force as they are now, or say why not. It ends although its caller goes away."""
        actor = permit.actor("registry", "change")
        if self._running.draining:
            return Refusal(code=Code.DRAINING)
        try:
            return await self._running.own(self._in_turn(actor))
        except WorkAbandoned:
            return Refusal(code=Code.DRAINING)

    async def close(self) -> None:
        """End what still waits to be retired, at once: nobody asks any more."""
        self._ending.set()
        if self._retiring:
            await asyncio.wait(self._retiring)

    async def _in_turn(self, actor: Caller) -> Taken | Refusal:
        async with self._turn:
            end: Taken | Refusal = Refusal(code=Code.LEDGER_UNAVAILABLE)
            try:
                # What cannot be put on record does not stay in force.
                with suppress(LedgerUnavailable, LedgerUncertain):
                    end = await self._renew(actor)
            except CredentialRevoked:
                end = Refusal(code=Code.UNAUTHENTICATED)
            finally:
                taken = isinstance(end, Taken)
                self.last = LastReload(taken, self._clock.now_us())
                self._events.emit(Reloaded(taken))
            return end

    async def _renew(self, actor: Caller) -> Taken | Refusal:
        prepared = await self._revisions.prepare()
        if isinstance(prepared, Rejected):
            return await self._refuse(actor, prepared.faults)
        faults: tuple[Fault, ...] | None = None
        try:
            faults = await self._dropped(prepared)
        finally:
            if faults is None or faults:
                await self._revisions.retire(prepared.policy)
        return await (self._refuse(actor, faults) if faults else self._take(actor, prepared))

    async def _take(self, actor: Caller, prepared: Revision) -> Taken | Refusal:
        earlier = self._in_force.swap(Active(prepared.snapshot, prepared.policy))
        faults: tuple[Fault, ...] | None = None
        try:
            # From the swap on T1 grants nothing under the earlier revision, and the record waits for the grants that
            # were being committed then. So whatever still counts against a dropped id is seen now.
            await self._record(actor, taken=True)
            faults = await self._dropped(prepared)
        finally:
            if faults is None or faults:
                self._retire_later(self._in_force.swap(earlier).policy)
        if faults:
            return await self._refuse(actor, faults)
        self._retire_later(earlier.policy)
        return Taken(earlier, self._in_force.active, prepared.warnings)

    async def _dropped(self, prepared: Revision) -> tuple[Fault, ...]:
        return dropped(await self._accounts.in_use(), prepared.snapshot)

    async def _refuse(self, actor: Caller, faults: tuple[Fault, ...]) -> Refusal:
        await self._record(actor, taken=False)
        return Refusal(code=Code.RELOAD_REFUSED, faults=faults)

    async def _record(self, actor: Caller, *, taken: bool) -> None:
        active = self._in_force.active
        record = ReloadRecord(
            actor=actor, taken=taken, registry_digest=active.snapshot.digest, policy_revision=active.policy.revision
        )
        await self._ledger.reloaded(record)

    def _retire_later(self, policy: Policy) -> None:
        task = asyncio.ensure_future(self._retire(policy))
        self._retiring.add(task)
        task.add_done_callback(self._retiring.discard)

    async def _retire(self, policy: Policy) -> None:
        try:
            async with asyncio.timeout(self.pinned_s):
                await self._ending.wait()
        except TimeoutError:
            pass  # whoever was pinned to it has asked for the last time
        try:
            await self._revisions.retire(policy)
        except Exception as error:  # noqa: BLE001 - what does not end now ends with the process, and must not end it
            self._events.emit(Faulted("reload.retire", type(error).__name__))
