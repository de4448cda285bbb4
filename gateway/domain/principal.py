"""Who asks. Everything here comes from the verified credential and the registry, never from the request."""

import hashlib

from msgspec import Struct

SYSTEM_TENANT = "system"
OPERATOR = "operator"
"""The role of operators, and the name of the built-in one, whose credential lies in the data directory.

What a role allows is said by the policies alone."""

CANARY = "canary"
"""Of the system's tenant: whoever owns the readiness canaries. It has no credential, so nobody can ask as it."""


class Principal(Struct, frozen=True):
    """A service account with an immutable id; credentials belong to it."""

    tenant: str
    id: str
    groups: tuple[str, ...]
    roles: tuple[str, ...]


BUILT_IN_OPERATOR = Principal(SYSTEM_TENANT, OPERATOR, groups=(), roles=(OPERATOR,))


class Caller(Struct, frozen=True):
    """A principal with the credential that it used, which T1 checks again."""

    principal: Principal
    credential_hash: bytes


def credential_hash(token: str) -> bytes:
    """SHA-256 of the whole token: the only form in which a credential is kept or looked up."""
    return hashlib.sha256(token.encode()).digest()
