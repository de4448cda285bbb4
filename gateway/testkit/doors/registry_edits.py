"""Changes of the registry that scenarios name, as edits of the example."""

from gateway.testkit.registry_copy import EXAMPLE, Edit

ACME = "tenants/acme.yaml"
TENANT_A = "tenants/tenant-a.yaml"
PLATFORM = "tenants/platform.yaml"
PRIVACY = "privacy.yaml"
PROFILE = "profiles/smollm2-135m.yaml"
QUOTA_SCOPE = "quota-scopes/in-house.yaml"
BUNDLE = "bundles/chat@1.yaml"
RELEASES = "releases.yaml"
_OTHER_TENANT = (EXAMPLE / ACME).read_text().replace("id: acme", "id: beta", 1)
_OTHER_BUNDLE = (EXAMPLE / BUNDLE).read_text().replace("id: chat@1\n", "id: chat@2\n", 1)
_OTHER_PROVIDER = (EXAMPLE / "quota-scopes" / "in-house.yaml").read_text().replace(": in-house", ": elsewhere")
_CLASSES = (EXAMPLE / PRIVACY).read_text()
_STRICTEST = _CLASSES[_CLASSES.index("  - id: private") :]

_CAPABILITIES = "capabilities: [chat, json_object"
_MORE_CAPABILITIES = "capabilities: [chat, tools, images, json_object"
_TEMPLATE = "  per_message: 8\n  per_request: 32"


def _every_class(old: str, new: str) -> Edit:
    """The same change in all privacy classes."""
    assert old in _CLASSES, f"no class has {old!r}"
    return Edit(file=PRIVACY, old="", new=_CLASSES.replace(old, new))


BUDGETS: dict[str, tuple[Edit, ...]] = {
    # A question of six letters reserves 50 tokens of input and 256 of output.
    "the tenant has a budget for seven requests": (
        Edit(file=ACME, old="tokens_per_month: unlimited", new="tokens_per_month: 2200"),
    ),
    "the tenant has a budget for one request": (
        Edit(file=ACME, old="tokens_per_month: unlimited", new="tokens_per_month: 350"),
    ),
    "the tenant has a budget for two requests": (
        Edit(file=ACME, old="tokens_per_month: unlimited", new="tokens_per_month: 650"),
    ),
    "the budget of the tenant is lowered to less than one request": (
        Edit(file=ACME, old="tokens_per_month: 650", new="tokens_per_month: 300"),
    ),
    "the tenant may use nothing": (Edit(file=ACME, old="tokens_per_day: unlimited", new="tokens_per_day: 0"),),
    "the tenant may spend a hundredth a month": (
        Edit(file=ACME, old="cost_per_month: unlimited", new='cost_per_month: "0.01"'),
        # What one request reserves costs 0.006120.
        Edit(file=PROFILE, old='input_per_million: "0"', new='input_per_million: "20"'),
        Edit(file=PROFILE, old='output_per_million: "0"', new='output_per_million: "20"'),
    ),
    "the quota scope has no budget": (
        Edit(file=QUOTA_SCOPE, old="tokens_per_month: unlimited", new="tokens_per_month: 0"),
    ),
    "the quota scope is given a budget": (
        Edit(file=QUOTA_SCOPE, old="tokens_per_month: 0", new="tokens_per_month: 1000"),
    ),
    "the tenant may have one call at once": (Edit(file=ACME, old="concurrency: unlimited", new="concurrency: 1"),),
    "the profile may use nothing": (Edit(file=PROFILE, old="tokens_per_day: unlimited", new="tokens_per_day: 0"),),
    "the profile has one slot": (Edit(file=PROFILE, old="concurrency: 64", new="concurrency: 1"),),
}
"""Changes of limits, of which policy knows nothing."""

SURFACE: dict[str, tuple[Edit, ...]] = {
    "the engine's profile also serves functions": (
        Edit(file=PROFILE, old="capabilities: [chat, ", new="capabilities: [chat, tools, "),
    ),
    "the engine's profile also reads images": (
        Edit(file=PROFILE, old="capabilities: [chat, ", new="capabilities: [chat, images, "),
        Edit(file=PROFILE, old="  per_request: 32\n", new="  per_request: 32\n  per_image: 400\n"),
    ),
    "the engine takes tools and images": (Edit(file=PROFILE, old=_CAPABILITIES, new=_MORE_CAPABILITIES),),
    "the engine takes tools and images, which count 100 tokens each": (
        Edit(file=PROFILE, old=_CAPABILITIES, new=_MORE_CAPABILITIES),
        Edit(file=PROFILE, old=_TEMPLATE, new=_TEMPLATE + "\n  per_tool: 100\n  per_image: 100"),
    ),
}
"""Further capabilities of a profile."""

ISOLATION: dict[str, tuple[Edit, ...]] = {
    "two tenants share an engine that salts its cache by tenant": (
        Edit(file=PROFILE, old="adapter: llama_cpp", new="adapter: vllm"),
        Edit(file=PROFILE, old='version: "2026.10.11549"', new='version: "0.32.0"'),
        Edit(file=PROFILE, old="accounting: llama.cpp", new="accounting: vllm>=0.21"),
        Edit(
            file=PROFILE,
            old="prefix_cache: single_tenant\n  tenants: [acme]",
            new="prefix_cache: salted\n  salted_by: tenant\n  tenants: [acme, tenant-a]",
        ),
    ),
    "the shared engine salts its cache by principal": (
        Edit(file=PROFILE, old="salted_by: tenant", new="salted_by: principal"),
    ),
}
"""An engine whose cache keeps tenants, or accounts, apart."""

CAPACITY: dict[str, tuple[Edit, ...]] = {
    "the profile promises more than its memory holds": (Edit(PROFILE, 'device_gib: "64"', 'device_gib: "1"'),),
    "the profile's engine is vLLM": (
        Edit(PROFILE, "adapter: llama_cpp", "adapter: vllm"),
        Edit(PROFILE, 'version: "2026.10.11549"', 'version: "0.32.0"'),
        Edit(PROFILE, "accounting: llama.cpp", "accounting: vllm>=0.21"),
    ),
}
"""What the memory of the engine holds."""

EDITS: dict[str, tuple[Edit, ...]] = (
    BUDGETS
    | CAPACITY
    | {
        **ISOLATION,
        "the engine may load for one second": (Edit(file=PROFILE, old="startup_s: 60", new="startup_s: 1"),),
        **SURFACE,
        "the tenant may no longer use the purpose": (
            Edit(
                file=ACME,
                old="""purposes: [drafting, answers]
# Counts where a request names no purpose.
default_purpose: drafting""",
                new="""purposes: [answers]
default_purpose: answers""",
            ),
        ),
        "the tenant is not active": (Edit(file=ACME, old="active: true", new="active: false"),),
        "the platform's tenant is not active": (Edit(file=PLATFORM, old="active: true", new="active: false"),),
        "the tenant is removed": (
            Edit(file=ACME, old="", new=""),
            Edit(file=PROFILE, old="tenants: [acme]", new="tenants: [platform]"),
            Edit(file="credentials/openai-eu.yaml", old="tenants: [acme, platform]", new="tenants: [platform]"),
            Edit(file="credentials/anthropic-eu.yaml", old="tenants: [acme, platform]", new="tenants: [platform]"),
        ),
        "the registry is broken": (Edit(file=ACME, old="active: true", new="active: yes"),),
        "the assistant is an auditor": (
            Edit(
                file=ACME,
                old="groups: [staff]\n    roles: [generate]",
                new="groups: [staff]\n    roles: [auditor]",
            ),
        ),
        "the tenant may use another model only": (
            Edit(file=ACME, old="aliases: [chat, assist]", new="aliases: [essay]"),
            Edit(file=RELEASES, old="  chat: chat@1\n", new="  chat: chat@1\n  essay: chat@1\n"),
        ),
        "Tenant A is given the hosted model": (
            Edit(file=TENANT_A, old="aliases: [chat]", new="aliases: [chat, assist]"),
        ),
        "the tenant may use another provider only": (
            Edit(file=ACME, old="providers: [in-house, openai, anthropic]", new="providers: [elsewhere]"),
            Edit(file="quota-scopes/elsewhere.yaml", old="", new=_OTHER_PROVIDER),
        ),
        "the tenant may use another region only": (
            Edit(file=ACME, old="regions: [local, eu]", new="regions: [eu-west]"),
        ),
        "the tenant needs a stricter class": (
            Edit(file=ACME, old="privacy_class: internal", new="privacy_class: secret"),
            Edit(file=PRIVACY, old=_STRICTEST, new=_STRICTEST + _STRICTEST.replace("id: private", "id: secret")),
        ),
        "the approval of the profile has expired": (
            Edit(file=PROFILE, old="until: 2028-01-01T00:00:00Z", new="until: 2026-01-01T00:00:00Z"),
        ),
        "the bundle has expired": (
            Edit(file=BUNDLE, old="expires: 2028-01-01T00:00:00Z", new="expires: 2026-01-01T00:00:00Z"),
        ),
        "another bundle is released": (
            Edit(file="bundles/chat@2.yaml", old="", new=_OTHER_BUNDLE),
            Edit(file=RELEASES, old="  chat: chat@1\n", new="  chat: chat@2\n"),
        ),
        "the hosted alias moves to the self-hosted bundle": (
            Edit(file=RELEASES, old="  assist: assist@1\n", new="  assist: chat@1\n"),
        ),
        "the bundle was not evaluated for the purpose": (
            Edit(file=BUNDLE, old="purposes: [drafting, answers]", new="purposes: [answers]"),
        ),
        "the evaluation of the bundle was not good enough": (Edit(file=BUNDLE, old="score: 0.62", new="score: 0.42"),),
        "the evaluation of the bundle is too old": (
            Edit(file=BUNDLE, old="0.03\n  date: 2026-11-30", new="0.03\n  date: 2024-11-30"),
        ),
        "every class asks for attested engines": (
            _every_class("attestation_required: false", "attestation_required: true"),
        ),
        "no class allows the network of the engine": (
            _every_class("networks: [loopback, private", "networks: [private"),
        ),
        "the operator of the engine keeps prompts": (
            Edit(file=PROFILE, old="retention_days: 0", new="retention_days: 365"),
        ),
        "the device of the engine is shared by time": (
            _every_class("time_sharing_allowed: true", "time_sharing_allowed: false"),
            Edit(file=PROFILE, old="sharing: exclusive", new="sharing: time_shared"),
        ),
        "the engine shares its prefix cache": (
            Edit(file=PROFILE, old="prefix_cache: single_tenant", new="prefix_cache: shared"),
        ),
        "the engine belongs to another tenant": (
            Edit(file=PROFILE, old="tenants: [acme]", new="tenants: [beta]"),
            Edit(file="tenants/beta.yaml", old="", new=_OTHER_TENANT),
        ),
    }
)


LITTLE_TIME = (Edit(file=PROFILE, old="connect_ms: 2000\n  total_ms: 60000", new="connect_ms: 400\n  total_ms: 500"),)
"""For a whole call."""


def spare_engine(port: int) -> tuple[Edit, ...]:
    """A second profile like the first in the same bundle, on another port, and a total deadline of half a second."""
    patient, hasty = "connect_ms: 2000\n  total_ms: 60000", "connect_ms: 400\n  total_ms: 500"
    text = (EXAMPLE / PROFILE).read_text().replace(patient, hasty)
    spare = text.replace("id: smollm2-135m\n", "id: spare\n", 1).replace(":8091/", f":{port}/")
    member = "  - id: spare\n    digest: sha256:" + "0" * 64 + "\n\n# What it was evaluated for."
    return (
        Edit(file=PROFILE, old=patient, new=hasty),
        Edit(file="profiles/spare.yaml", old="", new=spare),
        Edit(file=BUNDLE, old="\n# What it was evaluated for.", new=member),
    )
