"""Does an object agree with itself, and with what it is sent to?"""

import ipaddress
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

from adapters.registry.document import Path
from adapters.registry.draft import Draft, Entry
from gateway.domain.fault import Fault
from gateway.domain.principal import SYSTEM_TENANT
from gateway.domain.profile import SELF_HOSTED_ADAPTERS, Profile
from gateway.domain.tenant import Tenant

_MOVING = frozenset(
    {"canary", "current", "default", "dev", "develop", "edge", "head", "latest", "main", "master", "nightly"}
    | {"preview", "stable", "tip", "trunk"}
)
_DEFAULT_PORTS = {"http": 80, "https": 443}


def coherence(draft: Draft) -> Iterator[Fault]:
    """Faults of single objects that a schema cannot express."""
    for tenant in draft.tenants.values():
        yield from _tenant(tenant)
    for profile in draft.profiles.values():
        yield from _bounds(profile)
        yield from _prices(profile)
        yield from _pinned(profile)
        yield from _engine(profile)
        yield from _destination(draft, profile)


def _tenant(entry: Entry[Tenant]) -> Iterator[Fault]:
    if entry.value.id == SYSTEM_TENANT:
        yield entry.fault(("id",), "This tenant id is reserved for the gateway itself.", "Choose another id.")
    yield from repeated(entry, "service_accounts", [account.id for account in entry.value.service_accounts])


def repeated(entry: Entry[Any], key: str, ids: list[str]) -> Iterator[Fault]:
    """Faults of the items of a list whose id an earlier item has."""
    for index, id in enumerate(ids):
        if id in ids[:index]:
            yield entry.fault((key, index, "id"), "An earlier item has the same id.", "Give every item its own id.")


def _bounds(entry: Entry[Profile]) -> Iterator[Fault]:
    profile = entry.value
    if profile.max_output >= profile.context_window:
        sentence = "The output maximum leaves no room for input in the context window."
        yield entry.fault(("max_output",), sentence, "Lower max_output below context_window.")
    if profile.timeouts.connect_ms > profile.timeouts.total_ms:
        sentence = "The time to connect is longer than the whole deadline."
        yield entry.fault(("timeouts", "connect_ms"), sentence, "Lower connect_ms, or raise total_ms.")


def _prices(entry: Entry[Profile]) -> Iterator[Fault]:
    tiers = entry.value.prices.tiers
    if tiers[0].above_input_tokens != 0:
        path = ("prices", "tiers", 0, "above_input_tokens")
        yield entry.fault(path, "The first price tier does not start at 0.", "Add a tier from 0 input tokens on.")
    for index in range(1, len(tiers)):
        if tiers[index].above_input_tokens <= tiers[index - 1].above_input_tokens:
            path = ("prices", "tiers", index, "above_input_tokens")
            yield entry.fault(path, "The price tiers do not ascend.", "Order the tiers by above_input_tokens.")


def _pinned(entry: Entry[Profile]) -> Iterator[Fault]:
    named: list[tuple[Path, str]] = [(("revision",), entry.value.revision), (("model",), entry.value.model)]
    if entry.value.engine is not None:
        named.append((("engine", "version"), entry.value.engine.version))
    for path, name in named:
        last = re.split(r"[/:@]", name.casefold())[-1]
        if last in _MOVING or last.endswith("-latest"):
            remedy = "Pin what cannot change: a commit, a digest or a dated name."
            yield entry.fault(path, "This is a moving revision.", remedy)


def _engine(entry: Entry[Profile]) -> Iterator[Fault]:
    profile = entry.value
    self_hosted = profile.kind == "self_hosted"
    if self_hosted != (profile.adapter in SELF_HOSTED_ADAPTERS):
        adapters = ", ".join(sorted(SELF_HOSTED_ADAPTERS))
        remedy = f"Self-hosted profiles use one of: {adapters}; hosted ones any other."
        yield entry.fault(("adapter",), "The adapter does not fit the profile's kind.", remedy)
    if self_hosted and profile.engine is None:
        sentence = "A self-hosted profile has no engine."
        yield entry.fault(("kind",), sentence, "Describe its engine under the key engine.")
    if not self_hosted and profile.engine is not None:
        sentence = "A hosted profile has an engine."
        yield entry.fault(("engine",), sentence, "Remove engine, or make the profile self_hosted.")
    engine = profile.engine
    if engine is not None and engine.prefix_cache == "single_tenant" and len(engine.tenants) != 1:
        sentence = "A prefix cache for a single tenant needs exactly one tenant."
        remedy = "Name the one tenant in engine/tenants, or salt the cache or switch it off."
        yield entry.fault(("engine", "prefix_cache"), sentence, remedy)


def _destination(draft: Draft, entry: Entry[Profile]) -> Iterator[Fault]:
    profile = entry.value
    if (authority := _authority(profile.endpoint)) is None:
        yield entry.fault(("endpoint",), "The endpoint has no valid host and port.", "Write scheme://host:port/path.")
        return
    scheme, host, port = authority
    if _is_loopback(host) != (profile.network == "loopback"):
        remedy = "loopback is for 127.0.0.1, ::1 and localhost, and these are for loopback alone."
        yield entry.fault(("network",), "The network does not fit the endpoint's host.", remedy)
    yield from _secrecy(draft, entry, scheme, host, port)


def _secrecy(draft: Draft, entry: Entry[Profile], scheme: str, host: str, port: int) -> Iterator[Fault]:
    """What may travel to the endpoint, and how."""
    profile = entry.value
    credential = draft.credentials.get(profile.credential or "")
    plain_text_leaves = scheme == "http" and not _is_loopback(host)
    if plain_text_leaves and (profile.network == "public" or profile.credential is not None):
        sentence = "A prompt or a credential would travel in plain text."
        yield entry.fault(("endpoint",), sentence, "Use https.")
    if profile.credential is None and profile.kind == "hosted":
        yield entry.fault(("kind",), "A hosted profile has no credential.", "Name one under the key credential.")
    if credential is not None and not _covered(credential.value.hosts, scheme, host, port):
        remedy = f"Add the endpoint's host to hosts in {credential.document.file}, or use another credential."
        yield entry.fault(("credential",), "The credential may not be sent to the endpoint's host.", remedy)


def _authority(endpoint: str) -> tuple[str, str, int] | None:
    try:
        parts = urlsplit(endpoint)
        port = parts.port
    except ValueError:
        return None
    if not parts.hostname or port == 0:
        return None
    return parts.scheme, parts.hostname, port or _DEFAULT_PORTS[parts.scheme]


def _covered(hosts: tuple[str, ...], scheme: str, host: str, port: int) -> bool:
    """A host without a port stands for the default port of the scheme alone."""
    return f"{host}:{port}" in hosts or (host in hosts and port == _DEFAULT_PORTS[scheme])


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
