"""What transactions look at again in their moment, as far as it lives in this process."""

from gateway.service.active import InForce
from gateway.service.readiness import ReadinessBoard


class ProcessStanding:
    """The revision and the profile's readiness. Implements ``gateway.ports.ledger.Standing``.

    Called from the writer's thread: it reads single attributes, which are replaced and never changed.
    """

    def __init__(self, in_force: InForce, board: ReadinessBoard) -> None:
        self._in_force = in_force
        self._board = board

    def objection(self, policy_revision: str | None, profile: str | None) -> str | None:
        active = self._in_force.active
        # The revision covers the registry as well; its digest would not tell that rules alone were reloaded.
        if policy_revision is not None and policy_revision != active.policy.revision:
            return "registry_changed"
        if profile is None:
            return None
        found = active.snapshot.profiles.get(profile)
        if found is None or not self._board.is_ready(found):
            return "profile_not_ready"
        return None

    def is_marked(self, profile: str) -> bool:
        return bool(self._board.marks_of(profile))

    def is_in_force(self, policy_revision: str) -> bool:
        return policy_revision == self._in_force.active.policy.revision
