"""Another registry and another policy, as they lie in the files now."""

from typing import Protocol

from msgspec import Struct

from gateway.domain.fault import Fault
from gateway.domain.snapshot import Snapshot
from gateway.ports.policy import Policy


class Revision(Struct, frozen=True):
    """A registry with the policy that was built from it. OPA runs, and has answered the golden decisions."""

    snapshot: Snapshot
    policy: Policy
    warnings: tuple[Fault, ...]


class Rejected(Struct, frozen=True):
    """Why the files cannot be put in force. What serves goes on serving."""

    faults: tuple[Fault, ...]


class Revisions(Protocol):
    """Prepares revisions. Nothing watches the files: whoever administers asks."""

    async def prepare(self) -> Revision | Rejected:
        """Load the registry, check it, start OPA with it, and ask the golden decisions."""

    async def retire(self, policy: Policy) -> None:
        """End a policy that is not in force any more, after the decisions in flight."""
