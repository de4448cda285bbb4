"""What the harness has seen from outside: by its clients, and by its provider, which is the external truth."""

from typing import Literal

from msgspec import Struct, field

End = Literal["open", "answered", "lost", "left"]


class Call(Struct, kw_only=True):
    """One request of a client. Times are the monotonic clock."""

    started_s: float
    ended_s: float | None = None
    end: End = "open"
    """``lost``: the connection broke. ``left``: the client hung up."""
    status: int = 0
    code: str = ""
    body: bytes = b""
    operation_id: str = ""
    replayed: bool = False
    short: str = ""
    """The kind of scope that left no room, if that is why it was refused."""


class Operation(Struct, kw_only=True):
    """One operation key and every call that was made with it."""

    label: str
    """Stands in the prompt, so that the provider knows whom it answers. The key is the same word."""
    crowded: bool = False
    """Whether two of its calls can have been under way at one time."""
    calls: list[Call] = field(default_factory=list)

    @property
    def answer(self) -> bytes | None:
        """The body of its first answer with status 200."""
        return next((call.body for call in self.calls if call.status == 200), None)

    @property
    def is_settled(self) -> bool:
        """Whether asking again can bring nothing new: it has its answer, or is told that it has none."""
        final = ("outcome_unknown", "operation_closed", "provider_rejected", "provider_failed_charged")
        return any(call.status == 200 or call.code in final for call in self.calls)

    def in_flight(self, at_s: float) -> bool:
        """Whether a client waited for its answer at this time."""
        return any(call.started_s <= at_s and (call.ended_s is None or at_s <= call.ended_s) for call in self.calls)


class Seen(Struct, frozen=True, kw_only=True):
    """One request that reached the provider's generation endpoint."""

    at_s: float
    dispatch_id: str
    label: str
    behaviour: str
    executed: bool
    state: str
    """Of the attempt, as any reader of the database saw it when the request arrived."""


class Acted(Struct, frozen=True, kw_only=True):
    """An act that an operator has asked for."""

    operation_id: str
    state: str = ""
    """Of the operation afterwards, as the operator was told; empty if the answer was lost, or was no."""
