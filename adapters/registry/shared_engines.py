"""Do profiles that share an engine promise together no more than its memory holds?

Two profiles with the same endpoint are one engine, with one memory. Only what is released counts: an earlier profile
stays beside the one that replaced it, so that one can go back, and takes no requests meanwhile.
"""

from collections.abc import Collection, Iterator, Mapping
from urllib.parse import urlsplit

from msgspec.structs import replace

from adapters.registry import hosts
from adapters.registry.draft import Draft, Entry
from gateway.domain.capacity import MeasuredCapacity
from gateway.domain.fault import Fault
from gateway.domain.profile import Profile
from gateway.domain.worksheets.capacity_check import Objection, beyond_measured, excess

Address = tuple[str, int, str]
"""Host, port and path: behind one host there may be several engines."""


def shared_engines(draft: Draft, faulty: Collection[str]) -> Iterator[Fault]:
    """At most one fault for each engine.

    :param faulty: profiles whose own capacity has a fault; they are not counted together with any before it is mended.
    """
    for profiles in _by_address(draft).values():
        if len(profiles) < 2 or any(entry.value.id in faulty for entry in profiles):
            continue
        for entry in profiles:
            if told := list(_beyond(draft, entry, profiles)):
                others = ", ".join(other.value.id for other in profiles if other is not entry)
                sentence = f"Together with {others}, which has the same endpoint: {told[0].sentence}"
                remedy = (
                    f"{told[0].remedy} All profiles of the endpoint are counted, each with the longest context; where "
                    "they share a quota scope, its concurrency bounds them together."
                )
                yield entry.fault(("limits", "concurrency"), sentence, remedy)
                break


def _by_address(draft: Draft) -> Mapping[Address, list[Entry[Profile]]]:
    """Released profiles of engines of one's own, in the order of their ids."""
    names = draft.releases.value.releases.values() if draft.releases else ()
    bundles = [draft.bundles[name].value for name in names if name in draft.bundles]
    released = {member.id for bundle in bundles for member in bundle.profiles}
    found: dict[Address, list[Entry[Profile]]] = {}
    for id_ in sorted(released & draft.profiles.keys()):
        entry = draft.profiles[id_]
        authority = hosts.authority(entry.value.endpoint)
        if entry.value.kind == "self_hosted" and authority is not None:
            _, host, port = authority
            place = "loopback" if hosts.place(host) == "loopback" else host
            path = urlsplit(entry.value.endpoint).path.rstrip("/")
            found.setdefault((place, port, path), []).append(entry)
    return found


def _beyond(draft: Draft, entry: Entry[Profile], profiles: list[Entry[Profile]]) -> Iterator[Objection]:
    """By the capacity of one of them, the promises of all of them."""
    engine = entry.value.engine
    if engine is None:
        return
    joint = _joint(draft, entry.value, [other.value for other in profiles])
    if isinstance(engine.capacity, MeasuredCapacity):
        yield from beyond_measured(joint, engine.capacity)
        return
    name, _, digest = engine.capacity.architecture.partition("@")
    described = draft.architectures.get(name)
    if described is not None and described.digest == digest:
        yield from excess(joint, engine.capacity, engine, described.architecture)


def _joint(draft: Draft, one: Profile, profiles: list[Profile]) -> Profile:
    """A profile that promises what all of them promise.

    What has no bound adds nothing: the engine's own queue takes it.
    """
    together = sum(profile.limits.concurrency for profile in profiles if profile.limits.concurrency != "unlimited")
    scopes = {profile.quota_scope for profile in profiles}
    scope = draft.quota_scopes.get(one.quota_scope) if len(scopes) == 1 else None
    if scope is not None and scope.value.limits.concurrency != "unlimited":
        together = min(together, scope.value.limits.concurrency)
    context = max(profile.context_window for profile in profiles)
    return replace(one, context_window=context, limits=replace(one.limits, concurrency=together))
