"""The kinds of registry objects: where each lies, and the struct that it becomes."""

import pathlib
from typing import Any

from msgspec import Struct

from gateway.domain.bundle import Bundle
from gateway.domain.profile import Profile
from gateway.domain.registry import Credential, Currency, Privacy, Purpose, QuotaScope, Releases
from gateway.domain.tenant import Tenant

SCHEMAS = "schemas"
"""The folder of generated JSON Schemas, beside the kinds."""


class Kind(Struct, frozen=True):
    """One kind of object."""

    name: str
    place: str
    """A folder with one file per object, named by its id, or the one file."""
    struct: type[Any]
    many: bool = True

    def path(self, directory: pathlib.Path, id: str = "") -> pathlib.Path:
        """Where an object of this kind lies."""
        return directory / self.place / f"{id}.yaml" if self.many else directory / self.place


CURRENCY = Kind("currency", "currency.yaml", Currency, many=False)
PRIVACY = Kind("privacy", "privacy.yaml", Privacy, many=False)
RELEASES = Kind("releases", "releases.yaml", Releases, many=False)
PURPOSE = Kind("purpose", "purposes", Purpose)
TENANT = Kind("tenant", "tenants", Tenant)
CREDENTIAL = Kind("credential", "credentials", Credential)
QUOTA_SCOPE = Kind("quota-scope", "quota-scopes", QuotaScope)
PROFILE = Kind("profile", "profiles", Profile)
BUNDLE = Kind("bundle", "bundles", Bundle)

KINDS = (CURRENCY, PRIVACY, RELEASES, PURPOSE, TENANT, CREDENTIAL, QUOTA_SCOPE, PROFILE, BUNDLE)


def is_registry(directory: pathlib.Path) -> bool:
    """Whether anything of a registry lies there."""
    return any((directory / kind.place).exists() for kind in KINDS)
