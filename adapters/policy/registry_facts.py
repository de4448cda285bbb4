"""What the rules know of the registry: ``data.registry``, a projection of the snapshot.

No field is optional and none is there that no rule reads, so that a misspelt one is an error of ``opa check``.
Instants are whole seconds since 1970, UTC.
"""

from datetime import datetime

from msgspec import Struct

from gateway.domain.bundle import Bundle
from gateway.domain.profile import Profile
from gateway.domain.registry import Purpose
from gateway.domain.snapshot import Snapshot
from gateway.domain.tenant import Tenant


class PurposeFacts(Struct, frozen=True, kw_only=True):
    grounded: bool
    privacy_class: str
    """The lowest class of all where the purpose states none of its own."""


class TenantFacts(Struct, frozen=True, kw_only=True):
    active: bool
    privacy_class: str
    providers: tuple[str, ...]
    regions: tuple[str, ...]
    aliases: tuple[str, ...]
    purposes: tuple[str, ...]


class BundleFacts(Struct, frozen=True, kw_only=True):
    privacy_class: str
    profiles: tuple[str, ...]
    expires_s: int


class ApprovalFacts(Struct, frozen=True, kw_only=True):
    privacy_class: str
    until_s: int


class ProfileFacts(Struct, frozen=True, kw_only=True):
    kind: str
    provider: str
    region: str
    approvals: tuple[ApprovalFacts, ...]
    prefix_cache: str
    """``none`` where there is no engine of one's own."""
    engine_tenants: tuple[str, ...]
    """The only tenants that the engine serves; empty: any."""
    needs_credential: bool
    credential_tenants: tuple[str, ...]


class RegistryFacts(Struct, frozen=True, kw_only=True):
    ranks: dict[str, int]
    """Privacy classes; a higher rank is stricter."""
    purposes: dict[str, PurposeFacts]
    tenants: dict[str, TenantFacts]
    bundles: dict[str, BundleFacts]
    releases: dict[str, str]
    """Alias to bundle."""
    profiles: dict[str, ProfileFacts]


def facts(snapshot: Snapshot) -> RegistryFacts:
    """The projection of a snapshot."""
    lowest = snapshot.privacy_classes[0]
    return RegistryFacts(
        ranks={name: rank for rank, name in enumerate(snapshot.privacy_classes)},
        purposes={name: _purpose(purpose, lowest) for name, purpose in snapshot.purposes.items()},
        tenants={name: _tenant(tenant) for name, tenant in snapshot.tenants.items()},
        bundles={name: _bundle(bundle) for name, bundle in snapshot.bundles.items()},
        releases=dict(snapshot.releases),
        profiles={name: _profile(profile, snapshot) for name, profile in snapshot.profiles.items()},
    )


def _purpose(purpose: Purpose, lowest: str) -> PurposeFacts:
    return PurposeFacts(grounded=purpose.grounded, privacy_class=purpose.privacy_class or lowest)


def _tenant(tenant: Tenant) -> TenantFacts:
    return TenantFacts(
        active=tenant.active,
        privacy_class=tenant.privacy_class,
        providers=tenant.providers,
        regions=tenant.regions,
        aliases=tenant.aliases,
        purposes=tenant.purposes,
    )


def _bundle(bundle: Bundle) -> BundleFacts:
    return BundleFacts(
        privacy_class=bundle.privacy_class,
        profiles=tuple(profile.id for profile in bundle.profiles),
        expires_s=_seconds(bundle.expires),
    )


def _profile(profile: Profile, snapshot: Snapshot) -> ProfileFacts:
    approvals = (
        ApprovalFacts(privacy_class=approval.privacy_class, until_s=_seconds(approval.until))
        for approval in profile.approvals
    )
    engine, credential = profile.engine, profile.credential
    return ProfileFacts(
        kind=profile.kind,
        provider=profile.provider,
        region=profile.region,
        approvals=tuple(approvals),
        prefix_cache=engine.prefix_cache if engine else "none",
        engine_tenants=engine.tenants if engine else (),
        needs_credential=credential is not None,
        credential_tenants=snapshot.credentials[credential].tenants if credential else (),
    )


def _seconds(instant: str) -> int:
    return int(datetime.fromisoformat(instant).timestamp())
