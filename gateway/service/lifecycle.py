"""Profiles as administrators see them, and what they may do with one: drain, resume, release."""

from msgspec import Struct

from gateway.domain.errors import CredentialRevoked, LedgerUnavailable
from gateway.domain.profile import Profile
from gateway.domain.profile_state import ActNotLegal, Mark, ProfileAct, ProfileActKind, ProfileState, state_of
from gateway.domain.refusal import Code, Refusal
from gateway.ports.profiles import Profiles
from gateway.ports.transport import Readiness
from gateway.service.administer import Permit
from gateway.service.facts import Fact, facts
from gateway.service.quarantines import Quarantines
from gateway.service.readiness import ReadinessBoard

NO_SERVER = Readiness("unknown", "no_server")


class ProfileView(Struct, frozen=True, kw_only=True):
    """One profile. Times are microseconds UTC."""

    profile: Profile
    state: ProfileState
    marks: tuple[Mark, ...]
    readiness: Readiness
    since_us: int | None
    """From when on the readiness has been what it is; None: nobody has looked."""
    until_us: int | None
    """Until when it counts, if nobody looks again."""
    serves: bool
    facts: tuple[Fact, ...]


class Lifecycle:
    """What policy permits on profiles. Without a server there is no board, and nobody looks at engines."""

    def __init__(
        self, profiles: Profiles, board: ReadinessBoard | None, quarantines: Quarantines | None, *, os_user: str | None
    ) -> None:
        self._profiles = profiles
        self._board = board
        self._quarantines = quarantines
        self._os_user = os_user

    async def all(self, permit: Permit) -> tuple[ProfileView, ...]:
        """Every profile of the registry, by id."""
        permit.actor("profiles", "read")
        marks = await self._profiles.marks()
        return tuple(self._view(profile, marks) for _, profile in sorted(permit.snapshot.profiles.items()))

    async def act(self, permit: Permit, kind: ProfileActKind, profile_id: str, words: str) -> ProfileView | Refusal:
        """The profile as it then is. Draining stops new work and erases nothing: calls go on to their end, and
        answers are replayed."""
        actor = permit.actor("profiles", "change")
        profile = permit.snapshot.profiles.get(profile_id)
        if profile is None:
            return Refusal(code=Code.UNKNOWN_PROFILE, param="id")
        digest = permit.snapshot.profile_digests[profile_id]
        act = ProfileAct(kind=kind, profile=profile_id, profile_digest=digest, words=words)
        try:
            done = await self._profiles.act(act, actor=actor, os_user=self._os_user)
        except LedgerUnavailable:
            return Refusal(code=Code.LEDGER_UNAVAILABLE)
        except CredentialRevoked:
            return Refusal(code=Code.UNAUTHENTICATED)
        if isinstance(done, ActNotLegal):
            return Refusal(code=Code.PROFILE_ACT_NOT_LEGAL, facts={"state": done.state})
        if self._board is not None and self._quarantines is not None:
            if kind == "release":
                # Whatever was found before he looked at it counts no more: it is probed anew, canary and all.
                self._board.forget(profile_id)
            await self._quarantines.load()
        return self._view(profile, await self._profiles.marks())

    def _view(self, profile: Profile, marks: tuple[Mark, ...]) -> ProfileView:
        board = self._board
        own = tuple(mark for mark in marks if mark.profile == profile.id)
        readiness = NO_SERVER if board is None else board.of(profile)
        return ProfileView(
            profile=profile,
            state=state_of(own),
            marks=own,
            readiness=readiness,
            since_us=None if board is None else board.since_us(profile),
            until_us=None if board is None else board.until_us(profile),
            serves=board is not None and board.is_ready(profile),
            facts=facts(profile, readiness.facts),
        )
