"""What the gateway itself learns about engines: who is not the approved one is quarantined.

A finding counts at once, in memory, and is written down as soon as the store takes it; whoever releases is a person
(gateway/service/lifecycle.py).
"""

from gateway.domain.errors import LedgerUnavailable, LedgerUncertain
from gateway.domain.outcome import Charged, NoEffect, Outcome, Unknown
from gateway.domain.profile import Profile
from gateway.domain.profile_state import THE_GATEWAY, Mark, Quarantine, Shortfall, convicts
from gateway.ports.clock import Clock
from gateway.ports.events import Events, Faulted
from gateway.ports.profiles import Profiles
from gateway.service.active import InForce
from gateway.service.readiness import ReadinessBoard

GONE = frozenset({"connect_refused", "connect_timeout", "connection_lost", "truncated_answer"})
"""Reasons of outcomes after which an engine is looked at again at once."""


class Quarantines:
    """Keeps the board's marks those of the store, with the findings that the store has not taken yet."""

    def __init__(
        self, profiles: Profiles, board: ReadinessBoard, in_force: InForce, clock: Clock, events: Events
    ) -> None:
        self._profiles = profiles
        self._board = board
        self._in_force = in_force
        self._clock = clock
        self._events = events
        self._stored: tuple[Mark, ...] = ()
        self._pending: dict[str, Mark] = {}

    async def load(self) -> None:
        """Show the marks as they are committed. Whoever has changed one calls it before he says so."""
        self._stored = await self._profiles.marks()
        known = {mark.profile for mark in self._stored if mark.kind == "quarantined"}
        self._pending = {id_: mark for id_, mark in self._pending.items() if id_ not in known}
        self._show()

    def learn(self, profile: Profile, outcome: Outcome, dispatch_id: str) -> None:
        """Before T3, whose transaction writes a quarantine down too: from now on the profile gets nothing new."""
        match outcome:
            case Charged(reason=reason) if convicts(outcome):
                self._suspect(profile, reason, dispatch_id)
            case NoEffect(reason=reason) | Unknown(reason=reason) if reason in GONE:
                self._board.doubt(profile.id)
            case _:
                pass

    async def find(
        self, profile: Profile, reason: str, dispatch_id: str | None = None, shortfall: Shortfall | None = None
    ) -> None:
        """A probe or a canary has found another engine than the approved one."""
        if any(mark.kind == "quarantined" for mark in self._board.marks_of(profile.id)):
            return
        self._suspect(profile, reason, dispatch_id, shortfall)
        await self.write()

    async def write(self) -> None:
        """Write down what is not written yet. What the store does not take now is tried again at the next look."""
        taken = False
        for mark in tuple(self._pending.values()):
            found = Quarantine(
                profile=mark.profile,
                profile_digest=mark.profile_digest,
                reason=mark.reason,
                dispatch_id=mark.dispatch_id,
                shortfall=mark.shortfall,
            )
            try:
                await self._profiles.quarantine(found)
            except (LedgerUnavailable, LedgerUncertain) as error:
                self._events.emit(Faulted("quarantine", type(error).__name__))
                break
            taken = True
            if self._pending.get(mark.profile) is mark:
                # A person may release it before the marks are read again, and it must not be written down once more.
                del self._pending[mark.profile]
                self._stored = (*self._stored, mark)
        if taken:
            await self.load()

    def _suspect(
        self, profile: Profile, reason: str, dispatch_id: str | None, shortfall: Shortfall | None = None
    ) -> None:
        digests = self._in_force.active.snapshot.profile_digests
        self._pending[profile.id] = Mark(
            profile=profile.id,
            kind="quarantined",
            profile_digest=digests.get(profile.id, ""),
            reason=reason,
            who=THE_GATEWAY,
            since_us=self._clock.now_us(),
            dispatch_id=dispatch_id,
            shortfall=shortfall,
        )
        self._show()

    def _show(self) -> None:
        self._board.mark((*self._stored, *self._pending.values()))
