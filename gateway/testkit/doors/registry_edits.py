"""Changes of the registry that scenarios name, as edits of the example."""

from gateway.testkit.registry_copy import EXAMPLE, Edit

ACME = "tenants/acme.yaml"
PROFILE = "profiles/smollm2-135m.yaml"
_OTHER_TENANT = (EXAMPLE / ACME).read_text().replace("id: acme", "id: beta", 1)
_OTHER_BUNDLE = (EXAMPLE / "bundles" / "chat@1.yaml").read_text().replace("id: chat@1\n", "id: chat@2\n", 1)
_OTHER_PROVIDER = (EXAMPLE / "quota-scopes" / "in-house.yaml").read_text().replace(": in-house", ": elsewhere")

EDITS: dict[str, tuple[Edit, ...]] = {
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
    "the tenant may use another model only": (
        Edit(file=ACME, old="aliases: [chat]", new="aliases: [essay]"),
        Edit(file="releases.yaml", old="  chat: chat@1\n", new="  chat: chat@1\n  essay: chat@1\n"),
    ),
    "the tenant may use another provider only": (
        Edit(file=ACME, old="providers: [in-house]", new="providers: [elsewhere]"),
        Edit(file="quota-scopes/elsewhere.yaml", old="", new=_OTHER_PROVIDER),
    ),
    "the tenant may use another region only": (Edit(file=ACME, old="regions: [local]", new="regions: [eu-west]"),),
    "the tenant needs a stricter class": (
        Edit(file=ACME, old="privacy_class: internal", new="privacy_class: secret"),
        Edit(file="privacy.yaml", old="  - private\n", new="  - private\n  - secret\n"),
    ),
    "the approval of the profile has expired": (
        Edit(file=PROFILE, old="until: 2028-01-01T00:00:00Z", new="until: 2026-01-01T00:00:00Z"),
    ),
    "the bundle has expired": (
        Edit(file="bundles/chat@1.yaml", old="expires: 2028-01-01T00:00:00Z", new="expires: 2026-01-01T00:00:00Z"),
    ),
    "another bundle is released": (
        Edit(file="bundles/chat@2.yaml", old="", new=_OTHER_BUNDLE),
        Edit(file="releases.yaml", old="  chat: chat@1\n", new="  chat: chat@2\n"),
    ),
    "the engine shares its prefix cache": (
        Edit(file=PROFILE, old="prefix_cache: single_tenant", new="prefix_cache: shared"),
    ),
    "the engine belongs to another tenant": (
        Edit(file=PROFILE, old="tenants: [acme]", new="tenants: [beta]"),
        Edit(file="tenants/beta.yaml", old="", new=_OTHER_TENANT),
    ),
}


def spare_engine(port: int) -> tuple[Edit, ...]:
    """A second profile like the first in the same bundle, on another port, and a total deadline of half a second."""
    patient, hasty = "connect_ms: 2000\n  total_ms: 60000", "connect_ms: 400\n  total_ms: 500"
    text = (EXAMPLE / PROFILE).read_text().replace(patient, hasty)
    spare = text.replace("id: smollm2-135m\n", "id: spare\n", 1).replace(":8091/", f":{port}/")
    member = "  - id: spare\n    digest: sha256:" + "0" * 64 + "\n\n# SHA-256 of the chat template"
    return (
        Edit(file=PROFILE, old=patient, new=hasty),
        Edit(file="profiles/spare.yaml", old="", new=spare),
        Edit(file="bundles/chat@1.yaml", old="\n# SHA-256 of the chat template", new=member),
    )
