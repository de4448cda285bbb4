"""What a transaction looks at again: is the credential active, are the sources as they were decided upon?"""

from collections.abc import Sequence

from sqlalchemy import bindparam, select

from adapters.store.connection import Connection
from adapters.store.statements import sql
from adapters.store.tables import key, source
from gateway.domain.errors import CredentialRevoked
from gateway.domain.principal import Caller
from gateway.domain.request import SourceRef

_VERSION = sql(select(source.c.version).where(source.c.id == bindparam("id")))
_OWNER = sql(
    select(key.c.tenant, key.c.principal).where(
        key.c.credential_hash == bindparam("hash"), key.c.active == bindparam("yes")
    )
)


class Directory:
    """Answers from within one transaction, and remembers them for the length of one ``apply``."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._versions: dict[str, int] = {}
        self._owners: dict[bytes, tuple[str, str] | None] = {}

    def unchanged(self, sources: Sequence[SourceRef], versions: Sequence[int]) -> bool:
        """Whether every source still has the version that was decided upon."""
        return all(self._version(ref.id) == seen for ref, seen in zip(sources, versions, strict=True))

    def owns(self, tenant: str, principal: str, credential_hash: bytes | None) -> bool:
        """Whether the credential is active and belongs to this principal. No credential is nobody's."""
        if credential_hash is None:
            return False
        if credential_hash not in self._owners:
            row = self._connection.execute(_OWNER, {"hash": credential_hash, "yes": 1}).fetchone()
            self._owners[credential_hash] = row
        return self._owners[credential_hash] == (tenant, principal)

    def refusal_of(self, actor: Caller | None) -> CredentialRevoked | None:
        """Why this actor may change nothing any more. None as ``actor`` is the server itself, which always may."""
        if actor is None or self.owns(actor.principal.tenant, actor.principal.id, actor.credential_hash):
            return None
        return CredentialRevoked("the actor's credential does not count any more")

    def _version(self, source_id: str) -> int:
        if source_id not in self._versions:
            row = self._connection.execute(_VERSION, {"id": source_id}).fetchone()
            self._versions[source_id] = 0 if row is None else row[0]
        return self._versions[source_id]
