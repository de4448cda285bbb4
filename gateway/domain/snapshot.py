"""The whole registry, checked and frozen, under one digest."""

from collections.abc import Mapping

from msgspec import Struct

from gateway.domain.bundle import Bundle
from gateway.domain.principal import Principal
from gateway.domain.profile import Profile
from gateway.domain.registry import Credential, Purpose, QuotaScope, Requirements
from gateway.domain.tenant import Tenant


class Snapshot(Struct, frozen=True, kw_only=True):
    """One immutable registry. A request takes it once and keeps it to its end.

    Made by adapters/registry, which has checked that every reference resolves. The empty one of bootstrap/registry.py
    has none.
    """

    digest: str
    currency: str
    privacy_classes: tuple[Requirements, ...]
    """From the least to the most strict, each with what it asks for."""
    purposes: Mapping[str, Purpose]
    tenants: Mapping[str, Tenant]
    credentials: Mapping[str, Credential]
    quota_scopes: Mapping[str, QuotaScope]
    profiles: Mapping[str, Profile]
    bundles: Mapping[str, Bundle]
    releases: Mapping[str, str]
    """Alias to bundle id."""
    profile_digests: Mapping[str, str]
    bundle_digests: Mapping[str, str]

    def principal(self, tenant: str, account: str) -> Principal | None:
        """The service account as the registry knows it today, or None."""
        if (found := self.tenants.get(tenant)) is None:
            return None
        for service_account in found.service_accounts:
            if service_account.id == account:
                return Principal(tenant, account, service_account.groups, service_account.roles)
        return None
