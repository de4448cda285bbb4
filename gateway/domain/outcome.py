"""What a dispatch came to. The adapter says what it knows, and nothing more (design, section 5)."""

from typing import Literal

from msgspec import Struct

from gateway.domain.completion import Completion
from gateway.domain.engine_times import EngineTimes
from gateway.domain.usage import Usage

NotSent = Literal[
    "connect_refused", "name_not_resolved", "tls_failed", "connect_timeout", "pool_timeout", "send_by_passed"
]
Rejected = Literal["busy", "rejected"]
Failed = Literal["answer_too_large", "other_model", "other_fingerprint", "aborted", "listed_as_charged"]
Unclear = Literal[
    "timeout_after_send",
    "connection_lost",
    "truncated_answer",
    "malformed_answer",
    "unlisted_status",
    "redirect",
    "unknown_finish_reason",
    "transport_failed",
]


class Completed(Struct, frozen=True):
    """A complete answer with a known finish reason."""

    completion: Completion
    provider_ref: str | None = None
    times: EngineTimes | None = None
    """What the engine says of its own time; counted, and of no other consequence."""


class NoEffect(Struct, frozen=True):
    """No request byte left, or a refusal that is listed as "not executed"."""

    reason: NotSent | Rejected


class Charged(Struct, frozen=True):
    """Definite failure after work was done. Never shown."""

    reason: Failed
    usage: Usage | None = None


class Unknown(Struct, frozen=True):
    """Sent, and what became of it is not known."""

    reason: Unclear

    @property
    def at_deadline(self) -> bool:
        """Whether the total deadline ended it: the caller gets 504 instead of 502."""
        return self.reason == "timeout_after_send"


Outcome = Completed | NoEffect | Charged | Unknown
