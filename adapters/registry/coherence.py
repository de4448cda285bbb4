"""Does an object agree with itself, and with what it is sent to?"""

from collections.abc import Iterator
from typing import Any

from adapters.registry import hosts
from adapters.registry.document import Path
from adapters.registry.draft import Draft, Entry
from adapters.registry.moving import is_moving
from gateway.domain.fault import Fault
from gateway.domain.principal import SYSTEM_TENANT
from gateway.domain.profile import SELF_HOSTED_ADAPTERS, Engine, Profile
from gateway.domain.tenant import Tenant


def coherence(draft: Draft) -> Iterator[Fault]:
    """Faults of single objects that a schema cannot express."""
    for tenant in draft.tenants.values():
        yield from _tenant(tenant)
    for profile in draft.profiles.values():
        yield from _bounds(profile)
        yield from _capabilities(profile)
        yield from _prices(profile)
        yield from _pinned(profile)
        yield from _engine(profile)
        yield from _destination(draft, profile)


def _tenant(entry: Entry[Tenant]) -> Iterator[Fault]:
    if entry.value.id == SYSTEM_TENANT:
        yield entry.fault(("id",), "This tenant id is reserved for the gateway itself.", "Choose another id.")
    yield from repeated(entry, "service_accounts", [account.id for account in entry.value.service_accounts])
    for index, account in enumerate(entry.value.service_accounts):
        if "generate" in account.roles and not {"operator", "auditor"}.isdisjoint(account.roles):
            sentence = "The account both generates and administers."
            remedy = "Give each of the two an account of its own: whoever administers asks no models."
            yield entry.fault(("service_accounts", index, "roles"), sentence, remedy)


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


def _capabilities(entry: Entry[Profile]) -> Iterator[Fault]:
    """Every request needs ``chat``, and one for several calls at once needs ``tools`` as well."""
    listed = entry.value.capabilities
    if "chat" not in listed:
        yield entry.fault(("capabilities",), "Without chat the profile serves no request.", "Add chat.")
    if "parallel_tool_calls" in listed and "tools" not in listed:
        index = listed.index("parallel_tool_calls")
        sentence = "Calls at once without tools serve no request."
        yield entry.fault(("capabilities", index), sentence, "Add tools, or remove parallel_tool_calls.")


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
        if is_moving(name):
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
    is_for_one = engine is not None and engine.tenants != "any" and len(engine.tenants) == 1
    if engine is not None and engine.prefix_cache == "single_tenant" and not is_for_one:
        sentence = "A prefix cache for a single tenant needs exactly one tenant."
        remedy = "Name the one tenant in engine/tenants, or salt the cache or switch it off."
        yield entry.fault(("engine", "prefix_cache"), sentence, remedy)

    if engine is not None:
        yield from _salting(entry, engine)
        yield from _attesting(entry, engine)


def _salting(entry: Entry[Profile], engine: Engine) -> Iterator[Fault]:
    salted = engine.prefix_cache == "salted"
    if salted and entry.value.adapter != "vllm":
        remedy = "Give the engine to a single tenant, switch its cache off, or use vllm."
        yield entry.fault(("engine", "prefix_cache"), "This adapter cannot salt a prefix cache.", remedy)
    if salted and engine.salted_by is None:
        remedy = "Say tenant or principal under engine/salted_by."
        yield entry.fault(("engine", "prefix_cache"), "It is not said whose prefixes are kept apart.", remedy)
    if not salted and engine.salted_by is not None:
        remedy = "Remove salted_by, or make prefix_cache salted."
        yield entry.fault(("engine", "salted_by"), "A cache that is not salted keeps nobody's prefixes apart.", remedy)


def _attesting(entry: Entry[Profile], engine: Engine) -> Iterator[Fault]:
    if engine.abilities.attest_revision and engine.fingerprint is None:
        remedy = "State the system_fingerprint of its answers under engine/fingerprint."
        sentence = "The engine attests its revision, and nothing says by which fingerprint."
        yield entry.fault(("engine", "abilities", "attest_revision"), sentence, remedy)
    if not engine.abilities.attest_revision and engine.fingerprint is not None:
        remedy = "Make attest_revision true, or remove the fingerprint."
        yield entry.fault(("engine", "fingerprint"), "A fingerprint is stated that the engine does not attest.", remedy)


def _destination(draft: Draft, entry: Entry[Profile]) -> Iterator[Fault]:
    profile = entry.value
    if (found := hosts.authority(profile.endpoint)) is None:
        remedy = "Write scheme://host:port/path, with a name or a whole IP address."
        yield entry.fault(("endpoint",), "The endpoint has no valid host and port.", remedy)
        return
    if not hosts.is_plain_path(profile.endpoint):
        remedy = "Write the path out: without //, . and .. in it."
        yield entry.fault(("endpoint",), "The endpoint's path leads elsewhere than it says.", remedy)
    scheme, host, port = found
    place = hosts.place(host)
    if place == "forbidden":
        sentence = "The endpoint is an address that no engine has."
        remedy = "Metadata services, link-local, multicast and unspecified addresses are never allowed."
        yield entry.fault(("endpoint",), sentence, remedy)
        return
    if (place == "loopback") != (profile.network == "loopback"):
        remedy = "loopback is for 127.0.0.1, ::1 and localhost, and these are for loopback alone."
        yield entry.fault(("network",), "The network does not fit the endpoint's host.", remedy)
    elif profile.network == "private" and place == "public":
        remedy = (
            "Call the network public. Private are 10.0.0.0/8, 172.16.0.0/12, 192.168.0.0/16 and fc00::/7, and names "
            f"without a dot or ending in {', '.join(hosts.PRIVATE_NAMES)}."
        )
        yield entry.fault(("network",), "The endpoint's host is not a private one.", remedy)
    yield from _secrecy(draft, entry, scheme, host, port)


def _secrecy(draft: Draft, entry: Entry[Profile], scheme: str, host: str, port: int) -> Iterator[Fault]:
    """What may travel to the endpoint, and how."""
    profile, place = entry.value, hosts.place(host)
    credential = draft.credentials.get(profile.credential or "")
    may_be_read = profile.network == "public" or place == "public" or profile.credential is not None
    if scheme == "http" and place != "loopback" and may_be_read:
        remedy = (
            "Use https. In a private network http will do, without a credential, for a private address or a name "
            f"that is nobody else's: without a dot, or ending in {', '.join(hosts.PRIVATE_NAMES)}."
        )
        yield entry.fault(("endpoint",), "A prompt or a credential would travel in plain text.", remedy)
    if profile.credential is None and profile.kind == "hosted":
        yield entry.fault(("kind",), "A hosted profile has no credential.", "Name one under the key credential.")
    if credential is not None and not _covered(credential.value.hosts, scheme, host, port):
        remedy = f"Add the endpoint's host to hosts in {credential.document.file}, or use another credential."
        yield entry.fault(("credential",), "The credential may not be sent to the endpoint's host.", remedy)


def _covered(named: tuple[str, ...], scheme: str, host: str, port: int) -> bool:
    """A host without a port stands for the default port of the scheme alone."""
    return f"{host}:{port}" in named or (host in named and port == hosts.DEFAULT_PORTS[scheme])
