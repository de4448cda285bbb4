"""Looks at engines, for as long as its task runs, and tells what has changed."""

import asyncio
from functools import partial

from gateway.domain.profile import Profile
from gateway.ports.events import Events, Faulted, ReadinessChanged
from gateway.ports.transport import Probe, Readiness
from gateway.service.active import InForce
from gateway.service.canary import Canary
from gateway.service.quarantines import Quarantines
from gateway.service.readiness import NEVER_CHECKED, RETRY_S, ReadinessBoard

GONE = "gone"
"""The state, in events alone, of a profile that the registry has no more."""


class ReadinessWatch:
    """Keeps the board current: probe, then once per start of an engine the canary; a mismatch is quarantined."""

    def __init__(
        self,
        *,
        board: ReadinessBoard,
        probe: Probe,
        canary: Canary,
        quarantines: Quarantines,
        in_force: InForce,
        events: Events,
    ) -> None:
        self._board = board
        self._probe = probe
        self._canary = canary
        self._quarantines = quarantines
        self._in_force = in_force
        self._events = events
        self._looking: dict[Profile, asyncio.Task[None]] = {}
        self._told: dict[str, Readiness] = {}

    async def run(self) -> None:
        """Look at every profile that is due, for ever."""
        while True:
            for profile in self._due():
                # A task each: an engine that hangs must not make another one's readiness outdated.
                looking = asyncio.ensure_future(self._look_at(profile))
                self._looking[profile] = looking
                looking.add_done_callback(partial(self._looked_at, profile))
            await self._quarantines.write()
            self.tell()
            await asyncio.sleep(RETRY_S / 2)

    def _looked_at(self, profile: Profile, _: asyncio.Task[None]) -> None:
        del self._looking[profile]

    async def look(self) -> None:
        """Look once at every profile that is due, all at the same time."""
        await asyncio.gather(*map(self._look_at, self._due()))

    def tell(self) -> None:
        """An event for each profile that is in another state than was told last, whatever has changed it."""
        for profile in self._in_force.active.snapshot.profiles.values():
            shown = self._board.shown(profile)
            told = self._told.get(profile.id, NEVER_CHECKED)
            if (shown.state, shown.reason, shown.shortfall) != (told.state, told.reason, told.shortfall):
                self._told[profile.id] = shown
                self._events.emit(ReadinessChanged(profile.id, shown.state, shown.reason, shown.shortfall))

    def _due(self) -> list[Profile]:
        profiles = self._in_force.active.snapshot.profiles
        for gone in self._board.keep(profiles):
            self._told.pop(gone, None)
            self._events.emit(ReadinessChanged(gone, GONE, "not_in_the_registry"))
        return [one for one in profiles.values() if self._board.due(one) and one not in self._looking]

    async def _look_at(self, profile: Profile) -> None:
        self._board.looks(profile.id)
        forgotten = self._board.times_forgotten(profile.id)
        try:
            found = await self._probe.check(profile)
            if self._is_current(profile, forgotten):
                found = await self._canary.confirm(profile, found)
        except Exception as error:  # noqa: BLE001 - whatever an engine answers, it must not end the gateway
            self._events.emit(Faulted("probe", type(error).__name__))
            found = Readiness("unready", "probe_failed")
        if not self._is_current(profile, forgotten):
            # A reload came in between: what was found would take the place of what is known of the later one. Or a
            # release: it would be what the engine was before a person had seen to it.
            return
        self._board.note(profile, found)
        if found.state == "mismatch":
            await self._quarantines.find(profile, found.reason, shortfall=found.shortfall)
        self.tell()

    def _is_current(self, profile: Profile, forgotten: int) -> bool:
        in_force = self._in_force.active.snapshot.profiles.get(profile.id)
        return in_force == profile and self._board.times_forgotten(profile.id) == forgotten
