"""Does every reference lead somewhere?"""

import difflib
from collections.abc import Collection, Iterable, Iterator
from typing import Any

from adapters.registry import kinds
from adapters.registry.document import Path
from adapters.registry.draft import Draft, Entry
from adapters.registry.kinds import Kind
from gateway.domain.fault import Fault


def references(draft: Draft) -> Iterator[Fault]:
    """Faults of every name that another file, or another key of the same file, must know."""
    for entry in draft.tenants.values():
        tenant = entry.value
        yield from _classes(draft, entry, [(("privacy_class",), tenant.privacy_class)])
        yield from _known(draft, kinds.PURPOSE, entry, _listed("purposes", tenant.purposes))
        yield from _aliases(draft, entry)
        yield from _providers(draft, entry)
        if tenant.default_purpose not in tenant.purposes:
            sentence = "The default purpose is none of the tenant's purposes."
            yield entry.fault(("default_purpose",), sentence, "Add it to purposes, or choose one of them.")
    for purpose in draft.purposes.values():
        if purpose.value.privacy_class is not None:
            yield from _classes(draft, purpose, [(("privacy_class",), purpose.value.privacy_class)])
    for credential in draft.credentials.values():
        yield from _known(draft, kinds.TENANT, credential, _listed("tenants", credential.value.tenants))
    for profile in draft.profiles.values():
        yield from _of_profile(draft, profile)
    for bundle in draft.bundles.values():
        yield from _classes(draft, bundle, [(("privacy_class",), bundle.value.privacy_class)])
        profiles = [(("profiles", i, "id"), p.id) for i, p in enumerate(bundle.value.profiles)]
        yield from _known(draft, kinds.PROFILE, bundle, profiles)
        yield from _known(draft, kinds.PURPOSE, bundle, _listed("purposes", bundle.value.purposes))
    if draft.releases is not None:
        pointers = [(("releases", alias), bundle) for alias, bundle in draft.releases.value.releases.items()]
        yield from _known(draft, kinds.BUNDLE, draft.releases, pointers)


def _of_profile(draft: Draft, entry: Entry[Any]) -> Iterator[Fault]:
    profile = entry.value
    approvals = [(("approvals", i, "privacy_class"), a.privacy_class) for i, a in enumerate(profile.approvals)]
    yield from _classes(draft, entry, approvals)
    yield from _known(draft, kinds.QUOTA_SCOPE, entry, [(("quota_scope",), profile.quota_scope)])
    if profile.credential is not None:
        yield from _known(draft, kinds.CREDENTIAL, entry, [(("credential",), profile.credential)])
    if profile.engine is not None and profile.engine.tenants != "any":
        tenants = [(("engine", "tenants", i), t) for i, t in enumerate(profile.engine.tenants)]
        yield from _known(draft, kinds.TENANT, entry, tenants)
    scope = draft.quota_scopes.get(profile.quota_scope)
    if scope is not None and scope.value.provider != profile.provider:
        remedy = "Use a quota scope of the profile's provider, or mend the provider."
        yield entry.fault(("quota_scope",), "The quota scope belongs to another provider.", remedy)


def _known(draft: Draft, kind: Kind, entry: Entry[Any], named: Iterable[tuple[Path, str]]) -> Iterator[Fault]:
    names = draft.names[kind.name]
    for path, name in named:
        if name not in names:
            remedy = f"{_nearest(name, names)}Add {kind.place}/ID.yaml, or mend the name."
            yield entry.fault(path, f"There is no such {kind.name.replace('-', ' ')}.", remedy)


def _classes(draft: Draft, entry: Entry[Any], named: Iterable[tuple[Path, str]]) -> Iterator[Fault]:
    if draft.privacy is None:
        return
    classes = {asked.id for asked in draft.privacy.value.classes}
    for path, name in named:
        if name not in classes:
            yield entry.fault(path, "There is no such privacy class.", "Use a class of privacy.yaml.")


def _aliases(draft: Draft, entry: Entry[Any]) -> Iterator[Fault]:
    if draft.releases is None:
        return
    released = draft.releases.value.releases
    for path, alias in _listed("aliases", entry.value.aliases):
        if alias not in released:
            remedy = f"{_nearest(alias, released)}Point it to a bundle in releases.yaml, or remove it."
            yield entry.fault(path, "No bundle is released under this alias.", remedy)


def _providers(draft: Draft, entry: Entry[Any]) -> Iterator[Fault]:
    """A provider is known by its accounts. Broken quota scopes would hide some, so then nothing is said."""
    if len(draft.quota_scopes) < len(draft.names[kinds.QUOTA_SCOPE.name]):
        return
    providers = {scope.value.provider for scope in draft.quota_scopes.values()}
    for path, provider in _listed("providers", entry.value.providers):
        if provider not in providers:
            yield entry.fault(path, "There is no such provider.", "Use the provider of a quota scope.")


def _listed(key: str, names: Iterable[str]) -> list[tuple[Path, str]]:
    return [((key, index), name) for index, name in enumerate(names)]


def _nearest(name: str, known: Collection[str]) -> str:
    """The known name that was probably meant: the name of a file or of a key, never the value that was read."""
    near = difflib.get_close_matches(name, sorted(known), n=1)
    return f"Did you mean {near[0]}? " if near else ""
