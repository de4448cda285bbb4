"""Which profiles serve now. A readiness has a time to live; one that is older is none (promise G12)."""

import asyncio
from collections.abc import Collection, Mapping
from functools import partial

from msgspec import Struct

from gateway.domain.profile import Profile
from gateway.ports.clock import Clock
from gateway.ports.events import Events, Faulted, ReadinessChanged
from gateway.ports.transport import Probe, Readiness
from gateway.service.active import InForce

HOSTED_TTL_S = 3600.0
RETRY_S = 0.5
"""Seconds between two looks at an engine that is not ready."""
NEVER_CHECKED = Readiness("unknown", "never_checked")
GONE = "gone"
"""The state, in events alone, of a profile that the registry has no more."""


class Noted(Struct, frozen=True):
    """A readiness, of which profile it is, and when it was found, on the boot-time clock."""

    profile: Profile
    readiness: Readiness
    at_s: float


class ReadinessBoard:
    """The last readiness of each profile. It is one of a profile's contents, and counts nothing for others."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._noted: Mapping[str, Noted] = {}

    def note(self, profile: Profile, readiness: Readiness) -> bool:
        """Write down what a probe found; True if it differs from the last."""
        earlier = self._noted_of(profile)
        self._noted = {**self._noted, profile.id: Noted(profile, readiness, self._clock.boot_s())}
        return earlier is None or earlier.readiness != readiness

    def keep(self, profiles: Collection[str]) -> tuple[str, ...]:
        """Forget all others, and return which those were."""
        gone = tuple(id_ for id_ in self._noted if id_ not in profiles)
        if gone:
            self._noted = {id_: noted for id_, noted in self._noted.items() if id_ in profiles}
        return gone

    def is_ready(self, profile: Profile) -> bool:
        return self.of(profile).state == "ready"

    def of(self, profile: Profile) -> Readiness:
        """The readiness that counts now."""
        noted = self._noted_of(profile)
        if noted is None:
            return NEVER_CHECKED
        if self._clock.boot_s() - noted.at_s > time_to_live_s(profile):
            return Readiness("unknown", "outdated")
        return noted.readiness

    def due(self, profile: Profile) -> bool:
        """Whether it should be asked again: at half its time to live, or soon if it is not ready."""
        noted = self._noted_of(profile)
        if noted is None:
            return True
        wait_s = time_to_live_s(profile) / 2 if noted.readiness.state == "ready" else RETRY_S
        return self._clock.boot_s() - noted.at_s >= wait_s

    def _noted_of(self, profile: Profile) -> Noted | None:
        noted = self._noted.get(profile.id)
        return noted if noted is not None and noted.profile == profile else None


def time_to_live_s(profile: Profile) -> float:
    return float(profile.engine.readiness.ttl_s) if profile.engine else HOSTED_TTL_S


class ReadinessWatch:
    """Keeps the board current, for as long as its task runs."""

    def __init__(self, board: ReadinessBoard, probe: Probe, in_force: InForce, events: Events) -> None:
        self._board = board
        self._probe = probe
        self._in_force = in_force
        self._events = events
        self._looking: dict[Profile, asyncio.Task[None]] = {}

    async def run(self) -> None:
        """Look at every profile that is due, for ever."""
        while True:
            for profile in self._due():
                # A task each: an engine that hangs must not make another one's readiness outdated.
                looking = asyncio.ensure_future(self._look_at(profile))
                self._looking[profile] = looking
                looking.add_done_callback(partial(self._looked_at, profile))
            await asyncio.sleep(RETRY_S / 2)

    def _looked_at(self, profile: Profile, _: asyncio.Task[None]) -> None:
        del self._looking[profile]

    async def look(self) -> None:
        """Look once at every profile that is due, all at the same time."""
        await asyncio.gather(*map(self._look_at, self._due()))

    def _due(self) -> list[Profile]:
        profiles = self._in_force.active.snapshot.profiles
        for gone in self._board.keep(profiles):
            self._events.emit(ReadinessChanged(gone, GONE, "not_in_the_registry"))
        return [one for one in profiles.values() if self._board.due(one) and one not in self._looking]

    async def _look_at(self, profile: Profile) -> None:
        try:
            readiness = await self._probe.check(profile)
        except Exception as error:  # noqa: BLE001 - whatever an engine answers, it must not end the gateway
            self._events.emit(Faulted("probe", type(error).__name__))
            readiness = Readiness("unready", "probe_failed")
        if self._in_force.active.snapshot.profiles.get(profile.id) != profile:
            # A reload came in between. What was found would take the place of what is known of the later one.
            return
        if self._board.note(profile, readiness):
            self._events.emit(ReadinessChanged(profile.id, readiness.state, readiness.reason))
