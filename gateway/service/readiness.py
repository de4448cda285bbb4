"""Which profiles serve now. A readiness has a time to live; one that is older is none (promise G12)."""

import asyncio
from collections.abc import Mapping

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


class Noted(Struct, frozen=True):
    """A readiness and when it was found, on the boot-time clock."""

    readiness: Readiness
    at_s: float


class ReadinessBoard:
    """The last readiness of each profile."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._noted: Mapping[str, Noted] = {}

    def note(self, profile: str, readiness: Readiness) -> bool:
        """Write down what a probe found; True if it differs from the last."""
        earlier = self._noted.get(profile)
        self._noted = {**self._noted, profile: Noted(readiness, self._clock.boot_s())}
        return earlier is None or earlier.readiness != readiness

    def is_ready(self, profile: Profile) -> bool:
        return self.of(profile).state == "ready"

    def of(self, profile: Profile) -> Readiness:
        """The readiness that counts now."""
        noted = self._noted.get(profile.id)
        if noted is None:
            return NEVER_CHECKED
        if self._clock.boot_s() - noted.at_s > time_to_live_s(profile):
            return Readiness("unknown", "outdated")
        return noted.readiness

    def due(self, profile: Profile) -> bool:
        """Whether it should be asked again: at half its time to live, or soon if it is not ready."""
        noted = self._noted.get(profile.id)
        if noted is None:
            return True
        wait_s = time_to_live_s(profile) / 2 if noted.readiness.state == "ready" else RETRY_S
        return self._clock.boot_s() - noted.at_s >= wait_s


def time_to_live_s(profile: Profile) -> float:
    return float(profile.engine.readiness.ttl_s) if profile.engine else HOSTED_TTL_S


class ReadinessWatch:
    """Keeps the board current, for as long as its task runs."""

    def __init__(self, board: ReadinessBoard, probe: Probe, in_force: InForce, events: Events) -> None:
        self._board = board
        self._probe = probe
        self._in_force = in_force
        self._events = events
        self._looking: dict[str, asyncio.Task[None]] = {}

    async def run(self) -> None:
        """Look at every profile that is due, for ever."""
        while True:
            for profile in self._due():
                # A task each: an engine that hangs must not make another one's readiness outdated.
                self._looking[profile.id] = asyncio.ensure_future(self._look_at(profile))
            await asyncio.sleep(RETRY_S / 2)

    async def look(self) -> None:
        """Look once at every profile that is due, all at the same time."""
        await asyncio.gather(*map(self._look_at, self._due()))

    def _due(self) -> list[Profile]:
        profiles = self._in_force.active.snapshot.profiles.values()
        return [profile for profile in profiles if self._board.due(profile) and not self._is_looking_at(profile)]

    def _is_looking_at(self, profile: Profile) -> bool:
        looking = self._looking.get(profile.id)
        return looking is not None and not looking.done()

    async def _look_at(self, profile: Profile) -> None:
        try:
            readiness = await self._probe.check(profile)
        except Exception as error:  # noqa: BLE001 - whatever an engine answers, it must not end the gateway
            self._events.emit(Faulted("probe", type(error).__name__))
            readiness = Readiness("unready", "probe_failed")
        if self._board.note(profile.id, readiness):
            self._events.emit(ReadinessChanged(profile.id, readiness.state, readiness.reason))
