"""Changes of the registry that scenarios name, as edits of the example."""

from gateway.testkit.registry_copy import Edit

EDITS: dict[str, Edit] = {
    "purpose_withdrawn": Edit(
        file="tenants/acme.yaml",
        old="""purposes: [drafting, answers]
# Counts where a request names no purpose.
default_purpose: drafting""",
        new="""purposes: [answers]
default_purpose: answers""",
    ),
    "approval_expired": Edit(
        file="profiles/smollm2-135m.yaml",
        old="until: 2028-01-01T00:00:00Z",
        new="until: 2026-01-01T00:00:00Z",
    ),
}
