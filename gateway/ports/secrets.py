"""Secrets of providers: read at the start and at a reload, and handed to the transport alone."""

from typing import Literal, Protocol

from msgspec import Struct

from gateway.domain.registry import Credential

NotHeld = Literal["credential_missing", "credential_exposed", "credential_unreadable", "credential_malformed"]
"""Why a secret is not held: not there; in a file that others may read, or that cannot be read; not visible ASCII."""


class Secret:
    """A value that shows itself nowhere: not in a text, a log, an error or a copy."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def reveal(self) -> str:
        """The value, for the header that it is meant for."""
        return self._value

    def __repr__(self) -> str:
        return "Secret(...)"

    __str__ = __repr__

    def __reduce__(self) -> "str | tuple[object, ...]":
        raise TypeError("a secret is not copied")


class Held(Struct, frozen=True):
    """A secret with what it is bound to."""

    credential: Credential
    """Of the registry in force: the hosts that it may go to, and the tenants that it serves."""
    secret: Secret


class Secrets(Protocol):
    """What the credentials of the registry in force stand for."""

    def of(self, credential_id: str) -> Held | NotHeld:
        """The secret as it was read last. Nothing is read from anywhere now."""
