"""One fixed token from a self-hosted engine, once per start of it, before it serves (design, section 13).

What an engine says of itself may be wrong; what it answers shows the model, the fingerprint, and whether it counts
no more tokens than we do. The canary is an operation of the tenant ``system``: T1, T2 and T3 like any other.
"""

from msgspec import Struct

from gateway.domain.budget import Reservation, reserve
from gateway.domain.canary import CANARY_REQUEST
from gateway.domain.grant import FreshGrant
from gateway.domain.money import tariff
from gateway.domain.outcome import Charged, Completed, NoEffect, Outcome, Unknown
from gateway.domain.profile import Profile
from gateway.domain.profile_state import convicts
from gateway.domain.refusal import Refusal
from gateway.ports.clock import Clock
from gateway.ports.counter import Counter
from gateway.ports.ledger import Settled
from gateway.ports.transport import Attested, Readiness
from gateway.service.active import InForce
from gateway.service.quarantines import Quarantines
from gateway.service.readiness import NEVER_CHECKED, ReadinessBoard
from gateway.service.running import Running
from gateway.service.steps.execute import Execute
from gateway.service.steps.persist import Persist
from gateway.service.steps.reserve import Reserve

AGAIN_S = 5.0
"""Seconds until another canary, where the engine provably did nothing for this one, or answered it and went away."""
DUE = Readiness("unknown", "canary_due")
"""Of a profile that takes no new work: not this either. And of one that has answered another a moment ago."""
ASKED = Readiness("starting", "canary")


class Tried(Struct, frozen=True):
    """The last canary."""

    profile: Profile
    readiness: Readiness
    """What holds until the next one."""
    again_s: float
    """When the next one may follow, on the boot-time clock."""


class Canary:
    """Remembers which engines have answered theirs, and when the next one may be tried."""

    def __init__(
        self,
        *,
        counter: Counter,
        reserve: Reserve,
        execute: Execute,
        persist: Persist,
        running: Running,
        quarantines: Quarantines,
        board: ReadinessBoard,
        in_force: InForce,
        clock: Clock,
    ) -> None:
        self._counter = counter
        self._reserve = reserve
        self._execute = execute
        self._persist = persist
        self._running = running
        self._quarantines = quarantines
        self._board = board
        self._in_force = in_force
        self._clock = clock
        self._answered: dict[str, Profile] = {}
        """By id. As a readiness it is one of the profile's contents."""
        self._tried: dict[str, Tried] = {}

    async def confirm(self, profile: Profile, found: Readiness) -> Readiness:
        """What a probe found, and for an engine that has just become ready, what its canary says."""
        if self._board.of(profile) == NEVER_CHECKED:
            # Released, perhaps: then what an earlier one has shown would undo what a person has decided.
            self._tried.pop(profile.id, None)
            self._answered.pop(profile.id, None)
        if found.state != "ready":
            # Whatever is ready next has started since.
            self._answered.pop(profile.id, None)
        if found.state != "ready":
            return found
        if profile.engine is None or not profile.engine.readiness.canary:
            return found
        if self._board.marks_of(profile.id):
            # It gets nothing new, so not this either.
            return found if self._answered.get(profile.id) == profile else DUE
        if self._answered.get(profile.id) == profile:
            return _with_answer(found, profile)
        tried = self._tried.get(profile.id)
        if tried is not None and tried.profile == profile and self._clock.boot_s() < tried.again_s:
            return tried.readiness
        if self._running.draining:
            return DUE
        self._board.note(profile, ASKED)
        judged, wait_s = await self._running.own(self._try(profile))
        ready = judged.state == "ready"
        self._tried[profile.id] = Tried(profile, DUE if ready else judged, self._clock.boot_s() + wait_s)
        if not ready:
            return judged
        self._answered[profile.id] = profile
        return _with_answer(found, profile)

    async def _try(self, profile: Profile) -> tuple[Readiness, float]:
        """What one canary says, and seconds until another one."""
        counted = await self._counter.count(profile, CANARY_REQUEST)
        if counted is None:
            return Readiness("unready", "canary_uncountable"), AGAIN_S
        active = self._in_force.active
        if active.snapshot.profiles.get(profile.id) != profile:
            # A reload came in between. T1 would take it under the later registry, which approves another destination.
            return DUE, 0.0
        reserved = reserve(counted, 1, tariff(profile.prices))
        grant = await self._reserve.canary(profile, reserved, active)
        if not isinstance(grant, FreshGrant):
            return Readiness("unready", "canary_not_started"), AGAIN_S
        outcome = await self._execute(grant, CANARY_REQUEST)
        if isinstance(outcome, Refusal):
            return Readiness("unready", "canary_not_started"), AGAIN_S
        if not isinstance((await self._persist.book(grant, outcome))[0], Settled):
            outcome = Unknown("transport_failed")
        return await self._judge(grant, outcome, reserved)

    async def _judge(self, grant: FreshGrant, outcome: Outcome, reserved: Reservation) -> tuple[Readiness, float]:
        engine = grant.profile.engine
        assert engine is not None, "hosted profiles get no canary"
        # What may have done work is not tried more often than an engine may take to start.
        wait_s = float(engine.readiness.startup_s)
        match outcome:
            case Completed(completion=completion):
                if completion.usage is not None and completion.usage.input > reserved.input:
                    # Another tokenizer or template than the approved one: no bound that we count would hold.
                    await self._quarantines.find(grant.profile, "counts_more", grant.dispatch_id)
                    return Readiness("mismatch", "counts_more"), wait_s
                return Readiness("ready"), AGAIN_S
            case NoEffect():
                return Readiness("unready", "canary_refused"), AGAIN_S
            case Charged(reason=reason) if convicts(outcome):
                return Readiness("mismatch", reason), wait_s
            case Charged():
                return Readiness("unready", "canary_failed"), wait_s
            case _:
                return Readiness("unready", "canary_unknown"), wait_s


def _with_answer(found: Readiness, profile: Profile) -> Readiness:
    """With what the answer has shown beside what the engine says of itself."""
    attests = profile.engine is not None and profile.engine.fingerprint is not None
    shown: tuple[Attested, ...] = ("alias", "fingerprint") if attests else ("alias",)
    return Readiness(found.state, found.reason, (*found.facts, *(fact for fact in shown if fact not in found.facts)))
