"""What is read from the store. Reads see committed rows only and never wait for the writer."""

from collections.abc import Sequence
from typing import Protocol

from msgspec import Struct

from gateway.domain.operation import Identity, Operation, StoredResult
from gateway.domain.principal import Caller
from gateway.domain.request import SourceRef
from gateway.domain.source import KnownSource


class Operations(Protocol):
    """Operations by identity and by id."""

    async def find(self, identity: Identity) -> Operation | None: ...

    async def get(self, operation_id: str) -> Operation | None: ...

    async def result(self, operation_id: str) -> StoredResult | None:
        """None: not completed, or the body has been purged."""


class Sources(Protocol):
    """The directory of sources."""

    async def facts(self, refs: Sequence[SourceRef]) -> tuple[KnownSource, ...]:
        """One fact for each reference, in order; without a row a fact with ``known`` false."""


class SourceChange(Struct, frozen=True, kw_only=True):
    """A source as it is to be from now on. Stores take it; the directory's administration comes later."""

    id: str
    revision: str
    tenant: str
    groups: tuple[str, ...]
    privacy_class: str
    released_s: int
    """End of the embargo, seconds UTC."""
    withdrawn: bool
    actor: Caller | None


class Key(Struct, frozen=True, kw_only=True):
    """A credential as stored: whose it is, and whether it still counts."""

    id: str
    tenant: str
    principal: str
    active: bool
    created_us: int
    label: str


class Keys(Protocol):
    """Credentials by the hash of their token."""

    async def find(self, credential_hash: bytes) -> Key | None:
        """Read at every request; no cache outlives a revocation."""

    async def create(self, key: Key, credential_hash: bytes, *, actor: Caller | None) -> None:
        """Durable when it returns, with its audit row. ``actor`` None is the server itself at start."""
