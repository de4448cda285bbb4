"""Credential -> principal. Takes the active registry and policy, once, for the whole request."""

from gateway.domain.principal import BUILT_IN_OPERATOR, Caller, credential_hash
from gateway.domain.refusal import Code, Refusal
from gateway.ports.reads import Keys
from gateway.service.active import InForce
from gateway.service.path import Session


class Authenticate:
    """The row holds only whose key it is; tenant, groups and roles come from the registry of this moment."""

    def __init__(self, keys: Keys, in_force: InForce) -> None:
        self._keys = keys
        self._in_force = in_force

    async def __call__(self, credential: str | None) -> Session | Refusal:
        if credential is None:
            return Refusal(code=Code.UNAUTHENTICATED)
        hashed = credential_hash(credential)
        key = await self._keys.find(hashed)
        if key is None or not key.active:
            return Refusal(code=Code.UNAUTHENTICATED)
        active = self._in_force.active
        if (key.tenant, key.principal) == (BUILT_IN_OPERATOR.tenant, BUILT_IN_OPERATOR.id):
            return Session(Caller(BUILT_IN_OPERATOR, hashed), active)
        principal = active.snapshot.principal(key.tenant, key.principal)
        if principal is None:
            return Refusal(code=Code.UNAUTHENTICATED)
        return Session(Caller(principal, hashed), active)
