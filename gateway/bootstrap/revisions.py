"""Registry and policy from the files of the settings, for the start and for every reload."""

import asyncio
import os
from collections.abc import Callable

from adapters import policy as opa
from adapters.clock import SystemClock
from adapters.registry import Loaded
from adapters.secrets import Vault
from adapters.tokens import Vocabularies
from gateway.bootstrap.hosted import prepare_hosted
from gateway.bootstrap.registry import load_vocabularies, read_registry
from gateway.domain.errors import StartRefused
from gateway.domain.fault import Fault
from gateway.ports.events import Events
from gateway.ports.policy import Policy
from gateway.ports.revisions import Rejected, Revision
from gateway.settings import Settings


class FileRevisions:
    """Implements ``gateway.ports.revisions.Revisions``. Every OPA that it started ends with it at the latest."""

    def __init__(self, settings: Settings, clock: SystemClock, events: Events, on_fatal: Callable[[], None]) -> None:
        self._settings = settings
        self._clock = clock
        self._events = events
        self._on_fatal = on_fatal
        self._running: dict[Policy, opa.OpaPolicy] = {}
        self.vault = Vault(os.environ, settings.secrets_folder)
        """Secrets that the registry names, as they were read for the last revision that was prepared."""
        self.vocabularies = Vocabularies(settings.vocabularies_folder)
        """Of every registry that was in force so far: a request may still be pinned to an earlier one."""

    @property
    def opa_pids(self) -> tuple[int, ...]:
        """Process ids of all OPAs that run, in the order of their start."""
        return tuple(policy.child_pid for policy in self._running.values() if policy.child_pid is not None)

    async def start(self) -> Revision:
        """The revision of the files as they are now.

        :raises StartRefused: with a sentence and a remedy; nothing of it runs any more.
        """
        loaded = await asyncio.to_thread(self._read)
        await asyncio.to_thread(prepare_hosted, self._settings, loaded.snapshot, self.vault)
        binary = await asyncio.to_thread(opa.find)
        if binary is None:
            raise StartRefused("There is no accepted OPA. Run: gateway opa install")
        # Not in a thread of its own: OPA dies with the thread that started it.
        policy = await opa.start(
            snapshot=loaded.snapshot,
            policies=self._settings.policies_folder,
            opa=binary,
            events=self._events,
            on_fatal=self._on_fatal,
        )
        self._running[policy] = policy
        return Revision(loaded.snapshot, policy, loaded.warnings)

    async def prepare(self) -> Revision | Rejected:
        """See Revisions.prepare."""
        try:
            return await self.start()
        except StartRefused as refused:
            return Rejected(refused.faults or (self._fault(str(refused)),))

    async def retire(self, policy: Policy) -> None:
        """See Revisions.retire."""
        if (running := self._running.get(policy)) is not None:
            await running.close()
            del self._running[policy]

    async def close(self) -> None:
        """End all of them, whatever is in force."""
        await asyncio.gather(*(self.retire(policy) for policy in tuple(self._running)))

    def _read(self) -> Loaded:
        loaded = read_registry(self._settings, self._clock)
        if faults := load_vocabularies(self.vocabularies, loaded.snapshot, self._settings.registry_folder):
            raise StartRefused("The registry has faults:\n" + "\n".join(map(str, faults)), faults)
        return loaded

    def _fault(self, text: str) -> Fault:
        """What is not the fault of one line of one file: the sentence holds its own remedy."""
        return Fault(file=self._settings.policies, line=0, path="", sentence=text, remedy="")
