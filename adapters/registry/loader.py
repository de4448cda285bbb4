"""From a folder of YAML to one frozen snapshot, or to everything that is wrong with it."""

import pathlib

import msgspec
from msgspec import Struct

from adapters.registry import kinds
from adapters.registry.approvals import approvals
from adapters.registry.capacity import capacity
from adapters.registry.classes import classes, unfit
from adapters.registry.coherence import coherence
from adapters.registry.credentials import credentials
from adapters.registry.dates import expiries, not_yet
from adapters.registry.document import Path
from adapters.registry.draft import Draft, Entry, read_draft, read_entry
from adapters.registry.hosted import hosted
from adapters.registry.kept_for import unserved
from adapters.registry.references import references
from gateway.domain.bundle import approved_digest
from gateway.domain.fault import Fault
from gateway.domain.registry import Currency, Privacy, Releases, digest_of
from gateway.domain.snapshot import Snapshot


class Loaded(Struct, frozen=True):
    """A registry without faults."""

    snapshot: Snapshot
    warnings: tuple[Fault, ...]
    """What has run out, profiles that do not fit the class of their bundle, and aliases that no profile serves for a
    tenant. They do not stop a start: policy refuses."""


def load(directory: pathlib.Path, *, at_us: int, strict: bool = False) -> Loaded | tuple[Fault, ...]:
    """Load the registry.

    :param at_us: microseconds since 1970, UTC: the time at which nothing must have run out, or be still to come.
    :param strict: warnings are faults.
    :returns: the snapshot with its warnings, or all faults of all files, sorted.
    """
    if not kinds.is_registry(directory):
        sentence = "This folder is not a registry." if directory.is_dir() else "There is no such folder."
        remedy = "Name the folder of the registry in GATEWAY_REGISTRY; by default it is registry, where you are."
        return (Fault(file=str(directory), line=0, path="", sentence=sentence, remedy=remedy),)
    draft, faults = read_draft(directory)
    for check in (references, classes, coherence, hosted, capacity, credentials, approvals):
        faults += check(draft)
    faults += not_yet(draft, at_us)
    warnings = tuple(sorted([*expiries(draft, at_us), *unfit(draft), *unserved(draft)]))
    if strict:
        faults += warnings
    if faults or draft.currency is None or draft.privacy is None or draft.releases is None:
        return tuple(sorted(faults))
    return Loaded(_freeze(draft, draft.currency.value, draft.privacy.value, draft.releases.value), warnings)


def profile_fault(directory: pathlib.Path, profile: str, path: Path, sentence: str, remedy: str) -> Fault:
    """A fault at a place of a profile's file, found by who uses the profile and not by its own checks."""
    file = kinds.PROFILE.path(directory, profile)
    entry = read_entry(file, kinds.PROFILE)
    if isinstance(entry, Entry):
        return entry.fault(path, sentence, remedy)
    return Fault(file=str(file), line=0, path="", sentence=sentence, remedy=remedy)


def profile_digest(directory: pathlib.Path, profile: str) -> str | tuple[Fault, ...]:
    """The digest that a bundle must carry to hold this profile as it is now, or the faults of the profile's file."""
    entry = read_entry(kinds.PROFILE.path(directory, profile), kinds.PROFILE)
    return digest_of(entry.value) if isinstance(entry, Entry) else tuple(entry)


def bundle_digest(directory: pathlib.Path, bundle: str) -> str | tuple[Fault, ...]:
    """The digest that the approvals of this bundle must carry as it is now, or the faults of the bundle's file."""
    entry = read_entry(kinds.BUNDLE.path(directory, bundle), kinds.BUNDLE)
    return approved_digest(entry.value) if isinstance(entry, Entry) else tuple(entry)


def _freeze(draft: Draft, currency: Currency, privacy: Privacy, releases: Releases) -> Snapshot:
    snapshot = Snapshot(
        digest="",
        currency=currency.currency,
        privacy_classes=privacy.classes,
        purposes={id: entry.value for id, entry in draft.purposes.items()},
        tenants={id: entry.value for id, entry in draft.tenants.items()},
        credentials={id: entry.value for id, entry in draft.credentials.items()},
        quota_scopes={id: entry.value for id, entry in draft.quota_scopes.items()},
        profiles={id: entry.value for id, entry in draft.profiles.items()},
        bundles={id: entry.value for id, entry in draft.bundles.items()},
        releases=releases.releases,
        profile_digests={id: digest_of(entry.value) for id, entry in draft.profiles.items()},
        bundle_digests={id: digest_of(entry.value) for id, entry in draft.bundles.items()},
    )
    return msgspec.structs.replace(snapshot, digest=digest_of(snapshot))
