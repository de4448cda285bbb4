"""A tenant with its service accounts."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from gateway.domain.registry import Id, Limits, PrivacyClass, Text


class ServiceAccount(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A principal. All instances of a service share one; its credentials are rows of the store."""

    id: Id
    groups: tuple[Id, ...]
    roles: Annotated[
        tuple[Literal["generate", "operator", "auditor"], ...],
        Meta(min_length=1, description="generate: ask models. operator: administer. auditor: look at it only."),
    ]


class Tenant(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Who may use the gateway, for what, and how strictly."""

    id: Id
    title: Text
    active: bool
    privacy_class: Annotated[PrivacyClass, Meta(description="The least class that every request of this tenant needs.")]
    providers: Annotated[tuple[Id, ...], Meta(min_length=1)]
    regions: Annotated[tuple[Id, ...], Meta(min_length=1)]
    aliases: tuple[Id, ...]
    purposes: Annotated[tuple[Id, ...], Meta(min_length=1)]
    default_purpose: Id
    limits: Limits
    service_accounts: Annotated[tuple[ServiceAccount, ...], Meta(min_length=1)]
