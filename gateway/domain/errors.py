"""What can break, as one tree. An expected "no" is a value (refusal.py), not one of these.

GatewayError
├── PolicyUnavailable      policy could not be evaluated; never means "allow"
├── LedgerUnavailable      the transition was not taken; nothing of it is stored
├── LedgerUncertain        the commit failed: whether the transition is stored is not known
├── IllegalMove            a transition that the table of legal moves does not have
├── CredentialRevoked      whoever asked for the change may change nothing any more; nothing of it is stored
├── WorkAbandoned          the drain's time was up; the sweep says what became of the attempt
├── GrantAlreadySpent      a fault of the program: one grant, two dispatches
├── PermitMisused          a fault of the program: a permit for one thing, used for another
└── StartRefused           the gateway must not start; the text says what to do
    └── DirectoryInUse     another process holds the data directory
"""

from gateway.domain.fault import Fault


class GatewayError(Exception):
    """Root of what the gateway itself raises."""


class PolicyUnavailable(GatewayError):
    """``reason`` is one of a closed set and safe to log."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class LedgerUnavailable(GatewayError):
    """The writer did not take the transition, or rolled it back."""


class LedgerUncertain(GatewayError):
    """A COMMIT failed. Only a restart (or, with replicas, a new session) can tell what is stored."""


class IllegalMove(GatewayError):
    """The store refused a move that is not in the table."""


class CredentialRevoked(GatewayError):
    """In the moment of a change its actor's credential was not active any more, or not that principal's."""


class WorkAbandoned(GatewayError):
    """Shutting down, the process stopped waiting for this piece of work."""

    def __init__(self, *, owned_attempt: bool) -> None:
        super().__init__("abandoned")
        self.owned_attempt = owned_attempt
        """False: nothing was reserved, and nothing was sent."""


class GrantAlreadySpent(GatewayError):
    """A grant was used for a second dispatch."""


class PermitMisused(GatewayError):
    """An administrator's permit was used for another area or deed than the one that policy was asked about."""


class StartRefused(GatewayError):
    """Start-up ends with this sentence and exit code 1."""

    def __init__(self, text: str, faults: tuple[Fault, ...] = ()) -> None:
        super().__init__(text)
        self.faults = faults
        """Where files are to blame: what ``text`` says, one by one."""


class DirectoryInUse(StartRefused):
    """Another process holds the lock of the data directory."""
