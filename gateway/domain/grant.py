"""The permission to send, made by ``reserve`` alone and spent once by ``execute`` alone.

A duplicate cannot be dispatched: without a FreshGrant it does not type-check, and spending one twice raises.
"""

from msgspec import Struct

from gateway.domain.budget import Reservation
from gateway.domain.errors import GrantAlreadySpent
from gateway.domain.operation import Identity
from gateway.domain.profile import Profile
from gateway.domain.request import Request


class Dispatch(Struct, frozen=True, kw_only=True):
    """The only thing that a transport sends: one request, to one profile, once."""

    dispatch_id: str
    """The request id on the wire. Never derived from the operation key."""
    profile: Profile
    request: Request
    tenant: str
    principal: str
    """With the tenant: whose prefixes an engine may reuse."""
    output_cap: int
    """Tokens: what was reserved is what is sent (promise G8)."""
    send_by_s: float
    """Boot-time clock. Nothing is written after it, because a paused sender may wake up late."""


def unsendable(profile: Profile, request: Request) -> Dispatch:
    """Something to try a translation on. Its time to send has passed long ago, so no transport writes a byte of it."""
    return Dispatch(
        dispatch_id="unsendable",
        profile=profile,
        request=request,
        tenant="",
        principal="",
        output_cap=profile.max_output,
        send_by_s=float("-inf"),
    )


class FreshGrant:
    """Holds taken for one attempt and nothing sent yet."""

    __slots__ = ("_spent", "attempt", "dispatch_id", "identity", "made_s", "operation_id", "profile", "reserved")

    def __init__(
        self,
        *,
        operation_id: str,
        identity: Identity,
        attempt: int,
        dispatch_id: str,
        profile: Profile,
        reserved: Reservation,
        made_s: float,
    ) -> None:
        self.operation_id = operation_id
        self.identity = identity
        self.attempt = attempt
        self.dispatch_id = dispatch_id
        self.profile = profile
        self.reserved = reserved
        self.made_s = made_s
        self._spent = False

    def spend(self, request: Request, *, send_by_s: float) -> Dispatch:
        """Turn the grant into its one dispatch.

        :raises GrantAlreadySpent: at the second call.
        """
        if self._spent:
            raise GrantAlreadySpent(self.dispatch_id)
        self._spent = True
        return Dispatch(
            dispatch_id=self.dispatch_id,
            profile=self.profile,
            request=request,
            tenant=self.identity.tenant,
            principal=self.identity.principal,
            output_cap=self.reserved.output,
            send_by_s=send_by_s,
        )
