"""The registry of the settings, or a refusal to start."""

from pathlib import Path

from adapters import registry
from adapters.clock import SystemClock
from adapters.registry.loader import Loaded
from adapters.tokens import Vocabularies
from gateway.domain.errors import StartRefused
from gateway.domain.fault import Fault
from gateway.domain.snapshot import Snapshot
from gateway.settings import Settings

NO_REGISTRY = Snapshot(
    digest="",
    currency="",
    privacy_classes=(),
    purposes={},
    tenants={},
    credentials={},
    quota_scopes={},
    profiles={},
    bundles={},
    releases={},
    profile_digests={},
    bundle_digests={},
)
"""Stands in for a registry that has faults, where none is needed. It names nobody and nothing."""


def read_registry(settings: Settings, clock: SystemClock) -> Loaded:
    """The registry as it stands, with its warnings.

    :raises StartRefused: with every fault, a line each.
    """
    loaded = registry.load(settings.registry_folder, at_us=clock.now_us())
    if isinstance(loaded, tuple):
        raise StartRefused("The registry has faults:\n" + "\n".join(str(fault) for fault in loaded), loaded)
    return loaded


def load_vocabularies(vocabularies: Vocabularies, snapshot: Snapshot, folder: Path) -> tuple[Fault, ...]:
    """Load what the profiles count with, and no more.

    :param folder: of the registry, to name the place of a profile whose vocabulary cannot be had.
    """
    missing = vocabularies.load(profile.counter.method for profile in snapshot.profiles.values())
    return tuple(
        registry.profile_fault(folder, id, ("counter", "method"), why.sentence, why.remedy)
        for id, profile in sorted(snapshot.profiles.items())
        if (why := missing.get(profile.counter.method)) is not None
    )


def load_registry(settings: Settings, clock: SystemClock) -> Snapshot:
    """The registry alone.

    :raises StartRefused: with every fault, a line each.
    """
    return read_registry(settings, clock).snapshot
