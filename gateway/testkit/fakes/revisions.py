"""Revisions in memory: the registry that shall be in the files next, with a scripted policy for each."""

from collections.abc import Sequence

from gateway.domain.fault import Fault
from gateway.domain.snapshot import Snapshot
from gateway.ports.policy import Policy
from gateway.ports.revisions import Rejected, Revision
from gateway.testkit.fakes.policy import ScriptedPolicy


class FakeRevisions:
    """Implements ``gateway.ports.revisions.Revisions``."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.snapshot = snapshot
        """What the files hold."""
        self.faults: Sequence[Fault] = ()
        """What is wrong with them."""
        self.running: list[Policy] = []
        """Policies that were prepared and not retired."""
        self.retired: list[Policy] = []

    async def prepare(self) -> Revision | Rejected:
        if self.faults:
            return Rejected(tuple(self.faults))
        policy = ScriptedPolicy(self.snapshot, f"sha256:policy of {self.snapshot.digest}")
        self.running.append(policy)
        return Revision(self.snapshot, policy, ())

    async def retire(self, policy: Policy) -> None:
        self.retired.append(policy)
        if policy in self.running:
            self.running.remove(policy)
        if isinstance(policy, ScriptedPolicy):
            policy.away = "closed"
