"""States of profiles, kept in the store."""

from typing import Protocol

from gateway.domain.principal import Caller
from gateway.domain.profile_state import ActNotLegal, Mark, ProfileAct, Quarantine


class Profiles(Protocol):
    """Marks of profiles. A settlement whose outcome convicts the engine sets one too, in its own transaction."""

    async def marks(self) -> tuple[Mark, ...]:
        """All of them, as last committed, by profile and kind."""

    async def act(self, act: ProfileAct, *, actor: Caller, os_user: str | None) -> ActNotLegal | None:
        """Durable with its audit row when it returns None.

        :raises LedgerUnavailable: nothing was stored.
        :raises CredentialRevoked: the actor's credential does not count any more; nothing was stored.
        """

    async def quarantine(self, found: Quarantine) -> bool:
        """True: the mark is new, and durable with its audit row. False: there was one already, which stays.

        :raises LedgerUnavailable: nothing was stored.
        """
