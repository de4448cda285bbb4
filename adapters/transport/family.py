"""What every family of adapters can do: write one call, read its answer, look at the destination."""

from typing import Protocol

from adapters.transport.wire import Call
from adapters.transport.wire_answer import Answer
from gateway.domain.grant import Dispatch
from gateway.domain.profile import Profile
from gateway.ports.transport import Readiness


class NotSendable(Exception):
    """Nothing was sent, and nothing will be. The text is a name from the code, fit for an event."""


class Family(Protocol):
    """How one kind of endpoint speaks."""

    def call_for(self, dispatch: Dispatch) -> Call:
        """The one call that a dispatch makes, its body built from an allow-list.

        :raises NotSendable: where the profile or the request does not allow one.
        """

    def read(self, body: bytes) -> Answer | None:
        """The answer in a body with status 200, or None if it is not one."""

    async def check(self, profile: Profile) -> Readiness:
        """Whether the destination is what the profile says. Sends nothing of any request."""
