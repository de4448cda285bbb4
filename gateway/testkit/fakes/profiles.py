"""States of profiles in memory."""

from gateway.domain.principal import Caller
from gateway.domain.profile_state import SETS, ActNotLegal, Mark, ProfileAct, Quarantine, state_of
from gateway.ports.clock import Clock
from gateway.testkit.fakes.acts import name_of
from gateway.testkit.fakes.rows import Rows


class FakeProfiles:
    """Implements ``gateway.ports.profiles.Profiles``."""

    def __init__(self, rows: Rows, clock: Clock) -> None:
        self._rows = rows
        self._clock = clock

    async def marks(self) -> tuple[Mark, ...]:
        return tuple(mark for _, mark in sorted(self._rows.marks.items()))

    async def act(self, act: ProfileAct, *, actor: Caller, os_user: str | None) -> ActNotLegal | None:  # noqa: ARG002 - the port's names
        self._rows.check(actor)
        kind, is_set = SETS[act.kind]
        name = (act.profile, kind)
        if (name in self._rows.marks) == is_set:
            return ActNotLegal(state_of(mark for mark in await self.marks() if mark.profile == act.profile))
        if is_set:
            self._rows.marks[name] = Mark(
                profile=act.profile,
                kind=kind,
                profile_digest=act.profile_digest,
                reason=act.words,
                who=name_of(actor),
                since_us=self._clock.now_us(),
            )
        else:
            del self._rows.marks[name]
        return None

    async def quarantine(self, found: Quarantine) -> bool:
        return self._rows.quarantine(found, self._clock.now_us())
