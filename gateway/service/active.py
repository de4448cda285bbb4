"""The registry and the policy that are in force, as one immutable pair."""

from msgspec import Struct

from gateway.domain.snapshot import Snapshot
from gateway.ports.policy import Policy


class Active(Struct, frozen=True):
    """A snapshot with the policy that was built from it. A request takes it once and keeps it to its end."""

    snapshot: Snapshot
    policy: Policy


class InForce:
    """Which pair new requests take. A swap is one assignment, so no request sees half of it."""

    def __init__(self, active: Active) -> None:
        self.active = active

    def swap(self, active: Active) -> Active:
        """Put another pair in force and return the earlier one, whose policy still has to be closed."""
        earlier, self.active = self.active, active
        return earlier
