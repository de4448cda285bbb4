"""The registry and the policy that are in force, as one immutable pair."""

from msgspec import Struct

from gateway.domain.snapshot import Snapshot
from gateway.ports.events import Events
from gateway.ports.policy import Policy
from gateway.service.memo import Memo


class Active(Struct, frozen=True):
    """A snapshot with the policy that was built from it. A request takes it once and keeps it to its end."""

    snapshot: Snapshot
    policy: Policy


class InForce:
    """Which pair new requests take. A swap is one assignment, so no request sees half of it.

    Requests ask a policy through a memo of its own, which goes with it.
    """

    def __init__(self, active: Active, events: Events) -> None:
        self._events = events
        self._put = active
        self.active = self._remembering(active)

    def swap(self, active: Active) -> Active:
        """Put another pair in force and return the earlier one as it was put, so its policy can be closed."""
        earlier, self._put = self._put, active
        self.active = self._remembering(active)
        return earlier

    def _remembering(self, active: Active) -> Active:
        return Active(active.snapshot, Memo(active.policy, self._events))
