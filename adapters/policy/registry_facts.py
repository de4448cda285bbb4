"""What the rules know of the registry: ``data.registry``, a projection of the snapshot.

No field is optional and none is there that no rule reads, so that a misspelt one is an error of ``opa check``.
Instants are whole seconds since 1970, UTC.
"""

from datetime import UTC, datetime

from msgspec import Struct

from gateway.domain.bundle import Bundle, Evaluation
from gateway.domain.profile import Profile
from gateway.domain.registry import Purpose, Requirements
from gateway.domain.snapshot import Snapshot
from gateway.domain.tenant import Tenant


class RequirementFacts(Struct, frozen=True, kw_only=True):
    networks: tuple[str, ...]
    longest_retention_days: int
    training_allowed: bool
    time_sharing_allowed: bool
    attestation_required: bool
    least_score: float
    most_refusals: float
    longest_evaluation_days: int
    longest_facts_s: int


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


class EvaluationFacts(Struct, frozen=True, kw_only=True):
    score: float
    refusal_rate: float
    date_s: int
    """The start of its day, UTC."""


class BundleFacts(Struct, frozen=True, kw_only=True):
    privacy_class: str
    profiles: tuple[str, ...]
    purposes: tuple[str, ...]
    evaluation: EvaluationFacts
    expires_s: int


class ApprovalFacts(Struct, frozen=True, kw_only=True):
    privacy_class: str
    until_s: int


class ProfileFacts(Struct, frozen=True, kw_only=True):
    kind: str
    provider: str
    region: str
    network: str
    retention_days: int
    trains_on_data: bool
    capabilities: tuple[str, ...]
    approvals: tuple[ApprovalFacts, ...]
    prefix_cache: str
    """``none`` where there is no engine of one's own."""
    sharing: str
    """Of the engine's device; ``none`` where there is no engine of one's own."""
    attests_revision: bool
    """Whether an engine of one's own does."""
    serves_any_tenant: bool
    """Whether the engine does; true where there is no engine of one's own."""
    engine_tenants: tuple[str, ...]
    """The only tenants that the engine serves; empty where it serves any."""
    needs_credential: bool
    credential_tenants: tuple[str, ...]


class RegistryFacts(Struct, frozen=True, kw_only=True):
    ranks: dict[str, int]
    """Privacy classes; a higher rank is stricter."""
    requirements: dict[str, RequirementFacts]
    """What each privacy class asks for."""
    purposes: dict[str, PurposeFacts]
    tenants: dict[str, TenantFacts]
    bundles: dict[str, BundleFacts]
    releases: dict[str, str]
    """Alias to bundle."""
    profiles: dict[str, ProfileFacts]


def facts(snapshot: Snapshot) -> RegistryFacts:
    """The projection of a snapshot."""
    classes = snapshot.privacy_classes
    lowest = classes[0].id
    return RegistryFacts(
        ranks={asked.id: rank for rank, asked in enumerate(classes)},
        requirements={asked.id: _requirements(asked) for asked in classes},
        purposes={name: _purpose(purpose, lowest) for name, purpose in snapshot.purposes.items()},
        tenants={name: _tenant(tenant) for name, tenant in snapshot.tenants.items()},
        bundles={name: _bundle(bundle) for name, bundle in snapshot.bundles.items()},
        releases=dict(snapshot.releases),
        profiles={name: _profile(profile, snapshot) for name, profile in snapshot.profiles.items()},
    )


def _requirements(asked: Requirements) -> RequirementFacts:
    return RequirementFacts(
        networks=asked.networks,
        longest_retention_days=asked.longest_retention_days,
        training_allowed=asked.training_allowed,
        time_sharing_allowed=asked.time_sharing_allowed,
        attestation_required=asked.attestation_required,
        least_score=asked.least_score,
        most_refusals=asked.most_refusals,
        longest_evaluation_days=asked.longest_evaluation_days,
        longest_facts_s=asked.longest_facts_s,
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
        purposes=bundle.purposes,
        evaluation=_evaluation(bundle.evaluation),
        expires_s=_seconds(bundle.expires),
    )


def _evaluation(evaluation: Evaluation) -> EvaluationFacts:
    return EvaluationFacts(
        score=evaluation.score, refusal_rate=evaluation.refusal_rate, date_s=_seconds(evaluation.date)
    )


def _profile(profile: Profile, snapshot: Snapshot) -> ProfileFacts:
    approvals = (
        ApprovalFacts(privacy_class=approval.privacy_class, until_s=_seconds(approval.until))
        for approval in profile.approvals
    )
    engine, credential = profile.engine, profile.credential
    tenants = engine.tenants if engine else "any"
    return ProfileFacts(
        kind=profile.kind,
        provider=profile.provider,
        region=profile.region,
        network=profile.network,
        retention_days=profile.data_handling.retention_days,
        trains_on_data=profile.data_handling.trains_on_data,
        capabilities=profile.capabilities,
        approvals=tuple(approvals),
        prefix_cache=engine.prefix_cache if engine else "none",
        sharing=engine.placement.sharing if engine else "none",
        attests_revision=engine.abilities.attest_revision if engine else False,
        serves_any_tenant=tenants == "any",
        engine_tenants=() if tenants == "any" else tenants,
        needs_credential=credential is not None,
        credential_tenants=snapshot.credentials[credential].tenants if credential else (),
    )


def _seconds(text: str) -> int:
    """Of an instant, or of the start of a day. All of them are in UTC."""
    return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp())
