"""A registry of any size, grown in memory from the example: its profiles, bundles and tenants under other names."""

from collections.abc import Iterator
from itertools import cycle, islice

from msgspec.structs import replace

from gateway.domain.bundle import Bundle, BundleProfile
from gateway.domain.profile import Profile
from gateway.domain.registry import digest_of
from gateway.domain.snapshot import Snapshot
from gateway.domain.tenant import Tenant

TENANT = "acme"
CANDIDATES = (1, 8, 32)
"""Sizes of the bundles whose routes are asked for."""
IN_A_BUNDLE = 8
PROFILES_PER_TENANT = 25


def alias(candidates: int) -> str:
    """Of the bundle that holds so many profiles, all of which may serve TENANT."""
    return f"asked-{candidates}"


def grown(example: Snapshot, profiles: int) -> Snapshot:
    """So many profiles that serve TENANT, hosted and self-hosted in turn, in bundles of 8 that others may use.

    :param profiles: at least 32.
    """
    made = {profile.id: profile for profile in islice(_profiles(example), profiles)}
    digests = {name: digest_of(profile) for name, profile in made.items()}
    bundles = {bundle.id: bundle for bundle in _bundles(example, digests)}
    releases = {name.partition("@")[0]: name for name in bundles}
    tenants = {tenant.id: tenant for tenant in _tenants(example, tuple(releases), profiles // PROFILES_PER_TENANT)}
    return replace(
        example,
        digest=digest_of((example.digest, profiles)),
        tenants=tenants,
        profiles=made,
        bundles=bundles,
        releases=releases,
        profile_digests=digests,
        bundle_digests={name: digest_of(bundle) for name, bundle in bundles.items()},
    )


def _profiles(example: Snapshot) -> Iterator[Profile]:
    serving = [p for p in example.profiles.values() if p.engine is None or TENANT in p.engine.tenants]
    for number, profile in enumerate(cycle(serving)):
        yield replace(profile, id=f"{profile.id}-{number}")


def _bundles(example: Snapshot, digests: dict[str, str]) -> Iterator[Bundle]:
    pattern = example.bundles[example.releases["assist"]]
    members = [BundleProfile(id=name, digest=digest) for name, digest in digests.items()]
    for candidates in CANDIDATES:
        yield replace(pattern, id=f"{alias(candidates)}@1", profiles=tuple(members[:candidates]))
    for first in range(0, len(members), IN_A_BUNDLE):
        yield replace(pattern, id=f"other-{first}@1", profiles=tuple(members[first : first + IN_A_BUNDLE]))


def _tenants(example: Snapshot, aliases: tuple[str, ...], more: int) -> Iterator[Tenant]:
    asking = example.tenants[TENANT]
    yield replace(asking, aliases=aliases)
    for number in range(more):
        yield replace(asking, id=f"tenant-{number}", aliases=aliases[:IN_A_BUNDLE])
