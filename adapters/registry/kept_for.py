"""Is there, for each alias of a tenant, a profile that is kept for that tenant?

Policy decides who may serve. This tells only what the profiles say by themselves, which is easily forgotten when a
tenant is added: every request of it would be refused.
"""

from collections.abc import Iterator

from adapters.registry.draft import Draft
from gateway.domain.fault import Fault
from gateway.domain.profile import Profile


def unserved(draft: Draft) -> Iterator[Fault]:
    """Aliases of active tenants whose released bundle has no profile for the tenant. A broken file hides nothing."""
    for id, tenant in draft.tenants.items():
        for index, alias in enumerate(tenant.value.aliases if tenant.value.active else ()):
            profiles = _released(draft, alias)
            if profiles and not any(_is_for(draft, profile, id) for profile in profiles):
                sentence = "No profile of the released bundle serves this tenant."
                remedy = (
                    "Add the tenant to engine/tenants of one, and to its credential; where prefix_cache is "
                    "single_tenant, release a bundle with a profile of the tenant's own."
                )
                yield tenant.fault(("aliases", index), sentence, remedy)


def _released(draft: Draft, alias: str) -> list[Profile]:
    """Profiles of the bundle behind the alias; none where any of them has a fault of its own."""
    name = draft.releases.value.releases.get(alias, "") if draft.releases else ""
    if (bundle := draft.bundles.get(name)) is None:
        return []
    found = [draft.profiles.get(member.id) for member in bundle.value.profiles]
    return [entry.value for entry in found if entry] if all(found) else []


def _is_for(draft: Draft, profile: Profile, tenant: str) -> bool:
    engine = profile.engine
    if engine is not None and engine.tenants != "any" and tenant not in engine.tenants:
        return False
    credential = draft.credentials.get(profile.credential or "")
    return credential is None or tenant in credential.value.tenants
