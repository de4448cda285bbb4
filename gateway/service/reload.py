"""Another registry and another policy in force, while requests go on. All of the files, or nothing of them."""

import asyncio
from contextlib import suppress

from msgspec import Struct

from gateway.domain.errors import LedgerUnavailable, LedgerUncertain, WorkAbandoned
from gateway.domain.fault import Fault
from gateway.domain.principal import Caller
from gateway.domain.refusal import Code, Refusal
from gateway.domain.snapshot import Snapshot
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
                # What cannot be put on record is not put in force.
                with suppress(LedgerUnavailable, LedgerUncertain):
                    end = await self._renew(actor)
            finally:
                taken = isinstance(end, Taken)
                self.last = LastReload(taken, self._clock.now_us())
                self._events.emit(Reloaded(taken))
            return end

    async def _renew(self, actor: Caller) -> Taken | Refusal:
        prepared = await self._revisions.prepare()
        if isinstance(prepared, Rejected):
            return await self._refuse(actor, prepared.faults)
        taken: Taken | None = None
        try:
            # As late as can be, so that hardly an operation can begin on what is dropped.
            if faults := dropped(await self._accounts.in_use(), prepared.snapshot):
                return await self._refuse(actor, faults)
            await self._record(actor, prepared.snapshot, prepared.policy, taken=True)
            taken = Taken(self._put_in_force(prepared), self._in_force.active, prepared.warnings)
            return taken
        finally:
            if taken is None:
                await self._revisions.retire(prepared.policy)

    async def _refuse(self, actor: Caller, faults: tuple[Fault, ...]) -> Refusal:
        await self._record(actor, self._in_force.active.snapshot, self._in_force.active.policy, taken=False)
        return Refusal(code=Code.RELOAD_REFUSED, faults=faults)

    async def _record(self, actor: Caller, snapshot: Snapshot, policy: Policy, *, taken: bool) -> None:
        record = ReloadRecord(
            actor=actor, taken=taken, registry_digest=snapshot.digest, policy_revision=policy.revision
        )
        await self._ledger.reloaded(record)

    def _put_in_force(self, revision: Revision) -> Active:
        """Without an await, so no other task sees half of it. Returns what was in force."""
        earlier = self._in_force.swap(Active(revision.snapshot, revision.policy))
        task = asyncio.ensure_future(self._retire_later(earlier.policy))
        self._retiring.add(task)
        task.add_done_callback(self._retiring.discard)
        return earlier

    async def _retire_later(self, policy: Policy) -> None:
        try:
            async with asyncio.timeout(self.pinned_s):
                await self._ending.wait()
        except TimeoutError:
            pass  # whoever was pinned to it has asked for the last time
        try:
            await self._revisions.retire(policy)
        except Exception as error:  # noqa: BLE001 - what does not end now ends with the process, and must not end it
            self._events.emit(Faulted("reload.retire", type(error).__name__))
