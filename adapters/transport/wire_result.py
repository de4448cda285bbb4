"""What one call came to on the wire, before anybody says what that means."""

from msgspec import Struct

from gateway.domain.outcome import NotSent, Unclear


class NotSentResult(Struct, frozen=True):
    """No request byte left, and none will."""

    reason: NotSent


class Answered(Struct, frozen=True):
    """A complete HTTP answer."""

    status: int
    body: bytes


class TooLarge(Struct, frozen=True):
    """The answer passed ``max_answer_bytes``; reading stopped and the connection is closed."""

    status: int


class LostAfterSend(Struct, frozen=True):
    """Bytes left, and no complete answer came."""

    reason: Unclear
    fault: str = ""
    """Class of an exception that this module does not know, for an event."""


WireResult = NotSentResult | Answered | TooLarge | LostAfterSend
