"""Registries for tests of policy, built from the domain's structs."""

from msgspec.structs import replace

from gateway.domain.bundle import Bundle, BundleApproval, BundleProfile, Evaluation
from gateway.domain.capacity import MeasuredCapacity
from gateway.domain.profile import (
    Abilities,
    Approval,
    Counter,
    DataHandling,
    Engine,
    Errors,
    Placement,
    Price,
    Prices,
    Profile,
    Readiness,
    Timeouts,
)
from gateway.domain.registry import Credential, Limits, Purpose, QuotaScope, Requirements, digest_of
from gateway.domain.snapshot import Snapshot
from gateway.domain.tenant import ServiceAccount, Tenant

UNTIL = "2030-01-01T00:00:00Z"
UNTIL_S = 1_893_456_000
EVALUATED = "2029-12-01"
EVALUATED_S = 1_890_777_600
DAY_S = 86_400
_DIGEST = "sha256:" + "0" * 64
_LIMITS = Limits(
    requests_per_minute="unlimited",
    tokens_per_minute="unlimited",
    tokens_per_day="unlimited",
    tokens_per_month="unlimited",
    cost_per_month="unlimited",
    concurrency=8,
)
_PUBLIC = Requirements(
    id="public",
    networks=("loopback", "private", "public"),
    longest_retention_days=30,
    training_allowed=True,
    time_sharing_allowed=True,
    attestation_required=False,
    least_score=0,
    most_refusals=1,
    longest_evaluation_days=365,
    longest_facts_s=30 * DAY_S,
)
_INTERNAL = replace(_PUBLIC, id="internal", training_allowed=False, least_score=0.5, longest_facts_s=7 * DAY_S)
PRIVATE = replace(
    _INTERNAL,
    id="private",
    networks=("loopback", "private"),
    longest_retention_days=0,
    time_sharing_allowed=False,
    least_score=0.8,
    most_refusals=0.1,
    longest_evaluation_days=60,
    longest_facts_s=DAY_S,
)
CLASSES = (_PUBLIC, _INTERNAL, PRIVATE)
_ENGINE = Engine(
    name="llama.cpp",
    version="1",
    model_file="model.gguf",
    weights_format="q4",
    kv_format="fp16",
    capacity=MeasuredCapacity(
        kv_tokens=2048,
        context=2048,
        engine_version="1",
        device="cpu",
        workload="none",
        date="2026-11-30",
        by="Kim",
    ),
    placement=Placement(device="cpu", count=1, sharing="exclusive"),
    readiness=Readiness(),
    prefix_cache="single_tenant",
    tenants=("a",),
    abilities=Abilities(abort_by_id=False, enforce_context=False, attest_revision=False),
)
OWN = Profile(
    id="own",
    kind="self_hosted",
    adapter="llama_cpp",
    provider="house",
    model="model@1",
    revision="1",
    accepted_models=("model@1",),
    context_window=2048,
    max_output=256,
    capabilities=("chat",),
    counter=Counter(method="bytes", per_message=8, per_request=32),
    endpoint="http://127.0.0.1:8091/v1",
    network="loopback",
    region="eu",
    data_handling=DataHandling(retention_days=0, trains_on_data=False),
    approvals=(Approval(privacy_class="private", by="Kim", evidence="A review", until=UNTIL),),
    quota_scope="house",
    limits=_LIMITS,
    prices=Prices(checked="2026-11-30", tiers=(Price(input_per_million="0", output_per_million="0"),)),
    errors=Errors(),
    timeouts=Timeouts(connect_ms=1000, total_ms=10_000),
    on_disconnect="cancel",
    engine=_ENGINE,
)
RENTED = replace(
    OWN,
    id="rented",
    kind="hosted",
    adapter="openai",
    provider="cloud",
    network="private",
    engine=None,
    credential="cloud-key",
)
TENANT = Tenant(
    id="a",
    title="The example",
    active=True,
    privacy_class="internal",
    providers=("house", "cloud"),
    regions=("eu",),
    aliases=("chat", "assist"),
    purposes=("answer", "draft"),
    default_purpose="draft",
    limits=_LIMITS,
    service_accounts=(ServiceAccount(id="service", groups=("g",), roles=("generate",)),),
)
BUNDLE = Bundle(
    id="chat@1",
    author="Alex",
    privacy_class="private",
    profiles=(BundleProfile(id="own", digest=_DIGEST), BundleProfile(id="rented", digest=_DIGEST)),
    purposes=("answer", "draft"),
    prompt_template_digest=_DIGEST,
    evaluation=Evaluation(suite_digest=_DIGEST, score=0.8, refusal_rate=0.1, date=EVALUATED, rules_revision=_DIGEST),
    approvals=tuple(BundleApproval(by=by, date="2026-11-30", digest=_DIGEST) for by in ("Kim", "Robin")),
    expires=UNTIL,
)


def snapshot(
    *,
    tenants: tuple[Tenant, ...] = (TENANT,),
    profiles: tuple[Profile, ...] = (OWN, RENTED),
    bundles: tuple[Bundle, ...] = (BUNDLE,),
    releases: dict[str, str] | None = None,
    classes: tuple[Requirements, ...] = CLASSES,
) -> Snapshot:
    """One tenant ``a``, one bundle ``chat@1`` of a self-hosted and a hosted profile, under two aliases."""
    found = Snapshot(
        digest="",
        currency="EUR",
        privacy_classes=classes,
        purposes={
            "answer": Purpose(id="answer", title="From sources", grounded=True, privacy_class="internal"),
            "draft": Purpose(id="draft", title="Without", grounded=False, privacy_class=None),
        },
        tenants={tenant.id: tenant for tenant in tenants},
        credentials={
            "cloud-key": Credential(
                id="cloud-key", secret="env:GATEWAY_SECRET_CLOUD", hosts=("cloud.example",), tenants=("a",), owner="Kim"
            )
        },
        quota_scopes={"house": QuotaScope(id="house", provider="house", limits=_LIMITS)},
        profiles={profile.id: profile for profile in profiles},
        bundles={bundle.id: bundle for bundle in bundles},
        releases={"chat": "chat@1", "assist": "chat@1"} if releases is None else releases,
        profile_digests={},
        bundle_digests={},
    )
    return replace(found, digest=digest_of(found))
