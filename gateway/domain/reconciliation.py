"""What an operator may do with an operation whose outcome is unknown.

Each act is legal only from ``unknown``, and only once: an unknown is closed by evidence or by a named operator,
never by time (promise G5). No act opens the way to another attempt, because a sender that was paused may still
send (docs/adr).
"""

from typing import Literal

from msgspec import Struct

from gateway.domain.budget import Reservation, Settlement, spent
from gateway.domain.money import Tariff
from gateway.domain.operation import State
from gateway.domain.principal import Caller
from gateway.domain.usage import Usage

LONGEST_WORDS = 500
"""Characters of an operator's reason or evidence."""

ActKind = Literal["write_off", "no_effect", "charged", "free_slot"]
"""write_off: closed, settled at the reservation. no_effect: closed, settled at zero, on evidence. charged: settled
at the usage that the evidence proves. free_slot: the state stays, and the slot is free again."""


class Act(Struct, frozen=True, kw_only=True):
    """One act of an operator."""

    kind: ActKind
    operation_id: str
    actor: Caller
    os_user: str | None
    """User of the operating system, where the command line worked without a server."""
    words: str
    """The operator's reason, or the evidence; at most 500 characters, kept in the audit and as evidence."""
    used: Usage | None = None
    """What the evidence proves was used; for ``charged`` alone."""

    @property
    def is_well_formed(self) -> bool:
        return 0 < len(self.words) <= LONGEST_WORDS and (self.used is not None) == (self.kind == "charged")


class Done(Struct, frozen=True):
    """The act is durable, with its audit row; the operation is now in this state."""

    state: State


class NotLegal(Struct, frozen=True):
    """The operation is in a state from which the act is not legal, or its slot is already free."""

    state: State


class TooEarly(Struct, frozen=True):
    """Its sender may still be sending: ``no_effect`` can be found from this instant on (microseconds UTC)."""

    not_before_us: int


class NoSuchOperation(Struct, frozen=True):
    """There is no operation of this id."""


ActResult = Done | NotLegal | TooEarly | NoSuchOperation


def conclude(act: Act, reserved: Reservation, tariff: Tariff) -> Settlement | None:
    """What an act books; None for ``free_slot``, which leaves the outcome unknown.

    :param tariff: the prices that the attempt was reserved at.
    """
    match act.kind:
        case "write_off":
            return spent(State.CLOSED, None, reserved, tariff, "written_off")
        case "no_effect":
            return Settlement(state=State.CLOSED, used=Usage(0, 0), basis="provider", detail="found_without_effect")
        case "charged":
            assert act.used is not None, "a well-formed act: charged alone says what was used"
            return spent(State.CHARGED, act.used, reserved, tariff, "found_charged")
        case "free_slot":
            return None
