"""Credentials of service accounts. The actor is the permit's principal, never a flag."""

import base64
import re
import secrets

import uuid_utils
from msgspec import Struct

from gateway.domain.errors import CredentialRevoked, LedgerUnavailable
from gateway.domain.principal import OPERATOR, SYSTEM_TENANT, credential_hash
from gateway.domain.refusal import Code, Refusal
from gateway.ports.clock import Clock
from gateway.ports.reads import Key, KeyFilter, Keys
from gateway.service.administer import Permit

TOKEN_PREFIX = "gw_"  # noqa: S105 - a prefix that lets secret scanners find a leaked key, not a secret
TOKEN_BYTES = 32
_TOKEN = re.compile(r"gw_[A-Za-z0-9_-]{43}\Z")


class NewKey(Struct, frozen=True):
    """A key with its token, which is shown this once and stored only as a hash."""

    key: Key
    token: str


class Credentials:
    """Keys of the service accounts of the registry. No token is ever shown a second time, and no hash at all."""

    def __init__(self, keys: Keys, clock: Clock, *, os_user: str | None) -> None:
        self._keys = keys
        self._clock = clock
        self._os_user = os_user

    async def create(self, permit: Permit, *, tenant: str, principal: str, label: str) -> NewKey | Refusal:
        """A new key for a service account that the registry has today."""
        actor = permit.actor("keys", "change")
        if tenant not in permit.snapshot.tenants:
            return Refusal(code=Code.UNKNOWN_TENANT, param="tenant")
        if permit.snapshot.principal(tenant, principal) is None:
            return Refusal(code=Code.UNKNOWN_PRINCIPAL, param="principal")
        token = new_token()
        key = self._key(tenant, principal, label)
        try:
            await self._keys.create(key, credential_hash(token), actor=actor, os_user=self._os_user)
        except LedgerUnavailable:
            return Refusal(code=Code.LEDGER_UNAVAILABLE)
        except CredentialRevoked:
            return Refusal(code=Code.UNAUTHENTICATED)
        return NewKey(key, token)

    async def search(self, permit: Permit, wanted: KeyFilter) -> tuple[Key, ...]:
        """Keys, newest first; also of accounts that the registry has no more."""
        permit.actor("keys", "read")
        return await self._keys.search(wanted)

    async def revoke(self, permit: Permit, key_id: str) -> Key | Refusal:
        """From now on this key counts for nothing, also for requests that are under way."""
        actor = permit.actor("keys", "change")
        try:
            revoked = await self._keys.revoke(key_id, actor=actor, os_user=self._os_user)
        except LedgerUnavailable:
            return Refusal(code=Code.LEDGER_UNAVAILABLE)
        except CredentialRevoked:
            return Refusal(code=Code.UNAUTHENTICATED)
        return revoked or Refusal(code=Code.UNKNOWN_KEY)

    async def ensure_operator(self, token: str) -> None:
        """The credential of the data directory belongs to the built-in operator.

        :raises LedgerUnavailable: if it cannot be stored.
        """
        hashed = credential_hash(token)
        if await self._keys.find(hashed) is None:
            # Alone: removing the file and starting again is how a leaked credential is revoked.
            key = self._key(SYSTEM_TENANT, OPERATOR, "data directory")
            await self._keys.create(key, hashed, actor=None, alone=True)

    def _key(self, tenant: str, principal: str, label: str) -> Key:
        return Key(
            id=str(uuid_utils.uuid7()),
            tenant=tenant,
            principal=principal,
            active=True,
            created_us=self._clock.now_us(),
            label=label,
        )


def new_token() -> str:
    """A prefix and 32 random bytes."""
    return TOKEN_PREFIX + base64.urlsafe_b64encode(secrets.token_bytes(TOKEN_BYTES)).decode().rstrip("=")


def is_token(text: str) -> bool:
    """Whether a text has the form of ``new_token``."""
    return _TOKEN.match(text) is not None
