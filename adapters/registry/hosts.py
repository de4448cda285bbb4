"""What an endpoint's host says about the network that it is in. Nothing is looked up."""

import ipaddress
import re
from typing import Literal
from urllib.parse import urlsplit

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Place = Literal["loopback", "private", "public", "forbidden"]
DEFAULT_PORTS = {"http": 80, "https": 443}
PRIVATE_NAMES = (".internal", ".local", ".svc", ".svc.cluster.local", ".home.arpa")
"""Endings of names that no public name has."""
_PRIVATE = [ipaddress.ip_network(net) for net in ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7")]
_LAST_IS_NUMBER = re.compile(r"(.*\.)?([0-9]+|0x[0-9a-f]*)\.?")
_LABEL = r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?"
_NAME = re.compile(rf"{_LABEL}(\.{_LABEL})*")
_METADATA_NAMES = frozenset(
    {"instance-data", "instance-data.ec2.internal", "metadata", "metadata.goog", "metadata.google.internal"}
)
"""Where clouds hand out the credentials of their machines, by name."""
_NO_ENGINE = [
    ipaddress.ip_network(net)
    for net in (
        # The same by address, as far as it is not link-local: Alibaba, Azure, Oracle, AWS, Google.
        *("100.100.100.200/32", "168.63.129.16/32", "192.0.0.192/32", "fd00:ec2::/64", "fd20:ce::/64"),
        # Addresses of no host, and those with an IPv4 address inside.
        *("0.0.0.0/8", "240.0.0.0/4", "::/96", "64:ff9b::/96", "64:ff9b:1::/48", "2001::/32", "2002::/16"),
    )
]


def authority(endpoint: str) -> tuple[str, str, int] | None:
    """Scheme, host and port; None where one of them is not valid.

    ``134744072``, ``0x8080808`` and ``8.8`` are addresses to a resolver and names to the eye, so they are neither.
    """
    try:
        parts = urlsplit(endpoint)
        port = parts.port
    except ValueError:
        return None
    host = parts.hostname or ""
    if port == 0 or (_address(host) is None and (_LAST_IS_NUMBER.fullmatch(host) or not _NAME.fullmatch(host))):
        return None
    return parts.scheme, host, port or DEFAULT_PORTS[parts.scheme]


def place(host: str) -> Place:
    """Where the host is, as far as it tells. A name that could be anybody's counts as public.

    Forbidden is where clouds hand out their machines' credentials: link-local addresses, and some by name or address;
    and addresses of no one host, or with another address inside.
    """
    if (address := _address(host)) is None:
        if host == "localhost":
            return "loopback"
        if host in _METADATA_NAMES:
            return "forbidden"
        return "private" if "." not in host or host.endswith(PRIVATE_NAMES) else "public"
    if address.is_loopback:
        return "loopback"
    if address.is_link_local or address.is_multicast or any(address in net for net in _NO_ENGINE):
        return "forbidden"
    return "private" if any(address in net for net in _PRIVATE) else "public"


def is_plain_path(endpoint: str) -> bool:
    """Whether the path of an endpoint leads where it says: without ``//``, ``.`` and ``..``."""
    return {"", ".", ".."}.isdisjoint(urlsplit(endpoint).path.removesuffix("/").split("/")[1:])


def _address(host: str) -> Address | None:
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return None
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return mapped or address
