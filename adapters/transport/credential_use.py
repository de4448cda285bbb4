"""The last look before a credential is set: is it there, and may it go to this host for this tenant?

The registry has been checked for the same. This is asked of the very URL that is then called.
"""

import ipaddress
from typing import Literal
from urllib.parse import urlsplit

from gateway.ports.secrets import Held, NotHeld, Secrets

DEFAULT_PORTS = {"http": 80, "https": 443}
NotSet = NotHeld | Literal["credential_not_named", "host_not_covered", "tenant_not_covered", "plain_text"]
"""Why no credential was set."""


def credential_for(secrets: Secrets, credential_id: str | None, *, url: str, tenant: str) -> Held | NotSet:
    """The credential in force, if it may go to ``url`` for a request of ``tenant``."""
    if credential_id is None:
        return "credential_not_named"
    held = secrets.of(credential_id)
    if not isinstance(held, Held):
        return held
    if (uncovered := not_covered(held, url)) is not None:
        return uncovered
    return held if tenant in held.credential.tenants else "tenant_not_covered"


def not_covered(held: Held, url: str) -> Literal["host_not_covered", "plain_text"] | None:
    """A host without a port stands for the default port of the scheme alone, and plain text for the loopback."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port or DEFAULT_PORTS[parts.scheme]
    except (ValueError, KeyError):
        return "host_not_covered"
    hosts = held.credential.hosts
    if f"{host}:{port}" not in hosts and not (host in hosts and port == DEFAULT_PORTS[parts.scheme]):
        return "host_not_covered"
    return None if parts.scheme == "https" or _is_loopback(host) else "plain_text"


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
