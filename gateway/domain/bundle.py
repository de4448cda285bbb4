"""A bundle: what was evaluated and approved together, content-addressed, never edited after release."""

from typing import Annotated

from msgspec import Meta, Struct
from msgspec.structs import replace

from gateway.domain.registry import BundleId, Date, DateTime, Digest, Id, PrivacyClass, Text, digest_of


class BundleProfile(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A profile of the bundle, at the contents that were approved."""

    id: Id
    digest: Annotated[Digest, Meta(description="Digest of the profile's contents when it was approved.")]


class Evaluation(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Evidence that the bundle was evaluated."""

    suite_digest: Digest
    score: Annotated[float, Meta(ge=0, le=1)]
    refusal_rate: Annotated[float, Meta(ge=0, le=1)]
    date: Date
    rules_revision: Annotated[
        Digest, Meta(description="The policies' revision at that time; evidence, not a condition of anything.")
    ]


class BundleApproval(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One person's approval of the bundle as it was then."""

    by: Text
    date: Date
    digest: Annotated[Digest, Meta(description="Digest of the bundle without its approvals, as it was approved.")]


class Bundle(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Ordered profiles for one privacy class."""

    id: BundleId
    author: Text
    privacy_class: PrivacyClass
    profiles: Annotated[tuple[BundleProfile, ...], Meta(min_length=1, description="In the order of preference.")]
    purposes: Annotated[tuple[Id, ...], Meta(min_length=1, description="What it was evaluated for.")]
    prompt_template_digest: Digest
    evaluation: Evaluation
    approvals: Annotated[
        tuple[BundleApproval, ...], Meta(min_length=2, description="Two people, neither of them the author.")
    ]
    expires: DateTime
    max_attempts: Annotated[
        int, Meta(ge=1, le=10, description="Attempts of one operation that may reach the provider.")
    ] = 3


def approved_digest(bundle: Bundle) -> str:
    """The digest that the bundle's approvals must carry: of all that is in it but them."""
    return digest_of(replace(bundle, approvals=()))
