"""Which profiles serve now. A readiness has a time to live; one that is older is none (promise G12)."""

from collections.abc import Collection, Iterable, Mapping

from msgspec import Struct

from gateway.domain.profile import Profile
from gateway.domain.profile_state import Mark, state_of
from gateway.ports.clock import Clock
from gateway.ports.transport import Readiness

HOSTED_TTL_S = 10.0
"""Short, because nothing is asked over the network, and a reload may take a secret away."""
RETRY_S = 0.5
"""Seconds between two looks at an engine that is not ready."""
NEVER_CHECKED = Readiness("unknown", "never_checked")
DRAINED = Readiness("draining", "by_an_operator")
"""Not his reason: who may read it is for policy to say."""


class Noted(Struct, frozen=True):
    """A readiness, of which profile it is, and when it was found, on the boot-time clock."""

    profile: Profile
    readiness: Readiness
    at_s: float
    since_us: int
    """Wall clock: from when on state and reason have been so."""
    starting_s: float | None
    """Boot-time clock: since when the engine says that it is loading; None: it does not say so."""


class ReadinessBoard:
    """The last readiness of each profile, and the marks of profiles as they were last committed.

    A readiness is one of a profile's contents, and counts nothing for others; a mark is one of its id. Read from the
    writer's thread as well: what it holds is replaced and never changed.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._noted: Mapping[str, Noted] = {}
        self._doubted: frozenset[str] = frozenset()
        self._forgotten: dict[str, int] = {}
        self._marks: Mapping[str, tuple[Mark, ...]] = {}

    def note(self, profile: Profile, readiness: Readiness) -> bool:
        """Write down what a probe found; True if it differs from the last.

        An engine that has been loading for longer than its startup budget is not starting any more.
        """
        now_s, earlier = self._clock.boot_s(), self._noted_of(profile)
        starting_s = None
        if readiness.state == "starting":
            starting_s = now_s if earlier is None or earlier.starting_s is None else earlier.starting_s
            if profile.engine is not None and now_s - starting_s > profile.engine.readiness.startup_s:
                readiness = Readiness("unready", "startup_exceeded", readiness.facts)
        changed = earlier is None or earlier.readiness != readiness
        since_us = self._clock.now_us() if earlier is None or changed else earlier.since_us
        noted = Noted(profile, readiness, now_s, since_us, starting_s)
        self._noted = {**self._noted, profile.id: noted}
        return changed

    def keep(self, profiles: Collection[str]) -> tuple[str, ...]:
        """Forget all others, and return which those were. Marks stay: they outlive the registry's files."""
        gone = tuple(id_ for id_ in self._noted if id_ not in profiles)
        if gone:
            self._noted = {id_: noted for id_, noted in self._noted.items() if id_ in profiles}
        return gone

    def forget(self, profile_id: str) -> None:
        """What was found of it counts no more: it is looked at anew, as after a start."""
        self._noted = {id_: noted for id_, noted in self._noted.items() if id_ != profile_id}
        self._forgotten[profile_id] = self.times_forgotten(profile_id) + 1

    def times_forgotten(self, profile_id: str) -> int:
        """By which whoever looks tells whether what he finds is older than that."""
        return self._forgotten.get(profile_id, 0)

    def looks(self, profile_id: str) -> None:
        """A look begins. What gives rise to doubts from now on may be younger than what it finds."""
        self._doubted -= {profile_id}

    def doubt(self, profile_id: str) -> None:
        """A call has come back in a way that says that the engine may have gone: it is due now."""
        self._doubted |= {profile_id}

    def mark(self, marks: Iterable[Mark]) -> None:
        """These are all the marks there are."""
        by_profile: dict[str, tuple[Mark, ...]] = {}
        for mark in marks:
            by_profile[mark.profile] = (*by_profile.get(mark.profile, ()), mark)
        self._marks = by_profile

    def marks_of(self, profile_id: str) -> tuple[Mark, ...]:
        return self._marks.get(profile_id, ())

    def is_ready(self, profile: Profile) -> bool:
        """Whether it takes new work."""
        return profile.id not in self._marks and self.of(profile).state == "ready"

    def of(self, profile: Profile) -> Readiness:
        """The readiness that counts now, whatever the marks say."""
        noted = self._noted_of(profile)
        if noted is None:
            return NEVER_CHECKED
        if self._clock.boot_s() - noted.at_s > time_to_live_s(profile):
            return Readiness("unknown", "outdated")
        return noted.readiness

    def shown(self, profile: Profile) -> Readiness:
        """Why the profile serves or does not, in closed words that anybody may read."""
        marks = self.marks_of(profile.id)
        match state_of(marks):
            case "quarantined":
                mark = next(mark for mark in marks if mark.kind == "quarantined")
                return Readiness("quarantined", mark.reason, shortfall=mark.shortfall)
            case "draining":
                return DRAINED
            case _:
                return self.of(profile)

    def since_us(self, profile: Profile) -> int | None:
        """From when on the readiness has been what it is; None: it was never looked at."""
        noted = self._noted_of(profile)
        return None if noted is None else noted.since_us

    def until_us(self, profile: Profile) -> int | None:
        """Until when the readiness counts, if nobody looks again."""
        noted = self._noted_of(profile)
        if noted is None:
            return None
        left_s = noted.at_s + time_to_live_s(profile) - self._clock.boot_s()
        return self._clock.now_us() + int(left_s * 1_000_000)

    def due(self, profile: Profile) -> bool:
        """Whether it should be asked again: at half its time to live, soon if it is not ready, at once in doubt."""
        noted = self._noted_of(profile)
        if noted is None or profile.id in self._doubted:
            return True
        wait_s = time_to_live_s(profile) / 2 if noted.readiness.state == "ready" else RETRY_S
        return self._clock.boot_s() - noted.at_s >= wait_s

    def _noted_of(self, profile: Profile) -> Noted | None:
        noted = self._noted.get(profile.id)
        return noted if noted is not None and noted.profile == profile else None


def time_to_live_s(profile: Profile) -> float:
    return float(profile.engine.readiness.ttl_s) if profile.engine else HOSTED_TTL_S
